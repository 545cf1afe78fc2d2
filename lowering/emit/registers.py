"""Register tensors as SSA values: a fragment for each chunk of neighbouring elements.

A chunk is what the tensor's maker expects an instruction to take at once. What is read or written
across chunks is taken apart and put together, which costs no instruction. A chunk of which an op
has written some elements is those elements until the op settles.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from functools import cache

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.emit.emitter import Emitter

Element = SSAValue | tuple[SSAValue, int] | None
"""A scalar, or a place in a fragment, or nothing yet."""

Chunk = SSAValue | tuple[Element, ...] | None
"""A fragment, or its elements, or nothing yet."""


class NeverWritten(ValueError):
    """Registers are read that nothing has written."""


class RegisterChunks:
    """The elements of one register tensor of each thread."""

    def __init__(self, element: Attribute, size: int, chunk: int):
        self.per_register = FragmentType.get(1 << 10, element).element.per_register
        whole = -(-size // self.per_register) * self.per_register
        if chunk < self.per_register:
            chunk = self.per_register
        elif chunk % self.per_register or whole % chunk:
            chunk = whole
        self.element, self.chunk = element, chunk
        self.chunks: tuple[Chunk, ...] = (None,) * (whole // chunk)

    def type(self, count: int | None = None) -> FragmentType:
        """The type of a fragment of these elements, by default a chunk."""
        return FragmentType.get(self.chunk if count is None else count, self.element)

    def as_they_are(self) -> RegisterChunks:
        """The elements now, whatever is written later."""
        return copy(self)

    # --- whole registers ---

    def read(self, places: Sequence[int], emitter: Emitter) -> SSAValue:
        """Elements as one fragment, in order. Raises Undefined."""
        first, count = places[0], len(places)
        whole = self.chunks[first // self.chunk]
        aligned = count == self.chunk and first % self.chunk == 0
        if aligned and isinstance(whole, SSAValue) and is_run(places):
            return whole
        return assembled([self._element(place) for place in places], self.type(count), emitter)

    def write(self, places: Sequence[int], value: SSAValue, emitter: Emitter) -> None:
        """Set elements to those of a fragment, in order."""
        chunks, size = list(self.chunks), self.chunk
        number, inside = divmod(places[0], size)
        if len(places) == size and not inside and is_run(places):
            chunks[number] = value
        else:
            for i, place in enumerate(places):
                number, inside = divmod(place, size)
                chunks[number] = _with(chunks[number], size, inside, (value, i))
        self.chunks = tuple(chunks)

    def carried(self, number: int, emitter: Emitter) -> SSAValue:
        """A chunk as one value; of elements that nothing has written any value will do."""
        chunk = self.chunks[number]
        if chunk is None:
            return emitter.once(("poison", self.type()), lambda: PoisonOp(self.type()))
        if isinstance(chunk, SSAValue):
            return chunk
        some = next(element for element in chunk if element is not None)
        return assembled(
            [some if element is None else element for element in chunk], self.type(), emitter
        )

    # --- elements ---

    def _element(self, place: int) -> Element:
        number, inside = divmod(place, self.chunk)
        chunk = self.chunks[number]
        if isinstance(chunk, SSAValue):
            return chunk, inside
        if chunk is None or chunk[inside] is None:
            raise NeverWritten
        return chunk[inside]

    def read_element(self, place: int, emitter: Emitter) -> SSAValue:
        """One element. Raises Undefined."""
        return _scalar(self._element(place), emitter)

    def write_elements(self, values: Mapping[int, SSAValue]) -> None:
        """Set elements by their places."""
        chunks, size = list(self.chunks), self.chunk
        for place, value in values.items():
            number, inside = divmod(place, size)
            chunks[number] = _with(chunks[number], size, inside, value)
        self.chunks = tuple(chunks)

    def settle(self, emitter: Emitter) -> None:
        """Make fragments of the chunks that are written whole."""
        self.chunks = tuple(
            assembled(chunk, self.type(), emitter)
            if isinstance(chunk, tuple) and None not in chunk
            else chunk
            for chunk in self.chunks
        )


def _with(chunk: Chunk, size: int, place: int, element: Element) -> tuple[Element, ...]:
    """A chunk with one element replaced."""
    elements: list[Element] = [None] * size
    if isinstance(chunk, SSAValue):
        elements = [(chunk, i) for i in range(size)]
    elif chunk is not None:
        elements = list(chunk)
    elements[place] = element
    return tuple(elements)


def is_run(places: Sequence[int]) -> bool:
    """Places follow one another."""
    return places[-1] - places[0] == len(places) - 1 and all(
        place == places[0] + i for i, place in enumerate(places)
    )


def _scalar(element: Element, emitter: Emitter) -> SSAValue:
    assert element is not None
    return element if isinstance(element, SSAValue) else extracted(*element, emitter)


def assembled(elements: Sequence[Element], type_: FragmentType, emitter: Emitter) -> SSAValue:
    """The fragment of these elements: slices of others where whole registers of them follow one
    another, scalars elsewhere."""
    width = type_.element.per_register
    pieces: list[tuple[SSAValue, int, int] | list[SSAValue]] = []
    for first in range(0, len(elements), width):
        group = elements[first : first + width]
        run = _run(group, width)
        last = pieces[-1] if pieces else None
        if run is None:
            scalars = [_scalar(element, emitter) for element in group]
            if isinstance(last, list):
                last += scalars
            else:
                pieces.append(scalars)
        elif isinstance(last, tuple) and last[0] is run[0] and last[1] + last[2] == run[1]:
            pieces[-1] = (last[0], last[1], last[2] + width)
        else:
            pieces.append((*run, width))
    parts = [
        from_elements(piece, _counted(type_, len(piece)), emitter)
        if isinstance(piece, list)
        else sliced(piece[0], piece[1], piece[2], _counted(type_, piece[2]), emitter)
        for piece in pieces
    ]
    if len(parts) == 1:
        return parts[0]
    return emitter.once(("concat", *parts), lambda: fragment.ConcatOp(parts, type_))


@cache
def _counted(type_: FragmentType, count: int) -> FragmentType:
    return FragmentType.get(count, type_.element_type)


def _run(group: Sequence[Element], width: int) -> tuple[SSAValue, int] | None:
    """The fragment whose register these elements are, and the first one's place there."""
    first = group[0]
    if not isinstance(first, tuple) or first[1] % width:
        return None
    same = all(
        isinstance(element, tuple) and element[0] is first[0] and element[1] == first[1] + i
        for i, element in enumerate(group)
    )
    return first if same else None


