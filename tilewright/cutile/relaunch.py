"""Launches of cuTile kernels like one before, found by what is read of their arguments.

A launch of arrays of the same shapes, wherever they lie, and of the same numbers has a
template, one of others of the same kind a plan: what is assumed of them
(`CutileParameter.constraint`) is the same. Nothing grows with launches: Python's collector would
walk it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any, cast

import numpy as np

from tilewright.arguments.arrays import ArrayArgument
from tilewright.cutile.gpu import BlockSchedule, launched
from tilewright.cutile.parameters import ALIGNED
from tilewright.cutile.rules import GRID
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.sequences import numbered
from tilewright.kernel import Kernel
from tilewright.launch.kernel import Extents
from tilewright.launch.known_launches import MOST, Items, items_reader, kept
from tilewright.launch.launcher import context_number
from tilewright.launch.plan import LaunchPlan, LaunchTemplate
from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.source.diagnostic import ArgumentError


@frozen
class _Plans:
    """Those of a kernel for what is assumed of its arguments, by the schedule of its blocks, and by
    the grids and schedules that there were."""

    code: Kernel
    by_schedule: dict[BlockSchedule, LaunchPlan] = factory(dict)
    by_grid: dict[Any, LaunchPlan] = factory(dict)

    def on_grid(self, grid: Any, values: Sequence[Any]) -> LaunchPlan | None:
        """The plan for a grid and flat arguments; None where the kernel has not been compiled for
        its schedule. Raises ArgumentError for what is no grid."""
        blocks: Extents = GRID.value("grid", grid, (ArgumentError,))
        schedule = BlockSchedule.of(self.code, blocks, values)
        if (known := self.by_grid.get((grid, schedule))) is not None:
            return known
        plan = self.by_schedule.get(schedule)
        if plan is None:
            return None
        return kept(self.by_grid, (grid, schedule), plan.on_grids(launched(plan.entries, blocks)))


COMPILING = RLock()
"""Held where a kernel is compiled, so that threads compile it once, and where a process forks."""
_PLANS: dict[Any, _Plans] = {}


@dataclass(slots=True)
class _Templates:
    """Those of launches that differ in addresses, by which of their arrays overlap: `reaches` are
    the bytes of each, and `order` their numbers as a launch before had them in memory."""

    reaches: Sequence[int]
    order: Sequence[int]
    by_overlaps: dict[Items, LaunchTemplate] = factory(dict)

    def find(self, addresses: Sequence[int]) -> LaunchTemplate | None:
        """That of arrays at addresses."""
        if not _are_apart(addresses, self.reaches, self.order):
            self.order = sorted(self.order, key=addresses.__getitem__)
            if not _are_apart(addresses, self.reaches, self.order):
                return self.by_overlaps.get(_overlaps(addresses, self.reaches))
        return self.by_overlaps.get(())


_TEMPLATES: dict[Any, _Templates] = {}


def _in_forked_process() -> None:
    """Forget all launches: their functions are the parent's."""
    for launches in (_PLANS, _TEMPLATES):
        launches.clear()
    COMPILING.release()


os.register_at_fork(
    before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=_in_forked_process
)


def known_launch(
    grid: Any, kernel: Any, args: Any, target: Any, programmatic: bool
) -> tuple[LaunchTemplate, Sequence[int]] | None:
    """The launches like this one, where one before was, and the addresses of its arrays; None where
    none was, or where the arguments are to be checked."""
    if not _PLANS or type(args) not in (tuple, list):
        return None
    if type(grid) is not tuple or type(programmatic) is not bool:
        return None
    for extent in grid:  # pyright: ignore[reportUnknownVariableType]
        if type(extent) is not int:  # pyright: ignore[reportUnknownArgumentType]
            return None
    addresses: list[int] = []
    if (items := _items(args, addresses)) is None:
        return None
    key: Any = kernel, context_number(), target, programmatic, grid, items
    try:
        known = _TEMPLATES.get(key)
    except TypeError:  # what has no hash is no kernel
        return None
    template = (known and known.find(addresses)) or _made(key, addresses)
    return template and (template, addresses)


def remember(
    kernel: Any, args: Any, target: Any, code: Kernel, chosen: Sequence[Kernel],
    schedule: BlockSchedule,
) -> None:  # fmt: skip
    """Let launches like this one, which has been checked and started, be found: of a kernel and of
    those that were chosen by a schedule of its blocks."""
    addresses: list[int] = []
    items, plan = _items(args, addresses), LaunchPlan.of(chosen)
    if plan is not None and items is not None:
        assumptions = _Read.of(kernel, items, addresses).assumptions
        kind = kernel, context_number(), target, assumptions
        _PLANS.setdefault(kind, _Plans(code)).by_schedule[schedule] = plan


def _made(key: Any, addresses: Sequence[int]) -> LaunchTemplate | None:
    """The template, by the plan for arguments; None where there is none, or where they do not fit:
    what checks all of them says why."""
    kernel, context, target, programmatic, grid, items = key
    try:
        read = _Read.of(kernel, items, addresses)
        known = _PLANS.get((kernel, context, target, read.assumptions))
        plan = known and known.on_grid(grid, read.values)
        if not plan:
            return None
        numbers = numbered(read.arrays)
        made = plan.template(read.values, read.scalars, numbers, programmatic=programmatic)
    except ArgumentError:
        return None
    known = _TEMPLATES.get(key) or kept(
        _TEMPLATES, key, _Templates(read.reaches, range(len(addresses)))
    )
    return known.by_overlaps.setdefault(read.overlaps, made)


