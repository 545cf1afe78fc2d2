"""The cells of memory that roles access at an event."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE
from tilewright.dialects.frozen import entity, factory
from tilewright.passes.analysis.hazards.accesses import Part
from tilewright.passes.analysis.hazards.effects import MemoryPlace
from tilewright.passes.analysis.hazards.launches import ClusterLaunch
from tilewright.passes.analysis.hazards.placement import (
    HALF,
    Placement,
    bits_set,
    is_tensor,
    matrix_offsets,
    placement_of,
    tensor_cells,
    tensor_offset,
    tensor_set,
)
from tilewright.passes.analysis.hazards.places import UnknownReach
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import Role
from tilewright.passes.analysis.hazards.scalars import UNKNOWN
from tilewright.passes.analysis.hazards.trace import (
    WARP,
    Event,
    EventTrace,
    OutOfBounds,
    PlacedView,
)

Array = NDArray[np.int64]

NO_PLACE = "its place is not known before it runs"


Operand = tuple[MemoryPlace, Any, tuple[Any, ...]]
"""The access of an event: where, in which memref (a View, or unknown), at which indices."""

Memory = dict[tuple[Any, ...], Any]
"""Cells that were computed before, of all launches of a function."""


@entity
class Cells:
    """The cells of the events of one launch; what is not known is noted in its trace."""

    _trace: EventTrace
    _launch: ClusterLaunch
    _roles: Sequence[Role]
    _memory: Memory
    writes_anywhere: bool = False
    """Something wrote where nobody knows: whatever is read may be that."""
    _chosen: dict[tuple[Any, ...], tuple[list[Array], Array, tuple[int, ...]]] = factory(dict)

    def shared(
        self, event: Event, access: Operand, roles: Sequence[int],
        constant: Any = None,
    ) -> list[Part | None]:  # fmt: skip
        """The cells of shared memory that each role accesses, None where that is not known, or
        none. `constant` says which threads of a warp do: so many, or "warp": one for all."""
        place, view, indices = access
        lanes, every, sizes = self._threads(tuple(roles), constant)
        if (parts := self._all_cells(event, access)) is not None:
            self.writes_anywhere |= place.writes
            return [Part(event, *parts, own_lanes) for own_lanes in lanes]
        placement = self._placement(event, view, indices)
        if placement is None:
            self.writes_anywhere |= place.writes
            return [None] * len(roles)
        numbers = [index if isinstance(index, int) else index[every] for index in indices]
        own = tuple([n if isinstance(n, int) else n.tobytes() for n in numbers])
        key = (place, view.root, view.first, own, sizes)
        if (known := self._memory.get(key)) is None:
            try:
                cells = _cells(place, view, numbers, placement)
            except UnknownReach:
                self.writes_anywhere |= place.writes
                self._trace.unproven.setdefault(event.op, "its descriptor is none")
                return [None] * len(roles)
            known = self._memory[key] = _by_role(cells, sizes)
        return [
            Part(event, *touched, own_lanes) if len(own_lanes) else None
            for touched, own_lanes in zip(known, lanes, strict=True)
        ]

    def _all_cells(self, event: Event, access: Operand) -> tuple[int, Array] | None:
        """The cells of the memory that threads access at a place that is not known, as a set and
        for all of them; None where it is known, or not to be asked: what several threads write at
        once may be to one place."""
        place, view, indices = access
        apart = place.atomic or not place.writes or event.mask.count == 1
        if not self._trace.covers or event.kind != "access" or not apart:
            return None
        if not isinstance(view, PlacedView):
            return None
        root: Any = getattr(view.root, "type", view.type)
        whole = view.placement if root is view.type else placement_of(root)
        if whole is None or not any(index is UNKNOWN for index in indices):
            return None
        self._trace.covering.setdefault(event.op, NO_PLACE)
        key = ("all", view.root)
        if key not in self._memory:
            cells = np.arange(whole.size)[None]
            self._memory[key] = bits_set(cells), cells
        return self._memory[key]

    def _threads(
        self, roles: tuple[int, ...], constant: Any
    ) -> tuple[list[Array], Array, tuple[int, ...]]:
        """The threads of each of some roles that access anything, all of them, and how many."""
        if (known := self._chosen.get((roles, constant))) is None:
            lanes = [_chosen(self._roles[role].lanes, constant) for role in roles]
            known = lanes, np.concatenate(lanes), tuple(map(len, lanes))
            self._chosen[roles, constant] = known
        return known

    def all_of(self, event: Event, access: Operand, role: int) -> int | None:
        """The cells of one role as a set, or None where that is not known."""
        (part,) = self.shared(event, access, [role])
        return None if part is None else part.cells

    def _placement(self, event: Event, view: object, indices: tuple[Any, ...]) -> Placement | None:
        if not isinstance(view, PlacedView) or any(index is UNKNOWN for index in indices):
            self._trace.unproven.setdefault(event.op, NO_PLACE)
            return None
        # In tensor memory each warp may have a slice of its own.
        known = isinstance(view.first, int) or is_tensor(view.type)
        if view.placement is None or not known:
            self._trace.unproven.setdefault(event.op, "its memory has no static layout")
            return None
        return view.placement

    def tensor(self, event: Event, access: Operand, role: int) -> int | None:
        """The cells of tensor memory that a role accesses, or None where that is not known."""
        place, view, indices = access
        if self._placement(event, view, indices) is None:
            return None
        lane = self._roles[role].lanes[0]
        numbers = [index if isinstance(index, int) else int(index[lane]) for index in indices]
        first = view.first if isinstance(view.first, int) else int(view.first[lane])
        if place.halves is not None and max(place.halves) * HALF < WARP:
            offset = sum(numbers) if view.type is None else tensor_offset(view.type, numbers)
            self._check_window(event, first + int(offset), role)
        key = (place, view.root, first, tuple(numbers))
        if (known := self._memory.get(key)) is None:
            known = self._memory[key] = _tensor(place, view, first, numbers)
        return known

    def _check_window(self, event: Event, cell: int, role: int) -> None:
        """Raise Hazard where a warp accesses lanes that are not its own: PTX ISA, tcgen05.ld."""
        own = self._roles[role].warp_of_cta % 4 * WARP
        if self._launch.is_kernel and cell // LANE_STRIDE // WARP * WARP != own:
            raise Hazard(
                "window", event.op, nearest=str(own),
                missing=f"lanes {own} to {own + WARP - 1}, got lane {cell // LANE_STRIDE}",
            )  # fmt: skip


def _chosen(lanes: Array, constant: Any) -> Array:
    if isinstance(constant, int) and constant < WARP:
        return lanes[lanes % WARP < constant]
    return lanes[:1] if constant == "warp" else lanes


def _cells(place: MemoryPlace, view: PlacedView, numbers: list[Any], placement: Placement) -> Array:
    """Cells of what was allocated, by thread or for all. Raises OutOfBounds."""
    if any(isinstance(number, int) and number.bit_length() > 63 for number in numbers):
        raise OutOfBounds  # A sum of an address and a constant offset is of any size.
    if place.reach is not None:
        cells, bits = place.reach(*numbers), placement.bits
        assert isinstance(cells, np.ndarray)
        if bits < 8:
            cells = (cells[:, :, None] * 8 // bits + np.arange(8 // bits)).reshape(len(cells), -1)
        else:
            cells = cells[:, :: bits // 8] // (bits // 8)
    elif place.matrix is not None:
        matrix = place.matrix.result.type
        per_item = max(8 // matrix.element.bits, 1)
        first = np.asarray(numbers[0], dtype=np.int64).reshape(-1, 1)
        cells = placement.through(first + matrix_offsets(matrix.layout.data, per_item))
    else:
        cells = placement.cells(numbers, place.extents)
    cells = cells + view.first
    root: Any = getattr(view.root, "type", view.type)
    whole = placement if root is view.type else placement_of(root) or placement
    wide = max(placement.bits // whole.bits, 1)
    if wide > 1:
        cells = (cells[..., None] * wide + np.arange(wide)).reshape(len(cells), -1)
    elif placement.bits < whole.bits:
        cells = cells * placement.bits // whole.bits
    if cells.size and (cells.min() < 0 or cells.max() >= whole.size):
        raise OutOfBounds
    return cells


def _by_role(cells: Array, sizes: tuple[int, ...]) -> list[tuple[int, Array]]:
    """The cells of each role, as a set and by thread."""
    if len(cells) == 1:
        return [(bits_set(cells), cells)] * len(sizes)
    ends = np.cumsum(sizes).tolist()
    parts = [cells[end - count : end] for end, count in zip(ends, sizes, strict=True)]
    # Of each role from its first cell on: mostly far fewer than there are.
    rows = np.repeat(np.arange(len(sizes)), sizes)
    first = np.array([part.min(initial=1 << 62) for part in parts])
    offsets = cells - first[rows, None]
    flags = np.zeros((len(sizes), int(offsets.max(initial=0)) + 1), dtype=np.bool_)
    flags[rows[:, None], offsets] = True
    packed = np.packbits(flags, axis=1, bitorder="little")
    return [
        (int.from_bytes(row.tobytes(), "little") << low, part)
        for row, low, part in zip(packed, first.tolist(), parts, strict=True)
    ]


def _tensor(place: MemoryPlace, view: PlacedView, first: int, numbers: list[int]) -> int:
    if place.reach is not None:
        cells = place.reach(first + sum(numbers))
        assert isinstance(cells, int)
        return cells
    assert view.type is not None
    halves, columns = tensor_cells(view.type)
    if place.halves is not None:
        halves = place.halves
    if place.columns is not None:
        offset = int(tensor_offset(view.type, numbers))
        if offset % (1 << 16) + place.columns.bit_length() > columns.bit_length():
            raise OutOfBounds
        first, columns = first + offset, place.columns
    return tensor_set(first, halves, columns)
