"""Launches of cuTile kernels like one before, found by what is read of their arguments.

A launch of the same arguments, numbers included, is ready, but for its stream. For arrays of the
same shapes elsewhere there is a template, for others of the same kind a plan: what is assumed of
them (`CutileParameter.constraint`) is the same.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from threading import RLock
from typing import Any, cast

import numpy as np

from tilewright.arguments.arrays import ArrayArgument
from tilewright.cutile.gpu import BlockSchedule, launched
from tilewright.cutile.parameters import ALIGNED
from tilewright.cutile.rules import GRID
from tilewright.kernel import Kernel
from tilewright.launch import launcher
from tilewright.launch.kernel import Extents
from tilewright.launch.known_launches import MOST, Items, items_reader, kept
from tilewright.launch.plan import LaunchPlan, LaunchTemplate
from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.source.diagnostic import ArgumentError


@dataclass(frozen=True, slots=True)
class _Plans:
    """Those of a kernel for what is assumed of its arguments, by the schedule of its blocks, and by
    the grids that there were."""

    code: Kernel
    by_schedule: dict[BlockSchedule, LaunchPlan] = field(default_factory=dict[Any, Any])
    by_grid: dict[Any, LaunchPlan] = field(default_factory=dict[Any, Any])

    def on_grid(self, grid: Any) -> LaunchPlan | None:
        """The plan for a grid; None where the kernel has not been compiled for its schedule. Raises
        ArgumentError for what is no grid."""
        blocks: Extents = GRID.value("grid", grid, (ArgumentError,))
        plan = self.by_schedule.get(BlockSchedule.of(self.code, blocks))
        if plan is None:
            return None
        return kept(self.by_grid, grid, plan.on_grid(*launched(plan.entry, blocks)))


COMPILING = RLock()
"""Held where a kernel is compiled, so that threads compile it once, and where a process forks."""
_PLANS: dict[Any, _Plans] = {}
_TEMPLATES: dict[Any, LaunchTemplate] = {}
_READY: dict[Any, launcher.ReadyLaunch] = {}


def _in_forked_process() -> None:
    """Forget all launches: their functions are the parent's."""
    for launches in (_PLANS, _TEMPLATES, _READY):
        launches.clear()
    COMPILING.release()


os.register_at_fork(
    before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=_in_forked_process
)


def ready_launch(
    grid: Any, kernel: Any, args: Any, target: Any, programmatic: bool
) -> launcher.ReadyLaunch | None:
    """A launch, ready where one before was like it; None where none was, or where the arguments are
    to be checked."""
    if not _PLANS or (key := _key(grid, kernel, args, target, programmatic)) is None:
        return None
    try:
        ready = _READY.get(key)
    except TypeError:  # what has no hash is no kernel
        return None
    return ready or _made_ready(key)


def remember(
    grid: Any, kernel: Any, args: Any, target: Any, code: Kernel, chosen: Kernel,
    schedule: BlockSchedule,
) -> None:  # fmt: skip
    """Let launches like this one, which has been checked and started, be found: of a kernel and of
    it as it was chosen by a schedule of its blocks."""
    key = _key(grid, kernel, args, target, False)
    if key is None:
        return
    entry = chosen.entry()
    plan = LaunchPlan.of(entry, chosen.load(entry))
    if plan is not None:
        of_kind = (*key[:3], _Read.of(kernel, key[-1]).assumptions)
        _PLANS.setdefault(of_kind, _Plans(code)).by_schedule[schedule] = plan


def _key(grid: Any, kernel: Any, args: Any, target: Any, programmatic: bool) -> Any:
    """The kernel, the context, the target, the grid and the arguments; None where they are no key,
    or are to be checked."""
    if type(args) not in (tuple, list) or type(grid) is not tuple or type(programmatic) is not bool:
        return None
    for extent in cast("Items", grid):
        if type(extent) is not int:
            return None
    if (items := _items(args)) is None:
        return None
    context = int(launcher.call("cuCtxGetCurrent"))
    return kernel, context, target, programmatic, grid, items


