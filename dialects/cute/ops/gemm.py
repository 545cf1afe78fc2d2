"""`cute.gemm`: the MMAs of one block of K."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.ops.copy import value_of
from tilewright.dialects.cute.ops.operands import MEMREF, TILED_MMA
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op, types_above
from tilewright.dialects.cute.rules.gemm import check_gemm
from tilewright.dialects.cute.values import Typed

BESIDE: tuple[Operand, ...] = ("E", "SFA", "SFB")
"""The operands that only some atoms have."""


@cute_op("cute.gemm", (TILED_MMA, MEMREF), ())
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

    mma = operand_def()
    d = operand_def()
    a = operand_def()
    b = operand_def()
    c = operand_def()
    e = opt_operand_def()
    sfa = opt_operand_def()
    sfb = opt_operand_def()
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

    @classmethod
    def parse(cls, parser: Parser) -> GemmOp:
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
        flag = None
        if parser.parse_optional_keyword("accumulate"):
            flag = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":") is None:
            types = types_above(parser, given)
        else:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        mma, d, a, b, c, *others = parser.resolve_operands(given, types, parser.pos)
        op = cls(mma, d, a, b, c, flag, **dict(zip(named, others, strict=True)))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        beside = {which: value for which, value in self.tensors.items() if which in BESIDE}
        with printer.in_parens():
            printer.print_list(self.operands[:5], printer.print_operand)
            for which, value in beside.items():
                printer.print_string(f", {which} = ")
                printer.print_operand(value)
        if self.accumulate is not None:
            printer.print_string(" accumulate ")
            printer.print_operand(self.accumulate)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self._typed(), lambda value: printer.print_attribute(value.type))

    def _typed(self) -> Sequence[SSAValue]:
        """The operands whose types it writes: all but the flag."""
        return self.operands[: len(self.operands) - (self.accumulate is not None)]

    def verify_(self) -> None:
        self._verify_kinds("operand", [value.type for value in self._typed()], self.OPERANDS)
        tensors: dict[Operand, Typed] = {}
        for which, value in self.tensors.items():
            tensors[which] = value_of(value)
        check_gemm(value_of(self.mma), value_of(self.d), tensors)
        if value_of(self.d).value.space == "tmem" and self.c is not self.d:
            raise self.fail(
                f"c to be d, which MMAs add to where it is, got another {value_of(self.c).quoted}; "
                "nearest legal: d twice"
            )
