"""One instruction as text: its mnemonic, and its operands in the order of their forms.

Ops of one signature differ in registers and constants alone, so that a `Shape`, which has all else,
is made and verified once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.operand_text import constant
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.frozen import frozen, frozen_entity
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp, EntryOp
from tilewright.dialects.ptx.functions import CallOp, FuncOp, RetOp
from tilewright.dialects.ptx.instruction import Item, PtxOp, SharedPlace
from tilewright.dialects.ptx.registers import NAMED, ConstOp
from tilewright.dialects.ptx.types import RegType
from tilewright.dialects.signature import FactsBySignature, signature
from tilewright.source.diagnostic import OpError


class OpPlace(NamedTuple):
    """A place of an instruction's text: the registers of an operand or, counted on
    behind these, of a result; or a place in memory. A constant may stand there as a `literal` of
    that type, if its form takes it."""

    value: int | SharedPlace
    form: OperandForm
    literal: str | None


@frozen_entity
class Shape:
    """An instruction without its registers: its text with `%s` for each of these, the operands that
    may be constants, whether it is a terminator, and the needs of its target."""

    text: str
    places: tuple[OpPlace, ...]
    immediates: tuple[bool, ...]
    ends_block: bool
    requirement: Requirement

    @classmethod
    def of(cls, op: PtxOp) -> Shape:
        """The shape of an op, and of all that have its signature."""
        values: list[SSAValue] = [*Block(arg_types=op.operand_types).args]
        alike = type(op).create(
            operands=values, result_types=op.result_types,
            properties=op.properties, attributes=op.attributes,
        )  # fmt: skip
        values += alike.results
        written, places = list[str](), list[OpPlace]()
        given = alike.operand_values()
        for form in alike.operand_forms:
            if (items := given.get(form.name)) is not None:
                alone = isinstance(items, SSAValue | int | str | SharedPlace)
                words = list[str]()
                for place, item in enumerate((items,) if alone else items):
                    literal = form.literal if place >= form.ADDRESSES else None
                    words += _words(item, form, literal, values, places)
                written.append(form.write(*words))
        operands = f" {', '.join(written)}" if written else ""
        literals = [
            [place.literal is not None for place in places if place.value == index]
            for index in range(len(op.operands))
        ]
        immediates = [bool(ways) and all(ways) for ways in literals]
        if isinstance(op, BraOp | CondBraOp | CallOp | RetOp):
            # The moves on its way are constants as well, and so is what is passed.
            begin = isinstance(op, CondBraOp) or "indirect" in op.properties
            immediates = [index >= begin for index in range(len(immediates))]
        end = "" if alike.mnemonic.endswith("}") else ";"
        return cls(
            f"{alike.mnemonic.replace('%', '%%')}{operands}{end}",
            tuple(places),
            tuple(immediates),
            op.has_trait(IsTerminator),
            op.requirement(),
        )


def _words(
    item: Item,
    form: OperandForm,
    literal: str | None,
    values: Sequence[SSAValue],
    places: list[OpPlace],
) -> Sequence[str]:
    """The words of a part of an operand; those that each op has for itself get a place."""
    match item:
        case SharedPlace():
            places.append(OpPlace(item, form, None))
            return ("%s",)
        case str():
            return (item.replace("%", "%%"),)
        case int():
            return (str(item) if literal is None else constant(item, literal),)
        case _:
            places.append(OpPlace(values.index(item), form, literal))
            assert isinstance(item.type, RegType)
            return ["%s"] * item.type.count.data


_SHAPES = FactsBySignature[Shape]()


def shape_of(op: PtxOp) -> Shape:
    """The shape of an op. Raises VerifyException where the op is wrong."""
    key = signature(op)
    if op.ASKS_OPERANDS:
        key += tuple(
            value.owner.unsigned if isinstance(value.owner, ConstOp) else None
            for value in op.operands
        )
    if (shape := _SHAPES.get(key)) is None or op.ASKS_OPERANDS or op.ASKS_AROUND:
        op.verify_()
    return _SHAPES.put(key, op, Shape.of(op)) if shape is None else shape


class Shapes(dict[Operation, Shape]):
    """The shapes of instructions."""


def shapes_of(entry: EntryOp | FuncOp) -> Shapes:
    """The shapes of the instructions of a kernel. Raises OpError for the first op that is wrong,
    or none."""
    shapes = Shapes()
    for block in entry.body.blocks:
        for op in block.ops:
            if not isinstance(op, PtxOp):
                raise OpError(op, f"'{op.name}' has no PTX text")
            try:
                shapes[op] = shape_of(op)
            except VerifyException as error:
                raise OpError(op, str(error)) from error
    return shapes


def immediate(op: ConstOp, type_: str) -> str:
    """The constant as an operand of an instruction type."""
    return constant(op.bits.value.data, type_)


@frozen
class InstructionPrinter:
    """Instructions of one kernel: `names` are those of the registers of a value, `shared` the
    symbols in the kernel's shared memory by where they begin, `local` that of the thread's."""

    names: Mapping[SSAValue, Sequence[str]]
    shared: Mapping[int, str]
    local: str

    def place(self, place: SharedPlace) -> str:
        """The symbol that a place is in, and the bytes from there on."""
        if place.variable:
            return f"{place.variable}+{place.offset}" if place.offset else place.variable
        start = 0 if place.local else max(at for at in self.shared if at <= place.offset)
        name, offset = self.local if place.local else self.shared[start], place.offset - start
        return f"{name}+{offset}" if offset else name

    def text(self, op: PtxOp, shape: Shape) -> str:
        """The instruction, without what guards it. Raises OpError for a constant that it does not
        take in the place of a register."""
        words: list[str] = []
        values = (*op._operands, *op.results)  # pyright: ignore[reportPrivateUsage]
        for index, form, literal in shape.places:
            if isinstance(index, SharedPlace):
                words.append(self.place(index))
            elif (
                literal is None
                or type(owner := values[index].owner) is not ConstOp
                or NAMED in owner.attributes
            ):
                words += self.names[values[index]]
            elif form.takes(owner.unsigned):
                words.append(immediate(owner, literal))
            else:
                raise OpError(op, f"'{op.name}' expected {form.name} as {form.in_words}, "
                                  f"got {owner.unsigned}")  # fmt: skip
        return shape.text % tuple(words)
