"""One instruction as text: its mnemonic, and its operands in the order of their forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.operand_text import constant
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.instruction import Item, PtxOp, SharedPlace
from tilewright.dialects.ptx.registers import ConstOp


def operands(op: PtxOp) -> Iterator[tuple[OperandForm, Sequence[Item]]]:
    """The operands that the op has, in PTX's order, each with its form."""
    values = op.operand_values()
    for form in op.operand_forms:
        given = values.get(form.name)
        if given is not None:
            alone = isinstance(given, SSAValue | int | str | SharedPlace)
            yield form, (given,) if alone else given


def takes_immediate(op: Operation, index: int) -> bool:
    """True where operand `index` of the op may be written as a constant."""
    if isinstance(op, BraOp | CondBraOp):
        return index >= isinstance(op, CondBraOp)
    if not isinstance(op, PtxOp):
        return False
    value = op.operands[index]
    literals = [
        form.literal is not None and place >= form.ADDRESSES
        for form, items in operands(op)
        for place, item in enumerate(items)
        if item is value
    ]
    return bool(literals) and all(literals)


def immediate(op: ConstOp, type_: str) -> str:
    """The constant as an operand of an instruction type."""
    return constant(op.bits.value.data, type_)


@dataclass(frozen=True)
class InstructionPrinter:
    """Instructions of one kernel: `names` are those of the registers of a value, `shared` the
    symbol of the kernel's shared memory."""

    names: Callable[[SSAValue], list[str]]
    shared: str

    def text(self, op: PtxOp) -> str:
        """The instruction, without what guards it. Raises OpError for a constant that it does not
        take in the place of a register."""
        written = [
            form.write(*(word for place, item in enumerate(items)
                         for word in self._words(op, form, place, item)))
            for form, items in operands(op)
        ]  # fmt: skip
        return f"{op.mnemonic} {', '.join(written)};" if written else f"{op.mnemonic};"

    def _words(self, op: PtxOp, form: OperandForm, place: int, item: Item) -> Sequence[str]:
        literal = form.literal if place >= form.ADDRESSES else None
        match item:
            case SharedPlace(offset):
                return (f"{self.shared}+{offset}" if offset else self.shared,)
            case str():
                return (item,)
            case int():
                return (str(item) if literal is None else constant(item, literal),)
            case _:
                owner = item.owner
                if literal is not None and isinstance(owner, ConstOp):
                    if not form.takes(owner.unsigned):
                        raise OpError(op, f"'{op.name}' expected {form.name} as {form.in_words}, "
                                          f"got {owner.unsigned}")  # fmt: skip
                    return (immediate(owner, literal),)
                return self.names(item)
