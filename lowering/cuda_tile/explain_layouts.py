"""The layouts of a kernel's tiles in words: which part of a tile a thread, a warp and the CTA hold,
why, and what moves to another layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from tilewright.diagnostic import place_of
from tilewright.dialects.cuda_tile.ops import aggregate, core, matrix_multiply, memory, views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.analysis.place_accumulators import place_accumulators
from tilewright.lowering.cuda_tile.analysis.remarks import collected
from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute import convert_entry, thread_count
from tilewright.lowering.cuda_tile.layouts.elements import shape_of, tile_text
from tilewright.lowering.cuda_tile.layouts.find_layouts import find_layouts
from tilewright.lowering.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, dim_bits, log2

_LOADS = (views.LoadViewTkoOp, memory.LoadPtrTkoOp, memory.AtomicRMWTkoOp, memory.AtomicCASTkoOp)
_REASONS: tuple[tuple[tuple[type[Operation], ...], str], ...] = (
    (_LOADS[:1], "neighbours in memory along the lanes of a warp, in runs as wide as is proven"),
    (_LOADS[1:], "that of the pointers"),
    (
        (matrix_multiply.MmaFOp, matrix_multiply.MmaIOp, matrix_multiply.MmaFScaledOp),
        "where the MMA has its accumulators, warps along M and N",
    ),
    ((aggregate.ReduceOp,), "that of its source, the dimension left out"),
    ((core.ReshapeOp, core.PermuteOp, aggregate.ScanOp), "that of its source"),
    ((core.ExtractOp,), "row-major order, dealt to the threads"),
    ((core.CatOp,), "that of its first operand"),
    ((ForOp, LoopOp, IfOp), "that of what comes first"),
)
_ANYWHERE = "none: computed in the layout of whoever reads it"


def explained(entry: EntryOp, arch: Target | None = None) -> Iterator[str]:
    """Lines on an entry: its tiles in order, then its conversions. Raises OpError where something
    does not lower."""
    place_accumulators(entry, arch)
    threads = thread_count(entry, arch)
    yield f"entry @{entry.sym_name.data}: {threads} threads a CTA"
    table = find_layouts(entry.body.block, log2(threads), arch)
    for op in entry.walk():
        for what, values in (("", op.results), (" carries", _carried(op))):
            for value in values:
                if isinstance(value.type, TileType) and value.type.rank:
                    layout = table.layouts.get(value)
                    words = _ANYWHERE if layout is None else in_words(layout, shape_of(value))
                    why = "" if layout is None else f"; {_why(op, bool(what))}"
                    yield f"  {_place(op)}{op.name}{what} {tile_text(value)}: {words}{why}"
    with collected() as remarks:
        convert_entry(entry, arch)
    said = [remark for remark in remarks if remark.kind in ("conversion", "bank-conflict")]
    count = sum(remark.kind == "conversion" for remark in said)
    yield f"  {count or 'no'} conversions{':' * bool(said)}"
    for remark in said:
        place = "" if remark.file is None else f"{remark.file}:{remark.line}:{remark.column}: "
        yield f"    {place}{remark.text}"


def _carried(op: Operation) -> Sequence[SSAValue]:
    blocks: list[Block] = [region.block for region in op.regions if region.blocks]
    return [value for block in blocks for value in block.args] if isinstance(op, _LOOPS) else []


_LOOPS = (ForOp, LoopOp)


def _place(op: Operation) -> str:
    place = place_of(op.location)
    return "" if place is None else "{}:{}:{}: ".format(*place)


def _why(op: Operation, carried: bool) -> str:
    """The reason for the layout of an op's tiles, or of those that its region carries."""
    own = (reason for kinds, reason in _REASONS if isinstance(op, kinds))
    if carried:
        return "that of what comes first, else of what comes back"
    return next(own, "that of its first operand which has one")


def in_words(layout: TileLayout, shape: Sequence[int]) -> str:
    """A layout in words: the extents of a tile that registers, lanes and warps run through."""
    lanes, warps = layout.threads[:WARP_BITS], layout.threads[WARP_BITS:]
    parts = [
        f"{name} {'x'.join(map(str, extents))}"
        for name, bits in (("registers", layout.registers), ("lanes", lanes), ("warps", warps))
        if prod(extents := _extents(bits, shape)) > 1
    ]
    words = ", ".join(parts) or "one element"
    alike = layout.threads.count(None)
    shared = f", the same in {1 << alike} threads" if alike else ""
    return f"{words}{shared} = {layout.text()}"


def _extents(bits: Sequence[int | None], shape: Sequence[int]) -> list[int]:
    """The elements that bits number along each dimension."""
    return [1 << sum(bit in own for bit in bits if bit is not None) for own in dim_bits(shape)]
