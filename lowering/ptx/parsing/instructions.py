"""Instructions as ops: what the printer makes of an op, backwards.

A mnemonic has a rule, made once: the op that it is of, with the properties that its words say, and
the operands by the same forms and fields that the op is printed by.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, product
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import InferenceContext, VarOperandDef

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.lattice.carry import CARRIES
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm, Vector, Wide
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written, read
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, SCALARS
from tilewright.dialects.cute_nvgpu.lattice.tma import BULK_COPIES, TENSOR_COPIES
from tilewright.dialects.cute_nvgpu.lattice.tmem import CTA_GROUPS
from tilewright.dialects.fields import FieldsOp, number
from tilewright.dialects.ptx import registers
from tilewright.dialects.ptx.carry import CarryOp
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.instruction import PtxOp, RowOp, ScalarOp
from tilewright.dialects.ptx.mbarrier import CountedArrivalOp, CountedOp
from tilewright.dialects.ptx.shuffle import ShflSyncOp
from tilewright.dialects.ptx.synchronization import MembersSyncOp, RegisterBarrierOp, RegisterVoteOp
from tilewright.dialects.ptx.tcgen05_access import AccessOp
from tilewright.dialects.ptx.types import B32, reg
from tilewright.dialects.ptx.warp_specialization import ElectLaneOp, ElectMembersOp
from tilewright.lowering.ptx.one_instruction import mark
from tilewright.lowering.ptx.parsing.names import Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule
from tilewright.lowering.ptx.parsing.spellings import in_any_order, normal
from tilewright.lowering.ptx.parsing.ssa import ListedRegister, Value, Variable
from tilewright.lowering.ptx.parsing.statements import NAME, NAMES

Maker = Callable[[str], "ReadingRule | None"]
_RULES: dict[str, Maker] = {}
"""The makers of rules, by the first word of the mnemonics that they know."""


def reads(*names: str) -> Callable[[Maker], Maker]:
    """Register the maker of the rules of some instructions."""

    def register(maker: Maker) -> Maker:
        _RULES.update(dict.fromkeys(names, maker))
        return maker

    return register


_COMPOSERS: list[Maker] = []


def composes(maker: Maker) -> Maker:
    """Register the maker of the rules of instructions that are read as several others."""
    _COMPOSERS.append(maker)
    return maker


@cache
def rule_of(mnemonic: str) -> ReadingRule | None:
    """The rule of a mnemonic; None where no op has it."""
    mnemonic = normal(mnemonic)
    maker = _RULES.get(mnemonic.partition(".")[0] or mnemonic)
    rule = (maker and maker(mnemonic)) or of_fields(mnemonic)
    for compose in _COMPOSERS:
        rule = rule or compose(mnemonic)
    ordered = None if rule else _by_words().get(in_any_order(mnemonic))
    return rule_of(ordered) if ordered not in (None, mnemonic) else rule


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    """The mnemonics of scalars, of rows and of copies of matrices and boxes, by their words."""
    scalar = (f"{name}.{suffix}" for name, row in SCALARS.items() for suffix in row.forms)
    copies = matrix_copies(), *(row.forms for row in (*TENSOR_COPIES, *BULK_COPIES))
    known = (*scalar, *_by_mnemonic(), *chain.from_iterable(copies))
    return {in_any_order(mnemonic): mnemonic for mnemonic in known}


# Scalars


@reads(*SCALARS)
def scalar_rule(mnemonic: str) -> ReadingRule | None:
    """The rule of a form of a scalar instruction."""
    name, _, suffix = mnemonic.partition(".")
    row = SCALARS[name]
    if (form := row.forms.get(suffix)) is None:
        return _carry(mnemonic)
    types, result = form.types, REGISTER_OF[form.result]
    counts = len(types), len(row.operands(suffix)) - 1
    operand_types = [(type_, REGISTER_OF[type_]) for type_ in (*types, types[-1])]

    def rule(reader: Reader, operands: str) -> None:
        dest, *sources = pieces(operands)
        dest, _, negated = dest.partition("|")
        if "{" in operands:
            sources = [part.strip() for one in sources for part in one.strip("{}").split(",")]
        if len(sources) not in counts:
            raise reader.fail(f"expected {len(types) + 1} operands of {mnemonic}, got {operands}")
        if name == "isspacep":
            inputs = [reader.address(read(sources[0])[0], "b64", apart=False)[0]]
        else:
            typed = zip(sources, operand_types, strict=False)
            inputs = [reader.take(text, type_, kind) for text, (type_, kind) in typed]
        result = reader.scalar(mnemonic, *inputs[: len(types)])
        if dest in sources:
            result.owner.attributes[registers.IN_PLACE] = UnitAttr()  # type: ignore[union-attr]
        for third in inputs[len(types) :]:
            result = reader.scalar(mnemonic, result, third)
        reader.give(dest, result)
        if negated:
            reader.give(negated, reader.scalar("not.pred", result))

    made = ReadingRule(rule, kind=result)
    return resizing(made, _WIDENED.get(form.result, form.result)) if name == "cvt" else made


_WIDENED = {"f16": "b16", "bf16": "b16", "tf32": "b32"}


def resizing(rule: ReadingRule, type_: str) -> ReadingRule:
    """The rule of an access of a type, or of a conversion to it, whose registers may be wider."""

    def read(reader: Reader, operands: str) -> None:
        reader.resizes = type_
        rule.read(reader, operands)
        reader.resizes = ""

    return replace(rule, read=read, kind=type_ if type_ in ("f32", "f64") else "")


def pieces(operands: str) -> list[str]:
    """The operands of a list as they are written."""
    if "{" not in operands and "[" not in operands:
        return [*map(str.strip, operands.split(","))]
    return [written.text for written in read(operands)]


@reads("addc", "subc", "madc")
def _carry(mnemonic: str) -> ReadingRule | None:
    if (row := CARRIES.get(mnemonic)) is None:
        return None
    takes = mnemonic.partition(".")[0][-1] == "c"
    kind = _kind(row.operands[0])

    def rule(reader: Reader, operands: str) -> None:
        dest, *sources = pieces(operands)
        if len(sources) != len(row.operands) - 1:
            raise ValueError(operands)
        inputs = [reader.take(text, kind) for text in sources]
        carry = None
        if takes:
            carry = reader.register(reader.ssa.read(reader.block, reader.carry), "pred")
        made = CarryOp(inputs, reg(kind), mnemonic, carry_in=carry)
        reader.add(made)
        reader.give(dest, made.result)
        if ".cc" in mnemonic:
            reader.registers[reader.carry] = made.carry_out

    return ReadingRule(rule, kind=kind)


# Ops by their fields


OPS: Mapping[str, Any] = {op.name.removeprefix("ptx."): op for op in PTX.operations}
"""The ops, by their names behind the dialect's."""

