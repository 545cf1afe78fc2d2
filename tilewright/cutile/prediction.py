"""Configurations of cuTile kernels in the order of their times, before a GPU has run any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import inf
from typing import Any

from tilewright.arguments.options import checked
from tilewright.cutile.launches import compiled_launch
from tilewright.cutile.rules import KERNEL
from tilewright.cutile.tuning import modelled
from tilewright.modelled_time import ranked
from tilewright.source.checked import Rule, items
from tilewright.source.diagnostic import CompileError
from tilewright.tile_kernel import DEFAULT_ARCH


@checked(kernel=KERNEL, search_space=Rule("a sequence of configurations", items))
def predict(
    kernel: Any,
    args_fn: Callable[[Any], Sequence[Any]],
    arch: str = DEFAULT_ARCH,
    *,
    search_space: Sequence[Any],
    grid_fn: Callable[[Any], Sequence[int]],
    hints_fn: Callable[[Any], Mapping[str, Any]] | None = None,
) -> list[tuple[Any, float]]:
    """The configurations of a kernel and the microseconds of each, the quickest first, by the
    latency model of `arch`: infinitely many where a compiler rejects it; of those that differ by
    half a hundredth at most, the first. The search space and the functions of a configuration are
    those of `ct.tune`; arrays are those of `launch` on the CPU, and stay as they are. The first CTA
    of each launch runs as it is compiled, but for data that decide nothing and turns of loops that
    repeat themselves, and a ModelledTimeWarning says that nothing was measured.

    Raises ArgumentError, TargetError, and ExecutionError for what no kernel may do on that way."""
    time, rejected = modelled(compiled_launch, arch), import_module("cuda.tile").TileError

    def predicted(config: Any) -> float:
        own = kernel if hints_fn is None else kernel.replace_hints(**hints_fn(config))
        try:
            return time(None, grid_fn(config), own, args_fn(config))
        except (CompileError, rejected):
            return inf

    configs = list(search_space)
    times = list(map(predicted, configs))
    return [(configs[place], times[place]) for place in ranked(times)]
