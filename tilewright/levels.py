"""A module at its own level and at each level below it, lowered once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from xdsl.dialects.builtin import ModuleOp

from tilewright import pipeline
from tilewright.dialects.cuda_tile.accuracy import Accuracy, set_accuracy
from tilewright.dialects.cute_nvgpu.lattice.targets import lowest, target
from tilewright.dialects.frozen import factory
from tilewright.passes.check_target import required_targets
from tilewright.pipeline import (
    is_tile_ir,
    lower_for_lowest,
    lower_programs,
    lower_tiles,
    run_pipeline,
    verified,
)
from tilewright.source.guard import guard
from tilewright.source.recursion import deep_recursion
from tilewright.source.verification import verify

Level = Literal["program", "tile", "atom", "ptx"]


@dataclass(frozen=True)
class ModuleLevels:
    """A verified module, its text where there is one, what it was read from, and what it was
    lowered to: kernels run again and again, at each level and on other arguments."""

    module: ModuleOp
    source: str | None
    name: str
    read: Hashable = None
    _lowered: dict[Hashable, tuple[ModuleOp, str]] = factory(dict)

    def at(self, level: Level, arch: str | None) -> tuple[ModuleOp, str]:
        """The module at a level below its own, and its chip. Raises CompileError."""
        key = level, arch, pipeline.PIPELINE
        if key not in self._lowered:
            chip = None if level != "ptx" or arch is None else target(arch).name
            compiled = _compiled.pop((self.read, chip, pipeline.PIPELINE), None)
            if compiled is not None and chip is not None:
                self._lowered[key] = compiled, chip
                return compiled, chip
            tiles = self._lowered.get(("tile", arch, pipeline.PIPELINE))
            if level == "atom" and is_tile_ir(self.module):
                tiles = self.at("tile", arch)
            module = (tiles[0] if tiles else self.module).clone()
            self._lowered[key] = module, self._lower(module, level, arch)
        return self._lowered[key]

    def _lower(self, module: ModuleOp, level: Level, arch: str | None) -> str:
        if level == "ptx" and arch is None:
            return lower_for_lowest(module, self.source)
        chip = lowest_target(module) if arch is None else target(arch).name
        if level == "ptx":
            run_pipeline(module, chip, self.source)
        elif level == "atom":
            lower_tiles(module, chip, self.source)
        else:
            lower_programs(module, chip, self.source)
            with guard("verify", module, self.source, self.name):
                verify(module, self.source)
        return chip


_compiled: dict[Hashable, ModuleOp] = {}
"""The module that was compiled last, by what it was read from, its chip and the pipeline: who runs
it lowers nothing."""


def keep_compiled(read: Hashable, chip: str, module: ModuleOp) -> None:
    """Keep what was compiled until something else is."""
    for key in [*_compiled]:
        if (before := _compiled.pop(key, None)) is not None:
            before.erase(safe_erase=False)
    _compiled[read, chip, pipeline.PIPELINE] = module


@deep_recursion()
def levels_of(
    module_or_text: ModuleOp | str | bytes, name: str, accuracy: Accuracy = "libdevice",
    negative: tuple[int, ...] = (),
) -> ModuleLevels:  # fmt: skip
    """A verified module, which may be lowered. Raises CompileError."""
    of = _made if isinstance(module_or_text, ModuleOp) else _read
    return of(module_or_text, name, accuracy, negative)


def _made(
    module_or_text: ModuleOp | str | bytes, name: str, accuracy: Accuracy,
    negative: tuple[int, ...],
) -> ModuleLevels:  # fmt: skip
    module, source = verified(module_or_text, name, negative)
    set_accuracy(module, accuracy)
    read = module_or_text, name, accuracy, negative
    return ModuleLevels(module, source, name, None if isinstance(read[0], ModuleOp) else read)


_read = lru_cache(maxsize=8)(_made)


def lowest_target(module: ModuleOp) -> str:
    """The lowest target that runs what a module has."""
    return lowest(required_targets(module)).name
