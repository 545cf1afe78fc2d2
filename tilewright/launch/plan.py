"""Plans of launches: what those of a kernel on arguments of one kind have alike, so that each is
made ready out of addresses and numbers alone."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tilewright.arguments.binding import flat_map, number_bits
from tilewright.arguments.extents import Extents, check_launch
from tilewright.arguments.parameters import Parameter
from tilewright.dialects.cute.types.argument import NUMBER, ArgumentAttr
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.sequences import paired
from tilewright.launch import launcher
from tilewright.launch.kernel import CompiledCode, Entry
from tilewright.launch.known_launches import kept

_ADDRESS = struct.Struct("<Q")


@frozen
class _Map:
    """The tensor maps of a pointer. The driver encodes one of other sizes or strides; of those of
    the same ones the address alone differs, which is in front."""

    parameter: Parameter
    source: ArgumentAttr
    numbers: tuple[int, ...]
    """The places of the arguments that are its sizes and strides, and its padding."""
    known: dict[tuple[int, ...], bytes] = factory(dict)
    """Behind their addresses, by sizes and strides."""

    @classmethod
    def of(cls, parameter: Parameter, source: ArgumentAttr) -> _Map:
        modes = [mode.data for mode in source.modes]
        pairs = paired(modes)
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
            known = kept(self.known, extents, memory.map_bytes(made)[_ADDRESS.size :])
        return _ADDRESS.pack(address) + known


@frozen
class LaunchTemplate:
    """Launches of a function that differ in words of a launch's memory. `given` are the places of
    these, with their numbers among the words that a launch is given: pointers, the front of tensor
    maps, numbers."""

    ready: Callable[[], launcher.ReadyLaunch]
    given: Sequence[tuple[int, int]]
    free: list[launcher.ReadyLaunch] = factory(list)
    """Those that no thread starts now."""
    then: LaunchTemplate | None = None

    def start(self, words: Sequence[int], stream: int) -> None:
        """Launch on words, without waiting. Raises LaunchError."""
        try:
            ready = self.free.pop()
        except IndexError:
            ready = self.ready()
        memory = ready.words
        for place, number in self.given:
            memory[place] = words[number]
        ready.start(stream)
        self.free.append(ready)
        if self.then is not None:
            self.then.start(words, stream)

    def on(self, words: Sequence[int], number_of: Mapping[int, int]) -> LaunchTemplate:
        """The launches on words but for some, which have other numbers then."""
        fixed = [(place, words[number]) for place, number in self.given if number not in number_of]

        def ready() -> launcher.ReadyLaunch:
            made = self.ready()
            for place, word in fixed:
                made.words[place] = word
            return made

        given = [(place, number_of[i]) for place, i in self.given if i in number_of]
        return LaunchTemplate(ready, given, then=self.then and self.then.on(words, number_of))


@frozen
class LaunchPlan:
    """How a function on the GPU is launched on a grid: for each of its parameters the place of the
    argument that it is, or the tensor maps of one. `told` are arguments behind those given, and
    `extents` the driver's numbers; `then` another one is launched on the same arguments, which
    waits for it by itself.

    Nothing is checked but numbers: it is for arguments of which a launch before had the same types,
    ranks and assumptions.
    """

    function: launcher.DeviceFunction
    entry: Entry
    parts: tuple[int | _Map, ...]
    extents: tuple[int, ...] = ()
    told: Sequence[int] = ()
    then: LaunchPlan | None = None

    @classmethod
    def of(cls, kernels: Sequence[CompiledCode]) -> LaunchPlan | None:
        """That of kernels one after the other, without their grids; None where one takes other
        parts of arguments than those."""
        kernel, *others = kernels
        entry, then = kernel.entry(), cls.of(others) if others else None
        parts: list[int | _Map] = list(range(len(entry.arguments)))
        if entry.parts is not None:
            parts = []
            for parameter in entry.parts:
                source = parameter.source
                if source is None or source.part.data not in ("value", "pointer", "flat_map"):
                    return None
                of_map = source.part.data == "flat_map"
                parts.append(_Map.of(parameter, source) if of_map else source.index.data)
        return None if others and then is None else cls(
            kernel.load(entry), entry, tuple(parts), then=then
        )  # fmt: skip

    @property
    def entries(self) -> list[Entry]:
        """Those of its kernels."""
        return [self.entry, *(self.then.entries if self.then is not None else ())]

    @property
    def deciding(self) -> set[int]:
        """The places of the arguments that tensor maps are made of, beside addresses."""
        own = {number for part in self.parts if isinstance(part, _Map) for number in part.numbers}
        return own | (self.then.deciding if self.then is not None else set())

    def on_grids(self, grids: Sequence[tuple[Extents, Sequence[int]]]) -> LaunchPlan:
        """The plan for a grid of CTAs for each kernel, and what it is told. Raises ArgumentError
        for one that the kernel cannot have."""
        entry, block = self.entry, self.entry.block or (1, 1, 1)
        (grid, told), *others = grids
        check_launch(entry.name, grid, block, None, entry.cluster)
        then = self.then and self.then.on_grids(others)
        return replace(self, extents=self.function.extents(grid, block), told=told, then=then)

    def template(
        self, given: Sequence[Any], scalars: Sequence[int], number_of: Mapping[int, int], *,
        programmatic: bool, cooperative: bool = False,
    ) -> LaunchTemplate:  # fmt: skip
        """The launch on arguments, addresses and numbers, of which `scalars` are the places of
        those that may be anything, but for words that launches are given, which have numbers by
        their places. Raises ArgumentError for numbers that do not fit, and LaunchError."""
        values = [*given, *self.told]
        for place in scalars:
            values[place] = number_bits(self.entry.arguments[place], values[place])
        own = [values[part] if isinstance(part, int) else part.value(values) for part in self.parts]
        places = [part if isinstance(part, int) else part.pointer for part in self.parts]
        offsets = zip(self.function.offsets, places, strict=True)
        return LaunchTemplate(
            partial(self.function.ready, own, self.extents, programmatic, cooperative),
            [
                (at // _ADDRESS.size, number_of[place])
                for at, place in offsets
                if place in number_of
            ],
            then=self.then
            and self.then.template(
                given, scalars, number_of, programmatic=True, cooperative=cooperative
            ),
        )
