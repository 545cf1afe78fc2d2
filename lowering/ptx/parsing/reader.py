"""The place that the reading of a kernel has come to: operands there become values, and results
get the names that the text has for them."""

import re
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import LocationAttr, UnitAttr
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.rewriter import Rewriter

from tilewright.dialects.cute_nvgpu.lattice.constant_expressions import evaluate
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.fields import number
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.ptx.cluster import MapaLeaderOp, RankOp
from tilewright.dialects.ptx.control_flow import PragmaOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.module_variables import GlobalAddressOp
from tilewright.dialects.ptx.registers import (
    NAMED,
    SPECIAL_REGISTERS,
    VARYING,
    ConstOp,
    ListMakeOp,
    LocalAddressOp,
    MovOp,
    PackOp,
    SharedAddressOp,
    SregOp,
    TimeOp,
)
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.types import B32, KINDS, RegType, reg
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.ssa import (
    ListedRegister,
    SsaBuilder,
    Value,
    Variable,
    side_by_side,
)
from tilewright.lowering.ptx.parsing.statements import NAME, PtxError

_BITS = re.compile(r"\(*0[fF]([0-9a-fA-F]{8})\)*")
_ELEMENT = re.compile(rf"\[?({NAME})\+(\d+)\*\(\s*({NAME})\s*(?:\+([^()]*))?\)\]?")
_PACKED = {"f32": "<f", "b32": "<f", "f64": "<d", "b64": "<d"}
_ADDRESSES = SharedAddressOp, LocalAddressOp, GlobalAddressOp
_NUMBERS = frozenset("-0123456789")
"""The characters that constants begin with, and no name."""


@lru_cache(1 << 12)
def constant_bits(text: str, type_: str) -> int | None:
    """The bits of a constant of an instruction type; None for a text that is none. PTX ISA 4.5."""
    if (match := _BITS.fullmatch(text)) is not None:  # of an f64 ptxas takes them as they are
        return int(match[1], 16) if type_ in ("f32", "f64", "b32", "b64") else None
    value = evaluate(text)
    if isinstance(value, float) and (packing := _PACKED.get(type_)) is not None:
        with suppress(OverflowError):
            return int.from_bytes(struct.pack(packing, value), "little")
        return 0x7F800000 | (value < 0) << 31
    if isinstance(value, int) and not type_.lstrip("b").startswith("f"):
        return value
    return None