def _made_ready(key: Any) -> launcher.ReadyLaunch | None:
    """The launch, by one on other arrays of these shapes, else by the plan for its arguments; None
    where there is none, or where they do not fit: what checks all of them says why."""
    kernel, context, target, programmatic, grid, items = key
    addresses: list[int] = []
    shape = (*key[:-1], _shape(items, addresses))
    template = _TEMPLATES.get(shape)
    if template is not None and not _overlap(template.spans(addresses)):
        return kept(_READY, key, template.ready(addresses))
    try:
        read = _Read.of(kernel, items)
        known = _PLANS.get((kernel, context, target, read.assumptions))
        plan = known and (known.by_grid.get(grid) or known.on_grid(grid))
        if not plan:
            return None
        ready = plan.ready(read.values, read.scalars, programmatic=programmatic)
    except ArgumentError:
        return None
    if not read.scalars and not _overlap(read.spans):
        reaches = [end - first for first, end in read.spans]
        kept(_TEMPLATES, shape, plan.template(read.values, read.arrays, reaches, programmatic))
    return kept(_READY, key, ready)


# What is read of arguments


def _of_torch(tensor: Any) -> Items | None:
    device = tensor.get_device()
    if device < 0:
        return None
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.data_ptr(), device


def _of_array(array: Any) -> Items | None:
    try:
        there = ArrayArgument.on_gpu(array)
    except ValueError:
        return None
    if there is None or there.read_only:  # what the kernel writes is checked
        return None
    return (there.dtype, there.width), there.shape, there.strides, there.address, None


def _of_float(number: float) -> Items:
    return float, struct.pack("d", number), number


_items = items_reader(
    {float: _of_float, **dict.fromkeys((list, np.ndarray), lambda _: None)},
    dict.fromkeys((("torch", "Tensor"), ("torch.nn.parameter", "Parameter")), _of_torch),
    _of_array,
)


def _shape(items: Items, addresses: list[int]) -> Items:
    """The items without the addresses of arrays, which are added to others, but for what of these
    may be assumed."""
    shape: list[Any] = []
    for item in items:
        if item[0] is tuple:
            shape.append(_shape(item[1], addresses))
        elif len(item) == 5:
            dtype, extents, strides, address, _ = item
            addresses.append(address)
            shape.append((dtype, extents, strides, address % ALIGNED))
        else:
            shape.append(item[:2])
    return tuple(shape)


def _overlap(spans: Sequence[tuple[int, int]]) -> bool:
    return any(last[1] > following[0] for last, following in pairwise(sorted(spans)))


# What is assumed of them


@dataclass(slots=True)
class _Read:
    """The assumptions on arguments, the flat values of those that are no constants, the places of
    scalars and of addresses among them, and the memory of arrays."""

    assumed: list[Any] = field(default_factory=list[Any])
    values: list[Any] = field(default_factory=list[Any])
    scalars: list[int] = field(default_factory=list[int])
    arrays: list[int] = field(default_factory=list[int])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    @classmethod
    def of(cls, kernel: Any, items: Items) -> _Read:
        """Those of a kernel's arguments. Raises ArgumentError for another number of them."""
        of_python = getattr(kernel, "_annotated_function", None)  # bytecode has none
        read = cls()
        read.add_all(items, getattr(of_python, "parameter_annotations", None), None)
        return read

    @property
    def assumptions(self) -> Items:
        """All of them."""
        if _overlap(self.spans):
            spans = self.spans
            pairs = [tuple(a[0] < b[1] and b[0] < a[1] for b in spans) for a in spans]
            return (*self.assumed, *pairs)
        return tuple(self.assumed)

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
            dtype, shape, strides, address, _ = item
            kind, width, reach = _kind(dtype, shape, strides)
            own = getattr(annotation, "array", None)
            fixed = own is not None and (own.static_shape_dims or own.static_stride_dims)
            self.assumed += (kind, address % ALIGNED == 0, address % width == 0)
            self.assumed.append((*shape, *strides) if fixed else None)
            self.arrays.append(len(self.values))
            self.values += (address, *shape, *strides)
            self.spans.append((address, address + reach))
        elif getattr(annotation, "constant", False):
            self.assumed.append(item[:2])
        else:
            small = item[0] is not int or -(1 << 31) <= item[1] < 1 << 31
            self.assumed.append((item[0], small))
            self.scalars.append(len(self.values))
            self.values.append(item[-1])


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
