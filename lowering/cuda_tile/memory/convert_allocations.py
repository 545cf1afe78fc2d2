"""Memory of the block's own: of the device's heap, taken once by a kernel's first thread and given
back at its end. Every `alloca` has its place in it, which the iterations of a loop share."""

from __future__ import annotations

from math import lcm

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.ops.memory import AllocaOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, lowers
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes

_HEAP_ALIGNMENT = 16


def allocas_of(entry: EntryOp) -> list[AllocaOp]:
    """The allocations of a kernel."""
    return [op for op in entry.walk() if isinstance(op, AllocaOp)]


def take_heap(entry: EntryOp, kernel: Kernel) -> SSAValue | None:
    """Place what a kernel allocates; the address of it all, None of nothing."""
    emitter, size, align = kernel.emitter, 0, _HEAP_ALIGNMENT
    places: dict[AllocaOp, int] = {}
    for op in allocas_of(entry):
        own = _number(op.alignment)
        size = -(-size // own) * own
        places[op] = size
        size += max(_number(op.num_elem) * pointee_bytes(op.result), 1)
        align = lcm(align, own)
    if not places:
        return None
    told = kernel.scratch.take(i64.width.data // 8)
    total = size + align - _HEAP_ALIGNMENT

    def allocate() -> None:
        taken = emitter.emit(address.AllocateOp(total))
        emitter.add(address.StoreOp(told, [taken], 0))

    zero = emitter.constant(0, 32)
    emitter.when(emitter.compare("eq", kernel.threads.number, zero), allocate)
    kernel.scratch.written()
    heap = emitter.emit(address.LoadOp(told, [], [i64], 0))
    above = emitter.binary("add", heap, align - _HEAP_ALIGNMENT)
    first = emitter.binary("and", above, -align)
    for op, place in places.items():
        own = emitter.binary("add", first, place)
        kernel.place(op.result, kernel.table.scalar, [own])
    return heap


def give_back(heap: SSAValue, kernel: Kernel) -> None:
    """Free what the kernel allocated, behind the last access of its threads."""
    emitter = kernel.emitter
    kernel.scratch.barrier()
    first = emitter.compare("eq", kernel.threads.number, 0)
    emitter.when(first, lambda: emitter.add(address.FreeOp(heap)))


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


@lowers(AllocaOp)
def _placed(op: AllocaOp, kernel: Kernel) -> None:
    """It has its place from the start."""
