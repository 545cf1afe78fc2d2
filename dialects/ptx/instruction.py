"""The format that most PTX instructions share, and how an op says which form of it it is.

A scalar instruction is one op class; its forms (`add.s32`, `add.rn.f32`) are rows of the class's
table. A form fixes the registers of the operands and the result, so the custom syntax needs no
types: `%2 = ptx.add rn.f32 %0, %1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE as BASELINE,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    Requirement as Requirement,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    needs as needs,
)
from tilewright.dialects.ptx.types import RegType, reg

REGISTER_OF: dict[str, str] = {
    "pred": "pred",
    **dict.fromkeys(("b16", "s16", "u16", "f16", "bf16"), "b16"),
    **dict.fromkeys(("b32", "s32", "u32", "f16x2", "bf16x2"), "b32"),
    **dict.fromkeys(("b64", "s64", "u64"), "b64"),
    "f32": "f32",
    "f64": "f64",
}
"""The register kind that an operand of an instruction type lives in. PTX ISA 5.2.1."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form of an instruction: `types` are the instruction types of its operands."""

    suffix: str
    types: tuple[str, ...]
    result: str
    requirement: Requirement = BASELINE


def forms(
    types: Iterable[str],
    arity: int,
    prefix: str = "",
    result: str | None = None,
    requirement: Requirement = BASELINE,
) -> dict[str, Form]:
    """Forms `prefix.type`, every operand and (unless given) the result of that type."""
    rows = (
        Form(f"{prefix}{each}", (each,) * arity, each if result is None else result, requirement)
        for each in types
    )
    return {row.suffix: row for row in rows}


class PtxOp(IRDLOperation):
    """Any op of the dialect that stands for an instruction."""

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic."""
        return self.name.removeprefix("ptx.")

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        return self.mnemonic

    def requirement(self) -> Requirement:
        """What the instruction needs of its target."""
        return BASELINE


class ScalarOp(PtxOp):
    """`MNEMONIC.form d, a, b, ...;` on single registers, no side effect."""

    FORMS: ClassVar[dict[str, Form]]

    inputs = var_operand_def(RegType)
    result = var_result_def(RegType)
    form = prop_def(StringAttr)

    traits = traits_def(Pure())

    def __init__(self, form: str, inputs: Sequence[SSAValue]):
        super().__init__(
            operands=[inputs],
            result_types=[[reg(REGISTER_OF[self.FORMS[form].result])]],
            properties={"form": StringAttr(form)},
        )

    @classmethod
    def of(cls, form: str, inputs: Sequence[SSAValue]) -> Self:
        """The op of that form, built without re-checking what the table already says."""
        return cls.create(
            operands=inputs,
            result_types=[reg(REGISTER_OF[cls.FORMS[form].result])],
            properties={"form": StringAttr(form)},
        )

    @property
    def row(self) -> Form:
        """The row of this op's form."""
        return self.FORMS[self.form.data]

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `add.rn.f32`."""
        return f"{super().mnemonic}.{self.form.data}"

    def requirement(self) -> Requirement:
        return self.row.requirement

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        suffix = parser.parse_identifier()
        if suffix not in cls.FORMS:
            parser.raise_error(
                f"'{cls.name}' expected a form of {', '.join(cls.FORMS)}, got {suffix}",
                start,
                parser.pos,
            )
        row = cls.FORMS[suffix]
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        types = [reg(REGISTER_OF[each]) for each in row.types]
        inputs = parser.resolve_operands(operands, types, start)
        op = cls(suffix, inputs)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.form.data} ")
        printer.print_list(self.inputs, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        row = self.FORMS.get(self.form.data)
        if row is None:
            raise VerifyException(
                f"'{self.name}' expected a form of {', '.join(self.FORMS)}, got {self.form.data}"
            )
        found = (*self.inputs.types, *self.result.types)
        legal = tuple(reg(REGISTER_OF[each]) for each in (*row.types, row.result))
        if found != legal:
            raise VerifyException(
                f"'{self.name}' {self.form.data} expected registers {_names(legal)}, "
                f"got {_names(found)}"
            )


def _names(types: Iterable[object]) -> str:
    return ", ".join(map(str, types))
