"""Memory of the block's own: of the device's heap, taken once by a kernel's first thread and given
back at its end. Every `alloca` has its place in it, which the iterations of a loop share."""

from __future__ import annotations

from math import lcm

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.memory import AllocaOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.integers import integer_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes

_HEAP_ALIGNMENT = 16


def allocas_of(entry: EntryOp) -> list[AllocaOp]:
    """The allocations of a kernel."""
    return descendants(entry, AllocaOp)


def take_heap(entry: EntryOp, kernel: EntryLowering) -> SSAValue | None:
    """Place what a kernel allocates; the address of it all, None of nothing."""
    emitter, size, align = kernel.emitter, 0, _HEAP_ALIGNMENT
    places: dict[AllocaOp, int] = {}
    for op in allocas_of(entry):
        own = integer_of(op.alignment)
        size = -(-size // own) * own
        places[op] = size
        size += max(integer_of(op.num_elem) * pointee_bytes(op.result), 1)
        align = lcm(align, own)
    if not places:
        return None
    slot = kernel.scratch.take(i64.width.data // 8)
    total = size + align - _HEAP_ALIGNMENT

    def allocate() -> None:
        taken = emitter.emit(address.AllocateOp(total))
        emitter.add(address.StoreOp(slot, [taken], 0))

    emitter.when(kernel.threads.is_first, allocate)
    kernel.scratch.written()
    heap = emitter.emit(address.LoadOp(slot, [], [i64], 0))
    above = emitter.binary("add", heap, align - _HEAP_ALIGNMENT)
    first = emitter.binary("and", above, -align)
    for op, place in places.items():
        own = emitter.binary("add", first, place)
        kernel.place(op.result, kernel.table.scalar, [own])
    return heap


def give_back(heap: SSAValue, kernel: EntryLowering) -> None:
    """Free what the kernel allocated, behind the last access of its threads."""
    emitter = kernel.emitter
    kernel.scratch.barrier()
    emitter.when(kernel.threads.is_first, lambda: emitter.add(address.FreeOp(heap)))


@lowers
def _placed(op: AllocaOp, kernel: EntryLowering) -> None:
    """It has its place from the start."""