_OF_REGISTERS = (
    CountedOp, CountedArrivalOp, ElectLaneOp, ElectMembersOp, MembersSyncOp, RegisterBarrierOp,
    RegisterVoteOp,
)  # fmt: skip
"""The ops that take in registers what others of their mnemonics know as numbers."""


@cache
def _by_mnemonic() -> dict[str, list[type[RowOp]]]:
    """The ops whose rows say all their mnemonics: one, and what takes registers for numbers."""
    ops: dict[str, list[type[RowOp]]] = {}
    for op in sorted(PTX.operations, key=_OF_REGISTERS.__contains__):
        if issubclass(op, RowOp) and not issubclass(op, registers.MoveOp | ScalarOp):
            for row in op.ROWS:
                for mnemonic in getattr(row, "mnemonics", ()):
                    if op in _OF_REGISTERS or mnemonic not in ops:
                        ops.setdefault(mnemonic, []).append(op)
    return ops


def of_fields(mnemonic: str) -> ReadingRule | None:
    """The rule of a mnemonic that a row says, or None."""
    rule = None
    for op in reversed(_by_mnemonic().get(mnemonic, ())):
        for properties in _candidates(op, mnemonic):
            alike = op.create(properties=properties)
            if _mnemonic(alike) == mnemonic:
                rule = by_fields(op, properties, alike.row.operands, general=rule)
                break
    return rule


def _mnemonic(op: Any) -> str | None:
    try:
        return op.mnemonic
    except (AttributeError, KeyError, TypeError):
        return None


