"""Loads and stores through tiles of pointers, and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import memory
from tilewright.dialects.cute_nvgpu.ops.sync import FenceProxyAliasOp
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.memory_order import Token
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.lowering.cuda_tile.memory.memory_access import load, load_tile, store
from tilewright.passes.cuda_tile.analysis.find_late_store import shares_of
from tilewright.passes.cuda_tile.analysis.runs import pointer_run
from tilewright.passes.cuda_tile.analysis.stages import STORED
from tilewright.passes.cuda_tile.analysis.tensor_maps import LOADED_PLACES
from tilewright.passes.cuda_tile.analysis.view_access import WIDEST
from tilewright.passes.cuda_tile.analysis.written_layouts import written_layout
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, bits_of, gathered, log2


@finds
def _loaded(op: memory.LoadPtrTkoOp, table: LayoutTable) -> TileLayout | None:
    if LOADED_PLACES in op.attributes:
        return None
    layout = table.wanted.get(op) or table.layouts.get(op.source)
    if layout is not None:
        return layout
    bits = range(bits_of(shape_of(op.result)))
    return table.dealt(bits, pointer_run(op.source, op.mask, WIDEST))


@lowers
def _load(op: memory.LoadPtrTkoOp, kernel: EntryLowering) -> None:
    if (ahead := kernel.ahead.load(op) or kernel.copied.load(op)) is not None:
        kernel[op.result], token = ahead, kernel.token_of(op)
        kernel[op.result_token] = kernel.order.after(token, reads=kernel.copied.reads(op))
        return
    type_ = kernel.scalar_type(op, op.result)
    run = pointer_run(op.source, op.mask, WIDEST)

    def prepared(layout: TileLayout) -> Callable[[], list[SSAValue]]:
        accesses = pointed(op.source, op.mask, layout, kernel, run)
        padding: Sequence[SSAValue] = [kernel.constant(0, type_)] * layout.count
        if op.padding_value is not None:
            padding = kernel.elements(op.padding_value, layout)
        return partial(load, op, accesses, layout, type_, padding, kernel)

    load_tile(op, prepared, kernel)


@lowers
def _store(op: memory.StorePtrTkoOp, kernel: EntryLowering) -> None:
    write(op, op.destination, op.value, WIDEST, partial(store, op), kernel)


Write = Callable[[list[MaskedAccess], TileLayout, Sequence[SSAValue], EntryLowering], None]
"""How the elements of a thread are written."""


def write(
    op: memory.StorePtrTkoOp | memory.AtomicRMWTkoOp, pointers: SSAValue, value: SSAValue,
    widest: int, written: Write, kernel: EntryLowering,
) -> None:  # fmt: skip
    """Write a tile to where pointers point, so many bytes at a time at most."""
    run = pointer_run(pointers, op.mask, widest)
    layout = written_layout(pointers, op.mask, value, widest, kernel.table)
    accesses = pointed(pointers, op.mask, layout, kernel, run)
    with kernel.access(op, reads=isinstance(op, memory.AtomicRMWTkoOp), writes=True):
        for own, elements in _shares(value, layout, accesses, kernel):
            written(own, layout, elements, kernel)


def _shares(
    value: SSAValue, layout: TileLayout, accesses: list[MaskedAccess], kernel: EntryLowering
) -> Iterator[tuple[list[MaskedAccess], Sequence[SSAValue]]]:
    """The accesses to a tile, and its elements in a layout: of one that is stored late those of the
    shares that are due."""
    own, due, run = kernel.layout(value), kernel.due, log2(len(accesses[0].registers))
    kept, shares = ((), 1) if own is None else (own.registers, shares_of(own))
    bits = [bit for bit in layout.registers[run:] if bit in kept][-log2(shares) :]
    if due is iter or own is None or 1 << len(bits) < shares:
        with kernel.scratch.within(STORED):
            yield accesses, kernel.elements(value, layout)
        return
    kernel.due = iter
    elements, source, target = kernel.elements(value, own), own.without(bits), layout.without(bits)
    for share in due(TileLayout((), tuple(bits)).places):
        given = [elements[own.register_of(place | share)] for place in source.places]
        moved = kernel.scratch.converted_in_warps(source, given, target)
        yield (
            [x for x in accesses if not gathered(layout.places[x.registers[0]] ^ share, bits)],
            [moved[target.register_of(place)] for place in layout.places],
        )


def pointed(
    pointers: SSAValue,
    mask: SSAValue | None,
    layout: TileLayout,
    kernel: EntryLowering,
    run: int = 0,
) -> list[MaskedAccess]:
    """The accesses of each thread to what a tile of pointers points to, in runs of so many bits
    where it has such neighbours."""
    addresses = kernel.elements(pointers, layout)
    conditions: Sequence[SSAValue | None] = [None] * layout.count
    if mask is not None:
        conditions = kernel.elements(mask, layout)
    own = min(run, layout.run_bits)
    return [
        MaskedAccess(tuple(range(i, i + (1 << own))), addresses[i], 0, conditions[i])
        for i in range(0, layout.count, 1 << own)
    ]


# --- tokens ---


@lowers
def _make_token(op: memory.MakeTokenOp, kernel: EntryLowering) -> None:
    kernel[op.result] = Token()


@lowers
def _join(op: memory.JoinTokensOp, kernel: EntryLowering) -> None:
    kernel[op.result] = kernel.order.joined(kernel[token] for token in op.tokens)


@lowers
def _fence_aliases(op: memory.MemoryFenceAliasTkoOp, kernel: EntryLowering) -> None:
    """A fence of every thread, behind a barrier after what the token is behind."""
    with kernel.access(op, reads=True, writes=True):
        kernel.emitter.add(FenceProxyAliasOp())
