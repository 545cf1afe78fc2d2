"""Ops on tensors: views of them, and their tiles.

%ca = cute.local_tile(%a, %tiler, %coord)       what a CTA has of a matrix: (128,32,k)
%row = cute.slice(%ca, %k)                      as of a layout; the first element moves
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    LAYOUT,
    MEMREF,
    SHAPE,
    TENSOR,
    THREAD,
    TILE_COORD,
    TILER,
)
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.rules import tensors as rules
from tilewright.dialects.cute.text import LayoutParseError
from tilewright.dialects.cute.values import Typed, read_typed


@irdl_op_definition
class MakeViewOp(InferredOp):
    """The elements of a tensor through another layout, from the tensor's first element on."""

    name = "cute.make_view"
    OPERANDS: ClassVar = (MEMREF, ANY_LAYOUT)
    RESULTS: ClassVar = (MEMREF,)
    RULE: ClassVar = staticmethod(rules.make_view)

    source = operand_def()
    layout = operand_def()
    result = result_def()


@irdl_op_definition
class GetLayoutOp(InferredOp):
    """The layout of a tensor."""

    name = "cute.get_layout"
    OPERANDS: ClassVar = (TENSOR,)
    RESULTS: ClassVar = (ANY_LAYOUT,)
    RULE: ClassVar = staticmethod(rules.get_layout)

    source = operand_def()
    result = result_def()


@irdl_op_definition
class MakeIdentityTensorOp(InferredOp):
    """The tensor whose elements are their own coordinates: what bounds are made of."""

    name = "cute.make_identity_tensor"
    OPERANDS: ClassVar = (SHAPE,)
    RESULTS: ClassVar = (TENSOR,)
    RULE: ClassVar = staticmethod(rules.make_identity_tensor)

    shape = operand_def()
    result = result_def()


@irdl_op_definition
class MakeFragmentLikeOp(InferredOp):
    """Registers for the elements of a tensor, or for as many of another type:
    `cute.make_fragment_like<bf16> (%t)`. Modes of stride 0 share registers."""

    name = "cute.make_fragment_like"
    OPERANDS: ClassVar = (TENSOR,)
    RESULTS: ClassVar = (MEMREF,)
    RULE: ClassVar = staticmethod(rules.make_fragment_like)

    source = operand_def()
    element = opt_prop_def(Attribute)
    result = result_def()

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return (str(properties["element"]) if "element" in properties else None,)

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return {}
        element = parser.parse_type()
        parser.parse_punctuation(">")
        return {"element": element}

    def print_prefix(self, printer: Printer) -> None:
        if self.element is not None:
            with printer.in_angle_brackets():
                printer.print_attribute(self.element)
        printer.print_string(" ")


@irdl_op_definition
class LocalTileOp(InferredOp):
    """The tile of a tensor at a coordinate of tiles.

    `cute.local_tile(%a, %tiler, %coord)` with the tiler (128,32) and the coordinate (?,_) of a
    tensor (m,k) is (128,32,rest of k). `cute.local_tile<"(1,_,1)"> (...)` leaves out the modes of
    tiler and coordinate that are `_`, so that the tensors of a GEMM share those of (M,N,K).
    """

    name = "cute.local_tile"
    OPERANDS: ClassVar = (TENSOR, TILER, TILE_COORD)
    RESULTS: ClassVar = (TENSOR,)

    source = operand_def()
    tiler = operand_def()
    coord = operand_def()
    proj = opt_prop_def(StringAttr)
    result = result_def()

    RULE: ClassVar = staticmethod(rules.local_tile)

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        proj = properties.get("proj")
        return () if not isinstance(proj, StringAttr) else (read_typed("coord", proj.data),)

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return {}
        start = parser.pos
        text = parser.parse_str_literal()
        try:
            proj: Typed = read_typed("coord", text)
        except LayoutParseError as error:
            parser.raise_error(f'failed to parse proj from "{text}": {error}', start, parser.pos)
        if not isinstance(proj.value, tuple):
            parser.raise_error(f"expected a tuple of 1 and _, got {text}", start, parser.pos)
        parser.parse_punctuation(">")
        return {"proj": StringAttr(proj.text)}

    def print_prefix(self, printer: Printer) -> None:
        if self.proj is not None:
            printer.print_string(f'<"{self.proj.data}"> ')


@irdl_op_definition
class LocalPartitionOp(InferredOp):
    """The part of a tensor that one thread of a layout of threads has: of each of its tiles the
    element at that thread's place."""

    name = "cute.local_partition"
    OPERANDS: ClassVar = (TENSOR, LAYOUT, THREAD)
    RESULTS: ClassVar = (TENSOR,)
    RULE: ClassVar = staticmethod(rules.local_partition)

    source = operand_def()
    threads = operand_def()
    index = operand_def()
    result = result_def()
