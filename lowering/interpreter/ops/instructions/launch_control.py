"""`clusterlaunchcontrol`: clusters that have not begun, and whose work another one does."""

from math import prod

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.launch_control import RESPONSE_BYTES
from tilewright.dialects.ptx.launch_control import QueryCancelOp, TryCancelOp
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes
from tilewright.lowering.interpreter.ops.instructions.operands import every, located
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread
from tilewright.lowering.interpreter.ops.instructions.tma import land
from tilewright.lowering.interpreter.values import Bits

CANCELED = 1 << 32
"""The bit of an answer over the third coordinate of a CTA: its cluster is cancelled."""


@accesses
def _try_cancel(op: TryCancelOp, number: int) -> Effect:
    """The next cluster that would begin does not."""
    to_all = op.multicast is not None

    def run(machine: Machine, gang: Gang, address: Bits, barrier: Bits) -> None:
        size = prod(machine.launch.cluster)
        there = machine.shared.places(gang.lanes, address, RESPONSE_BYTES, "write")
        barriers = every(gang, barrier)

        def ask(index: int, lane: int) -> None:
            canceled, answer = machine.waiting[:size], [0, 0]
            del machine.waiting[:size]
            if canceled:
                x, y, _ = machine.launch.grid
                rest, row = divmod(canceled[0], x)
                answer = [row | rest % y << 32, rest // y | CANCELED]
            words = np.array(answer, np.uint64).view(np.uint8)

            def places(cta: int) -> Int64Array:
                stride = machine.shared.stride
                return there[index] % stride + cta * stride

            mask = (1 << size) - 1 if to_all else None
            land(machine, lane, barriers[index], mask, None, lambda: words, places, number)

        each_thread(gang, ask)

    return run, located, op.barrier


@computes
def _query(op: QueryCancelOp) -> Compute:
    form = op.form.data

    def compute(response: Bits) -> Bits:
        if "is_canceled" in form:
            return response[:, 1] & np.uint64(CANCELED) != 0
        words = np.ascontiguousarray(response).view(np.uint32)
        axis = form.partition("::")[2][:1]
        return words[:, "xyz".index(axis)] if axis else np.where(np.arange(4) < 3, words, 0)

    return compute
