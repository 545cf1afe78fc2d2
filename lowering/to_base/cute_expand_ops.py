"""`cute-expand-ops`: the algebra of the `cute` dialect as integer arithmetic.

    %r = cute.tuple_add(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(2,1)">) -> ...
becomes
    %n = cute.get_scalars<{only_dynamic}> (%a) : !cute.shape<"(?,4)">
    %two = arith.constant 2 : i32
    %m = arith.addi %n, %two overflow<nsw> : i32
    %r = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,5)">

Each op's rule runs on leaves that emit what is computed with them.
"""

from collections.abc import Callable, Iterable
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

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
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.leaves import Leaf, sized, width_of_type
from tilewright.lowering.to_base.replace import replace
from tilewright.lowering.to_base.struct_types import parts_of
from tilewright.passes.cute_fold_static import is_static_type

KEPT = (GetScalarsOp, MakeLayoutOp, MakeComposedLayoutOp)
"""Ops with a rule that the next level has as well."""

_MAKE = {
    "int_tuple": MakeIntTupleOp,
    "shape": MakeShapeOp,
    "stride": MakeStrideOp,
    "coord": MakeCoordOp,
    "tile": MakeTileOp,
}


@frozen
class CuteExpandOpsPass(ModulePass):
    """Replace the algebra by arithmetic on the dynamic leaves of its operands, leaving only
    constructors, `cute.static`, `cute.get_scalars` and `cute.print`. Ops on tensors stay."""

    name = "cute-expand-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, InferredOp) and not isinstance(inner, KEPT):
                if all(isinstance(x.type, CuteType) for x in (*inner.operands, *inner.results)):
                    replace(inner, partial(_expanded, inner))
            elif isinstance(inner, CompareOp):
                replace(inner, partial(_compared, inner))


def _expanded(op: InferredOp, emitter: Emitter) -> list[SSAValue]:
    types = [result.type for result in op.results]
    if all(map(is_static_type, types)):
        return [emitter.emit(StaticOp(type_)) for type_ in types]
    values = op.evaluate([_opened(emitter, operand) for operand in op.operands])
    return [
        emitter.emit(StaticOp(type_of(value))) if is_known(value) else build(emitter, value)
        for value in values
        if isinstance(value, Typed)
    ]


def _compared(op: CompareOp, emitter: Emitter) -> list[SSAValue]:
    (holds,) = op.evaluate(op.values())
    if isinstance(holds, Dynamic):
        operands = [_opened(emitter, operand, with_numbers) for operand in op.operands]
        (holds,) = op.evaluate(operands)
    return [sized(emitter, holds, 1)]


def _opened(
    emitter: Emitter,
    value: SSAValue,
    filled: Callable[[Typed, Iterable[Leaf]], Typed] = with_dynamic_leaves,
) -> Typed:
    """The value of an operand, its dynamic leaves as SSA values, or `with_numbers` all of them."""
    type_ = value.type
    assert isinstance(type_, CuteType)
    properties: dict[str, Attribute] = {}
    if filled is with_dynamic_leaves:
        if is_known(type_.typed):
            return type_.typed
        properties = {"only_dynamic": UnitAttr()}
    scalars = emitter.add(GetScalarsOp.build_from(value, properties=properties)).results
    return filled(type_.typed, (Leaf(x, width_of_type(x.type), emitter) for x in scalars))


def build(emitter: Emitter, typed: Typed) -> SSAValue:
    """The SSA value of a value whose dynamic leaves are SSA values."""
    if typed.kind == "swizzle" or (typed.kind not in _MAKE and is_known(typed)):
        return emitter.emit(StaticOp(type_of(typed)))
    parts = [build(emitter, part) for part in parts_of(typed)]
    match typed.kind:
        case "layout":
            return emitter.emit(MakeLayoutOp.build_from(*parts))
        case "composed_layout":
            return emitter.emit(MakeComposedLayoutOp.build_from(*reversed(parts)))
        case kind:
            leaves = [leaf.value for leaf in dynamic_leaves(typed) if isinstance(leaf, Leaf)]
            made = _MAKE[kind].create(operands=leaves, result_types=[type_of(typed)])
            return emitter.emit(made)
