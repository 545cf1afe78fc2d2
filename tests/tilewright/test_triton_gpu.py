"""Launches of Triton kernels on a GPU, as far as can be seen without one: a stand-in of torch says
that it is there, and that of the driver runs the PTX-level IR on what it is given."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import triton_kernels as kernels
from driver_stand_in import Driver, telling
from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch import launcher
from tilewright.triton.gpu import kernel_of

STREAM = 77


class Tensor:
    """A tensor of torch on the GPU."""

    def __init__(self, array: NDArray[Any], *, is_cuda: bool = True) -> None:
        self.array, self.dtype, self.is_cuda = array, str(array.dtype), is_cuda

    def data_ptr(self) -> int:
        return self.array.ctypes.data


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """The driver of a GPU, whose `memory` the tests add to."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    kernel_of.cache_clear()
    cuda = SimpleNamespace(
        current_device=lambda: 0,
        set_device=lambda device: None,
        get_device_capability=lambda device=0: (9, 0),
        current_stream=lambda device: SimpleNamespace(cuda_stream=STREAM),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, Tensor=Tensor))
    driver = Driver(b"", [], "add")
    monkeypatch.setattr(launcher, "_driver", lambda: driver)
    monkeypatch.setattr(launcher, "function", telling(partial(setattr, driver, "types")))
    return driver


def test_a_launch_is_of_what_tilewright_compiled(driver: Driver):
    x, y, out = np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(100, "f4")
    driver.memory += [x, y, out]
    with tw.triton.on_gpu():
        args = (*map(Tensor, (x, y, out)), 100)
        compiled = kernels.add.warmup(*args, BLOCK=32, num_warps=2, grid=(1,))
        driver.bytecode = compiled.asm["tilewright"]
        for _ in range(2):
            kernels.add[(4,)](*args, BLOCK=32, num_warps=2)
    np.testing.assert_array_equal(out, x + 1)
    assert len(driver.launches) == 2 and len(driver.cubins) == 1
    grid, block, stream, values = driver.launches[1]
    assert (grid, block, stream) == ((4, 1, 1), (64, 1, 1), STREAM)
    assert values == (x.ctypes.data, y.ctypes.data, out.ctypes.data, 100)
    assert ".visible .entry add" in compiled.asm["ptx"]
