"""The part of a tile that a thread copies by `cp.async` to a stage in shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.types.fragments import Cache
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.lowering.cuda_tile.memory.convert_pointers import pointed
from tilewright.lowering.cuda_tile.memory.convert_views import tile_accesses
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoad
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK


def copy_tile(
    load: CopiedLoad, base: SSAValue, runs: SSAValue | None, kernel: EntryLowering, *,
    stepwise: bool = False, keeps: bool = False,
) -> None:  # fmt: skip
    """Copy what a load loads to an address, zeros of what is outside. Where it does not run, zeros,
    or nothing where it `keeps` what is there."""
    emitter = kernel.emitter
    kernel.at(load.op)
    layout, order = load.layout(kernel.table.thread_bits), load.order.order
    place = kernel.scratch.places(base, layout.threads, order)
    size = order.size << load.run
    cache = Cache.CG if size == CHUNK else Cache.CA
    if isinstance(load.op, LoadPtrTkoOp):
        accesses = pointed(load.op.source, load.op.mask, layout, kernel, load.run)
    else:
        accesses = tile_accesses(load.op, layout, kernel, load.run, stepwise=stepwise)

    def copies() -> Iterator[Operation]:
        for access in accesses:
            at, inside = place(layout.places[access.registers[0]])
            fill = _bytes(access, order.size, kernel)
            reads = access.condition if keeps else kernel.both(runs, access.condition)
            if reads is not None:
                fill = emitter.select(reads, fill, emitter.constant(0, 32))
            yield address.CpAsyncOp(
                at, access.address, access.offset, size, cache, inside, fill=fill
            )

    own, some = kernel.threads.first_of(layout), copies()
    if keeps:
        own, some = kernel.both(own, runs), list(some)

    def build() -> None:
        for op in some:
            emitter.add(op)

    if own is None:
        build()
    else:
        emitter.when(own, build)


def _bytes(access: MaskedAccess, size: int, kernel: EntryLowering) -> SSAValue:
    """The bytes of a copy that lie within the tensor."""
    emitter, count = kernel.emitter, len(access.registers)
    if (left := access.left) is None:
        return emitter.constant(count * size, 32)
    assert isa(left.type, IntegerType)
    width = left.type.bitwidth
    most = emitter.constant(count, width)
    some = kernel.emit(arith.MinUIOp, [left, most], left.type)
    return scaled(emitter, emitter.resized(some, width, 32), size)
