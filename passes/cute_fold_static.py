"""`cute-fold-static`: values of the `cute` dialect whose type says all become `cute.static`."""

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator, is_side_effect_free

from tilewright.dialects.cute.ops.arithmetic import CompareOp
from tilewright.dialects.cute.ops.constructors import StaticOp
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import is_known
from tilewright.dialects.frozen import frozen
from tilewright.dialects.insertion import insert_before


@frozen
class CuteFoldStaticPass(ModulePass):
    """Replace known values by `cute.static`, known comparisons by `arith.constant`, and erase the
    pure ops that nobody uses."""

    name = "cute-fold-static"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Uses before definitions, so that what a fold leaves unused is erased on the way.
        for inner in op.walk(reverse=True, region_first=True):
            if inner is not op and is_foldable(inner):
                fold(inner)


def is_foldable(op: Operation) -> bool:
    """An op may be erased where nobody uses it."""
    return (
        not isinstance(op, StaticOp) and is_side_effect_free(op) and not op.has_trait(IsTerminator)
    )


def is_static_type(type_: Attribute) -> bool:
    """A type says all about its values."""
    return isinstance(type_, CuteType) and is_known(type_.typed)


def fold(op: Operation) -> None:
    """Replace what is known of an op's results."""
    if any(result.uses for result in op.results):
        if isinstance(op, CompareOp) and all(is_static_type(x.type) for x in op.operands):
            _replace(op, op.results[0], ConstantOp(IntegerAttr(int(_holds(op)), i1)))
        for result in op.results:
            if result.uses and isinstance(result.type, CuteType) and is_static_type(result.type):
                _replace(op, result, StaticOp(result.type))
    if not any(result.uses for result in op.results):
        Rewriter.erase_op(op)


def _replace(op: Operation, result: SSAValue, by: Operation) -> None:
    insert_before(by, op)
    by.results[0].name_hint = result.name_hint
    result.replace_all_uses_with(by.results[0])


def _holds(op: CompareOp) -> bool:
    (holds,) = op.evaluate(op.values())
    assert isinstance(holds, bool)
    return holds
