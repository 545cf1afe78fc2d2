"""`cute.gemm`: the MMAs of one block of K."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.ops.copy import value_of
from tilewright.dialects.cute.ops.operands import MEMREF, TILED_MMA
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op, types_above
from tilewright.dialects.cute.rules import RuleError
from tilewright.dialects.cute.rules.gemm import check_gemm


@cute_op("cute.gemm", (TILED_MMA, MEMREF, MEMREF, MEMREF, MEMREF), ())
class GemmOp(CuteOp):
    """d = a b + c, one MMA for each M, N and K of the partitions.

    `cute.gemm(%mma, %d, %a, %b, %c)`: d and c (V,M,N), often the same tensor, a (V,M,K) or (V,M)
    and b (V,N,K) or (V,N). With `accumulate %flag` an i1 says whether c counts, as 0 where not,
    for the first K. On sm_90 the MMAs are only issued: `cute_nvgpu.wgmma` fences, commits and
    waits. On sm_100 the thread that executes it issues them, d and c being one tensor in tensor
    memory; they are complete when a commit of that thread, by a pipeline, has arrived.
    """

    mma = operand_def()
    d = operand_def()
    a = operand_def()
    b = operand_def()
    c = operand_def()
    accumulate = opt_operand_def(i1)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        mma: SSAValue,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        accumulate: SSAValue | None = None,
    ):
        super().__init__(operands=[mma, d, a, b, c, accumulate])

    @classmethod
    def parse(cls, parser: Parser) -> GemmOp:
        given = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        if len(given) != 5:
            parser.raise_error("expected (mma, d, a, b, c)")
        flag = None
        if parser.parse_optional_keyword("accumulate"):
            flag = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":") is None:
            types = types_above(parser, given)
        else:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        mma, d, a, b, c = parser.resolve_operands(given, types, parser.pos)
        op = cls(mma, d, a, b, c, flag)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.operands[:5], printer.print_operand)
        if self.accumulate is not None:
            printer.print_string(" accumulate ")
            printer.print_operand(self.accumulate)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([operand.type for operand in self.operands[:5]], printer.print_attribute)

    def verify_(self) -> None:
        self._verify_kinds(
            "operand", [operand.type for operand in self.operands[:5]], self.OPERANDS
        )
        try:
            check_gemm(*(value_of(operand) for operand in self.operands[:5]))
        except (RuleError, LayoutError) as error:
            raise VerifyException(f"'{self.name}' {error}") from None
        if value_of(self.d).value.space == "tmem" and self.c is not self.d:
            raise VerifyException(
                f"'{self.name}' expected c to be d, which MMAs add to where it is, got another "
                f"{value_of(self.c).quoted}; nearest legal: d twice"
            )
