"""The format that most PTX instructions share, and how an op says which form of it it is.

A scalar instruction is one op class; its forms (`add.s32`, `add.rn.f32`) are rows of the class's
table. A form fixes the registers of the operands and the result, so the custom syntax needs no
types: `%2 = ptx.add rn.f32 %0, %1`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue, SSAValues
from xdsl.irdl import opt_operand_def, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, SOURCES, Form, ScalarRow
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.definition import class_of_row
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op
from tilewright.dialects.illegal import Illegal, listed
from tilewright.dialects.ptx.types import B64, RegType, reg


class SharedPlace(NamedTuple):
    """A place in the kernel's shared memory, which the text calls by its symbol, or in a `variable`
    of the module; a `local` one in the memory of the thread."""

    offset: int
    local: bool = False
    variable: str = ""


Item: TypeAlias = SSAValue | int | str | SharedPlace
Given: TypeAlias = Item | Sequence[Item] | None
"""The op's content for an operand of its instruction: registers, integers and words in the order in
which the form of the operand writes them; None where the operand is left out."""


FIELDS = {
    "d": "result|halves", "r": "data", "red": "reduced",
    "a": "address|source|barrier|map|top|events|variable|value|inputs",
    "b": "threads|rank|lane|value|values|inputs", "c": "clamp|value|values|inputs",
    "src": "source", "dst": "dest", "src-size": "source_size", "cp-size": "size", "N": "pending",
    "primary-size": "primary", "total-size": "total", "initval": "0", "immLut": "table",
    "t": "time", "ptr": "result", "immAlign": "align",
    # Lines of the caches, and tensor maps, have as many bytes.
    "size": "128",
    "state": "phase|result|_", "txCount": "count", "phaseParity": "parity|phase",
    # The printer asks again until this predicate of its own is true.
    "waitComplete": "result|done", "suspendTimeHint": "time",
    "srcMem": "source", "dstMem": "dest", "tensorMap": "map + coordinates", "mbar": "barrier",
    "ctaMask": "mask", "byteMask": "mask", "cache-policy": "cache_hint", "im2colInfo": "offsets",
    "ignoreBytesLeft": "left", "ignoreBytesRight": "right",
    "ord": "place", "new_val": "value", "val": "number",
    "taddr": "address", "nCols": "columns", "s-desc": "descriptor", "immHalfSplitoff": "half",
    "d-tmem": "d", "a-desc": "a", "a-tmem": "a", "b-desc": "b", "sp-meta": "metadata",
    "sp-meta-tmem": "metadata", "sp-sel": "selector", "disable-output-lane": "lanes",
    "scale-A-tmem": "sfa", "scale-B-tmem": "sfb", "scale-d": "accumulates",
    "enable-input-d": "accumulates", "scale-input-d": "scale_input_d",
    "zero-column-mask-desc": "zero_column_mask",
    "imm-reg-count": "registers", "membermask": "members|0xffffffff",
    "try_cancel_response": "response", "%cluster_ctarank": "%cluster_ctarank",
}  # fmt: skip
"""The fields that are operands of instructions, by PTX's names of these: the first that an op has,
else the last, as all threads of a warp are members."""


class PtxOp(FieldsOp):
    """Any op of the dialect that stands for an instruction. With a field `predicate` it is executed
    where that holds, its result being the field `otherwise` where not."""

    ASKS_OPERANDS: ClassVar[bool] = False
    """True where what is legal, or what the target needs, hangs on what the operands come from."""

    ASKS_AROUND: ClassVar[bool] = False
    """True where what is legal hangs on what the module holds."""

    ROW: ClassVar[Any] = None
    ROWS: ClassVar[Any] = ()

    CHOICE: ClassVar[str] = ""
    """The field with which the op is of its second row, if one is."""

    OPERANDS: ClassVar[Mapping[str, str]] = {}
    """The field that is an operand of the instruction, where that has neither its name nor the one
    that `FIELDS` says: two that stand side by side as `map + coordinates`, and what is no field as
    it is. An address is the fields `address` and, where there is one, `offset`."""

    @property
    def row(self) -> Any:
        """The row of the lattice; None for an op that every target runs."""
        return self.ROWS[getattr(self, self.CHOICE) is not None] if self.CHOICE else self.ROW

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
        """The op's content for each of them, by its name: of a field of several one for each."""
        values, left = dict[str, Given](), dict[str, Iterator[SSAValue]]()
        for form in self.operand_forms:
            given: Any = self._content(form)
            if isinstance(given, SSAValues):
                several: Any = given  # pyright: ignore[reportUnknownVariableType]
                given = next(left.setdefault(self.fields_of(form)[0], iter(several)), None)
            values[form.name] = given
        return values

    @classmethod
    def fields_of(cls, form: OperandForm) -> Sequence[str]:
        """The fields that are an operand of the instruction; what is no field stands there as it
        is."""
        known = form.name, *FIELDS.get(form.name, "").split("|")
        own = _attributes(cls)
        fields = cls.OPERANDS.get(form.name) or next(filter(own.__contains__, known), known[-1])
        if isinstance(form, Address) and "address" in own and fields not in own:
            fields = "address"
        if fields == "address" and "offset" in own:
            fields = "address + offset"
        return fields.split(" + ")

    def _content(self, form: OperandForm) -> Given:
        fields = self.fields_of(form)
        if len(fields) == 1:
            return content(getattr(self, fields[0], fields[0] or None))
        items: list[Item] = []
        for field in fields:
            item: Any = content(getattr(self, field, field))
            if item is None:
                continue
            items += item if isinstance(item, tuple) else (item,)
        return items

    @property
    def data(self) -> SSAValue[RegType]:
        """The registers that it loads or stores: its field `value`, or its first result."""
        registers: Any = getattr(self, "value", None) or self.results[0]
        return registers

    @property
    def guard(self) -> SSAValue | None:
        """The predicate without which it is not executed."""
        return getattr(self, "predicate", None)

    @property
    def unguarded(self) -> SSAValue | None:
        """The registers whose content its result is where the predicate does not hold."""
        return getattr(self, "otherwise", None)

    def expect(self, value: SSAValue, legal: RegType) -> None:
        """Raise VerifyException unless a value is in registers of a type."""
        if value.type != legal:
            raise self.fail(f"{legal} for {self.mnemonic}, got {value.type}")

    def expect_word(self, word: str, legal: Collection[str], what: str = "") -> None:
        """Raise VerifyException unless a word is one of those that are legal."""
        if word not in legal:
            raise self.fail(f"{what}{', '.join(legal)}, got {word}")

    def requirement(self) -> Requirement:
        """The instruction's needs of its target."""
        return BASELINE if (row := self.row) is None else Requirement.of(row)


