"""Plans of launches: what those of a kernel on arguments of one kind have alike, so that each is
made ready out of addresses and numbers alone."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tilewright.arguments.binding import flat_map, number_bits
from tilewright.arguments.extents import Extents, check_launch
from tilewright.arguments.parameters import Parameter
from tilewright.dialects.cute.types.argument import NUMBER, ArgumentAttr
from tilewright.launch import launcher
from tilewright.launch.kernel import Entry
from tilewright.launch.known_launches import kept

_ADDRESS = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class _Map:
    """The tensor maps of a pointer. The driver encodes one of other sizes or strides; of those of
    the same ones the address alone differs, which is in front."""

    parameter: Parameter
    source: ArgumentAttr
    numbers: tuple[int, ...]
    """The places of the arguments that are its sizes and strides, and its padding."""
    known: dict[tuple[int, ...], bytes] = field(default_factory=dict[tuple[int, ...], bytes])
    """Behind their addresses, by sizes and strides."""

    @classmethod
    def of(cls, parameter: Parameter, source: ArgumentAttr) -> _Map:
        modes = [mode.data for mode in source.modes]
        pairs = zip(modes[::2], modes[1::2], strict=True)
        return cls(parameter, source, tuple(number for kind, number in pairs if kind != NUMBER))

    @property
    def pointer(self) -> int:
        """The place of the argument that it is of."""
        return self.source.index.data

    def value(self, values: Sequence[int]) -> bytes:
        """The bytes of the driver's `CUtensorMap`."""
        address = values[self.pointer]
        extents = tuple([values[number] for number in self.numbers])
        known = self.known.get(extents)
        if known is None:
            map_ = flat_map(self.parameter, self.source, address, values)
            name, memory = self.parameter.name, launcher.device_memory()
            made = memory.add_tensor_map(name, address, map_.shape, map_.strides, map_.box)
            known = kept(self.known, extents, launcher.map_bytes(made)[_ADDRESS.size :])
        return _ADDRESS.pack(address) + known


@dataclass(frozen=True, slots=True)
class LaunchTemplate:
    """A launch of a function but for the addresses of arrays: the values of its parameters, of
    which `addressed` are the places of those that have an address, each with the number of that,
    and the rest of a tensor map."""

    function: launcher.DeviceFunction
    extents: tuple[int, ...]
    programmatic: bool
    own: Sequence[Any]
    addressed: Sequence[tuple[int, int, bytes | None]]
    reaches: Sequence[int]
    """The bytes of each array's memory."""

    def spans(self, addresses: Sequence[int]) -> list[tuple[int, int]]:
        """The memory of arrays at some addresses."""
        return [
            (first, first + reach) for first, reach in zip(addresses, self.reaches, strict=True)
        ]

    def ready(self, addresses: Sequence[int]) -> launcher.ReadyLaunch:
        """The launch on arrays at these addresses."""
        own = list(self.own)
        for place, number, rest in self.addressed:
            address = addresses[number]
            own[place] = address if rest is None else _ADDRESS.pack(address) + rest
        return self.function.ready(own, self.extents, self.programmatic)


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
        self, given: Sequence[Any], scalars: Sequence[int], *, programmatic: bool = False,
        cooperative: bool = False,
    ) -> launcher.ReadyLaunch:  # fmt: skip
        """A launch on arguments, addresses and numbers, of which `scalars` are the places of those
        that may be anything. Raises ArgumentError for numbers that do not fit, and LaunchError."""
        values = [*given, *self.told]
        for place in scalars:
            values[place] = number_bits(self.entry.arguments[place], values[place])
        return self.function.ready(self._own(values), self.extents, programmatic, cooperative)

    def _own(self, values: Sequence[Any]) -> list[Any]:
        return [
            values[part] if isinstance(part, int) else part.value(values) for part in self.parts
        ]

    def template(
        self,
        given: Sequence[Any],
        arrays: Sequence[int],
        reaches: Sequence[int],
        programmatic: bool,
    ) -> LaunchTemplate:
        """The launch on arguments but for the addresses of arrays, whose places are given, and the
        bytes of their memory."""
        own, number_of = self._own([*given, *self.told]), {at: i for i, at in enumerate(arrays)}
        addressed: list[tuple[int, int, bytes | None]] = []
        for at, part in enumerate(self.parts):
            fixed = isinstance(part, int)
            place, rest = (part, None) if fixed else (part.pointer, own[at][_ADDRESS.size :])
            if place in number_of:
                addressed.append((at, number_of[place], rest))
        return LaunchTemplate(self.function, self.extents, programmatic, own, addressed, reaches)
