"""One binding of arguments: the CPU and the GPU take the same ones, and refuse the same ones alike.

The GPU is a driver made of Python here; tests/gpu/test_arguments.py has a real one.
"""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from wrong_arguments import GRID, LAUNCH, WRONG, kernel

import tilewright as tw
from tilewright.launch import launcher


class Driver:
    """The driver's calls that launches make; kernels do nothing but are recorded."""

    def __init__(self) -> None:
        self.buffers: dict[int, bytearray] = {}
        self.freed: list[int] = []
        self.launched: list[Any] = []

    def call(self, function: str, *arguments: Any) -> Any:
        return getattr(self, function)(*arguments)

    def cuCtxGetCurrent(self) -> int:
        return 1

    def cuMemAlloc(self, size: int) -> int:
        pointer = 4096 * (1 + len(self.buffers))
        self.buffers[pointer] = bytearray(size)
        return pointer

    def cuMemFree(self, pointer: int) -> None:
        self.freed.append(pointer)

    def cuMemcpyHtoD(self, pointer: int, source: int, size: int) -> None:
        self.buffers[pointer][:size] = ctypes.string_at(source, size)

    def cuMemcpyDtoH(self, target: int, pointer: int, size: int) -> None:
        ctypes.memmove(target, bytes(self.buffers[pointer]), size)

    def cuTensorMapEncodeTiled(self, *arguments: Any) -> Any:
        return arguments

    def cuLaunchKernel(self, *arguments: Any) -> None:
        *_, (values, kinds), _ = arguments
        pairs = zip(values, kinds, strict=True)
        self.launched.append([kind(value).value if kind else value for value, kind in pairs])

    def cuuint64_t(self, number: int) -> int:
        return number

    cuuint32_t = cuuint64_t

    def __getattr__(self, name: str) -> Any:
        if name.startswith("CU"):
            return self
        return lambda *_: None


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setattr(launcher, "call", driver.call)
    monkeypatch.setattr(launcher, "_driver", lambda: driver)
    monkeypatch.setattr(launcher, "load", lambda ptx: ptx)
    return driver


def refused(run: Any, *args: Any, **settings: Any) -> str:
    with pytest.raises(tw.ExecutionError) as caught:
        run(*args, **settings)
    return str(caught.value)


@pytest.mark.parametrize("text, args, settings, words", WRONG)
def test_both_sides_refuse_the_same_in_the_same_words(
    text: str, args: list[Any], settings: dict[str, Any], words: str, driver: Driver
) -> None:
    settings = LAUNCH | settings
    here = refused(tw.interpret, text, args=args, arch="sm_90a", **settings)
    assert words in here
    for level in ("atom", "ptx"):
        said = refused(tw.interpret, text, args=args, arch="sm_90a", level=level, **settings)
        assert said == here
    assert refused(tw.compile(text, "sm_90a").launch, *args, **settings) == here
    assert not driver.launched and set(driver.freed) == set(driver.buffers)


@pytest.mark.parametrize("type_, value, bits", [
    ("i8", 255, 0xFF), ("i8", -128, 0x80), ("i1", True, 1), ("i1", -1, 1), ("i16", -1, 0xFFFF),
    ("i32", np.int64(7), 7), ("i32", 7.0, 7), ("index", -1, (1 << 64) - 1),
    ("f16", 1.5, 0x3E00), ("bf16", 1.5, 0x3FC0), ("f32", 1.5, 0x3FC00000), ("f32", 7, 0x40E00000),
    ("f64", -0.0, 1 << 63), ("f32", float("inf"), 0x7F800000),
])  # fmt: skip
def test_numbers_are_passed_as_bits(type_: str, value: Any, bits: int, driver: Driver) -> None:
    tw.compile(kernel(type_), "sm_90a").launch(value, **LAUNCH)
    assert driver.launched == [[bits]]
    tw.interpret(kernel(type_), args=[value], **LAUNCH)


def test_arrays_go_there_and_come_back(driver: Driver) -> None:
    half = np.arange(8).astype(ml_dtypes.bfloat16)
    text = """func.func @k(%x: memref<?xbf16>, %n: i32, %y: !cute.memref<f32, gmem, "(?,?):(?,?)">)
      attributes {gpu.kernel} {
  %zero = arith.constant 0 : i32
  %at = cute.make_coord(%zero, %zero) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%y, %at)
  cute.memref.store(%v, %y, %at)
  func.return
}"""
    args = [half[::2], 5, GRID[1:, ::2]]
    results = tw.compile(text, "sm_90a").launch(*args, **LAUNCH)
    assert driver.launched[0][:2] == [4096, 5] and 8192 in driver.launched[0]
    assert driver.freed == [4096, 8192]
    here = tw.interpret(text, args=args, **LAUNCH)
    for result, interpreted, array in zip(results, here, args[::2], strict=True):
        assert result.dtype == interpreted.dtype == array.dtype
        np.testing.assert_array_equal(result, array)
        np.testing.assert_array_equal(interpreted, array)


def test_offsets_of_64_bits_reach_further() -> None:
    """What the error recommends: a stride that is an i64."""
    far = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1, 4), (4 << 40, 4))
    text = kernel('!cute.memref<f32, gmem, "(?,?):(?{i64},1)">')
    assert tw.interpret(text, args=[far], **LAUNCH)[0].shape == (1, 4)
