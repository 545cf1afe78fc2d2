"""Ops that build values from their parts."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import ConstantLike, Pure

from tilewright.dialects.cute.ops.operands import (
    ANY,
    ANY_LAYOUT,
    COMPOSED,
    COORD,
    INNER,
    INT_TUPLE,
    INTEGER,
    LAYOUT,
    SHAPE,
    STRIDE,
    TILE,
)
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp, cute_op, typed_value
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import accessors, constructors, required
from tilewright.dialects.cute.symbolic.scalar import Dynamic, fits
from tilewright.dialects.cute.types.algebra import IntTupleType
from tilewright.dialects.cute.values import is_known
from tilewright.dialects.traits import PURE, WRITES


@cute_op("cute.static")
class StaticOp(CuteOp):
    """A value that is known: `%x = cute.static : !cute.shape<"(4,8)">`."""

    result = result_def(ANY)

    traits = traits_def(Pure(), ConstantLike())

    assembly_format = "attr-dict `:` type($result)"

    def verify_types(self) -> None:
        type_ = self.result.type
        required(is_known(typed_value(type_)), f"op expects result to be static, but got '{type_}'")


@cute_op("cute.print")
class PrintOp(CuteOp):
    """Print a value when the program runs: `cute.print(%x) : !cute.shape<"(4,?)">`."""

    assembly_format = "`(` $value `)` `:` type($value) attr-dict"

    value = operand_def(ANY)

    traits = WRITES


class LeavesOp(CuteOp, ABC):
    """A value of a given type, its dynamic leaves from the operands.

    `%s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">`. An operand is as wide as its leaf,
    or an int_tuple whose number fits it. Without types the operands are all its leaves:
    `cute.make_shape(%n, %n)` is `(?,?)`, and of a single operand `?`.
    """

    leaves = var_operand_def(INTEGER)
    result = result_def(ANY)

    traits = PURE

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        accepts: Any = cls.facts.results[0].accepts
        if accepts is TILE or not operand_types:
            return super().infer(operand_types, properties)
        leaves = [str(_leaf_of(type_)) for type_ in operand_types]
        text = leaves[0] if len(leaves) == 1 else f"({','.join(leaves)})"
        return (accepts.types[0].new([StringAttr(text)]),)

    def verify_types(self) -> None:
        type_ = self.results[0].type
        wanted = accessors.dynamic_leaves(typed_value(type_))
        required(
            len(wanted) == len(self.leaves),
            f"op expects {len(wanted)} dynamic operand(s) for result type '{type_}', but got "
            f"{len(self.leaves)}",
        )
        for i, (leaf, operand) in enumerate(zip(wanted, self.leaves, strict=True)):
            fault = _leaf_fault(leaf, operand.type)
            required(fault is None, f"op expects operand #{i} {fault}")


def _leaf_of(type_: Attribute) -> Dynamic:
    """The dynamic leaf that a value of this type fills by itself."""
    if isinstance(type_, IntTupleType):
        value = type_.typed.value
        return Dynamic(32 if fits(value, 32) else 64) if isinstance(value, int) else value
    return Dynamic(64 if type_ == i64 else 32)


def _leaf_fault(leaf: Dynamic, type_: Attribute) -> str | None:
    """Why a dynamic leaf cannot be filled with a value of this type."""
    if isinstance(type_, IntTupleType):
        value = type_.typed.value
        if isinstance(value, int):
            if fits(value, leaf.width):
                return None
            return f"to be compatible with (width={leaf.width}), but got static constant {value}"
        width = value.width
    else:
        width = 64 if type_ == i64 else 32
    if width == leaf.width:
        return None
    return f"to have (width={leaf.width}), but got (width={width})"


@cute_op("cute.make_int_tuple")
class MakeIntTupleOp(LeavesOp):
    """An int_tuple from its dynamic leaves."""

    result = result_def(INT_TUPLE)


@cute_op("cute.make_shape")
class MakeShapeOp(LeavesOp):
    """A shape from its dynamic leaves."""

    result = result_def(SHAPE)


@cute_op("cute.make_stride")
class MakeStrideOp(LeavesOp):
    """A stride from its dynamic leaves."""

    result = result_def(STRIDE)


@cute_op("cute.make_coord")
class MakeCoordOp(LeavesOp):
    """A coordinate from its dynamic leaves."""

    result = result_def(COORD)


@cute_op("cute.make_tile")
class MakeTileOp(LeavesOp):
    """A tile from the dynamic leaves of its layouts."""

    result = result_def(TILE)


@cute_op("cute.make_layout", constructors.make_layout)
class MakeLayoutOp(InferredOp):
    """shape:stride."""

    shape = operand_def(SHAPE)
    stride = operand_def(STRIDE)
    result = result_def(LAYOUT)


@cute_op("cute.make_composed_layout", constructors.make_composed_layout)
class MakeComposedLayoutOp(InferredOp):
    """inner o offset o outer."""

    SHORT_OPERANDS = True
    SHORT_RESULTS = True

    inner = operand_def(INNER)
    offset = operand_def(INT_TUPLE)
    outer = operand_def(LAYOUT)
    result = result_def(COMPOSED)


@cute_op("cute.make_layout_like", constructors.make_layout_like)
class MakeLayoutLikeOp(InferredOp):
    """Compact, the modes laid out in the order of the source's strides."""

    SYNTAX = Syntax.ARROW

    source = operand_def(ANY_LAYOUT)
    result = result_def(ANY_LAYOUT)


@cute_op("cute.make_ordered_layout", constructors.make_ordered_layout)
class MakeOrderedLayoutOp(InferredOp):
    """Compact, the modes laid out in a given order."""

    shape = operand_def(SHAPE)
    order = operand_def(INT_TUPLE)
    result = result_def(LAYOUT)


@cute_op("cute.make_identity_layout", constructors.make_identity_layout)
class MakeIdentityLayoutOp(InferredOp):
    """Every coordinate is its own image."""

    SYNTAX = Syntax.ARROW

    shape = operand_def(SHAPE)
    result = result_def(LAYOUT)
