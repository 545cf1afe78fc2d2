"""Moves of registers, constants and addresses, as ops or as names of values, and between lanes;
hints."""

import re

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.data_movement import HALVES
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written, read
from tilewright.dialects.ptx import registers
from tilewright.dialects.ptx.control_flow import LabelOp, PragmaOp
from tilewright.dialects.ptx.types import reg
from tilewright.dialects.ptx.warp import ShuffleOp
from tilewright.lowering.ptx.one_instruction import mark
from tilewright.lowering.ptx.parsing.instructions import as_written, by_fields, of_fields, reads
from tilewright.lowering.ptx.parsing.names import Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule, constant_bits
from tilewright.lowering.ptx.parsing.ssa import ListedRegister, Value, Variable


@reads(".pragma")
def _pragma(_: str) -> ReadingRule:
    def rule(reader: Reader, text: str) -> None:
        for words in re.findall(r'"([^"]*)"', text):
            reader.add(PragmaOp(words.strip()))

    return ReadingRule(rule)


@reads(".label")
def _label(_: str) -> ReadingRule:
    def rule(reader: Reader, _: str) -> None:
        reader.add(LabelOp())

    return ReadingRule(rule)


@reads("mov")
def _mov(mnemonic: str) -> ReadingRule | None:
    type_ = mnemonic.partition(".")[2]

    def rule(reader: Reader, operands: str) -> None:
        dest, source = read(operands)
        if f"{source.text[1:]}.x" in registers.SPECIAL_REGISTERS:
            [source] = read(f"{{{source.text}.x, {source.text}.y, {source.text}.z, 0}}")
        if source.kind == dest.kind == "vector":
            part = type_.partition(".")[2] or "b64"
            values = [reader.take(item.text, part) for item in source.items]
            for item, value in zip(dest.items, values, strict=True):
                reader.give(item.text, value)
        elif source.kind == "vector":
            reader.give(dest.text, _packed(reader, [item.text for item in source.items], type_))
        elif dest.kind == "vector":
            _unpack(reader, [item.text for item in dest.items], reader.take(source.text, type_))
        else:
            reader.give(dest.text, _moved(reader, dest.text, source, type_))

    return ReadingRule(rule)


def _packed(reader: Reader, names: list[str], type_: str) -> SSAValue:
    """Registers side by side in one of a type, the lowest first."""
    if len(names) > 2:
        half = len(names) // 2
        low, high = (_packed(reader, part, HALVES[type_]) for part in (names[:half], names[half:]))
    elif type_ == "b16" and (known := [constant_bits(name, "b8") for name in names]) != [None] * 2:
        return _byte(reader, names, known)
    else:
        low, high = (reader.take(name, HALVES[type_]) for name in names)
    return reader.result(registers.PackOp(low, high))


def _byte(reader: Reader, names: list[str], known: list[int | None]) -> SSAValue:
    """A byte beside a constant one, which no register of 8 bits holds."""
    constant = sum((bits or 0) % 256 << 8 * place for place, bits in enumerate(known))
    if None not in known:
        return reader.constant(constant, "b16")
    place = known.index(None)
    byte, before = reader.take(names[place], "b8"), reader.block.last_op
    twice = reader.result(registers.PackOp(byte, byte))
    kept = reader.constant(0xFF << 8 * place, "b16")
    alone = reader.scalar("and.b16", twice, kept)
    whole = reader.scalar("or.b16", alone, reader.constant(constant, "b16"))
    words = ", ".join("{}" if bits is None else str(bits % 256) for bits in known)
    mark(reader.block, before, f"mov.b16 {{}}, {{{{{words}}}}}", (whole, byte))
    return whole


def _unpack(reader: Reader, names: list[str], whole: SSAValue) -> None:
    """Give registers the parts of one, the lowest first."""
    halves = reader.result(registers.UnpackOp(whole))
    if len(names) == 2:
        reader.give_list(names, halves)
        return
    half = len(names) // 2
    for place, part in enumerate((names[:half], names[half:])):
        _unpack(reader, part, ListedRegister(halves, place).value(reader.block))


@reads("shfl")
def _shuffle(mnemonic: str) -> ReadingRule | None:
    """One within whole warps, by a constant lane, has an op of its own."""
    if (match := _SHUFFLE.fullmatch(mnemonic)) is None:
        return None
    plain, mode = of_fields(mnemonic), match[1]
    general = by_fields(ShuffleOp, {"mode": mode}, ShuffleOp.ROW.operands)

    def rule(reader: Reader, operands: str) -> None:
        dest, _, lane, *part = read(operands)
        whole = [one.kind == "integer" and one.value % (1 << 32) for one in part] == [31, _EVERY]
        is_plain = whole and dest.kind != "pair" and lane.kind == "integer" and lane.value < 32
        (plain if is_plain and mode in ("bfly", "idx") and plain else general).read(
            reader, operands
        )

    return ReadingRule(rule)


_SHUFFLE = re.compile(r"shfl\.sync\.(up|down|bfly|idx)\.b32")
_EVERY = 0xFFFFFFFF


def _moved(reader: Reader, dest: str, source: Written, type_: str) -> Value:
    """The value that a move gives: a copy of a register's; a constant's, copied where a register
    that is written elsewhere too goes on with it."""
    variable = reader.variable(dest)
    kind = variable.kind
    if source.kind == "sum":
        symbol = reader.scope.find(source.items[0].text)
        if isinstance(symbol, Symbol) and symbol.space in ("shared", "local"):
            return reader.address_in(kind, symbol, source.value)
        return reader.address(source, kind, apart=False)[0]
    named = reader.scope.find(source.text)
    if isinstance(named, Variable):
        given, value = named.kind, reader.value(source.text)
    else:
        given = kind
        value = reader.take(source.text, type_, "" if type_ in ("f32", "f64") else kind)
        if isinstance(named, Symbol) and value is named.value:
            before = reader.block.last_op
            moved = reader.result(registers.MovOp(value, reg(kind)))
            as_written(reader, before, "mov.b64", f"{dest}, {source.text}", {dest: moved})
            return moved
        if not isinstance(value.owner, registers.ConstOp):
            return value
        if variable.writes == 1 or reader.last.get(variable) != reader.position:
            value.owner.attributes[registers.NAMED] = UnitAttr()
            return value
    return reader.result(registers.MovOp(reader.converted(value, given, source.text), reg(kind)))
