"""Register tensors as SSA values: a fragment for each chunk of neighbouring elements.

A chunk is what the tensor's maker expects an instruction to take at once. What is read or written
across chunks is taken apart and put together, which costs no instruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.attributes import FragmentType
from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.lowering.tile.emitter import Emitter

Chunks = tuple[SSAValue | None, ...]
"""The value of every chunk, or None where nothing has been written."""


class Undefined(ValueError):
    """Registers are read that nothing has written."""


class Registers:
    """The elements of one register tensor of each thread."""

    def __init__(self, element: Attribute, size: int, chunk: int) -> None:
        self.per_register = FragmentType.get(1 << 10, element).element.per_register
        whole = -(-size // self.per_register) * self.per_register
        if chunk % self.per_register or whole % chunk:
            chunk = whole
        self.element, self.chunk = element, chunk
        self.chunks: Chunks = (None,) * (whole // chunk)

    @property
    def size(self) -> int:
        """How many elements there are, whole registers of them."""
        return self.chunk * len(self.chunks)

    def type(self, count: int | None = None) -> FragmentType:
        """The type of a fragment of these elements, by default a chunk."""
        return FragmentType.get(self.chunk if count is None else count, self.element)

    # --- whole registers ---

    def read(self, places: Sequence[int], emitter: Emitter) -> SSAValue:
        """Elements as one fragment, in order. Raises Undefined."""
        first, count = places[0], len(places)
        if count == self.chunk and first % self.chunk == 0 and is_run(places):
            return self._at(first // self.chunk)
        width = self.per_register
        if not _in_registers(places, width):
            scalars = [self.read_element(place, emitter) for place in places]
            return emitter.emit(fragment.FromElementsOp(scalars, self.type(count)))
        parts = [self._piece(start, size, emitter) for start, size in _pieces(places, self.chunk)]
        return parts[0] if len(parts) == 1 else emitter.once(
            ("concat", *parts), lambda: fragment.ConcatOp(parts, self.type(count))
        )  # fmt: skip

    def write(self, places: Sequence[int], value: SSAValue, emitter: Emitter) -> None:
        """Set elements to those of a fragment, in order."""
        if not _in_registers(places, self.per_register):
            self.write_elements(
                {place: extracted(value, i, emitter) for i, place in enumerate(places)}, emitter
            )
            return
        chunks, done = list(self.chunks), 0
        for start, size in _pieces(places, self.chunk):
            part = sliced(value, done, size, self.type(size), emitter)
            done += size
            number, inside = divmod(start, self.chunk)
            chunks[number] = self._replaced(chunks[number], inside, part, size, emitter)
        self.chunks = tuple(chunks)

    def _at(self, number: int) -> SSAValue:
        found = self.chunks[number]
        if found is None:
            raise Undefined
        return found

    def _piece(self, start: int, size: int, emitter: Emitter) -> SSAValue:
        number, inside = divmod(start, self.chunk)
        return sliced(self._at(number), inside, size, self.type(size), emitter)

    def _replaced(
        self, chunk: SSAValue | None, inside: int, part: SSAValue, size: int, emitter: Emitter
    ) -> SSAValue:
        """A chunk with some of its elements replaced."""
        if size == self.chunk:
            return part
        chunk = self.poison(emitter) if chunk is None else chunk
        behind = inside + size
        parts = [part]
        if inside:
            parts.insert(0, sliced(chunk, 0, inside, self.type(inside), emitter))
        if behind < self.chunk:
            rest = self.chunk - behind
            parts.append(sliced(chunk, behind, rest, self.type(rest), emitter))
        return emitter.emit(fragment.ConcatOp(parts, self.type()))

    def poison(self, emitter: Emitter) -> SSAValue:
        """A chunk that nothing has written."""
        return emitter.once(("poison", self.type()), lambda: PoisonOp(self.type()))

    # --- elements ---

    def read_element(self, place: int, emitter: Emitter) -> SSAValue:
        """One element. Raises Undefined."""
        number, inside = divmod(place, self.chunk)
        return extracted(self._at(number), inside, emitter)

    def write_elements(self, values: Mapping[int, SSAValue], emitter: Emitter) -> None:
        """Set elements by their places."""
        chunks = list(self.chunks)
        for number in sorted({place // self.chunk for place in values}):
            first = number * self.chunk
            given = {
                place - first: values[place]
                for place in range(first, first + self.chunk)
                if place in values
            }
            chunks[number] = self._with_elements(chunks[number], given, emitter)
        self.chunks = tuple(chunks)

    def _with_elements(
        self, chunk: SSAValue | None, given: Mapping[int, SSAValue], emitter: Emitter
    ) -> SSAValue:
        if len(given) == self.chunk:
            return from_elements([given[i] for i in range(self.chunk)], self.type(), emitter)
        result = self.poison(emitter) if chunk is None else chunk
        for place, value in given.items():
            result = emitter.emit(fragment.InsertOp(value, result, place))  # type: ignore[arg-type]
        return result


def is_run(places: Sequence[int]) -> bool:
    """Whether places follow one another."""
    return all(place == places[0] + i for i, place in enumerate(places))


def _in_registers(places: Sequence[int], width: int) -> bool:
    """Whether places are those of whole registers, one after the other."""
    return len(places) % width == 0 and all(
        places[i] % width == 0 and is_run(places[i : i + width])
        for i in range(0, len(places), width)
    )


def _pieces(places: Sequence[int], chunk: int) -> list[tuple[int, int]]:
    """Runs of places within chunks, in order: (first, count)."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found:
            start, size = found[-1]
            if place == start + size and place % chunk:
                found[-1] = (start, size + 1)
                continue
        found.append((place, 1))
    return found


def sliced(
    value: SSAValue, first: int, count: int, type_: FragmentType, emitter: Emitter
) -> SSAValue:
    """Some elements of a fragment."""
    held = value.type
    assert isinstance(held, FragmentType)
    if first == 0 and held.count.data == count:
        return value
    return emitter.once(
        ("slice", value, first, count), lambda: fragment.SliceOp(value, first, type_)
    )


def extracted(value: SSAValue, place: int, emitter: Emitter) -> SSAValue:
    """One element of a fragment."""
    return emitter.once(
        ("extract", value, place),
        lambda: fragment.ExtractOp(value, place),  # type: ignore[arg-type]
    )


def from_elements(scalars: Sequence[SSAValue], type_: FragmentType, emitter: Emitter) -> SSAValue:
    """The fragment of these scalars; one that was only taken apart is itself."""
    first = scalars[0]
    if all(each is first for each in scalars):
        return emitter.once(("splat", first, type_), lambda: fragment.SplatOp(first, type_))
    if isinstance(first.owner, fragment.ExtractOp):
        source = first.owner.fragment
        same = source.type == type_ and all(
            isinstance(each.owner, fragment.ExtractOp)
            and each.owner.fragment is source
            and each.owner.position.value.data == i
            for i, each in enumerate(scalars)
        )
        if same:
            return source
    return emitter.emit(fragment.FromElementsOp(scalars, type_))