@dataclass(slots=True)
class Variables:
    """The variables of a kernel in shared memory, or of a thread in its own, that are named, one
    behind the other in the order of their declarations; one whose size a launch says, the last,
    has what is left of `limit`."""

    limit: int = 0
    end: int = 0
    align: int = 1
    addresses: list[tuple[Symbol, int, SharedAddressOp | LocalAddressOp]] = factory(list)
    places: dict[Symbol, int] = factory(dict)

    def place(self) -> None:
        """Let the addresses, so many bytes behind their variables, be offsets."""
        places = self.places
        named = dict.fromkeys(symbol for symbol, _, _ in self.addresses)
        for symbol in sorted(named, key=lambda one: (one.size is None, one.position)):
            places[symbol] = place = -(-self.end // symbol.align) * symbol.align
            self.end = max(self.limit, place) if symbol.size is None else place + symbol.size
            self.align = max(self.align, symbol.align)
        for symbol, offset, op in self.addresses:
            op.properties["offset"] = number(places[symbol] + offset)


def width_of(value: Value) -> int:
    """The bits of a register."""
    type_ = value.source.type if isinstance(value, ListedRegister) else value.type
    assert isinstance(type_, RegType)
    return KINDS[type_.kind.data]


class Reader:
    """Reads instructions into a block, where `scope` says what names stand for. `guard` is the
    predicate of the instruction; `resizes` the type of what it loads, stores or converts, which
    registers may be wider than; `registers` are their values so far, `last` the places where the
    block writes them last."""

    def __init__(self, ssa: SsaBuilder, block: Block, scope: Names, memory: Variables):
        self.ssa = ssa
        self.block = block
        self.scope = scope
        self.memory = memory
        self.local = Variables()
        self.carry = Variable("pred")
        self.position = 0
        self.registers = ssa.defined[block]
        self.guard: SSAValue | None = None
        self.resizes = ""
        self.last: dict[Variable, int] = {}
        self.located: Callable[[], LocationAttr] | None = None
        self.callees: dict[str, Any] = {}
        self.states: list[tuple[Operation, type[Operation]]] = []
        self.masked: list[Operation] = []

    def fail(self, message: str) -> PtxError:
        """The error of the instruction."""
        return PtxError(message, self.position)

    def add(self, op: Any) -> Operation:
        """Add an op at the end of the block."""
        op.located = self.located
        self.block.add_op(op)
        return op

    def result(self, op: Any) -> SSAValue:
        """The first result of an op at the end of the block."""
        return self.add(op).results[0]

    def scalar(self, mnemonic: str, *inputs: SSAValue) -> SSAValue:
        """The result of a scalar instruction."""
        name, _, form = mnemonic.partition(".")
        return self.result(SCALAR_OPS[name](form, inputs))

    # Operands

    def variable(self, name: str) -> Variable:
        """The register of a name."""
        variable = self.scope.find(name)
        if not isinstance(variable, Variable):
            raise self.fail(f"expected a register that is declared, got {name or 'nothing'}")
        return variable

    def kind(self, name: str, otherwise: str) -> str:
        """The kind of a register of the text, if it is as wide as the other."""
        variable = self.scope.find(name)
        if not isinstance(variable, Variable) or KINDS[variable.kind] != KINDS[otherwise]:
            return otherwise
        return variable.kind

    def value(self, name: str) -> Value:
        """The value of a register."""
        return self.ssa.read(self.block, self.variable(name))

    def take(self, text: str, type_: str, kind: str = "") -> SSAValue:
        """The register of an instruction type, or of a kind, that an operand is: what a register
        holds, a constant or the address of a variable."""
        kind = kind or REGISTER_OF.get(type_, type_)
        if text[:1] in _NUMBERS and (bits := constant_bits(text, type_)) is not None:
            return self.constant(bits, kind)
        named = self.scope.find(text)
        if isinstance(named, Variable):
            value = self.registers.get(named) or self.ssa.read(self.block, named)
            if value.type is reg(kind):  # most are
                return value  # type: ignore[return-value]  # a listed register has no type
            return self.converted(value, kind, text)
        if text[:1] == "!" and evaluate(text) is None:
            return self.scalar("not.pred", self.take(text[1:].strip(), "pred"))
        if isinstance(named, Symbol):
            return self.address_in(kind, named)
        if text.startswith("%"):
            return self.converted(self.special(text), kind, text)
        if (element := _ELEMENT.fullmatch(text)) is not None:
            return self.resized(self._element(element), kind)
        if (bits := constant_bits(text, type_)) is None:  # one that begins with a bracket or a sign
            raise self.fail(f"expected a register or a constant of .{type_}, got {text}")
        return self.constant(bits, kind)

    def register(self, value: Value, kind: str) -> SSAValue:
        """A single register of a kind, which has the bits of a value of its width."""
        return self.ssa.register(value, kind, self.block)

    def converted(self, value: Value, kind: str, text: str) -> SSAValue:
        """The value of a register, as one of a kind of the same width; of a wider one the low bits
        where the instruction takes such."""
        given = width_of(value)
        if given == KINDS[kind]:
            return self.register(value, kind)
        if given == 8 and self.resizes:
            byte = self.register(value, "b8")
            return self.resized(self.result(PackOp(byte, byte)), kind)
        if not self.resizes or given < KINDS[kind]:
            raise self.fail(f"expected a register of {KINDS[kind]} bits, got {text} of {given}")
        return self.resized(self.register(value, f"b{given}"), kind)

    def constant(self, bits: int, kind: str) -> SSAValue:
        """A constant in a register."""
        width = KINDS[kind]
        if not -(1 << (width - 1)) <= bits < 1 << width:
            bits %= 1 << width
        return self.result(ConstOp(bits, kind))

    def special(self, name: str) -> SSAValue:
        """A special register."""
        if name == "%cluster_ctarank":
            return self.result(RankOp())
        if (kind := VARYING.get(name[1:])) is not None:
            return self.result(TimeOp(reg(kind), name[1:]))
        if name[1:] not in SPECIAL_REGISTERS:
            legal = ", ".join((*SPECIAL_REGISTERS, *VARYING))
            raise self.fail(f"expected a register, declared or one of {legal}, got {name}")
        return self.result(SregOp(name[1:]))

    def list_of(self, names: list[str], kind: str) -> SSAValue:
        """The registers of names side by side: the list that they are, where they are one."""
        values = [
            self.ssa.read(self.block, variable)
            if isinstance(variable := self.scope.find(name), Variable)
            else self.take(name, kind)
            for name in names
        ]
        if (listed := side_by_side(values, reg(kind, len(names)))) is not None:
            return listed
        parts = [
            self.converted(value, kind, name) for value, name in zip(values, names, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        return self.result(ListMakeOp(parts, reg(kind, len(parts))))

    def number(self, written: Written) -> int | None:
        """The number that an operand is: in the text, or as the constant that a register holds."""
        if written.kind == "integer":
            return written.value
        variable = self.scope.find(written.text)
        value = self.ssa.read(self.block, variable) if isinstance(variable, Variable) else None
        owner = value.owner if isinstance(value, SSAValue) else None
        while isinstance(owner, MovOp):
            owner = owner.source.owner
        return owner.bits.value.data if isinstance(owner, ConstOp) else None

    # Addresses

    def address_of(self, symbol: Symbol, offset: int = 0) -> SSAValue:
        """The address of a variable, so many bytes further where it is in shared memory."""
        match symbol.space:
            case "shared" | "local":
                is_shared = symbol.space == "shared"
                op = SharedAddressOp(0) if is_shared else LocalAddressOp(0)
                (self.memory if is_shared else self.local).addresses.append((symbol, offset, op))
                return self.result(op)
            case "global" | "const":
                return self.result(GlobalAddressOp(symbol.name))
            case "param" if symbol.value is not None and symbol.size is not None:
                return symbol.value
            case "func" if self.callees[symbol.name].is_kept:
                return self.result(GlobalAddressOp(symbol.name))
            case "func":
                return self.constant(symbol.position, "b64")
            case _:
                raise self.fail(f"expected a variable whose address is known, got {symbol.name}")

    def address_in(self, kind: str, symbol: Symbol, offset: int = 0) -> SSAValue:
        """The address of a variable in a register of a kind."""
        address = self.address_of(symbol, offset)
        value = self.resized(address, kind)
        if symbol.space == "shared" and value is not address:
            value.owner.attributes[NAMED] = UnitAttr()  # type: ignore[union-attr]
        return value

    def resized(self, value: SSAValue, kind: str, source: str = "") -> SSAValue:
        """The value of a register in one of a kind, with zeros above or none of its high bits, or
        as a number of the type `source`."""
        given, width = width_of(value), KINDS[kind]
        if given == width and not source:
            return self.register(value, kind)
        letter = source[:1] or "u"
        bits = self.register(value, f"b{given}")
        made = self.scalar(f"cvt.{letter}{width}.{source or f'u{given}'}", bits)
        return self.register(made, kind)

    def address(self, written: Written, kind: str, *, apart: bool = True) -> tuple[SSAValue, int]:
        """The register and the constant offset that an address is; or one register."""
        base = written.items[0].text if written.items else written.text
        named, offset = self.scope.find(base), written.value
        if isinstance(named, Variable):
            value = self.ssa.read(self.block, named)
            register = self.resized(
                value.value(self.block) if isinstance(value, ListedRegister) else value, kind
            )
        else:
            pragma = self.block.last_op
            if isinstance(named, Symbol) and named.space in ("shared", "local"):
                register, offset = self.address_in(kind, named, offset), 0
            else:
                register = self.take(base, kind)
            is_place = written.kind == "address" and (apart or not offset)
            if is_place and isinstance(address := register.owner, _ADDRESSES):
                address.attributes[NAMED] = UnitAttr()
            if isinstance(pragma, PragmaOp):  # it says something of the access
                pragma.detach()
                self.block.add_op(pragma)
        if register.type == B32 and isinstance(named, Variable) and named.kind == "b64":
            register.owner.attributes[NAMED] = UnitAttr()  # type: ignore[union-attr]
        if apart or not offset:
            return register, offset
        added = self.scalar(f"add.s{kind[1:]}", register, self.constant(offset, kind))
        if written.kind == "address":
            added.owner.attributes[NAMED] = UnitAttr()  # type: ignore[union-attr]
        return added, 0

    def _element(self, element: re.Match[str]) -> SSAValue:
        """The address of an array's element that a register says. The index and its bytes are
        numbers of 32 bits, as ptxas 13.5 has it. PTX ISA 6.4.2."""
        array, size, index, more = element.groups()
        symbol, value = self.scope.find(array), self.value(index)
        assert isinstance(symbol, Symbol)
        place = self.resized(self.register(value, f"b{width_of(value)}"), "b32")
        if more is not None:
            place = self.scalar("add.s32", place, self.take(more, "b32"))
        scaled = self.scalar("mul.lo.s32", place, self.constant(int(size), "b32"))
        base = self.address_of(symbol)
        bits = width_of(base)
        return self.scalar(f"add.s{bits}", base, self.resized(scaled, f"b{bits}"))

    # Results

    def give(self, name: str, value: Value) -> None:
        """Let a register of the text hold a value from here on; a narrow one that an instruction
        `resizes` as the number of that type."""
        if name == "_":
            return
        variable = self.variable(name)
        type_ = self.resizes
        if not type_ and value.type is reg(variable.kind):  # most are
            self.registers[variable] = value
            return
        given, width = width_of(value), KINDS[variable.kind]
        if type_[:1] == "s" and int(type_[1:]) < width:
            value = self.resized(self.register(value, f"b{given}"), variable.kind, type_)
        elif given != width:
            if not type_ or given > width:
                raise self.fail(f"expected a register of {given} bits, got {name} of {width}")
            value = self.resized(self.register(value, f"b{given}"), variable.kind)
        self.registers[variable] = value

    def finish(self) -> None:
        """Let arrivals whose state nothing but moves that nothing reads has give none, and masked
        numbers that are addresses lead to the leader of a pair."""
        for op, plain in self.states:
            if not _is_read(op.results[0]):
                stateless = plain.create(operands=op.operands, properties=op.properties)
                stateless.location = op.location
                Rewriter.replace_op(op, stateless, [None])
        for op in self.masked:
            if any(_is_address(use) for use in op.results[0].uses):
                address, mask = op.operands
                assert isinstance(mask.owner, ConstOp)
                leader = MapaLeaderOp(address, mask.owner.bits.value.data)
                leader.location = op.location
                Rewriter.replace_op(op, leader)

    def give_list(self, names: list[str], value: SSAValue) -> None:
        """Let registers of the text hold the registers of a list."""
        if len(names) == 1:
            self.give(names[0], value)
            return
        for position, name in enumerate(names):
            self.give(name, ListedRegister(value, position))


def _is_address(use: Use) -> bool:
    """True where an instruction has an address there."""
    if not isinstance(op := use.operation, PtxOp):
        return False
    names = [op.fields_of(form)[0] for form in op.operand_forms if isinstance(form, Address)]
    return any(getattr(op, name, None) is op.operands[use.index] for name in names)


def _is_read(value: SSAValue) -> bool:
    """True where something uses a value, but for moves that nothing reads, which are no more."""
    for use in list(value.uses):
        if isinstance(move := use.operation, MovOp) and move.result.first_use is None:
            Rewriter.erase_op(move)
    return value.first_use is not None


@frozen
class ReadingRule:
    """How an instruction of a mnemonic is read, of its operands; whether its op takes a predicate,
    and the kind of the register that it writes, where that follows."""

    read: Callable[[Reader, str], None]
    guarded: bool = False
    kind: str = ""
