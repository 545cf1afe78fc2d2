"""Arithmetic of each thread on the registers of fragments."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.irdl import (
    BaseAttr,
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute_nvgpu.atoms.conversion import TypeConversion
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma, fma_of
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.cute_nvgpu.types.conversion import ConvertAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.traits import PURE


@fields_op("cute_nvgpu.fragment.convert")
class ConvertOp(BaselineOp):
    """The elements in another type, by a form of `cvt`, as many instructions as that takes.

    ```mlir
    %d = cute_nvgpu.fragment.convert<"rn.satfinite.e4m3x2.f32"> %a
        : !cute_nvgpu.fragment<4xf32> -> !cute_nvgpu.fragment<4xf8E4M3FN>
    ```

    Where the rounding is stochastic, each instruction takes a word: `random %bits`, i32 in a
    fragment of so many. PTX ISA 9.7.9.21.
    """

    source = operand_def(FragmentType)
    random = opt_operand_def(FragmentType)
    atom = prop_def(ConvertAttr)
    result = result_def(FragmentType)

    traits = PURE

    @property
    def conversion(self) -> TypeConversion:
        """The instruction, and what it takes."""
        return self.atom.data

    def requirement(self) -> Requirement:
        return self.atom.requirement()

    @classmethod
    def parse(cls, parser: Parser) -> ConvertOp:
        atom = ConvertAttr(ConvertAttr.parse_parameter(parser))
        operands = [parser.parse_unresolved_operand()]
        if parser.parse_optional_keyword("random"):
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        result = parser.parse_type()
        types = [source, FragmentType.get(_words(atom, source), i32)][: len(operands)]
        values = parser.resolve_operands(operands, types, parser.pos)
        op = cls(values[0], result, atom, random=values[1] if values[1:] else None)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        self.atom.print_parameter(printer)
        printer.print_string(" ")
        printer.print_operand(self.source)
        if self.random is not None:
            printer.print_string(" random ")
            printer.print_operand(self.random)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, FragmentType)
        types = str(source.element_type), str(result.element_type)
        self.refuse(self.conversion.why_not(*types, source.count.data))
        if source.count != result.count:
            raise self.fail(f"a result of {source.count.data} elements, got {result.count.data}")
        if source.is_unpacked or result.is_unpacked:
            raise self.fail("elements side by side, got a fragment that is unpacked")
        words = FragmentType.get(_words(self.atom, source), i32)
        given = None if self.random is None else self.random.type
        if given != (words if self.conversion.is_stochastic else None):
            wanted = f"random bits, {words}," if self.conversion.is_stochastic else "no random bits"
            raise self.fail(f"{wanted} for cvt.{self.conversion.form.suffix}, got {given}")


def _words(atom: ConvertAttr, source: object) -> int:
    """The instructions, and words of random bits, for a source."""
    count = source.count.data if isinstance(source, FragmentType) else 1
    return max(1, count // atom.data.count)


@fields_op("cute_nvgpu.fragment.fma")
class FmaOp(BaselineOp):
    """d = a * b + c, element by element, each rounded once: `fma.rn` on f32, f64, f16x2, bf16x2.

    ```mlir
    %d = cute_nvgpu.fragment.fma %a, %b, %c : !cute_nvgpu.fragment<2xf16>
    ```

    PTX ISA 9.7.3.6 and 9.7.4.4.
    """

    T = VarConstraint("T", BaseAttr(FragmentType))
    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    result = result_def(T)

    traits = PURE

    assembly_format = "$a `,` $b `,` $c attr-dict `:` type($result)"

    @property
    def fma(self) -> UniversalFma:
        """The instruction. Raises AtomError where there is none."""
        return fma_of(self.result.type.element.name)

    def requirement(self) -> Requirement:
        return self.fma.form.requirement

    def verify_(self) -> None:
        _ = self.fma
