"""`cute.copy`: elements from one tensor to another."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i16
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tilewright.dialects.cute.ops.operands import COPIER, LIMITS, PIPELINE, TENSOR, USE
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op, types_above
from tilewright.dialects.cute.rules import copies
from tilewright.dialects.cute.types.algebra import typed_of
from tilewright.dialects.cute.values import Typed


def value_of(operand: SSAValue) -> Typed:
    """The value that an operand's type describes."""
    typed = typed_of(operand.type)
    assert typed is not None
    return typed


@cute_op("cute.copy", (COPIER, TENSOR, TENSOR, TENSOR, LIMITS, PIPELINE, USE), ())
class CopyOp(CuteOp):
    """The elements of one tensor to another, as a tiled copy's instruction moves them.

    `cute.copy(%copy, %source, %destination)` takes partitions of that copy. Without it, a thread
    moves its elements by itself: `cute.copy(%source, %destination)`. With `bounds(%coords,
    %limits)`, of a copy from or to gmem, an element counts whose coordinate is below the limits:
    others arrive as zeros, or are not written. Elements of the destination that lie in one place
    must be one of the source: it arrives where one of them is within bounds. A TMA load completes
    on a stage of a pipeline: `pipeline %p[%use]`; with `multicast %mask`, in each CTA of the
    cluster whose bit of the mask, an i16, is set.
    """

    tiled = opt_operand_def()
    source = operand_def()
    destination = operand_def()
    coords = opt_operand_def()
    limits = opt_operand_def()
    pipeline = opt_operand_def()
    use = opt_operand_def()
    mask = opt_operand_def(i16)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        tiled: SSAValue | None,
        source: SSAValue,
        destination: SSAValue,
        *,
        bounds: tuple[SSAValue, SSAValue] | None = None,
        pipeline: tuple[SSAValue, SSAValue] | None = None,
        mask: SSAValue | None = None,
    ):
        coords, limits = bounds or (None, None)
        ring, use = pipeline or (None, None)
        super().__init__(
            source, destination, tiled=tiled, coords=coords, limits=limits, pipeline=ring, use=use,
            mask=mask,
        )  # fmt: skip

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        tensors = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        if len(tensors) not in (2, 3):
            parser.raise_error("expected (copy, source, destination) or (source, destination)")
        bounds: Sequence[UnresolvedOperand] = ()
        pipeline: Sequence[UnresolvedOperand] = ()
        if parser.parse_optional_keyword("bounds"):
            bounds = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_unresolved_operand
            )
            if len(bounds) != 2:
                parser.raise_error("expected bounds(coords, limits)")
        if parser.parse_optional_keyword("pipeline"):
            whole = parser.parse_unresolved_operand()
            with parser.in_square_brackets():
                pipeline = (whole, parser.parse_unresolved_operand())
        masked = parser.parse_optional_keyword("multicast") is not None
        masks = [parser.parse_unresolved_operand()] if masked else []
        attributes = parser.parse_optional_attr_dict()
        given = [*tensors, *bounds, *pipeline, *masks]
        types: Sequence[Attribute]
        if parser.parse_optional_punctuation(":") is None:
            types = types_above(parser, given)
        else:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = iter(parser.resolve_operands(given, types, parser.pos))
        tiled = next(values) if len(tensors) == 3 else None
        source, destination = next(values), next(values)
        op = cls(
            tiled,
            source,
            destination,
            bounds=(next(values), next(values)) if bounds else None,
            pipeline=(next(values), next(values)) if pipeline else None,
            mask=next(values) if masks else None,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        tensors = [
            tensor for tensor in (self.tiled, self.source, self.destination) if tensor is not None
        ]
        with printer.in_parens():
            printer.print_list(tensors, printer.print_operand)
        if self.coords is not None and self.limits is not None:
            printer.print_string(" bounds(")
            printer.print_list((self.coords, self.limits), printer.print_operand)
            printer.print_string(")")
        if self.pipeline is not None and self.use is not None:
            printer.print_string(" pipeline ")
            printer.print_operand(self.pipeline)
            with printer.in_square_brackets():
                printer.print_operand(self.use)
        if self.mask is not None:
            printer.print_string(" multicast ")
            printer.print_operand(self.mask)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([tensor.type for tensor in self.operands], printer.print_attribute)

    def verify_(self) -> None:
        tensors = self.tiled, self.source, self.destination, self.coords
        named = zip((*tensors, self.limits, self.pipeline, self.use), self.OPERANDS, strict=True)
        for operand, wanted in named:
            if operand is not None and not wanted.takes(operand.type):
                raise self.fail(f"{wanted.description}, got '{operand.type}'")
        self._check()

    def _check(self) -> None:
        source, destination = value_of(self.source), value_of(self.destination)
        copier = None if self.tiled is None else value_of(self.tiled)
        if copier is not None and copier.kind == "tma_copy":
            copies.check_tma_copy(copier, source, destination, self.pipeline is not None)
            copies.check_multicast(copier, self.mask is not None)
            return
        if self.pipeline is not None:
            raise self.fail("a pipeline with a TMA load alone")
        if self.mask is not None:
            raise self.fail("a mask with a multicast TMA load alone")
        if copier is None:
            copies.check_plain_copy(source, destination)
        else:
            copies.check_copy(copier, source, destination)
        if self.coords is not None and self.limits is not None:
            memory = destination if destination.value.space == "gmem" else source
            copies.check_bounds(memory, value_of(self.coords), value_of(self.limits))