class PureOp(PtxOp):
    """An instruction, or a name of registers, that has no effect but its results."""

    traits = traits_def(Pure())


class OffsetOp(PtxOp):
    """An op with an address plus a constant offset, in bytes or, of tensor memory, in columns."""

    offset = prop_def(NUMBER)


class HintedOp(PtxOp):
    """An access that a policy may say of how caches keep what it is to."""

    cache_hint = opt_operand_def(B64)


class AlternativeOp(PtxOp):
    """An op that says what its result is where its predicate does not hold."""

    def verify_(self) -> None:
        super().verify_()
        if (self.guard is None) is not (self.unguarded is None):
            raise self.fail("a predicate and an alternative, or neither")


@cache
def _attributes(op: type[PtxOp]) -> frozenset[str]:
    return frozenset(dir(op))


def content(field: Any) -> Any:
    """A field as it stands in text: a property as what it is of."""
    match field:
        case IntegerAttr():
            return field.value.data
        case StringAttr():
            return field.data
        case _:
            return field


class RowOp(PtxOp):
    """An instruction with a row of the lattice, which says its mnemonic and operands; the op has
    their values."""

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonics[0]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands


class FormOp(RowOp):
    """An instruction of several rows: `form` is its mnemonic behind the first words."""

    WORDS: ClassVar[int | None] = 1
    """How many words of its name the mnemonic begins with: all where it says none."""

    form = prop_def(StringAttr)

    @property
    def mnemonic(self) -> str:
        return ".".join((*self.name.split(".")[1:][: self.WORDS], self.form.data))

    @property
    def row(self) -> InstructionRow:
        """The row of its mnemonic: the first where none has it."""
        of_form = (row for row in self.ROWS if self.mnemonic in row.mnemonics)
        return next(of_form, self.ROWS[0])

    def verify_(self) -> None:
        legal = [mnemonic for row in self.ROWS for mnemonic in row.mnemonics]
        self.expect_word(self.mnemonic, legal, "one of ")


