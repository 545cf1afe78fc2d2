"""The stack of each thread, in its share of local memory."""

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.stack import STACK_BYTES
from tilewright.dialects.ptx.stack import AllocaOp, StackrestoreOp, StacksaveOp
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.builder import Effect, effects, executes
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.global_memory import Allocation
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.values import CONTAINERS, Bits, spread


def _own(machine: Machine, gang: Gang) -> tuple[Allocation, Int64Array]:
    """Local memory, and where the shares of the threads begin there."""
    local = machine.memory.local
    assert local is not None
    return local, machine.special("thread")[gang.lanes].astype(np.int64) * local.share


def _tops(machine: Machine, gang: Gang) -> Int64Array:
    """The addresses of the tops, in the window of local memory."""
    local, first = _own(machine, gang)
    return local.base + first + machine.tops[gang.lanes]


@effects
def _stacksave(op: StacksaveOp) -> Effect:
    dtype = CONTAINERS[op.result.type.kind.data]
    return lambda machine, gang: _tops(machine, gang).astype(dtype)


@executes(StackrestoreOp)
def _stackrestore(machine: Machine, gang: Gang, top: Bits) -> None:
    local, first = _own(machine, gang)
    places = top.astype(np.int64) % (1 << 32) - first
    wrong = (places < machine.tops[gang.lanes]) | (places > local.share)
    if (row := first_of(wrong)) is not None:
        raise Fault("expected a top of the stack that stacksave gave", row)
    machine.tops[gang.lanes] = places


@effects
def _alloca(op: AllocaOp) -> Effect:
    dtype, align = CONTAINERS[op.result.type.kind.data], op.alignment

    def run(machine: Machine, gang: Gang, size: Bits) -> Bits:
        local, _ = _own(machine, gang)
        sizes = spread(size, gang.count).astype(np.int64)
        places = (machine.tops[gang.lanes] - sizes) & -align
        if (row := first_of((places < local.frame) | (sizes < 0))) is not None:
            raise Fault(
                f"{sizes[row]} bytes aligned to {align} are more than the {STACK_BYTES} of the "
                "stack have left",
                row,
            )
        machine.tops[gang.lanes] = places
        return _tops(machine, gang).astype(dtype)

    return run