def _candidates(op: type[FieldsOp], mnemonic: str) -> Iterator[dict[str, Attribute]]:
    """The properties that words of the mnemonic may say."""
    words = mnemonic.split(".")
    runs = [
        ".".join(words[i:j]) for i in range(1, len(words)) for j in range(i + 1, len(words) + 1)
    ]
    runs.append(mnemonic)
    choices: dict[str, Sequence[Attribute | None]] = {}
    for name, field in op.get_irdl_definition().properties.items():
        bases = field.constr.get_bases() or ()
        if StringAttr in bases:
            choices[name] = None, *map(StringAttr, runs)
        elif UnitAttr in bases:
            choices[name] = None, UnitAttr()
        elif name == "cta_group":
            choices[name] = [*map(number, CTA_GROUPS)]
    for chosen in product(*choices.values()):
        said = zip(choices, chosen, strict=True)
        yield {name: attribute for name, attribute in said if attribute is not None}


_OF_EITHER_KIND = (ShflSyncOp, AccessOp)
"""The ops that take registers of 32 bits of either kind."""


class _OpFields:
    """An op of some properties, whose operands stand in the order of forms; where registers of
    several kinds may be an address, the properties name the space that it is in."""

    def __init__(
        self,
        op: type[PtxOp],
        properties: Mapping[str, Any],
        forms: Sequence[OperandForm],
        general: ReadingRule | None,
    ):
        self.general, self.takes_either = general, issubclass(op, _OF_EITHER_KIND)
        definition = op.get_irdl_definition()
        operands, self.results = dict(definition.operands), dict(definition.results)
        self.op, self.properties, self.operands = op, properties, operands
        self.known = definition.properties
        self.kinds = {
            name: _only_kind(of) for name, of in (*operands.items(), *self.results.items())
        }
        address = "b32" if any("shared" in str(said) for said in properties.values()) else "b64"
        elsewhere = {"data": "value" if "value" in operands else "result", "stride": "elements"}
        self.forms = [
            (
                form,
                [elsewhere.get(name, name) for name in op.fields_of(form)],
                address if isinstance(form, Address) else _kind(form),
            )
            for form in forms
        ]
        # Of fewer operands the last that may be left out are.
        self.fits = {len(forms): list(self.forms)}
        for form in reversed(self.forms):
            if form[0].optional:
                fewer = [kept for kept in self.fits[min(self.fits)] if kept is not form]
                self.fits[len(fewer)] = fewer

    def read(self, reader: Reader, text: str) -> None:
        """Read the instruction of such operands."""
        written = read(text) if text else ()
        if len(written) not in self.fits:
            raise ValueError(text)
        if self.general is not None and not self._knows(reader, written):
            self.general.read(reader, text)
            return
        fields, given = dict[str, Any](self.properties), dict[str, list[str]]()
        before = reader.block.last_op
        for (form, names, default), operand in zip(self.fits[len(written)], written, strict=True):
            if operand.kind == "sink" and isinstance(form, Vector | Wide):
                operand = replace(operand, kind="vector", items=(operand,) * form.count)
            kind = self.kinds.get(names[0]) or default
            for name, part in _parts(reader, names, operand, kind, form):
                self._set(reader, fields, given, name, part, default)
        if reader.guard is not None:
            fields["predicate"] = reader.guard
            for name, names in given.items() if "otherwise" in self.operands else ():
                fields["otherwise"] = reader.list_of(names, fields[name].kind.data)
        held = [] if given else self._held(reader, written, text)
        for name in held:
            reader.result(registers.MovOp(reader.take(name, "b32"), B32))
        made = reader.add(self.op.of_fields(**fields))
        if held:
            as_written(reader, before, made.mnemonic, text, {})
        for name, names in given.items():
            reader.give_list(names, getattr(made, name))

    def _held(self, reader: Reader, written: Sequence[Written], text: str) -> Sequence[str]:
        """The registers that hold the numbers which the op knows, of operands without variables in
        memory."""
        given = zip(self.fits[len(written)], written, strict=True)
        names = [part.text for (_, (name, *_), _), part in given if name in self.known]
        held = [name for name in names if isinstance(reader.scope.find(name), Variable)]
        named = map(reader.scope.find, NAMES.findall(text) if held else ())
        return [] if any(isinstance(one, Symbol) for one in named) else held

    def _knows(self, reader: Reader, written: Sequence[Written]) -> bool:
        """True where what the op has as numbers is known."""
        given = zip(self.fits[len(written)], written, strict=True)
        return all(
            reader.number(operand) is not None if name in self.known
            else name in (*self.operands, *self.results)
            or _stands_for(reader, name, operand.items[0] if operand.kind == "pair" else operand)
            for (_, (name, *_), _), operand in given
        )  # fmt: skip

    def _set(
        self, reader: Reader, fields: dict[str, Any], given: dict[str, list[str]], name: str,
        part: Any, default: str,
    ) -> None:  # fmt: skip
        """Set a field to its part of an operand; results get the names that are `given`."""
        kind = self.kinds.get(name) or default
        if self.takes_either and self.kinds.get(name, "") is None:
            same = fields.get("result")
            kind = same.kind.data if same else reader.kind(words_of(part)[0], kind)
        if name in self.operands:
            value = _operand(reader, kind, part)
            several = isinstance(self.operands[name], VarOperandDef)
            fields[name] = (*fields.get(name, ()), *value) if several else value[0]
        elif name in self.results:
            given[name] = words_of(part)
            fields[name] = reg(kind, len(given[name]))
        elif isinstance(part, int):
            fields[name] = part
        elif name in self.known and (value := reader.number(part)) is not None:
            fields[name] = value
        elif name in self.known or not _stands_for(reader, name, part):
            wanted = "an integer" if name in self.known else name
            raise reader.fail(f"expected {wanted} here, got {part.text}")


