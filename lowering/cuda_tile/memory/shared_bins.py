"""Integers that a tile adds to memory by numbers, as histograms do: what goes to the first bins is
added up in shared memory, and each of them that is not zero to memory once, neighbours by
neighbouring threads. Such additions commute, and none can be told from none of zero."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.memory import AtomicRMWTkoOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.memory.memory_access import ordered
from tilewright.passes.cuda_tile.analysis.runs import run_of
from tilewright.passes.cuda_tile.layouts.elements import tile_type
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

_MOST, _LEAST = 4096, 1024
"""The bins that shared memory has at most, and the elements of a tile that pays for as many."""
_FORM, _SIZE = "add.u32", 4


def added_by_bins(op: AtomicRMWTkoOp, form: str, layout: TileLayout, kernel: EntryLowering) -> bool:
    """True where a tile was added so: its result has no use, and its pointers are one moved by a
    tile of numbers of which neighbours need not differ."""
    moved = op.pointers.owner
    if form != _FORM or op.result.first_use is not None or not isinstance(moved, core.OffsetOp):
        return False
    source, scratch = moved.ptr, kernel.scratch
    while isinstance(owner := source.owner, core.BroadcastOp | core.ReshapeOp):
        source = owner.source
    bins = min(tile_type(moved.offset).elements, _MOST)
    if tile_type(source).elements > 1 or run_of(moved.offset).counting or bins < _LEAST:
        return False
    if bins * _SIZE > scratch.conversion_bytes - scratch.reserved:
        return False
    with kernel.access(op, reads=True, writes=True):
        _add(op, kernel.scalar(source), kernel.elements(moved.offset, layout), bins, layout, kernel)
    return True


def _add(
    op: AtomicRMWTkoOp, base: SSAValue, numbers: Sequence[SSAValue], bins: int, layout: TileLayout,
    kernel: EntryLowering,
) -> None:  # fmt: skip
    emitter, scratch, own = kernel.emitter, kernel.scratch, kernel.threads.first_of(layout)
    values = kernel.elements(op.arg, layout)
    masks: Sequence[SSAValue | None] = [None] * layout.count
    if op.mask is not None:
        masks = kernel.elements(op.mask, layout)
    addresses = kernel.elements(op.pointers, layout)
    line = scratch.take(bins * _SIZE)
    first = scaled(emitter, kernel.threads.number, _SIZE)
    mine = emitter.binary("add", line, first)
    threads = 1 << len(layout.threads)
    offsets = range(0, bins * _SIZE, threads * _SIZE)
    zero = emitter.constant(0, 32)
    for offset in offsets:
        emitter.add(address.StoreOp(mine, [zero], offset))
    scratch.barrier()
    with ordered(op, layout.count + len(offsets), kernel) as semantics:

        def add(at: SSAValue, value: SSAValue, condition: SSAValue | None, offset: int = 0) -> None:
            otherwise = None if condition is None else value
            emitter.add(address.AtomicOp(
                at, [value], i32, _FORM, offset, predicate=condition, otherwise=otherwise,
                semantics=semantics,
            ))  # fmt: skip

        for number, at, value, mask in zip(numbers, addresses, values, masks, strict=True):
            width = 8 * address.bytes_of(number.type)
            wide = emitter.resized(number, width, max(width, 32))
            high = emitter.binary("and", wide, -bins)
            low = emitter.resized(wide, max(width, 32), 32)
            place = emitter.binary("add", line, scaled(emitter, low, _SIZE))
            allowed = kernel.both(own, mask)
            add(place, value, kernel.both(allowed, emitter.compare("eq", high, 0)))
            add(at, value, kernel.both(allowed, emitter.compare("ne", high, 0)))
        scratch.written()
        to = emitter.binary("add", base, emitter.resized(first, 32, 64))
        for offset in offsets:
            (total,) = emitter.add(address.LoadOp(mine, [], [i32], offset)).results
            add(to, total, emitter.compare("ne", total, 0), offset)
