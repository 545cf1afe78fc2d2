"""Ops from the bytes of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, i32
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.bytecode.attributes import AttributeReader
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.op_format import Encoding, formats
from tilewright.dialects.cuda_tile.versions import Version
from tilewright.dialects.frozen import factory

DEEPEST = 100
"""How deep regions nest at most."""
SEGMENTS = AttrSizedOperandSegments.attribute_name


def new_op(
    class_: type[Operation],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: Attribute,
    regions: Sequence[Region],
) -> Operation:
    """An op that owns `properties`: what `Operation.create` makes, in a third of the time."""
    op = class_.__new__(class_)
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = Use(op, index)
        operand.add_use(use)
        uses.append(use)
    fields = vars(op)
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
    """Reads the ops of one file. `made` are the ops with the byte each begins at, inner ones
    before those around them."""

    version: Version
    attributes: AttributeReader
    cursor: Cursor = factory(lambda: Cursor(b""))
    values: list[SSAValue] = factory(list)
    place: Callable[[], Attribute] = lambda: UNKNOWN_LOC
    made: list[tuple[Operation, int]] = factory(list)
    depth: int = 0
    formats: Mapping[int, Encoding] = field(init=False)

    def __post_init__(self) -> None:
        self.formats = formats(self.version)

    def body(self, block: Block, cursor: Cursor, place: Callable[[], Attribute]) -> None:
        """Read the ops of a function, all there is at the cursor, into its block."""
        self.cursor, self.place = cursor, place
        self.values = list(block.args)
        ops: list[Operation] = []
        while cursor.position < cursor.end:
            ops.append(self.operation())
        self._fill(block, ops)

    def _fill(self, block: Block, ops: Sequence[Operation]) -> None:
        """Put ops into a block; the last one must end it."""
        if not ops or not ops[-1].has_trait(IsTerminator):
            self.cursor.fail(
                "invalid block structure: block is expected to have a terminator operation, got "
                + (f"'{ops[-1].name}'" if ops else "no op"),
                self.made[-1][1] if ops else None,
            )
        link(block, ops)

    def operation(self) -> Operation:
        """One op with all that is in it."""
        cursor = self.cursor
        start = cursor.position
        opcode = cursor.varint()
        format_ = self.formats.get(opcode)
        if format_ is None:
            cursor.fail(f"unsupported opcode {opcode} for bytecode version {self.version}", start)
        location = self.place()
        types = self._types(self._result_count(format_))
        flags = self._flags(format_) if format_.has_flags else 0
        properties: dict[str, Attribute] = {}
        for property_ in format_.available:
            if property_.mask and not flags & property_.mask:
                continue
            value = property_.codec.read(self.attributes, cursor, types)
            if value is not None:
                properties[property_.name] = value
        operands = (
            self._segments(format_, flags, properties)
            if format_.segments
            else self._values(self._operand_count(format_))
        )
        regions = self._regions(format_) if format_.regions else ()
        named = len(types)
        types += format_.missing_results
        op = new_op(format_.op, operands, types, properties, location, regions)
        self.values += op.results[:named] if format_.missing_results else op.results
        self.made.append((op, start))
        return op

    def _result_count(self, format_: Encoding) -> int:
        number = format_.results
        if not format_.counted_results:
            return number or 0
        start = self.cursor.position
        counted = self.cursor.count(1, "results")
        if number is not None and counted != number:
            self.cursor.fail(f"'{format_.op.name}' expected {number} results, got {counted}", start)
        return counted

    def _types(self, number: int) -> list[Attribute]:
        """So many types, by their indices."""
        types, start = self.attributes.types.types, self.cursor.position
        try:
            return [types[index] for index in self.cursor.varints(number)]
        except IndexError:
            self._bad_index(start, len(types), "types")

    def _values(self, number: int) -> list[SSAValue]:
        """So many values, by their indices."""
        values, start = self.values, self.cursor.position
        try:
            return [values[index] for index in self.cursor.varints(number)]
        except IndexError:
            self._bad_index(start, len(values), "values")

    def _bad_index(self, start: int, size: int, what: str) -> NoReturn:
        """Complain of the first index that is too large."""
        self.cursor.position = start
        while True:
            self.cursor.index(size, what)

    def _flags(self, format_: Encoding) -> int:
        start = self.cursor.position
        flags = self.cursor.varint()
        if flags & ~format_.known_flags:
            self.cursor.fail(
                f"'{format_.op.name}' expected flags within {format_.known_flags:#b}, "
                f"got {flags:#b}",
                start,
            )
        return flags

    def _operand_count(self, format_: Encoding) -> int:
        if not format_.counted_operands:
            return format_.least_operands
        start = self.cursor.position
        number = self.cursor.count(1, "operands")
        if number < format_.least_operands:
            self.cursor.fail(
                f"'{format_.op.name}' expected {format_.least_operands} operands, got {number}",
                start,
            )
        return number

    def _segments(
        self, format_: Encoding, flags: int, properties: dict[str, Attribute]
    ) -> list[SSAValue]:
        """The operands of an op with segments, whose sizes are a property."""
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for size in format_.sizes:
            if size is None:
                size = self.cursor.count(1, "operands")
            elif size < 0:
                size = 1 if flags & -size else 0
            sizes.append(size)
            if size:
                operands += self._values(size)
        properties[SEGMENTS] = self.attributes.list_of(i32, tuple(sizes))
        return operands

    def _regions(self, format_: Encoding) -> list[Region]:
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
        block = Block(arg_types=self._types(cursor.count(1, "arguments")))
        outer = len(self.values)
        self.values += block.args
        number = cursor.count(1, "ops")
        self._fill(block, [self.operation() for _ in range(number)])
        del self.values[outer:]
        return Region(block)


def link(block: Block, ops: Iterable[Operation]) -> None:
    """Put new ops into an empty block: what `Block.add_op` does one by one."""
    fields = vars(block)
    previous: Operation | None = None
    for op in ops:
        own = vars(op)
        own["parent"] = block
        own["_prev_op"] = previous
        if previous is None:
            fields["_first_op"] = op
        else:
            vars(previous)["_next_op"] = op
        previous = op
    fields["_last_op"] = previous
