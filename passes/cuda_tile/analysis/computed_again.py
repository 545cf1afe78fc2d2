"""The values that can be computed a second time, of another iteration of a loop."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import field

from xdsl.dialects.builtin import i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import conversions, core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TokenType
from tilewright.dialects.frozen import entity
from tilewright.dialects.sequences import reachable
from tilewright.passes.cuda_tile.analysis.tensor_maps import LOADED_PLACES, is_repeatable_number
from tilewright.passes.cuda_tile.analysis.view_access import extents_of, tensor_of
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import bits_of

SCALAR = (
    core.ConstantOp, core.SelectOp, core.ReshapeOp, core.BroadcastOp, core.IotaOp, core.OffsetOp,
    conversions.ExtIOp, conversions.TruncIOp, AssumeOp, integer.AddIOp,
    integer.SubIOp, integer.MulIOp, integer.DivIOp, integer.RemIOp, integer.MinIOp, integer.MaxIOp,
    integer.CmpIOp, integer.XOrIOp, integer.AndIOp, integer.OrIOp, integer.ShLIOp, integer.ShRIOp,
    integer.MulhiIOp,
)  # fmt: skip

"""The ops that may be computed a second time, of a later iteration."""
Load = LoadViewTkoOp | LoadPtrTkoOp


def is_computed_from(value: SSAValue, numbers: Container[SSAValue]) -> bool:
    """True where a scalar is computed from numbers."""
    return any(x in numbers for x in reachable([value], scalar_operands))


def scalar_operands(value: SSAValue) -> Sequence[SSAValue]:
    """The values that a scalar is computed from."""
    return value.owner.operands if isinstance(value.owner, SCALAR) else ()


def follows(value: SSAValue, loop: ForOp, needed: dict[Operation, None]) -> bool:
    """True where a value can be computed for any iteration, a tile in any layout; adds the ops of
    the body that it needs."""
    block = loop.region.block
    if isinstance(value, BlockArgument):
        return value.block is not block or value is block.args[0]
    owner = value.owner
    assert isinstance(owner, Operation)
    if owner.parent is not block:
        return True
    if not is_repeatable_number(owner) and not (isinstance(owner, SCALAR) and is_derived(value)):
        return False
    operands = places_of(owner) if isinstance(owner, Load) else owner.operands
    if not all(follows(operand, loop, needed) for operand in operands):
        return False
    needed[owner] = None
    return True


def places_of(load: Load) -> list[SSAValue]:
    """The values that say where a load's tile lies."""
    if isinstance(load, LoadPtrTkoOp):
        return [load.source] if load.mask is None else [load.source, load.mask]
    tensor = tensor_of(load.view)
    sizes, strides = extents_of(tensor)
    extents = [extent for extent in (*sizes, *strides) if not isinstance(extent, int)]
    return [*load.index, tensor.base, *extents]


def is_same(a: SSAValue, b: SSAValue, *same: tuple[SSAValue, SSAValue]) -> bool:
    """True of values that are computed alike, of the same ones or of pairs that are the `same`."""
    if a is b or (a, b) in same:
        return True
    x, y = a.owner, b.owner
    return (
        isinstance(x, PureOp)
        and isinstance(y, PureOp)
        and type(x) is type(y)
        and x.properties == y.properties
        and (a.type, x.results.index(a)) == (b.type, y.results.index(b))
        and all(is_same(*pair, *same) for pair in zip(x.operands, y.operands, strict=True))
    )


def without_tokens(op: Operation) -> list[SSAValue]:
    """The operands of an op but tokens."""
    return [operand for operand in op.operands if not isinstance(operand.type, TokenType)]


def needed_ahead(values: Iterable[SSAValue], loop: ForOp) -> dict[Operation, None] | str:
    """The ops of a loop's body that say what values are in an iteration to come; else why they do
    not."""
    if loop.unsigned_cmp is not None and element_of(loop.lower_bound) == i64:
        return "its loop counts in unsigned i64"
    needed = dict[Operation, None]()
    if all(follows(value, loop, needed) for value in values):
        return needed
    return "where it lies depends on more than the loop's variable"


@entity
class LoopSlice:
    """A loop's ops that say where in memory tiles of iterations to come lie."""

    slice: list[Operation] = field(default_factory=list[Operation], kw_only=True)
    """Those ops, in order."""

    def extend(self, needed: Iterable[Operation], loop: ForOp) -> None:
        """Take more ops of the loop."""
        wanted = {*self.slice, *needed}
        self.slice = [op for op in loop.region.block.ops if op in wanted]


def is_derived(value: SSAValue) -> bool:
    """True of a tile that is computed in the layout of whoever reads it, as scalars are."""
    if bits_of(shape_of(value)) == 0:
        return True
    match value.owner:
        case core.ConstantOp() | core.IotaOp() | core.BroadcastOp():
            return True
        case Operation() as owner:
            computed = isinstance(owner, SCALAR) and all(map(is_derived, owner.operands))
            return computed or LOADED_PLACES in owner.attributes
        case _:
            return False