def twin(
    op: type[NvgpuOp], name: str = "", base: type[RowOp] = RowOp, text: str | None = None
) -> type[RowOp]:
    """The instruction of an op of `cute_nvgpu` that is declared there for both dialects: of its
    rows, its name unless another is said, and those of its bases that are no ops of that dialect.
    The `base` has the fields that differ, such as an address; `text` is xDSL's format."""
    name, row, class_of = f"ptx.{name or op.name.removeprefix('cute_nvgpu.')}", op.ROW, type(base)
    shared: list[Any] = [
        of_both
        for of_both in op.mro()
        if not issubclass(of_both, NvgpuOp) and not issubclass(base, of_both)
    ]
    operands = (form.spelling if isinstance(form, Address) else form.name for form in row.operands)
    written = f"{row.mnemonics[0]} {', '.join(operands)}".rstrip()
    law = f"`{written}`: {row.does}. PTX ISA {row.section}."
    body = {} if text is None else {"assembly_format": text}
    whole: Any = cast("Any", class_of)(op.__name__, (*shared, base), body)
    return fields_op(name, *op.ROWS)(class_of_row(whole, name, law))


@cache
def _operand_forms(row: ScalarRow, form: str) -> Sequence[OperandForm]:
    return row.operands(form)


_ALIGNED = "sync.aligned."
_BEFORE_ALIGNED = re.compile(r"(?:(?:sp(?:::\w+)?|\w+\.popc|[abcd])\.)?")
"""The part of a form before it: a sparsity, a bit operation, or the matrix that is moved."""


class AlignedOp(PtxOp):
    """An instruction of whole warps: `form` is its mnemonic without its name and `sync.aligned.`"""

    form = prop_def(StringAttr)

    @classmethod
    def form_of(cls, mnemonic: str) -> str:
        """The form of a mnemonic."""
        name = cls.name.removeprefix("ptx.")
        return mnemonic.removeprefix(f"{name}.").replace(_ALIGNED, "")

    @property
    def mnemonic(self) -> str:
        name, form = super().mnemonic, self.form.data
        return f"{name}.{_BEFORE_ALIGNED.sub(lambda before: before[0] + _ALIGNED, form, 1)}"

    @staticmethod
    def verify_registers(atom: Any, vectors: Mapping[Any, SSAValue]) -> None:
        """Raise Illegal unless the registers of operands of an atom are those that it takes."""
        for operand, value in vectors.items():
            if value.type != (legal := reg(*atom.registers(operand))):
                raise Illegal(
                    f"operand {operand} expected {legal}, got {value.type} ({atom.mnemonic})"
                )


def numbers(field: Any) -> Sequence[int]:
    """The numbers of a property that may be left out."""
    return () if field is None else field.get_values()


def parse_form(
    op: type[PtxOp], parser: Parser, forms: Mapping[str, Any], types: Callable[[Any], Any]
) -> tuple[str, Sequence[SSAValue]]:
    """The form that an op's text begins with, and its operands, of the types of that form."""
    start = parser.pos
    if (form := parser.parse_optional_str_literal() or parser.parse_identifier()) not in forms:
        parser.raise_error(
            f"'{op.name}' expected a form of {', '.join(forms)}, got {form}", start, parser.pos
        )
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    return form, parser.resolve_operands(operands, types(forms[form]), start)


class ScalarOp(PureOp):
    """`MNEMONIC.form d, a, b, ...;` on single registers, no side effect."""

    ROW: ClassVar[ScalarRow]

    inputs = var_operand_def(RegType)
    result = var_result_def(RegType)
    form = prop_def(StringAttr)

    def __init__(self, form: str, inputs: Sequence[SSAValue]):
        # What the table says already is not checked again.
        types, properties = _parts(type(self), form)
        Operation.__init__(self, operands=inputs, result_types=types, properties=properties)

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
        return {"d": self.results[0], **dict(zip(SOURCES, elements, strict=False)), **given}

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `add.rn.f32`."""
        return f"{super().mnemonic}.{self.form.data}"

    def requirement(self) -> Requirement:
        return self.row.requirement

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(
            *parse_form(
                cls, parser, cls.ROW.forms,
                lambda row: [reg(REGISTER_OF[type_]) for type_ in row.types],
            )
        )  # fmt: skip
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        form = self.form.data
        printer.print_string(f' "{form}" ' if ":" in form else f" {form} ")
        printer.print_list(self.inputs, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        row = self.ROW.forms.get(self.form.data)
        if row is None:
            raise self.fail(f"a form of {', '.join(self.ROW.forms)}, got {self.form.data}")
        types = (*self.inputs.types, *self.result.types)
        legal = tuple(reg(REGISTER_OF[type_]) for type_ in (*row.types, row.result))
        if types != legal:
            raise Illegal(
                f"{self.form.data} expected registers {listed(legal)}, got {listed(types)}"
            )


@cache
def _parts(op: type[ScalarOp], form: str) -> tuple[Sequence[RegType], Mapping[str, StringAttr]]:
    """The common part of ops of a form: the types of their results, and their properties."""
    return [reg(REGISTER_OF[op.ROW.forms[form].result])], {"form": StringAttr(form)}
