"""Arrays, launches and configurations of a benchmark of cuTile kernels."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Matrix:
    """An array: its shape, its element type as torch has it, and which dimensions lie in memory one
    inside the other, if not in order; `result` of what the kernel writes. Of integers the numbers
    `below` one, in runs as long as each other, `shuffled` or not."""

    shape: tuple[int, ...]
    element: str = "bfloat16"
    order: tuple[int, ...] | None = None
    result: bool = False
    below: int = 0
    shuffled: bool = False

    @property
    def strides(self) -> tuple[int, ...]:
        strides, step = [0] * len(self.shape), 1
        for dim in reversed(self.order or tuple(range(len(self.shape)))):
            strides[dim], step = step, step * self.shape[dim]
        return tuple(strides)


@dataclass(frozen=True)
class Problem:
    """A launch: arguments without the constants, the grid (0: as many as there are multiprocessors,
    at most so many as follow), and what it is measured by: operations or bytes."""

    name: str
    arguments: tuple[Any, ...]
    grid: tuple[int, ...]
    operations: float = 0
    bytes: float = 0


@dataclass(frozen=True)
class Case:
    """A configuration of a kernel, compiled once for all its problems."""

    sample: str
    kernel: str
    configuration: str
    constants: tuple[Any, ...]
    problems: tuple[Problem, ...]
    hints: dict[str, int] = field(default_factory=dict[str, int])
