"""Arrays, launches and configurations of a benchmark of cuTile kernels."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray


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

    def flat(self, array: Callable[[Matrix], Any]) -> list[Any]:
        """The flat arguments of the kernel, with arrays by a function."""
        values: list[Any] = []
        for one in self.arguments:
            is_array = isinstance(one, Matrix)
            values += [array(one), *one.shape, *one.strides] if is_array else [one]
        return values


@dataclass(frozen=True)
class Case:
    """A configuration of a kernel, compiled once for all its problems."""

    sample: str
    kernel: str
    configuration: str
    constants: tuple[Any, ...]
    problems: tuple[Problem, ...]
    hints: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def bound(self) -> float:
        """The error of a result, by the norm; weights of 8 bits leave 0.0264, by tileiras too."""
        return 3e-2 if "fp8" in self.configuration.split() else 2e-2


def host_array(matrix: Matrix, random: np.random.Generator | None = None) -> NDArray[Any]:
    """The array here, as it lies: random numbers, zeros where none are given or a kernel writes."""
    element = getattr(ml_dtypes, matrix.element, None) or np.dtype(matrix.element)
    if matrix.below:
        numbers = np.random.default_rng(0) if random is None else random
        return numbers.integers(0, matrix.below, matrix.shape, np.int32)
    shape = [matrix.shape[dim] for dim in matrix.order or range(len(matrix.shape))]
    if matrix.result or random is None:
        return np.zeros(shape, element)
    return random.standard_normal(shape, np.float32).astype(element)
