"""Integers that a tile adds to memory by numbers, as histograms do: what goes to the first bins is
added up in shared memory, and each of them that is not zero to memory once, neighbours by
neighbouring threads; what has none there goes to one behind them, so that no thread branches.
Such additions commute, and none can be told from none of zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.memory import AtomicRMWTkoOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.memory.memory_access import ordered
from tilewright.passes.cuda_tile.analysis.runs import run_of
from tilewright.passes.cuda_tile.layouts.elements import tile_type
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

_MOST, _LEAST = 4096, 1024
"""The bins that shared memory has at most, and the elements of a tile that pays for as many."""
_BEHIND = (0, 1)
"""The bins behind the last one, of what is not to be added, and of what has none here."""
_FORM, _SIZE, _WIDE = "add.u32", 4, 4
"""An addition, the bytes of a bin, and how many a thread sets to zero at once."""


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
    if (bins + len(_BEHIND)) * _SIZE > scratch.conversion_bytes - scratch.reserved:
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
    line, threads = scratch.take((bins + len(_BEHIND)) * _SIZE), 1 << len(layout.threads)
    zero, width = emitter.constant(0, 32), min(bins // threads, _WIDE)
    start = emitter.binary("add", line, scaled(emitter, kernel.threads.number, width * _SIZE))
    for offset in range(0, bins * _SIZE, threads * width * _SIZE):
        emitter.add(address.StoreOp(start, [zero] * width, offset))
    behind = address.StoreOp(line, [zero] * len(_BEHIND), bins * _SIZE)
    emitter.when(kernel.threads.is_first, lambda: emitter.add(behind))
    scratch.barrier()
    first = scaled(emitter, kernel.threads.number, _SIZE)
    mine, offsets = emitter.binary("add", line, first), range(0, bins * _SIZE, threads * _SIZE)
    with ordered(op, layout.count + len(offsets), kernel) as semantics:

        def add(at: SSAValue, value: SSAValue, condition: SSAValue | None, offset: int = 0) -> None:
            otherwise = None if condition is None else value
            emitter.add(address.AtomicOp(
                at, [value], i32, _FORM, offset, predicate=condition, otherwise=otherwise,
                semantics=semantics,
            ))  # fmt: skip

        none, far = (emitter.binary("add", line, (bins + x) * _SIZE) for x in _BEHIND)
        places: list[SSAValue] = []
        for number, mask in zip(numbers, masks, strict=True):
            bits = 8 * address.bytes_of(number.type)
            wide = emitter.resized(number, bits, max(bits, 32))
            low = emitter.resized(wide, max(bits, 32), 32)
            near = emitter.compare("eq", emitter.binary("and", wide, -bins), 0)
            place = emitter.binary("add", line, scaled(emitter, low, _SIZE))
            place = emitter.select(near, place, far)
            allowed = kernel.both(own, mask)
            places.append(place if allowed is None else emitter.select(allowed, place, none))
        for place, value in zip(places, values, strict=True):
            add(place, value, None)

        def add_far() -> None:
            for place, at, value in zip(places, addresses, values, strict=True):
                add(at, value, emitter.compare("eq", place, far))

        last = reduce(partial(on_integers, kernel, arith.MaxUIOp), places)
        emitter.when(emitter.compare("eq", last, far), add_far)
        scratch.written()
        to = emitter.binary("add", base, emitter.resized(first, 32, 64))
        totals = [emitter.add(address.LoadOp(mine, [], [i32], x)).results[0] for x in offsets]
        for offset, total in zip(offsets, totals, strict=True):
            add(to, total, emitter.compare("ne", total, 0), offset)
