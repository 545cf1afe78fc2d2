"""The layouts of a kernel's tiles in words: which part of a tile a thread, a warp and the CTA hold,
why, and what moves to another layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import aggregate, core, matrix_multiply, memory, views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu import lower_entry
from tilewright.lowering.cuda_tile.places import ANYWHERE, TilePlaces, is_tile
from tilewright.passes.cuda_tile.analysis.remarks import collected
from tilewright.passes.cuda_tile.layouts.elements import tile_text
from tilewright.source.diagnostic import place_of

_LOADS = (views.LoadViewTkoOp, memory.LoadPtrTkoOp, memory.AtomicRMWTkoOp, memory.AtomicCASTkoOp)
_REASONS: tuple[tuple[tuple[type[Operation], ...], str], ...] = (
    (_LOADS[:1], "neighbours in memory along the lanes of a warp, in runs as wide as is proven"),
    (_LOADS[1:], "that of the pointers"),
    (
        (matrix_multiply.MmaFOp, matrix_multiply.MmaIOp, matrix_multiply.MmaFScaledOp),
        "where the MMA has its accumulators, warps along M and N",
    ),
    ((aggregate.ReduceOp,), "that of its source, the dimension left out, or dealt to the threads"),
    ((core.ReshapeOp, core.PermuteOp, aggregate.ScanOp), "that of its source"),
    ((core.ExtractOp,), "row-major order, dealt to the threads"),
    ((core.CatOp,), "that of its first operand"),
    ((ForOp, LoopOp, IfOp), "that of what comes first"),
)


def explained(entry: EntryOp, arch: Target | None = None) -> Iterator[str]:
    """Lines on an entry: its retreats, its tiles in order, then its conversions. Raises OpError
    where something does not lower."""
    with collected() as remarks:
        lowered = lower_entry(entry, arch)
    size = lowered.function.attributes["gpu.known_block_size"]
    assert isinstance(size, DenseArrayBase)
    yield f"entry @{entry.sym_name.data}: {size.get_values()[0]} threads a CTA"
    yield from (f"  {retreat.text}" for retreat in lowered.retreats)
    places = TilePlaces(lowered)
    for op in entry.walk():
        if isinstance(op, views.StoreViewTkoOp) and (room := places.of_store(op)) is not None:
            yield f"  {_place(op)}{op.name} {tile_text(op.tile)}: {room}"
        for what, values in (("", op.results), (" carries", _carried(op))):
            for value in filter(is_tile, values):
                words = places.of(value)
                why = _why(op, words, places, bool(what))
                yield f"  {_place(op)}{op.name}{what} {tile_text(value)}: {words}{why}"
    said = [remark for remark in remarks if remark.kind in ("conversion", "bank-conflict")]
    count = sum(remark.kind == "conversion" for remark in said)
    yield f"  {count or 'no'} conversion{'s' * (count != 1)}{':' * bool(said)}"
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


def _why(op: Operation, place: str, places: TilePlaces, carried: bool) -> str:
    """The reason for the place of an op's tiles, or of those that its region carries."""
    if place == ANYWHERE:
        return ""
    if carried:
        return "; that of what comes first, else of what comes back"
    if isinstance(op, _LOADS[:2]) and place.startswith("shared memory"):
        return f"; {places.reader(op)}"
    own = (reason for kinds, reason in _REASONS if isinstance(op, kinds))
    return f"; {next(own, 'that of its first operand which has one')}"
