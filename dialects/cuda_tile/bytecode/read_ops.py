"""Ops from the bytes of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import AttrSizedOperandSegments

from tilewright.dialects.cuda_tile.bytecode.attributes import (
    AttributeReader,
    read_integer,
    read_numbers,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.op_format import (
    Arity,
    Format,
    Kind,
    Property,
    formats,
)
from tilewright.dialects.cuda_tile.versions import Version

DEEPEST = 100
"""How deep regions nest at most."""
SEGMENTS = AttrSizedOperandSegments.attribute_name
UNIT = UnitAttr()


def new_op(
    class_: type[Operation],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: Attribute,
    regions: Sequence[Region] = (),
) -> Operation:
    """An op that owns `properties`: what `Operation.create` makes, in a third of the time."""
    op = class_.__new__(class_)
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = Use(op, index)
        operand.add_use(use)
        uses.append(use)
    fields = op.__dict__
    fields["_operands"] = SSAValues(operands)
    fields["_operand_uses"] = tuple(uses)
    fields["results"] = SSAValues([OpResult(type_, op, i) for i, type_ in enumerate(types)])
    fields["properties"] = properties
    fields["attributes"] = {}
    fields["location"] = location
    for region in regions:
        op.add_region(region)
    return op


@dataclass(slots=True)
class OpReader:
    """Reads the ops of one file. `offsets` is where each stands, in the order of `walk`."""

    version: Version
    attributes: AttributeReader
    cursor: Cursor = field(default_factory=lambda: Cursor(b""))
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    place: Callable[[], Attribute] = lambda: UNKNOWN_LOC
    offsets: list[int] = field(default_factory=list[int])
    depth: int = 0
    formats: Any = None
    kept: dict[tuple[Any, ...], Attribute] = field(default_factory=dict[Any, Attribute])

    def __post_init__(self) -> None:
        self.formats = formats(self.version)

    def body(self, block: Block, cursor: Cursor, place: Callable[[], Attribute]) -> None:
        """Read the ops of a function, all there is at the cursor, into its block."""
        self.cursor, self.place = cursor, place
        self.values = list(block.args)
        ops: list[Operation] = []
        while cursor.position < cursor.end:
            ops.append(self.operation())
        link(block, ops)

    def operation(self) -> Operation:
        """One op with all that is in it."""
        cursor = self.cursor
        start = cursor.position
        self.offsets.append(start)
        opcode = cursor.varint()
        format_ = self.formats.get(opcode)
        if format_ is None:
            cursor.fail(f"unsupported opcode {opcode} for bytecode version {self.version}", start)
        location = self.place()
        types = self._result_types(format_)
        flags = self._flags(format_) if format_.has_flags else 0
        properties = {}
        for property_ in format_.properties:
            value = self._property(property_, flags, types)
            if value is not None:
                properties[property_.name] = value
        operands = self._operands(format_, flags, properties)
        regions = self._regions(format_) if format_.regions else ()
        named = len(types)
        types.extend(format_.missing_results)
        op = new_op(format_.op, operands, types, properties, location, regions)
        self.values.extend(op.results[:named])
        return op

    def _result_types(self, format_: Format) -> list[Attribute]:
        cursor = self.cursor
        number = format_.results
        if format_.counted_results:
            start = cursor.position
            counted = cursor.count(1, "results")
            if number is not None and counted != number:
                cursor.fail(f"'{format_.op.name}' expected {number} results, got {counted}", start)
            number = counted
        index = self.attributes.types.index
        return [index(cursor) for _ in range(number or 0)]

    def _flags(self, format_: Format) -> int:
        start = self.cursor.position
        flags = self.cursor.varint()
        if flags & ~format_.known_flags:
            self.cursor.fail(
                f"'{format_.op.name}' expected flags within {format_.known_flags:#b}, "
                f"got {flags:#b}",
                start,
            )
        return flags

    def _property(
        self, property_: Property, flags: int, types: Sequence[Attribute]
    ) -> Attribute | None:
        if not property_.available:
            return None
        if property_.bit is not None and not flags >> property_.bit & 1:
            return None
        return READERS[property_.kind](self, property_.detail, types)

    def _operands(
        self, format_: Format, flags: int, properties: dict[str, Attribute]
    ) -> list[SSAValue]:
        cursor, values = self.cursor, self.values
        if not format_.segments:
            start = cursor.position
            least = sum(operand.arity is Arity.ONE for operand in format_.operands)
            number = cursor.count(1, "operands") if format_.counted_operands else least
            if number < least:
                cursor.fail(f"'{format_.op.name}' expected {least} operands, got {number}", start)
            return self._values(number)
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for operand in format_.operands:
            if operand.arity is Arity.ONE:
                size = 1
            elif operand.bit is not None:
                size = flags >> operand.bit & 1
            else:
                size = cursor.count(1, "operands")
            sizes.append(size)
            operands += self._values(size)
        key = tuple(sizes)
        if (segments := self.kept.get(key)) is None:
            segments = self.kept[key] = DenseArrayBase.from_list(i32, sizes)
        properties[SEGMENTS] = segments
        return operands

    def _values(self, number: int) -> list[SSAValue]:
        cursor, values = self.cursor, self.values
        found: list[SSAValue] = []
        for _ in range(number):
            start = cursor.position
            index = cursor.varint()
            if index >= len(values):
                cursor.fail(f"expected an index of one of {len(values)} values, got {index}", start)
            found.append(values[index])
        return found

    def _regions(self, format_: Format) -> list[Region]:
        cursor = self.cursor
        start = cursor.position
        number = cursor.varint()
        if number != len(format_.regions):
            cursor.fail(
                f"'{format_.op.name}' expected {len(format_.regions)} regions, got {number}", start
            )
        if self.depth >= DEEPEST:
            cursor.fail(f"expected regions nested at most {DEEPEST} deep, got more", start)
        self.depth += 1
        regions = [self._region(may_be_empty) for may_be_empty in format_.regions]
        self.depth -= 1
        return regions

    def _region(self, may_be_empty: bool) -> Region:
        cursor = self.cursor
        start = cursor.position
        blocks = cursor.varint()
        if blocks == 0 and may_be_empty:
            return Region()
        if blocks != 1:
            cursor.fail(f"expected a region of one block, got {blocks}", start)
        index = self.attributes.types.index
        block = Block(arg_types=[index(cursor) for _ in range(cursor.count(1, "arguments"))])
        outer = len(self.values)
        self.values += block.args
        number = cursor.count(1, "ops")
        link(block, [self.operation() for _ in range(number)])
        del self.values[outer:]
        return Region(block)


def link(block: Block, ops: Iterable[Operation]) -> None:
    """Put new ops into an empty block: what `Block.add_op` does one by one."""
    fields = block.__dict__
    previous: Operation | None = None
    for op in ops:
        own = op.__dict__
        own["parent"] = block
        own["_prev_op"] = previous
        if previous is None:
            fields["_first_op"] = op
        else:
            previous.__dict__["_next_op"] = op
        previous = op
    fields["_last_op"] = previous


Reader = Callable[[OpReader, Any, Sequence[Attribute]], Attribute]


def _unit(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return UNIT


def _string(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return StringAttr(reader.attributes.strings.index(reader.cursor))


def _symbol(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return SymbolRefAttr(reader.attributes.strings.name(reader.cursor, "a symbol"))


def _type(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return reader.attributes.types.index(reader.cursor)


def _integer(reader: OpReader, width: int, types: Sequence[Attribute]) -> Attribute:
    return read_integer(reader.cursor, IntegerType(width))


def _case(reader: OpReader, enum: Any) -> Any:
    start = reader.cursor.position
    number = reader.cursor.varint()
    case = enum.of_number(number)
    if case is None:
        reader.cursor.fail(
            f"invalid integer value for enum type: {number}, expected one below {len(enum)}", start
        )
    return case


def _choice(reader: OpReader, class_: Any, types: Sequence[Attribute]) -> Attribute:
    return class_.of(_case(reader, class_.CHOICES))


def _number(reader: OpReader, enum: Any, types: Sequence[Attribute]) -> Attribute:
    return IntegerAttr(_case(reader, enum).number, i32)


def _i32s(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return DenseArrayBase.from_list(i32, read_numbers(reader.cursor, "i"))


def _bools(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    start = reader.cursor.position
    numbers = read_numbers(reader.cursor, "b")
    if set(numbers) - {0, 1}:
        reader.cursor.fail(f"expected bytes that are 0 or 1, got {list(numbers)}", start)
    return DenseArrayBase.from_list(i1, numbers)


def _array(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return reader.attributes.array(reader.cursor)


def _hints(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return reader.attributes.hints(reader.cursor)


def _elements(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return reader.attributes.constants.index(reader.cursor, types[0])


def _tagged(reader: OpReader, detail: Any, types: Sequence[Attribute]) -> Attribute:
    return reader.attributes.tagged(reader.cursor)


READERS: dict[Kind, Reader] = {
    Kind.UNIT: _unit,
    Kind.STRING: _string,
    Kind.SYMBOL: _symbol,
    Kind.TYPE: _type,
    Kind.INTEGER: _integer,
    Kind.CHOICE: _choice,
    Kind.NUMBER: _number,
    Kind.I32S: _i32s,
    Kind.BOOLS: _bools,
    Kind.ARRAY: _array,
    Kind.HINTS: _hints,
    Kind.ELEMENTS: _elements,
    Kind.TAGGED: _tagged,
}
"""What reads each kind of property."""
