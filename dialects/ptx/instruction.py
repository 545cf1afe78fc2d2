"""The format that most PTX instructions share, and how an op says which form of it it is.

A scalar instruction is one op class; its forms (`add.s32`, `add.rn.f32`) are rows of the class's
table. A form fixes the registers of the operands and the result, so the custom syntax needs no
types: `%2 = ptx.add rn.f32 %0, %1`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import ClassVar, NamedTuple, Protocol, Self, TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import prop_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, Form, ScalarRow
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Minimum, Requirement
from tilewright.dialects.fields import FieldsOp
from tilewright.dialects.ptx.types import RegType, reg


class SharedPlace(NamedTuple):
    """A place in the kernel's shared memory, which the text calls by its symbol."""

    offset: int


Item: TypeAlias = SSAValue | int | str | SharedPlace
Given: TypeAlias = Item | Sequence[Item] | None
"""The op's content for an operand of its instruction: registers, integers and words in the order in
which the form of the operand writes them; None where the operand is left out."""


class PtxOp(FieldsOp):
    """Any op of the dialect that stands for an instruction."""

    ASKS_OPERANDS: ClassVar[bool] = False
    """True where what is legal, or what the target needs, hangs on what the operands come from."""

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic."""
        return self.name.removeprefix("ptx.")

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        return self.mnemonic

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        """The operands of the instruction in PTX's order, as its row has them."""
        return ()

    def operand_values(self) -> Mapping[str, Given]:
        """The op's content for each of them, by its name."""
        return {}

    @property
    def guard(self) -> SSAValue | None:
        """The predicate without which it is not executed."""
        return None

    @property
    def unguarded(self) -> SSAValue | None:
        """The registers whose content its result is where the predicate does not hold."""
        return None

    def requirement(self) -> Requirement:
        """The instruction's needs of its target."""
        return BASELINE


def verify_guard(op: PtxOp) -> None:
    """Raise VerifyException for a result that is not said where a predicate does not hold."""
    if (op.guard is None) is not (op.unguarded is None):
        raise VerifyException(f"'{op.name}' expected a predicate and an alternative, or neither")


class Row(Protocol):
    """The row of an instruction of one mnemonic, or of several that have the same operands."""

    @property
    def mnemonics(self) -> tuple[str, ...]: ...

    @property
    def operands(self) -> tuple[OperandForm, ...]: ...

    @property
    def target(self) -> Minimum: ...

    @property
    def ptx_version(self) -> tuple[int, int]: ...


class RowOp(PtxOp):
    """An instruction that has all but its values from a row of the lattice."""

    ROW: ClassVar[Row]

    @property
    def row(self) -> Row:
        """The instruction's name, needs and operands."""
        return self.ROW

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonics[0]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands

    def requirement(self) -> Requirement:
        return Requirement.of(self.row)


@cache
def _operand_forms(row: ScalarRow, form: str) -> Sequence[OperandForm]:
    return row.operands(form)


class ScalarOp(PtxOp):
    """`MNEMONIC.form d, a, b, ...;` on single registers, no side effect."""

    ROW: ClassVar[ScalarRow]

    inputs = var_operand_def(RegType)
    result = var_result_def(RegType)
    form = prop_def(StringAttr)

    traits = traits_def(Pure())

    def __init__(self, form: str, inputs: Sequence[SSAValue]):
        super().__init__(inputs, [reg(REGISTER_OF[self.ROW.forms[form].result])], form)

    @classmethod
    def of(cls, form: str, inputs: Sequence[SSAValue]) -> Self:
        """The op of that form, built without re-checking what the table already says."""
        types, properties = _parts(cls, form)
        return cls.create(operands=inputs, result_types=types, properties=properties)

    @property
    def row(self) -> Form:
        """The row of this op's form."""
        return self.ROW.forms[self.form.data]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return _operand_forms(self.ROW, self.form.data)

    def operand_values(self) -> Mapping[str, Given]:
        elements, given = self.operands, dict[str, Given]()
        if self.form.data.startswith("rs."):
            *elements, given["rbits"] = self.operands
            if len(elements) > 2:
                elements = (elements,)
        return {"d": self.results[0], **dict(zip("abc", elements, strict=False)), **given}

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
        if suffix not in cls.ROW.forms:
            parser.raise_error(
                f"'{cls.name}' expected a form of {', '.join(cls.ROW.forms)}, got {suffix}",
                start,
                parser.pos,
            )
        row = cls.ROW.forms[suffix]
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        types = [reg(REGISTER_OF[type_]) for type_ in row.types]
        inputs = parser.resolve_operands(operands, types, start)
        op = cls(suffix, inputs)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.form.data} ")
        printer.print_list(self.inputs, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        row = self.ROW.forms.get(self.form.data)
        if row is None:
            raise self.fail(f"a form of {', '.join(self.ROW.forms)}, got {self.form.data}")
        types = (*self.inputs.types, *self.result.types)
        legal = tuple(reg(REGISTER_OF[type_]) for type_ in (*row.types, row.result))
        if types != legal:
            raise VerifyException(
                f"'{self.name}' {self.form.data} expected registers {_names(legal)}, "
                f"got {_names(types)}"
            )


@cache
def _parts(op: type[ScalarOp], form: str) -> tuple[Sequence[RegType], Mapping[str, StringAttr]]:
    """The common part of ops of a form: the types of their results, and their properties."""
    return [reg(REGISTER_OF[op.ROW.forms[form].result])], {"form": StringAttr(form)}


def _names(types: Iterable[object]) -> str:
    return ", ".join(map(str, types))