def as_written(
    reader: Reader, before: Operation | None, mnemonic: str, operands: str,
    results: dict[str, Value],
) -> None:  # fmt: skip
    """Let the ops behind one be written as the instruction of the text, on its parameters and its
    registers, of which those of `results`, which come first, hold these."""
    values = list[SSAValue | None]([] if reader.guard is None else [reader.guard])

    def place(name: re.Match[str]) -> str:
        if (known := reader.scope.find(name[0])) is None:
            return name[0]
        value = results.pop(name[0], None) or (
            known.value if isinstance(known, Symbol) else reader.value(name[0])
        )
        values.append(value.value(reader.block) if isinstance(value, ListedRegister) else value)
        return "{}"

    if "{" not in operands:
        guard = "@{} " if values else ""
        mark(reader.block, before, f"{guard}{mnemonic} {re.sub(NAME, place, operands)}", values)


def by_fields(
    op: type[PtxOp],
    properties: Mapping[str, Any],
    forms: Sequence[OperandForm],
    general: ReadingRule | None = None,
) -> ReadingRule:
    """The rule of an op of some properties, whose operands stand in the order of forms. Where
    registers have what it has to know, the `general` one."""
    fields = _OpFields(op, properties, forms, general)
    return ReadingRule(fields.read, "predicate" in fields.operands)


def _parts(
    reader: Reader, fields: Sequence[str], written: Written, kind: str, form: OperandForm
) -> Iterable[tuple[str, Any]]:
    """The fields that an operand is, with their part of it; the coordinates of a box at once."""
    if isinstance(form, Address):
        parts = reader.address(written, kind, apart=len(fields) > 1)
    elif len(fields) == 1 or not written.items:
        return ((fields[0], written),)
    else:
        first, *others = written.items
        parts = first, tuple(others) if written.kind == "box" else others[0]
    return zip(fields, parts, strict=False)


def words_of(part: Written) -> list[str]:
    """The texts of a vector's registers, or its own."""
    return [item.text for item in part.items] if part.kind == "vector" else [part.text]


def _operand(reader: Reader, kind: str, part: Any) -> Sequence[SSAValue]:
    if isinstance(part, tuple):
        return [reader.take(item.text, kind) for item in cast("tuple[Written, ...]", part)]
    if not isinstance(part, Written):
        return (part,)
    if part.kind == "vector":
        return (reader.list_of(words_of(part), kind),)
    return (reader.take(part.text, kind),)


def _only_kind(field: Any) -> str | None:
    """The kind of the registers of a field, where its op takes one alone."""
    if not field.constr.can_infer(frozenset(), length_known=True):
        return None
    [type_] = field.constr.infer(InferenceContext(), length=1)
    return type_.kind.data


def _kind(form: Any) -> str:
    """The kind of the registers that a form asks for; none where it asks for none."""
    if (kind := getattr(form, "register", None)) is not None:
        return kind
    return REGISTER_OF.get(getattr(form, "type_", None) or "b32", "b32")


def _stands_for(reader: Reader, word: str, part: Written) -> bool:
    """True where an operand that no field is of is the one that the op has there, or a register for
    what it does not give."""
    if word == "_" or part.kind == "sink":
        return part.kind == "sink"
    if (value := reader.number(part)) is None:
        return word == part.text
    return (value - int(word, 0)) % (1 << 32) == 0
