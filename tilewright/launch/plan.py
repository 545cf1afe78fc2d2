"""Plans of launches: what those of a kernel on arguments of one kind have alike, so that each is
made ready out of addresses and numbers alone."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tilewright.arguments.binding import flat_map, number_bits
from tilewright.arguments.extents import Extents, check_launch
from tilewright.arguments.parameters import Parameter
from tilewright.dialects.cute.types.argument import NUMBER, ArgumentAttr
from tilewright.dialects.ptx.control_flow import PARAMETER_LAYOUT, TENSORMAP
from tilewright.launch import launcher
from tilewright.launch.kernel import Entry

_MOST = 1 << 12
"""The tensor maps that a part of an argument keeps."""


@dataclass(frozen=True, slots=True)
class _Map:
    """The tensor maps of a pointer: by address, sizes and strides. One of other sizes is encoded,
    one at another address is that with the address replaced."""

    parameter: Parameter
    source: ArgumentAttr
    numbers: tuple[int, ...]
    """The places of the arguments that are its sizes and strides, and its padding."""
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @classmethod
    def of(cls, parameter: Parameter, source: ArgumentAttr) -> _Map:
        modes = [mode.data for mode in source.modes]
        pairs = zip(modes[::2], modes[1::2], strict=True)
        return cls(parameter, source, tuple(number for kind, number in pairs if kind != NUMBER))

    def value(self, values: Sequence[int]) -> Any:
        """The driver's `CUtensorMap`."""
        extents = tuple([values[number] for number in self.numbers])
        key = (values[self.source.index.data], extents)
        known = self.known.get(key)
        if known is None:
            if len(self.known) >= _MOST:
                self.known.clear()
            known = self.known[key] = self._made(*key, values)
        return known

    def _made(self, address: int, extents: tuple[int, ...], values: Sequence[int]) -> Any:
        if (alike := self.known.get(extents)) is not None:
            moved = type(alike)()
            ctypes.memmove(moved.getPtr(), alike.getPtr(), PARAMETER_LAYOUT[TENSORMAP][0])
            launcher.call("cuTensorMapReplaceAddress", moved, address)
            return moved
        map_ = flat_map(self.parameter, self.source, address, values)
        name, memory = self.parameter.name, launcher.device_memory()
        made = memory.add_tensor_map(name, address, map_.shape, map_.strides, map_.box)
        self.known[extents] = made
        return made


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a function on the GPU is launched on a grid: for each of its parameters the place of the
    argument that it is, or the tensor maps of one. `told` are arguments behind those given, and
    `extents` the driver's numbers.

    Nothing is checked but numbers: it is for arguments of which a launch before had the same types,
    ranks and assumptions.
    """

    function: launcher.DeviceFunction
    entry: Entry
    parts: tuple[int | _Map, ...]
    extents: tuple[int, ...] = ()
    told: Sequence[int] = ()

    @classmethod
    def of(cls, entry: Entry, function: launcher.DeviceFunction) -> LaunchPlan | None:
        """That of a kernel, without its grid; None where it takes other parts of arguments than
        those."""
        parts: list[int | _Map] = list(range(len(entry.arguments)))
        if entry.parts is not None:
            parts = []
            for parameter in entry.parts:
                source = parameter.source
                if source is None or source.part.data not in ("value", "pointer", "flat_map"):
                    return None
                of_map = source.part.data == "flat_map"
                parts.append(_Map.of(parameter, source) if of_map else source.index.data)
        return cls(function, entry, tuple(parts))

    def on_grid(self, grid: Extents, told: Sequence[int]) -> LaunchPlan:
        """The plan for a grid of CTAs. Raises ArgumentError for one that the kernel cannot have."""
        entry, block = self.entry, self.entry.block or (1, 1, 1)
        check_launch(entry.name, grid, block, None, entry.cluster)
        return replace(self, extents=self.function.extents(grid, block), told=told)

    def ready(
        self, given: Sequence[Any], scalars: Sequence[int], *, programmatic: bool = False
    ) -> launcher.ReadyLaunch:
        """A launch on arguments, addresses and numbers, of which `scalars` are the places of those
        that may be anything. Raises ArgumentError for numbers that do not fit, and LaunchError."""
        values = [*given, *self.told]
        for place in scalars:
            values[place] = number_bits(self.entry.arguments[place], values[place])
        own = [values[part] if isinstance(part, int) else part.value(values) for part in self.parts]
        return self.function.ready(own, self.extents, programmatic)
