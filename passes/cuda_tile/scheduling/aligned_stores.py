"""Stores whose address, strides or sizes are loaded: where these turn out to be multiples of 16
bytes, as those of whole matrices are, neighbours are stored together.

    store_view_tko weak %x, %v[%i, %j]
    ->  if %multiples { store_view_tko weak %x, %aligned[%i, %j] }
        else          { store_view_tko weak %x, %v[%i, %j] }
"""

from __future__ import annotations

from functools import reduce

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.attributes import DivByAttr
from tilewright.dialects.cuda_tile.ops import conversions, core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, MakeView, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TOKEN, PointerType, TileType
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.passes.cuda_tile.analysis.facts import divisor, pointee_bytes
from tilewright.passes.cuda_tile.analysis.view_access import contiguous, tensor_of, tile_dimensions
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL, ShapedBuilder

_ONWARDS = (
    AssumeOp, core.ReshapeOp, integer.MaxIOp, conversions.ConversionOp, conversions.IntToPtrOp,
    conversions.PtrToPtrOp,
)  # fmt: skip


def align_stores(entry: EntryOp) -> None:
    """Let such stores of an entry be made in either way."""
    for op in descendants(entry, StoreViewTkoOp):
        unknown = _unknown(op)
        if unknown and all(map(_is_loaded, unknown)):
            _split(op, unknown)


def _unknown(op: StoreViewTkoOp) -> dict[SSAValue, int]:
    """Values that runs of 16 bytes want to be multiples, by what of; none that is known to be."""
    tensor, dimensions = tensor_of(op.view), tile_dimensions(op)
    along, whole = contiguous(dimensions), CHUNK // pointee_bytes(tensor.base)
    wanted = {tensor.base: CHUNK}
    for i, dimension in enumerate(dimensions):
        if i == along and not dimension.within:
            wanted |= {dimension.size: whole}
        elif i != along and dimension.extent > 1:
            wanted |= {dimension.stride: whole}
    if along is None or dimensions[along].extent < whole:
        return {}
    return {
        value: least for value, least in wanted.items()
        if isinstance(value, SSAValue) and divisor(value) < least
    }  # fmt: skip


def _is_loaded(value: SSAValue) -> bool:
    while isinstance(value.owner, _ONWARDS):
        value = value.owner.operands[0]
    return isinstance(value.owner, LoadPtrTkoOp | LoadViewTkoOp)


def _split(op: StoreViewTkoOp, unknown: dict[SSAValue, int]) -> None:
    """Store where all are multiples, or as it is."""
    at, aligned, holds = ShapedBuilder(op), dict[SSAValue, SSAValue](), list[SSAValue]()
    branches = Block(), Block()
    then, other = (ShapedBuilder(op, InsertPoint.at_end(block)) for block in branches)
    for value, least in unknown.items():
        number = value
        if isinstance(element_of(value), PointerType):
            number = at.add(conversions.PtrToIntOp, [value], TileType.get((), i64))
        rest = at.add(integer.AndIOp, [number, least - 1])
        holds.append(at.compare(EQUAL, rest, 0))
        aligned[value] = then.add(AssumeOp, [value], predicate=DivByAttr.get(least))
    view, new = op.view.owner, other.insert(op.clone())
    assert isinstance(view, MakeView)
    other.insert(YieldOp.create(operands=new.results))
    for like in (tensor_of(op.view), view, op):
        new = then.insert(like.clone(aligned))
        aligned |= zip(like.results, new.results, strict=True)
    then.insert(YieldOp.create(operands=new.results))
    both = reduce(lambda x, y: at.add(integer.AndIOp, [x, y]), holds)
    regions = [Region(block) for block in branches]
    choice = at.insert(IfOp.create(operands=[both], result_types=[TOKEN], regions=regions))
    op.results[0].replace_all_uses_with(choice.results[0])
    Rewriter.erase_op(op)
