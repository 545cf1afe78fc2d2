"""The parts of tensor memory that each thread of a warp holds, TV layouts of `tcgen05.ld` and `st`,
and the places of `tcgen05.cp`.

A layout of an access is `(thread, value) -> place`. A value is an element of a register, low bits
first: a register of a cell of 32 bits, or, `packed`, of the low halves of two neighbouring cells.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from tilewright.dialects.cute import Layout, make_layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import column_stride, lane_stride
from tilewright.dialects.cute_nvgpu.fragments.mma import mode
from tilewright.dialects.cute_nvgpu.lattice import tmem_access as rows
from tilewright.dialects.cute_nvgpu.lattice.nearest import why_not
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.frozen import frozen

_Shape = TypeVar("_Shape")

PACKED_BITS = 16
"""The width of the elements that lie unpacked, each in the low half of a cell."""


@frozen
class TmemAccess:
    """A load or store of a shape, `.num` times; `half` is `immHalfSplitoff` where there is one."""

    shape: rows.TmemShape
    number: int
    packed: bool = False
    half: int = 0

    @property
    def registers(self) -> int:
        """How many registers a thread has."""
        return self.number * self.shape.per_number

    @property
    def columns(self) -> int:
        """How many columns of cells it spans, from the address on."""
        side_by_side = self.shape.step * self.number * (2 if self.packed else 1)
        return side_by_side + self.half

    @property
    def column_set(self) -> int:
        """A bit for each of those columns that it accesses: between halves there may be others."""
        side_by_side = (1 << self.columns - self.half) - 1
        return side_by_side | side_by_side << self.half

    def extents(self, bits: int) -> tuple[int, int]:
        """(lanes, elements of `bits` along a lane) that it spans."""
        return self.shape.lanes, self.columns * self._per_cell(bits)

    def _per_cell(self, bits: int) -> int:
        return 1 if self.packed else CELL_BITS // bits

    def mnemonic(self, row: rows.TmemAccessRow) -> str:
        """The mnemonic of the load or store."""
        return row.mnemonic(self.shape, self.number, packed=self.packed)

    def cells(self) -> Layout:
        """(thread, register) -> cell, the first one of two where packed: an address."""
        return self._layout(lane_stride(CELL_BITS), 1, (1, 0))

    def memory(self, bits: int) -> Layout:
        """(thread, value) -> offset in tensor memory, in elements of `bits` from the address."""
        cell = column_stride(bits)
        part = cell if self.packed else 1
        return self._layout(lane_stride(bits), cell, (CELL_BITS // bits, part))

    def tile(self, bits: int) -> Layout:
        """(thread, value) -> lane + lanes * element along it: the layout of the fragment."""
        lanes = self.shape.lanes
        return self._layout(1, lanes * self._per_cell(bits), (CELL_BITS // bits, lanes))

    def _layout(self, lane: int, cell: int, parts: tuple[int, int]) -> Layout:
        """The layout where lanes and cells are so far apart, and each register has `parts`."""
        step = cell * (2 if self.packed else 1)
        threads = [*_steps(self.shape.threads, lane, step)]
        if self.shape.halves:
            threads.append((2, self.half * cell))
        registers = [*_steps(self.shape.registers, lane, step)]
        values = [parts, *registers, (self.number, self.shape.step * step)]
        return make_layout(mode(*threads), mode(*values))


def _steps(modes: rows.Modes, lane: int, column: int) -> Iterable[tuple[int, int]]:
    return ((extent, lanes * lane + columns * column) for extent, lanes, columns in modes)


def parse_access(mnemonic: str) -> TmemAccess:
    """The access of a mnemonic of `tcgen05.ld` or `st`. Raises AtomError where there is none."""
    words = mnemonic.split(".")
    row = next(
        (row for row in (rows.TMEM_LOAD, rows.TMEM_STORE) if mnemonic.startswith(f"{row.stem}.")),
        None,
    )
    if row is None or len(words) < 6:
        raise AtomError(
            f"expected a mnemonic of {rows.TMEM_LOAD.stem} or {rows.TMEM_STORE.stem}, got "
            f"{mnemonic}"
        )
    shape = find_tmem_shape(words[4])
    for access in (
        TmemAccess(shape, number, packed) for number in shape.numbers for packed in (False, True)
    ):
        if access.mnemonic(row) == mnemonic:
            return access
    raise AtomError(f"{row.stem} has no form {mnemonic}")


REDUCE_FORMS: tuple[tuple[str, str, str], ...] = tuple(
    (reduction, type_, modifiers)
    for reduction in rows.REDUCTIONS
    for type_ in rows.REDUCED_TYPES
    for modifiers in (rows.REDUCE_MODIFIERS if type_ == "f32" else ("",))
)
"""(what is taken, of which type, modifiers) of `tcgen05.ld.red`; the modifiers are for f32."""


def find_tmem_shape(name: str) -> rows.TmemShape:
    """The shape of that name. Raises AtomError, naming the nearest, where there is none."""
    return _named(name, rows.TMEM_SHAPES)


def find_copy_shape(spelled: str) -> rows.TmemCopyShape:
    """The shape of `tcgen05.cp` that PTX spells so, multicast included. Raises AtomError."""
    return _named(spelled, rows.TMEM_COPY_SHAPES)


def _named(name: str, shapes: Mapping[str, _Shape]) -> _Shape:
    if name in shapes:
        return shapes[name]
    begun = [candidate for candidate in shapes if candidate.startswith(name)]
    near, *_ = begun or difflib.get_close_matches(name, shapes, n=1, cutoff=0.0)
    raise AtomError(f"expected shape {', '.join(shapes)}, got {name}; nearest legal: {near}")


def find_access(
    shape: rows.TmemShape, registers: int, *, packed: bool = False, half: int | None = None
) -> TmemAccess:
    """The access of so many registers a thread. Raises AtomError where there is none."""
    legal = [number * shape.per_number for number in shape.numbers]
    expected = f"{', '.join(map(str, legal))} registers with shape {shape.name}"
    if (why := why_not(registers, legal, expected)) is not None:
        raise AtomError(why)
    if shape.halves != (half is not None):
        got = "none" if half is None else str(half)
        want = "an offset of the second half" if shape.halves else "no offset of a second half"
        raise AtomError(f"expected {want} with shape {shape.name}, got {got}")
    return TmemAccess(shape, registers // shape.per_number, packed, half or 0)


def why_overlapping(access: TmemAccess) -> str | None:
    """Why an access cannot store: two of its threads would write one cell; or None."""
    needed = access.columns - access.half
    if not access.shape.halves or access.half >= needed:
        return None
    return (
        f"expected a second half {needed} columns or more further right, got {access.half} (two "
        f"threads would write one cell); nearest legal: {needed}"
    )


def copy_lanes(shape: rows.TmemCopyShape) -> Layout:
    """(row, copy) -> lane."""
    return make_layout(mode(*shape.lanes), mode(*shape.copies))
