"""Ops that build values from their parts."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

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
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp, Syntax, cute_op
from tilewright.dialects.cute.rules import accessors, constructors
from tilewright.dialects.cute.symbolic.scalar import Dynamic, fits
from tilewright.dialects.cute.types.algebra import CuteType, IntTupleType, TileType
from tilewright.dialects.cute.values import is_known


@cute_op("cute.static", (), (ANY,))
class StaticOp(CuteOp):
    """A value that is known: `%x = cute.static : !cute.shape<"(4,8)">`."""

    result = result_def()

    traits = traits_def(Pure(), ConstantLike())

    assembly_format = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        super().verify_()
        type_ = self.result.type
        if isinstance(type_, CuteType) and not is_known(type_.typed):
            raise VerifyException(
                f"'{self.name}' op expects result to be static, but got '{type_}'"
            )


@cute_op("cute.print", (ANY,), ())
class PrintOp(CuteOp):
    """Print a value when the program runs: `cute.print(%x) : !cute.shape<"(4,?)">`."""

    value = operand_def()

    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> PrintOp:
        with parser.in_parens():
            value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(value, parser.parse_type())
        return cls.create(operands=[operand], attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_operand(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_op_attributes(self.attributes)


class LeavesOp(CuteOp, ABC):
    """A value of a given type, its dynamic leaves from the operands.

    `%s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">`. An operand is as wide as its leaf,
    or an int_tuple whose number fits it. Without types the operands are all its leaves:
    `cute.make_shape(%n, %n)` is `(?,?)`, and of a single operand `?`.
    """

    OPERANDS: ClassVar = (INTEGER,)

    leaves = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        accepted = cls.RESULTS[0].only
        if accepted is None or accepted is TileType or not operand_types:
            return super().infer(operand_types, properties)
        leaves = [str(_leaf_of(type_)) for type_ in operand_types]
        text = leaves[0] if len(leaves) == 1 else f"({','.join(leaves)})"
        return (accepted.new([StringAttr(text)]),)

    def verify_(self) -> None:
        super().verify_()
        type_ = self.result.type
        assert isinstance(type_, CuteType)
        wanted = accessors.dynamic_leaves(type_.typed)
        if len(wanted) != len(self.leaves):
            raise VerifyException(
                f"'{self.name}' op expects {len(wanted)} dynamic operand(s) for result type "
                f"'{type_}', but got {len(self.leaves)}"
            )
        for i, (leaf, operand) in enumerate(zip(wanted, self.leaves, strict=True)):
            if (fault := _leaf_fault(leaf, operand.type)) is not None:
                raise VerifyException(f"'{self.name}' op expects operand #{i} {fault}")


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


@cute_op("cute.make_int_tuple", results=(INT_TUPLE,))
class MakeIntTupleOp(LeavesOp):
    """An int_tuple from its dynamic leaves."""


@cute_op("cute.make_shape", results=(SHAPE,))
class MakeShapeOp(LeavesOp):
    """A shape from its dynamic leaves."""


@cute_op("cute.make_stride", results=(STRIDE,))
class MakeStrideOp(LeavesOp):
    """A stride from its dynamic leaves."""


@cute_op("cute.make_coord", results=(COORD,))
class MakeCoordOp(LeavesOp):
    """A coordinate from its dynamic leaves."""


@cute_op("cute.make_tile", results=(TILE,))
class MakeTileOp(LeavesOp):
    """A tile from the dynamic leaves of its layouts."""


@cute_op("cute.make_layout", (SHAPE, STRIDE), (LAYOUT,), constructors.make_layout)
class MakeLayoutOp(InferredOp):
    """shape:stride."""

    shape = operand_def()
    stride = operand_def()
    result = result_def()


@cute_op(
    "cute.make_composed_layout",
    (INNER, INT_TUPLE, LAYOUT),
    (COMPOSED,),
    constructors.make_composed_layout,
)
class MakeComposedLayoutOp(InferredOp):
    """inner o offset o outer."""

    SHORT_OPERANDS: ClassVar = True
    SHORT_RESULTS: ClassVar = True

    inner = operand_def()
    offset = operand_def()
    outer = operand_def()
    result = result_def()


@cute_op("cute.make_layout_like", (ANY_LAYOUT,), (ANY_LAYOUT,), constructors.make_layout_like)
class MakeLayoutLikeOp(InferredOp):
    """Compact, the modes laid out in the order of the source's strides."""

    SYNTAX: ClassVar = Syntax.ARROW

    source = operand_def()
    result = result_def()


@cute_op(
    "cute.make_ordered_layout", (SHAPE, INT_TUPLE), (LAYOUT,), constructors.make_ordered_layout
)
class MakeOrderedLayoutOp(InferredOp):
    """Compact, the modes laid out in a given order."""

    shape = operand_def()
    order = operand_def()
    result = result_def()


@cute_op("cute.make_identity_layout", (SHAPE,), (LAYOUT,), constructors.make_identity_layout)
class MakeIdentityLayoutOp(InferredOp):
    """Every coordinate is its own image."""

    SYNTAX: ClassVar = Syntax.ARROW

    shape = operand_def()
    result = result_def()
