"""Times of launches where there is no GPU to take them: those of the latency model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.compiler import compile
from tilewright.kernel import Kernel

LAUNCH = 4.6
"""The microseconds that events of an H200 measure of a launch of nothing."""
ALIKE = 0.005
"""The part by which modelled times differ that say nothing of which is shorter."""


class ModelledTimeWarning(UserWarning):
    """Times that a tuner takes for measured are those of a model."""


def modelled_microseconds(
    module: ModuleOp | bytes, grid: Sequence[int], args: Sequence[Any], arch: str, last: int = 1,
    *, taken: bool = False, kernel: Kernel | None = None,
) -> float:  # fmt: skip
    """The microseconds of a launch of a kernel of Tile IR on its flat parameters, which stay as
    they are: its first CTA runs as it is compiled, but for data that decide nothing and turns of
    loops that repeat themselves; so many share each of the `last` ones, or blocks are `taken` one
    after the other. `kernel` is what is launched, where it is compiled already. Raises as
    `tilewright.interpret` does."""
    # The interpreter of threads, which launches that tune nothing do without.
    from tilewright.execution import interpret
    from tilewright.lowering.interpreter.timeline.launch_time import LaunchTime

    warnings.warn(
        f"times are those of a latency model of {arch}, by the first CTA of each launch: they rank "
        "configurations, and are no measurements",
        ModelledTimeWarning,
        stacklevel=2,
    )
    kernel = kernel or compile(module, arch, unproven="ignore")
    resources = kernel.resources or {}
    registers = [own.registers for own in resources.values()]
    time = LaunchTime(sum(registers[:1]), last, taken=taken)
    interpret(module, grid=grid, args=args, arch=arch, level="ptx", races="ignore", watchers=[time])
    return float(f"{LAUNCH + time.microseconds:.3g}")


def ranked(times: Sequence[float]) -> list[int]:
    """The places of times, the shortest first; of those that nobody tells from the shortest one
    left, the first."""
    left, order = sorted(range(len(times)), key=times.__getitem__), list[int]()
    while left:
        alike = [place for place in left if times[place] <= times[left[0]] * (1 + ALIKE)]
        order += sorted(alike)
        left = left[len(alike) :]
    return order
