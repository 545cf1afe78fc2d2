"""`tilewright.cutile` without NVIDIA's package: its answers are recorded, its bytecode is real."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_cuda_tile import FILE, TileError, recording, standing_in

import tilewright as tw

KERNELS, BYTECODE = recording()
FIXTURES = Path(__file__).parents[1] / "lowering/interpreter/cuda_tile/fixtures"


@pytest.fixture(autouse=True)
def recorded() -> Generator[Any]:
    with standing_in(BYTECODE) as cuda_tile:
        yield cuda_tile


def ones(count: int, dtype: Any = np.float32) -> Any:
    return np.ones(count, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_written_in_place(dtype: Any):
    a, b, c = np.arange(100).astype(dtype), ones(100, dtype), np.zeros(100, dtype)
    tw.cutile.launch((4,), KERNELS["add"], (a, b, c, 32))
    assert (c == a + b).all()


def test_a_slice_has_its_strides():
    a, c = np.arange(100, dtype=np.float32), np.zeros(50, np.float32)
    tw.cutile.launch((2,), KERNELS["add"], (a[::2], ones(50), c, 32))
    assert (c == a[::2] + 1).all()


def test_tuples_are_their_items():
    a, b, c = np.arange(16, dtype=np.float32), ones(16), ones(16)
    tw.cutile.launch((1,), KERNELS["of_pair"], ((a, b), c, (0.5, 3)))
    assert (c == (a + b) * 0.5 + 3).all()


def test_lists_are_tables_of_arrays():
    arrays = [np.full((4, 8), 2.0**i, np.float32) for i in range(3)]
    total = np.zeros((4, 8), np.float32)
    tw.cutile.launch((1,), KERNELS["of_list"], (arrays, total))
    assert (total == 7).all()
    assert [float(array[3, 7]) for array in arrays] == [-1, -2, -4]


def test_a_race_is_shown_at_its_line():
    a, c = ones(100), np.zeros(100, np.float32)
    with pytest.raises(tw.ExecutionError, match=r"bridge_kernels\.py:\d+:\d+: error: .*c\[0\]"):
        tw.cutile.launch((2,), KERNELS["everywhere_at_once"], (a, c, 32))


def test_what_cutile_rejects():
    """Its error comes out as it is."""
    with pytest.raises(TileError, match="add was not recorded for"):
        tw.cutile.launch((1,), KERNELS["add"], (ones(4), ones(4), ones(4), 4))


def test_module_and_launch_as_a_script_has_it(recorded: Any):
    a, b, c = ones(100), ones(100), np.zeros(100, np.float32)
    assert "addf" in str(tw.cutile.module(KERNELS["add"], (a, b, c, 32)))
    recorded.launch = None
    with tw.cutile.on_cpu():
        recorded.launch("stream", (4,), KERNELS["add"], (a, b, c, 32))
    assert (c == 2).all() and recorded.launch is None


def test_bytecode_needs_no_package():
    """Saved bytecode launches by itself; constants are in it."""
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    bytecode = (FIXTURES / "histogram.tileirbc").read_bytes()
    counts = np.zeros(10, np.int32)
    words = (x.ravel().astype(np.int32)) % 10
    words = np.tile(words, 8)
    tw.cutile.launch((4,), bytecode, (words, counts))
    assert counts.tolist() == np.bincount(words, minlength=10).tolist()
    with pytest.raises(tw.ExecutionError, match="expected 6 arguments"):
        tw.cutile.launch((4,), bytecode, (words, counts, 1))
    with pytest.raises(tw.CompileError, match=r"argument 0|expected"):
        tw.cutile.launch((4,), bytecode[:40], (words, counts))


def test_the_recording_names_no_folder():
    assert "/home" not in FILE.read_text() and all(
        b"/work" not in each for each in BYTECODE.values()
    )