# What is read of arguments


def _of_torch(tensor: Any, addresses: list[int]) -> Items | None:
    device = tensor.get_device()
    if device < 0:
        return None
    address = tensor.data_ptr()
    addresses.append(address)
    return tensor.dtype, tensor.shape, tensor.stride(), address % ALIGNED, device


def _of_array(array: Any, addresses: list[int]) -> Items | None:
    try:
        there = ArrayArgument.on_gpu(array)
    except ValueError:
        return None
    if there is None or there.read_only:  # what the kernel writes is checked
        return None
    address = there.address
    addresses.append(address)
    return (there.dtype, there.width), there.shape, there.strides, address % ALIGNED, None


_items = items_reader(
    dict.fromkeys((list, np.ndarray), lambda _, __: None),
    dict.fromkeys((("torch", "Tensor"), ("torch.nn.parameter", "Parameter")), _of_torch),
    _of_array,
)


def _are_apart(addresses: Sequence[int], reaches: Sequence[int], order: Sequence[int]) -> bool:
    """True where each array of so many bytes ends in front of the next one, in an order."""
    end = 0
    for i in order:
        first = addresses[i]
        if first < end:
            return False
        end = first + reaches[i]
    return True


def _overlaps(addresses: Sequence[int], reaches: Sequence[int]) -> Items:
    """Which arrays of so many bytes overlap which; nothing where none does."""
    spans = [(first, first + reach) for first, reach in zip(addresses, reaches, strict=True)]
    rows = [tuple(a is not b and a[0] < b[1] and b[0] < a[1] for b in spans) for a in spans]
    return tuple(rows) if any(map(any, rows)) else ()


# What is assumed of them


@dataclass(slots=True)
class _Read:
    """The assumptions on arguments, the flat values of those that are no constants, the places of
    scalars and of addresses among them, and the bytes of the memory of arrays."""

    addresses: Sequence[int]
    assumed: list[Any] = factory(list)
    values: list[Any] = factory(list)
    scalars: list[int] = factory(list)
    arrays: list[int] = factory(list)
    reaches: list[int] = factory(list)

    @classmethod
    def of(cls, kernel: Any, items: Items, addresses: Sequence[int]) -> _Read:
        """Those of a kernel's arguments, arrays at addresses. Raises ArgumentError for another
        number of them."""
        of_python = getattr(kernel, "_annotated_function", None)  # bytecode has none
        read = cls(addresses)
        read.add_all(items, getattr(of_python, "parameter_annotations", None), None)
        return read

    @property
    def overlaps(self) -> Items:
        """Which arrays overlap which."""
        return _overlaps(self.addresses, self.reaches)

    @property
    def assumptions(self) -> Items:
        """All of them."""
        return (*self.assumed, *self.overlaps)

    def add_all(self, items: Items, annotations: Any, one: Any) -> None:
        """Add what is said of several arguments, by their annotations or by `one` of them all."""
        if annotations is None:
            annotations = (one,) * len(items)
        if len(items) != len(annotations):
            raise ArgumentError(f"expected {len(annotations)} arguments, got {len(items)}")
        for item, annotation in zip(items, annotations, strict=True):
            self.add(item, annotation)

    def add(self, item: Items, annotation: Any) -> None:
        """Add what is said of one argument."""
        if item[0] is tuple:
            self.assumed.append(len(item[1]))
            one = getattr(annotation, "each", annotation)
            self.add_all(item[1], getattr(annotation, "items", None), one)
        elif len(item) == 5:
            dtype, shape, strides, *_ = item
            address = self.addresses[len(self.arrays)]
            kind, width, reach = _kind(dtype, shape, strides)
            own = getattr(annotation, "array", None)
            fixed = own is not None and (own.static_shape_dims or own.static_stride_dims)
            self.assumed += (kind, address % ALIGNED == 0, address % width == 0)
            self.assumed.append((*shape, *strides) if fixed else None)
            self.arrays.append(len(self.values))
            self.values += (address, *shape, *strides)
            self.reaches.append(reach)
        elif getattr(annotation, "constant", False):
            self.assumed.append(item)
        else:
            small = item[0] is not int or -(1 << 31) <= item[1] < 1 << 31
            self.assumed.append((item[0], small))
            self.scalars.append(len(self.values))
            self.values.append(struct.unpack("d", item[1])[0] if item[0] is float else item[1])


@lru_cache(MOST)
def _kind(dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[str, int, int]:
    """The assumptions on an array wherever it lies, the bytes of an element, and those of all."""
    name, width = cast("Items", dtype) if isinstance(dtype, tuple) else (str(dtype), dtype.itemsize)
    array = ArrayArgument(tuple(shape), strides, name, width)
    dims = [
        (step == 1, step % max(ALIGNED // width, 1) == 0, size == 1, size % ALIGNED == 0)
        for size, step in zip(shape, strides, strict=True)
    ]
    wide = max((*shape, *strides), default=0) >= 1 << 31
    forwards = min(strides, default=0) >= 0
    kind = (name, width, dims, wide, forwards, overlaps_itself(array.shape, strides))
    return repr(kind), width, array.bounds[1]
