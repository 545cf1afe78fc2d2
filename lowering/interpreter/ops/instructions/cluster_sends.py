"""Bytes and words that go to the shared memory of another CTA of a cluster, at both levels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice import cluster
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream
from tilewright.lowering.interpreter.ops.instructions.atomics import combine
from tilewright.lowering.interpreter.ops.instructions.operands import as_columns, every
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread
from tilewright.lowering.interpreter.ops.instructions.tma import land
from tilewright.lowering.interpreter.values import Bits, spread


def _change(op: Any) -> Callable[..., Bits] | None:
    """How a form combines words, where it does."""
    words = op.mnemonic.split(".")
    return combine(".".join(words[-2:])) if {"red", "reduce"} & {*words} else None


def _apart(there: Int64Array, machine: Machine) -> Callable[[int], Int64Array]:
    """The bytes that a copy to one CTA of the cluster writes, if its mbarrier is there."""

    def places(cta: int) -> Int64Array:
        if cta != (own := int(there[0]) // machine.shared.stride):
            raise Fault(
                f"expected an mbarrier of the CTA that it stores to, got one of CTA {cta}; "
                f"nearest legal: the one of CTA {own}"
            )
        return there

    return places


@accesses(cluster.BULK_SEND, cluster.BULK_SEND_REDUCE)
def _bulk_send(op: Any, number: int) -> Effect:
    change = _change(op)

    def run(
        machine: Machine, gang: Gang, dest: Bits, source: Bits, size: Bits, barrier: Bits
    ) -> None:
        shared, barriers, sizes = machine.shared, every(gang, barrier), every(gang, size)
        to, of = (
            shared.places(gang.lanes, address, CHUNK, verb)[:, 0].tolist()
            for address, verb in ((dest, "write"), (source, "read"))
        )

        def send(index: int, lane: int) -> None:
            count = sizes[index]
            if count % CHUNK or not count:
                raise Fault(f"expected a multiple of {CHUNK} bytes to copy, got {count}")
            for first in (to[index], of[index]):
                if (end := first % shared.stride + count) > shared.size:
                    raise Fault(
                        f"out of bounds: byte {end - 1} of shared memory, which has {shared.size}"
                    )
            stream, (cta, start) = Stream(0, lane, None), divmod(of[index], shared.stride)
            starts = start + np.arange(0, count, CHUNK)

            def read() -> UInt8Array:
                return shared.read_operand(lane, cta, starts, stream, number).ravel()

            places = _apart(to[index] + np.arange(count), machine)
            land(machine, lane, barriers[index], None, stream, read, places, number, change=change)

        each_thread(gang, send)

    return run, op.dest, op.source, op.size, op.barrier


@accesses(*cluster.ST_ASYNC, *cluster.RED_ASYNC)
def _send(op: Any, number: int) -> Effect:
    change = _change(op)

    def run(machine: Machine, gang: Gang, address: Bits, value: Bits, barrier: Bits) -> None:
        words = np.ascontiguousarray(spread(as_columns(value), gang.count)).view(np.uint8)
        where = machine.shared.places(gang.lanes, address, words.shape[1], "write")
        barriers = every(gang, barrier)

        def send(index: int, lane: int) -> None:
            places = _apart(where[index], machine)
            land(machine, lane, barriers[index], None, None, lambda: words[index], places, number,
                 change=change, generic=True)  # fmt: skip

        each_thread(gang, send)

    return run
