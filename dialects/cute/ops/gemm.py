"""`cute.gemm`: the MMAs of one block of K."""

from typing import Any, ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.ops.elements import tensor_of
from tilewright.dialects.cute.ops.operands import BOOL, MEMREF, TILED_MMA
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op, typed_value
from tilewright.dialects.cute.ops.text import Signature, Syntax
from tilewright.dialects.cute.rules.gemm import check_gemm
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.traits import READS_AND_WRITES

BESIDE: tuple[Operand, ...] = ("E", "SFA", "SFB")
"""The operands that only some atoms have."""


@irdl_custom_directive
class Multiplied(CustomDirective):
    """`(%mma, %d, %a, %b, %c, E = %e, SFA = %x, SFB = %y)`"""

    mma: OperandVariable
    d: OperandVariable
    a: OperandVariable
    b: OperandVariable
    c: OperandVariable
    e: OptionalOperandVariable
    sfa: OptionalOperandVariable
    sfb: OptionalOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        named: dict[str, UnresolvedOperand] = {}

        def operand() -> UnresolvedOperand:
            key = next((x for x in BESIDE if parser.parse_optional_keyword(x)), None)
            if key is not None:
                parser.parse_punctuation("=")
                named[key] = parser.parse_unresolved_operand()
                return named[key]
            return parser.parse_unresolved_operand()

        start = parser.pos
        given = parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        if len(given) != 5 + len(named) or given[5:] != list(named.values()):
            parser.raise_error(
                "expected (mma, d, a, b, c), then E = e, SFA = sfa, SFB = sfb", start, parser.pos
            )
        for i, one in enumerate([*given[:5], *map(named.get, BESIDE)]):
            state.operands[i] = () if one is None else (one,)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        with printer.in_parens():
            printer.print_list(op.operands[:5], printer.print_operand)
            for which in BESIDE:
                if (value := op.tensors.get(which)) is not None:
                    printer.print_string(f", {which} = ")
                    printer.print_operand(value)


@cute_op("cute.gemm")
class GemmOp(CuteOp):
    """d = a b + c, one MMA for each M, N and K of the partitions.

    `cute.gemm(%mma, %d, %a, %b, %c)`: d and c (V,M,N), often the same tensor, a (V,M,K) or (V,M)
    and b (V,N,K) or (V,N). The elements of d lie apart. A sparse atom takes its metadata as
    `E = %e`, a block-scaled one the scale factors as `SFA = %x, SFB = %y`, (V,M,K) and (V,N,K) as
    well. With `accumulate %flag` an i1 says whether c counts, as 0 where not, for the first K. On
    sm_90 the MMAs are only issued: `cute_nvgpu.wgmma` fences, commits and waits. On sm_100 the
    thread that executes it issues them, d and c being one tensor in tensor memory; they are
    complete when a commit of that thread, by a pipeline, has arrived.
    """

    mma = operand_def(TILED_MMA)
    d = operand_def(MEMREF)
    a = operand_def(MEMREF)
    b = operand_def(MEMREF)
    c = operand_def(MEMREF)
    e = opt_operand_def(MEMREF)
    sfa = opt_operand_def(MEMREF)
    sfb = opt_operand_def(MEMREF)
    accumulate = opt_operand_def(BOOL)

    traits = READS_AND_WRITES

    SYNTAX = Syntax.INFERRED
    custom_directives: ClassVar = (Multiplied, Signature)
    assembly_format = (
        "custom<Multiplied>($mma, $d, $a, $b, $c, $e, $sfa, $sfb) (`accumulate` $accumulate^)? "
        "attr-dict custom<Signature>()"
    )

    def __init__(
        self,
        mma: SSAValue,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        accumulate: SSAValue | None = None,
        **beside: SSAValue,
    ):
        """`beside` are E, SFA and SFB, by name."""
        named = {which.lower(): value for which, value in beside.items()}
        super().__init__(mma, d, a, b, c, accumulate=accumulate, **named)

    @property
    def tensors(self) -> dict[Operand, SSAValue]:
        """The tensors that it reads, by operand."""
        values = (self.a, self.b, self.c, self.e, self.sfa, self.sfb)
        every = zip(("A", "B", "C", *BESIDE), values, strict=True)
        return {which: value for which, value in every if value is not None}  # type: ignore[misc]

    def verify_types(self) -> None:
        values: dict[Operand, Typed] = {}
        for which, value in self.tensors.items():
            values[which] = typed_value(value.type)
        check_gemm(typed_value(self.mma.type), typed_value(self.d.type), values)

    def verify_in_place(self) -> None:
        if tensor_of(self.d.type).space == "tmem" and self.c is not self.d:
            raise self.fail(
                f"c to be d, which MMAs add to where it is, got another "
                f"{typed_value(self.c.type).quoted}; nearest legal: d twice"
            )