def sliced(
    value: SSAValue, first: int, count: int, type_: FragmentType, emitter: Emitter
) -> SSAValue:
    """Some elements of a fragment."""
    source_type = value.type
    assert isinstance(source_type, FragmentType)
    if first == 0 and source_type.count.data == count:
        return value
    return emitter.once(
        ("slice", value, first, count),
        lambda: fragment.SliceOp.create(
            operands=[value], properties={"position": _position(first)}, result_types=[type_]
        ),
    )


@cache
def _position(place: int) -> IntegerAttr:
    return IntegerAttr(place, i64)


def extracted(value: SSAValue, place: int, emitter: Emitter) -> SSAValue:
    """One element of a fragment; those that are registers of their own are named together."""
    type_ = value.type
    assert isinstance(type_, FragmentType)
    first, count = (place, 1) if type_.element.per_register > 1 else (0, type_.count.data)
    elements = emitter.every(
        ("extract", value, first),
        lambda: fragment.ExtractOp.create(
            operands=[value],
            properties={"position": _position(first)},
            result_types=[type_.element_type] * count,
        ),
    )
    return elements[place - first]


def from_elements(
    scalars: Sequence[SSAValue], type_: FragmentType, emitter: Emitter, form: Hashable = None
) -> SSAValue:
    """The fragment of these scalars; of other forms, which have other layouts, it is another."""
    first = scalars[0]
    if all(scalar is first for scalar in scalars):
        return emitter.once(("splat", first, type_, form), lambda: fragment.SplatOp(first, type_))
    return emitter.emit(fragment.FromElementsOp(scalars, type_))
