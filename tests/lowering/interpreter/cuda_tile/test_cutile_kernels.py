"""Kernels that cuTile Python compiled (`tests/silicon/export_cuda_tile.py`), as bytecode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

import tilewright as tw

FIXTURES = Path(__file__).parent / "fixtures"


def run(name: str, grid: tuple[int, ...], *args: Any, **options: Any) -> list[NDArray[Any]]:
    """Run an exported kernel; arrays become pointer, shape and strides."""
    flat: list[Any] = []
    for argument in args:
        flat.append(argument)
        if isinstance(argument, np.ndarray):
            strides = [stride // argument.itemsize for stride in argument.strides]
            flat += [*argument.shape, *strides]
    bytecode = (FIXTURES / f"{name}.tileirbc").read_bytes()
    return tw.interpret(bytecode, "k", grid=grid, args=flat, **options)


def test_saxpy():
    x, y = default_rng(0).standard_normal((2, 1000)).astype(np.float32)
    got = run("saxpy", (4,), x, y, 1.5)[1]
    exact = (np.float64(1.5) * x + y).astype(np.float32)
    assert (got == exact).all() or (got == np.float32(1.5) * x + y).all()


def test_matmul_of_partial_tiles():
    rng = default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((80, 70), (70, 60)))
    for numerics in ("hardware", "exact", "fast"):
        got = run("matmul", (3, 2), a, b, np.zeros((80, 60), np.float32), numerics=numerics)[2]
        want = a.astype(np.float64) @ b.astype(np.float64)
        assert np.abs(got - want).max() < 1e-4


def test_softmax():
    x = default_rng(2).standard_normal((8, 64)).astype(np.float32)
    got = run("softmax", (8,), x, np.zeros_like(x))[1]
    e = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(got, e / e.sum(axis=1, keepdims=True), rtol=1e-6)


def test_histogram():
    x = default_rng(0).integers(0, 10, 512).astype(np.int32)
    got = run("histogram", (4,), x, np.zeros(10, np.int32))[1]
    assert got.tolist() == np.bincount(x, minlength=10).tolist()


def test_collatz_takes_as_long_as_it_takes():
    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    numbers = np.arange(1, 28, dtype=np.int32)
    got = run("collatz", (27,), numbers, np.zeros(27, np.int32))[1]
    assert got.tolist() == [steps(n) for n in range(1, 28)]
