"""`cute-expand-ops`: the algebra of the `cute` dialect as integer arithmetic.

    %r = cute.tuple_add(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(2,1)">) -> ...
becomes
    %n = cute.get_scalars<{only_dynamic}> (%a) : !cute.shape<"(?,4)">
    %two = arith.constant 2 : i32
    %m = arith.addi %n, %two overflow<nsw> : i32
    %r = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,5)">

Each op's rule runs on leaves that emit what is computed with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cute.ops.accessors import GetScalarsOp
from tilewright.dialects.cute.ops.arithmetic import CompareOp
from tilewright.dialects.cute.ops.constructors import (
    MakeComposedLayoutOp,
    MakeCoordOp,
    MakeIntTupleOp,
    MakeLayoutOp,
    MakeShapeOp,
    MakeStrideOp,
    MakeTileOp,
    StaticOp,
)
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.rules.accessors import dynamic_leaves
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.types.algebra import CuteType, type_of
from tilewright.dialects.cute.values import Typed, is_known, with_dynamic_leaves, with_numbers
from tilewright.passes.analysis.traced_scalar import ScalarTrace, Traced

KEPT = (GetScalarsOp, MakeLayoutOp, MakeComposedLayoutOp)
"""Ops with a rule that the next level has as well."""

_MAKE = {
    "int_tuple": MakeIntTupleOp,
    "shape": MakeShapeOp,
    "stride": MakeStrideOp,
    "coord": MakeCoordOp,
    "tile": MakeTileOp,
}


@dataclass(frozen=True)
class CuteExpandOpsPass(ModulePass):
    """Replace the algebra by arithmetic on the dynamic leaves of its operands, leaving only
    constructors, `cute.static`, `cute.get_scalars` and `cute.print`. Ops on tensors stay."""

    name = "cute-expand-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, InferredOp) and not isinstance(inner, KEPT):
                if all(isinstance(x.type, CuteType) for x in (*inner.operands, *inner.results)):
                    _expand(inner)
            elif isinstance(inner, CompareOp):
                _expand_compare(inner)


def _expand(op: InferredOp) -> None:
    trace = ScalarTrace(InsertPoint.before(op), op.location)
    if all(map(_known_type, op.results)):
        values = [result.type.typed for result in op.results if isinstance(result.type, CuteType)]
    else:
        operands = [_opened(trace, operand) for operand in op.operands]
        values = [value for value in op.evaluate(operands) if isinstance(value, Typed)]
    _replace(op, [_result(trace, value) for value in values])


def _result(trace: ScalarTrace, typed: Typed) -> SSAValue:
    return trace.insert(StaticOp(type_of(typed))) if is_known(typed) else build(trace, typed)


def _known_type(value: SSAValue) -> bool:
    return isinstance(value.type, CuteType) and is_known(value.type.typed)


def _replace(op: Operation, results: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    Rewriter.erase_op(op)


def _opened(trace: ScalarTrace, value: SSAValue) -> Typed:
    """The value of an operand, its dynamic leaves as SSA values."""
    type_ = value.type
    assert isinstance(type_, CuteType)
    if is_known(type_.typed):
        return type_.typed
    scalars = GetScalarsOp.build_from(value, properties={"only_dynamic": UnitAttr()})
    trace.insert_last(scalars)
    return with_dynamic_leaves(type_.typed, (Traced(result, trace) for result in scalars.results))


def build(trace: ScalarTrace, typed: Typed) -> SSAValue:
    """The SSA value of a value whose dynamic leaves are SSA values."""
    if typed.kind == "swizzle" or (typed.kind not in _MAKE and is_known(typed)):
        return trace.insert(StaticOp(type_of(typed)))
    match typed.kind:
        case "layout":
            shape = build(trace, Typed("shape", typed.value.shape))
            stride = build(trace, Typed("stride", typed.value.stride))
            return trace.insert(MakeLayoutOp.build_from(shape, stride))
        case "composed_layout":
            composed = typed.value
            outer = build(trace, Typed("layout", composed.outer))
            offset = build(trace, Typed("int_tuple", composed.offset))
            inner = build(trace, _inner(typed))
            return trace.insert(MakeComposedLayoutOp.build_from(inner, offset, outer))
        case _:
            leaves = [leaf.value for leaf in dynamic_leaves(typed) if isinstance(leaf, Traced)]
            make = _MAKE[typed.kind]
            return trace.insert(make.create(operands=leaves, result_types=[type_of(typed)]))


def _inner(typed: Typed) -> Typed:
    inner = typed.value.inner
    return Typed("swizzle" if not hasattr(inner, "stride") else "layout", inner)


# --- comparisons ----------------------------------------------------------------------------------


def _expand_compare(op: CompareOp) -> None:
    trace = ScalarTrace(InsertPoint.before(op), op.location)
    (holds,) = op.evaluate(op.values())
    if isinstance(holds, Dynamic):
        (holds,) = op.evaluate([_numbered(trace, operand) for operand in op.operands])
    _replace(op, [trace.sized(holds, 1)])


def _numbered(trace: ScalarTrace, value: SSAValue) -> Typed:
    """The value of an operand, all its numbers as SSA values."""
    type_ = value.type
    assert isinstance(type_, CuteType)
    scalars = GetScalarsOp.build_from(value)
    trace.insert_last(scalars)
    return with_numbers(type_.typed, (Traced(result, trace) for result in scalars.results))
