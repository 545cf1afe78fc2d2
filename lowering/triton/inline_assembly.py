"""PTX on elements: an op of tiles for each instruction on single registers.

    and.b32 $0, $1, 0x1F1F1F1F;  shl.b32 $0, $0, 3;

`$0` and on are the registers that the constraints name, results first: `r` has 32 bits, `l` 64, `h`
16, `f` and `d` floats. Elements below 32 bits lie beside each other in a register, as many as
`packed_element` says. Registers are tiles, of integers where PTX has bits; `mov` packs and unpacks
them by shifts. Accesses to memory are in the order of the program, and so are fences and waits for
other grids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType, StringAttr, f32, f64, i1, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.accepts import one_of
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.ops.conversions import IntToPtrOp
from tilewright.dialects.cuda_tile.ops.integer import AndIOp, OrIOp, ShLIOp, ShRIOp, XOrIOp
from tilewright.dialects.cuda_tile.ops.memory import GdcLaunchDependentsTkoOp, GdcWaitTkoOp
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp, SpecialRegisterTkoOp
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.cute_nvgpu.lattice.data_movement import OF_BLOCKS
from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.math_functions.libdevice import function_named
from tilewright.lowering.ptx.parsing.reader import constant_bits
from tilewright.lowering.ptx.parsing.spellings import normal
from tilewright.lowering.ptx.parsing.statements import (
    PtxError,
    PtxStatement,
    statements,
    without_comments,
)
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.memory import in_memory, load, store
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import UNSIGNED
from tilewright.source.diagnostic import OpError

_CONSTRAINTS: dict[str, Attribute] = {"r": i32, "l": i64, "h": i16, "f": f32, "d": f64}
"""The elements of the registers of a constraint."""
_VALUES: dict[str, Attribute] = {
    "s16": i16, "s32": i32, "s64": i64, "f32": f32, "f64": f64, "pred": i1,
}  # fmt: skip
"""The elements of the values that programs have."""
_NOTHING = ("fence", "membar")
_GRIDS: dict[str, type[Any]] = {
    "griddepcontrol.wait": GdcWaitTkoOp,
    "griddepcontrol.launch_dependents": GdcLaunchDependentsTkoOp,
}
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
_TYPE = re.compile(r"pred|[bsu](?:8|16|32|64)|f(?:32|64)")
_DECLARED = re.compile(r"([\w$%]+)(?:<(\d+)>)?")
_MEMORY = re.compile(r"(?:(?:volatile|relaxed|weak|gpu|sys)\.)*global\.([busf])(8|16|32|64)")


@converts(triton.ElementwiseInlineAsmOp)
def _inline_assembly(op: Any, at: TritonConversion) -> Sequence[SSAValue]:
    pack, types = op.number("packed_element"), [at.tile(result.type) for result in op.results]
    groups = _groups(op, [*map(tile_type, at.all(op.args)), *types], pack)
    inputs = [register for value in at.all(op.args) for register in _packed(at, value, pack)]
    constraints = [x.strip() for x in op.constraints.data.split(",")]
    results = [x for x in constraints if x.startswith("=")]
    wanted = sum(pack // _together(type_, pack) for type_ in types)
    names = [x.lstrip("=&") for x in constraints if not x.startswith("~")]
    if (len(results), len(names)) != (wanted, wanted + len(inputs)):
        raise OpError(
            op, f"'{op.name}' expected constraints of {wanted} registers of results and "
            f"{len(inputs)} of operands, got {op.constraints.data}"
        )  # fmt: skip
    registers = _Registers(at, (groups,))
    for i, name in enumerate(names):
        place = int(name) if name.isdigit() else i
        if names[place : place + 1] not in [[x] for x in _CONSTRAINTS]:
            raise OpError(
                op, f"'{op.name}' expected constraints {one_of(list(_CONSTRAINTS))}, got {name}; "
                "nearest legal: r"
            )  # fmt: skip
        registers.types[f"${i}"] = _CONSTRAINTS[names[place]]
        if i >= wanted:
            registers[f"${i}"] = registers[f"${place}"] = inputs[i - wanted]
    try:
        registers.run(op.asm_string.data)
        left = [registers.result(f"${i}") for i in range(wanted)]
    except PtxError as error:
        raise OpError(op, f"'{op.name}' {error.message}") from None
    return [_unpacked(at, left, type_, pack) for type_ in types]


def _groups(op: Any, types: Sequence[TileType], pack: int) -> int:
    """The groups of elements that a snippet is for, one by one."""
    counts = {type_.elements for type_ in types}
    if len(counts) != 1 or pack < 1 or max(counts) % pack:
        raise OpError(
            op, f"'{op.name}' expected tensors of one shape, of a multiple of packed_element, got "
            f"{', '.join(map(str, (*op.operand_types, *op.result_types)))} and {pack}"
        )  # fmt: skip
    return max(counts) // pack


def _together(type_: TileType, pack: int) -> int:
    """The neighbours that one register holds."""
    element = type_.element_type
    bits = 64 if isinstance(element, PointerType) else ELEMENT_OF[element].bits
    return min(max(32 // bits, 1), pack)


def _packed(at: TritonConversion, value: SSAValue, pack: int) -> Iterator[SSAValue]:
    """The registers of groups of `pack` neighbours."""
    groups, together = tile_type(value).elements // pack, _together(tile_type(value), pack)
    lanes = at.reshape(value, (groups, pack))
    for first in range(0, pack, together):
        places = range(first, first + together)
        parts = [at.reshape(at.part(lanes, 1, i, 1), (groups,)) for i in places]
        yield parts[0] if together == 1 else _joined(at, parts, i32)


def _unpacked(
    at: TritonConversion, registers: list[SSAValue], type_: TileType, pack: int
) -> SSAValue:
    """A tile of the registers that come first, which are taken."""
    together, element = _together(type_, pack), type_.element_type
    lanes: list[SSAValue] = []
    for register in registers[: pack // together]:
        bits = _bits(at, register)
        for i in range(together):
            lane = _shifted(at, bits, i, together)
            if isinstance(element, PointerType):
                lane = at.add(IntToPtrOp, [lane], tile_type(lane).with_element(element))
            else:
                lane = at.resized(lane, IntegerType(ELEMENT_OF[element].bits))
                lane = at.bitcast(lane, element)
            lanes.append(at.reshape(lane, (*shape_of(lane), 1)))
    del registers[: pack // together]
    return at.reshape(at.joined(lanes, 1), type_.shape)


def _bits(at: TritonConversion, value: SSAValue) -> SSAValue:
    """A tile as one of integers of as many bits."""
    if isinstance(element_of(value), PointerType):
        return in_memory(at, value) or value
    return at.bitcast(value, IntegerType(ELEMENT_OF[element_of(value)].bits))


def _joined(at: TritonConversion, parts: Sequence[SSAValue], element: Attribute) -> SSAValue:
    """Integers beside each other in a register, the first lowest."""
    whole = at.constant(0, tile_type(parts[0]).with_element(element))
    width = ELEMENT_OF[element].bits // len(parts)
    for i, part in enumerate(parts):
        bits = at.resized(_bits(at, part), element)
        bits = at.add(ShLIOp, [bits, i * width])
        whole = at.add(OrIOp, [whole, bits])
    return whole


def _shifted(at: TritonConversion, bits: SSAValue, number: int, count: int) -> SSAValue:
    """A register whose lowest bits are one of so many parts."""
    amount = number * ELEMENT_OF[element_of(bits)].bits // count
    return at.add(ShRIOp, [bits, amount], **UNSIGNED) if amount else bits


@entity
class _Registers:
    """The registers of a snippet by their names, as tiles of a shape."""

    at: TritonConversion
    shape: tuple[int, ...]
    types: dict[str, Attribute] = factory(dict)
    _values: dict[str, SSAValue] = factory(dict)
    _statement: PtxStatement = PtxStatement("instruction", 0, "")

    def __setitem__(self, name: str, value: SSAValue) -> None:
        """Write a register, the low bits of a wider value."""
        if name not in self.types:
            raise self._fault(f"a register that is declared, got {name}")
        if name != "_":
            self._values[name] = self._resized(value, self.types[name])

    def _fault(self, message: str) -> PtxError:
        return PtxError(f"expected {message}", self._statement.position)

    def _resized(self, value: SSAValue, element: Attribute) -> SSAValue:
        if element == i1 or element_of(value) == i1:
            return value
        bits = IntegerType(ELEMENT_OF[element].bits)
        return self.at.bitcast(self.at.resized(_bits(self.at, value), bits), element)

    def value(self, text: str, element: Attribute) -> SSAValue:
        """An operand as a tile of elements: a register, or a number."""
        if text in self.types:
            if text not in self._values:
                raise self._fault(f"a register that was written, got {text}")
            return self._resized(self._values[text], element)
        type_ = TileType.get(self.shape, element)
        width = ELEMENT_OF[element].bits
        bits = constant_bits(text, ("f" if element in (f32, f64) else "s") + str(width))
        if bits is None:
            raise self._fault(f"a register or a number, got {text}")
        bits &= (1 << width) - 1
        number = self.at.constant(
            bits - (bits >> width - 1 << width), type_.with_element(IntegerType(width))
        )
        return self.at.bitcast(number, element)

    def result(self, name: str) -> SSAValue:
        """A register at the end; one that nothing wrote is zero."""
        return self.value(name if name in self._values else "0", self.types[name])

    def run(self, text: str) -> None:
        """Do what a text says. Raises PtxError for what is not known."""
        for self._statement in statements(without_comments(text)):
            if self._statement.kind == "declaration" and self._statement.name == ".reg":
                self._declare(self._statement.text)
            elif self._statement.kind == "instruction":
                self._instruction(*_OPERAND.findall(self._statement.text))
            elif self._statement.kind != "brace":
                raise self._fault(f"instructions on registers, got {self._statement.text}")

    def _declare(self, text: str) -> None:
        type_, *names = text.split(None, 1) or [""]
        element = self._element(type_.lstrip("."))
        for name, count in _DECLARED.findall("".join(names)):
            for one in [f"{name}{i}" for i in range(int(count))] if count else [name]:
                self.types[one] = element

    def _element(self, type_: str) -> Attribute:
        """The element of a register of a type."""
        if _TYPE.fullmatch(type_) is None:
            raise self._fault(f"registers of 8 to 64 bits, got .{type_}")
        width = 1 if type_ == "pred" else int(type_[1:])
        return {"f32": f32, "f64": f64}.get(type_, IntegerType(width))

    def _instruction(self, *operands: str) -> None:
        name, guard = self._statement.name, self._statement.guard
        mnemonic, _, form = name.partition(".")
        before = dict(self._values)
        pair = len(operands) == 2
        if mnemonic == "mov" and pair:
            self._move(self._element(form), *operands)
        elif (
            mnemonic in ("ld", "st") and pair and not guard and (memory := _MEMORY.fullmatch(form))
        ):
            self._access(mnemonic, IntegerType(int(memory[2])), *operands)
        elif name == "lop3.b32" and len(operands) == 5:
            self[operands[0]] = self._looked_up(*operands[1:])
        elif name in _GRIDS:
            new = self.at.insert(_GRIDS[name](token=self.at.order.before_write(self.at)))
            self.at.order.after_write(new.result_token)
        elif mnemonic not in _NOTHING:
            self._compute(name, *operands)
        if guard:
            condition = self.value(guard.lstrip("! "), i1)
            for one, value in self._values.items():
                if one in before and before[one] is not value:
                    ways = (before[one], value) if guard[0] == "!" else (value, before[one])
                    self._values[one] = self.at.select(condition, *ways)

    def _compute(self, name: str, *written: str) -> None:
        row = function_named(spelled := normal(name))
        if row is None or len(written) != 1 + row.arity:
            raise self._fault(
                f"instructions on single registers that are known, got {name} {', '.join(written)}"
            )
        result, *operands = written
        values = [self.value(text, _VALUES[type_])
                  for text, type_ in zip(operands, row.operands, strict=True)]  # fmt: skip
        type_ = TileType.get(self.shape, _VALUES[row.result])
        self[result] = self.at.add(LibdeviceOp, values, type_, function=StringAttr(spelled))

    def _looked_up(self, a: str, b: str, c: str, table: str) -> SSAValue:
        """Each bit is the one that a table has at `4 a + 2 b + c`: a sum modulo 2 of products, the
        one of some factors where an odd number of places within theirs holds a 1."""
        factors = [self.value(text, i32) for text in (c, b, a)]
        if (bits := constant_bits(table, "u32")) is None:
            raise self._fault(f"a table of 8 bits, got {table}")
        whole = self.at.constant(0, factors[0].type)
        for taken in range(8):
            if sum(bits >> place for place in range(8) if not place & ~taken) % 2:
                product = self.at.constant(-1, whole.type)
                for i, factor in enumerate(factors):
                    if taken >> i & 1:
                        product = self.at.add(AndIOp, [product, factor])
                whole = self.at.add(XOrIOp, [whole, product])
        return whole

    def _move(self, element: Attribute, result: str, source: str) -> None:
        """Copy a register or a number; registers in braces are parts of one."""
        if source.startswith("{"):
            names, part = self._parts(source, element)
            bits = IntegerType(ELEMENT_OF[element].bits)
            value = _joined(self.at, [self.value(x, part) for x in names], bits)
        elif source.startswith("%") and source[1:] in OF_BLOCKS:
            value = self._special(source[1:])
        else:
            value = self.value(source, element)
        if not result.startswith("{"):
            self[result] = value
            return
        names, part = self._parts(result, element)
        for i, name in enumerate(names):
            shifted = _shifted(self.at, _bits(self.at, value), i, len(names))
            if name != "_":
                self[name] = self.at.resized(shifted, part)

    def _special(self, register: str) -> SSAValue:
        """A special register as all of the block have it, read in the order of the program."""
        type_ = TileType.get((), IntegerType(int(OF_BLOCKS[register][1:])))
        token = self.at.order.before_write(self.at)
        new = self.at.insert(SpecialRegisterTkoOp(token=token, register=register, result=type_))
        self.at.order.after_write(new.result_token)
        return self.at.spread(new.result, self.shape)

    def _parts(self, text: str, element: Attribute) -> tuple[list[str], IntegerType]:
        """The registers in braces, and the integers that they are of a whole."""
        names, width = _OPERAND.findall(text.strip("{}")), ELEMENT_OF[element].bits
        if len(names) not in (2, 4) or width // len(names) < 8:
            raise self._fault(f"2 or 4 registers of a whole of {width} bits, got {text}")
        return names, IntegerType(width // len(names))

    def _access(self, mnemonic: str, element: Attribute, *operands: str) -> None:
        """Load a register or store one, by an address without an offset."""
        address, register = operands if mnemonic == "st" else operands[::-1]
        places = self.value(address.strip("[] "), i64)
        type_ = tile_type(places).with_element(PointerType.get(element))
        pointers = self.at.add(IntToPtrOp, [places], type_)
        if mnemonic == "st":
            store(self.at, pointers, self.value(register, element))
        else:
            self[register] = load(self.at, pointers)
