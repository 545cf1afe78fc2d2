"""`cute.copy`: elements from one tensor to another."""

from typing import Any, ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.ops.operands import (
    COPIER,
    LIMITS,
    MASK,
    PIPELINE,
    POLICY,
    TENSOR,
    USE,
)
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op, typed_value
from tilewright.dialects.cute.ops.text import Signature, Syntax, parse_operands
from tilewright.dialects.cute.rules import copies
from tilewright.dialects.traits import READS_AND_WRITES


@irdl_custom_directive
class Transfer(CustomDirective):
    """`(%copy, %source, %destination)`, with or without the copy."""

    tiled: OptionalOperandVariable
    source: OperandVariable
    destination: OperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands = parse_operands(parser)
        if len(operands) not in (2, 3):
            parser.raise_error("expected (copy, source, destination) or (source, destination)")
        *tiled, source, destination = operands
        self.tiled.set(state, tiled[0] if tiled else None)
        self.source.set(state, source)
        self.destination.set(state, destination)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        values = filter(None, (op.tiled, op.source, op.destination))
        with printer.in_parens():
            printer.print_list(values, printer.print_operand)


@cute_op("cute.copy")
class CopyOp(CuteOp):
    """The elements of one tensor to another, as a tiled copy's instruction moves them.

    `cute.copy(%copy, %source, %destination)` takes partitions of that copy. Without it, a thread
    moves its elements by itself: `cute.copy(%source, %destination)`. With `bounds(%coords,
    %limits)`, of a copy from or to gmem, an element counts whose coordinate is below the limits:
    others arrive as zeros, or are not written. Elements of the destination that lie in one place
    must be one of the source: it arrives where one of them is within bounds. A TMA load completes
    on a stage of a pipeline: `pipeline %p[%use]`; with `multicast %mask`, in each CTA of the
    cluster whose bit of the mask, an i16, is set. `cache_hint` of a TMA copy is an L2 cache policy.
    """

    tiled = opt_operand_def(COPIER)
    source = operand_def(TENSOR)
    destination = operand_def(TENSOR)
    coords = opt_operand_def(TENSOR)
    limits = opt_operand_def(LIMITS)
    pipeline = opt_operand_def(PIPELINE)
    use = opt_operand_def(USE)
    mask = opt_operand_def(MASK)
    cache_hint = opt_operand_def(POLICY)

    traits = READS_AND_WRITES

    SYNTAX = Syntax.INFERRED
    custom_directives: ClassVar = (Transfer, Signature)
    assembly_format = (
        "custom<Transfer>($tiled, $source, $destination) (`bounds` `(` $coords^ `,` $limits `)`)? "
        "(`pipeline` $pipeline^ `[` $use `]`)? (`multicast` $mask^)? "
        "(`cache_hint` $cache_hint^)? attr-dict custom<Signature>()"
    )

    def __init__(
        self,
        tiled: SSAValue | None,
        source: SSAValue,
        destination: SSAValue,
        *,
        bounds: tuple[SSAValue, SSAValue] | None = None,
        pipeline: tuple[SSAValue, SSAValue] | None = None,
        mask: SSAValue | None = None,
        cache_hint: SSAValue | None = None,
    ):
        coords, limits = bounds or (None, None)
        ring, use = pipeline or (None, None)
        super().__init__(
            source, destination, tiled=tiled, coords=coords, limits=limits, pipeline=ring, use=use,
            mask=mask, cache_hint=cache_hint,
        )  # fmt: skip

    @classmethod
    def misfit(cls, name: str, place: str, words: str, got: Attribute) -> VerifyException:
        return VerifyException(f"'{cls.name}' expected {words}, got '{got}'")

    def verify_types(self) -> None:
        source, destination = typed_value(self.source.type), typed_value(self.destination.type)
        copier = None if self.tiled is None else typed_value(self.tiled.type)
        if copier is not None and copier.kind == "tma_copy":
            copies.check_tma_copy(copier, source, destination, self.pipeline is not None)
            copies.check_multicast(copier, self.mask is not None)
            return
        if self.pipeline is not None:
            raise self.fail("a pipeline with a TMA load alone")
        if self.mask is not None:
            raise self.fail("a mask with a multicast TMA load alone")
        if self.cache_hint is not None:
            raise self.fail("a cache hint with a TMA copy alone")
        if copier is None:
            copies.check_plain_copy(source, destination)
        else:
            copies.check_copy(copier, source, destination)
        if self.coords is not None and self.limits is not None:
            memory = destination if destination.value.space == "gmem" else source
            coords, limits = typed_value(self.coords.type), typed_value(self.limits.type)
            copies.check_bounds(memory, coords, limits)
