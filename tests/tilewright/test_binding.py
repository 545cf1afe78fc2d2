"""One binding of arguments: the CPU and the GPU take the same ones, and refuse the same ones alike.

The GPU is a driver made of Python here; tests/gpu/test_arguments.py has a real one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cuda.bindings import driver as bindings
from driver_stand_in import Launching, passed, telling
from numpy.testing import assert_array_equal
from wrong_arguments import GRID, LAUNCH, WRONG, kernel

import tilewright as tw
from tilewright.dialects.ptx.control_flow import TENSORMAP
from tilewright.launch import launcher


class Driver(Launching):
    """The driver's calls that launches make; kernels do nothing but are recorded."""

    def __init__(self) -> None:
        self.buffers: dict[int, bytearray] = {}
        self.freed: list[int] = []
        self.launched: list[Any] = []
        self.maps: list[Any] = []
        self.types: Sequence[str] = ()

    def call(self, function: str, *arguments: Any) -> Any:
        return getattr(self, function)(*arguments)

    def cuCtxGetCurrent(self) -> tuple[int, int]:
        return 0, 1

    def cuModuleGetFunction(self, *_: Any) -> int:
        return 1

    def cuGetProcAddress(self, *names: Any) -> tuple[int, ...]:
        return super().cuGetProcAddress(*names)[1:]

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
        self.maps.append(arguments)
        number = ctypes.create_string_buffer(bytes([len(self.maps) - 1]), 128)
        return SimpleNamespace(getPtr=lambda: ctypes.addressof(number))

    def cuLaunchKernel(self, *arguments: Any) -> None:
        values = zip(passed(arguments[-2], self.types), self.types, strict=True)
        self.launched.append([self.maps[v[0]] if t == TENSORMAP else v for v, t in values])

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
    monkeypatch.setattr(launcher, "function", telling(partial(setattr, driver, "types")))
    return driver


def refused(run: Any, *args: Any, **settings: Any) -> str:
    with pytest.raises(tw.ExecutionError) as caught:
        run(*args, **settings)
    return str(caught.value)


@pytest.mark.parametrize("text, args, settings, words", WRONG)
def test_both_sides_refuse_the_same_in_the_same_words(
    text: str, args: list[Any], settings: dict[str, Any], words: str, driver: Driver
):
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
def test_numbers_are_passed_as_bits(type_: str, value: Any, bits: int, driver: Driver):
    tw.compile(kernel(type_), "sm_90a").launch(value, **LAUNCH)
    assert driver.launched == [[bits]]
    tw.interpret(kernel(type_), args=[value], **LAUNCH)


def test_numbers_of_triton_are_as_they_were_compiled_for(driver: Driver):
    """Natural, but for those that the module says are negative."""
    text = """module attributes {NEGATIVE} {
  tt.func public @k(%n: i32, %m: i32) {
    tt.return
  }
}"""
    kernels = [
        tw.compile(text.replace("NEGATIVE", places), "sm_90a")
        for places in ("", "tt.negative = array<i32: 1>")
    ]
    settings = {"grid": (1,), "block": kernels[0].entry().block}
    for kernel_, m in zip(kernels, (3, -3), strict=True):
        kernel_.launch(3, m, **settings)
    assert driver.launched == [[3, 3], [3, (1 << 32) - 3]]
    for kernel_, args in zip(kernels, ((3, -3), (-3, 3)), strict=True):
        with pytest.raises(tw.ArgumentError, match=r"expected a number from 0 on, .*, got -3;"):
            kernel_.launch(*args, **settings)


def test_arrays_go_there_and_come_back(driver: Driver):
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
        assert_array_equal(result, array)
        assert_array_equal(interpreted, array)


def test_offsets_of_64_bits_reach_further():
    """What the error recommends: a stride that is an i64."""
    far = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1, 4), (4 << 40, 4))
    text = kernel('!cute.memref<f32, gmem, "(?,?):(?{i64},1)">')
    assert tw.interpret(text, args=[far], **LAUNCH)[0].shape == (1, 4)


TWO = """func.func @k(%x: memref<?xf32>, %y: memref<?xi8>, %z: !cute.memref<f32, gmem, align<16>,
    "(?):(?)">) attributes {gpu.kernel} { func.return }"""


def test_arrays_that_overlap_go_there_once(driver: Driver):
    """In one piece, as far apart as they are here, and aligned as they are; one alone by itself."""
    room = np.arange(128, dtype=np.float32)
    array = room[-room.ctypes.data // 4 % 4 :]
    args = [array[1:30], array[20:40].view(np.int8), array[4:60:2]]
    alone = np.full(5, 3, np.int8)
    kernel_ = tw.compile(TWO, "sm_90a")
    results = kernel_.launch(*args, **LAUNCH)
    assert driver.launched == [[4096 + 4, 4096 + 80]]
    assert list(driver.buffers) == driver.freed == [4096]
    assert bytes(driver.buffers[4096])[4:] == array[1:59].tobytes()
    for result, arg in zip(results, args, strict=True):
        assert_array_equal(result, arg)
    # Neighbours do not overlap.
    kernel_.launch(array[:4], alone, array[4:9], **LAUNCH)
    assert [len(buffer) for buffer in driver.buffers.values()][1:] == [16, 5, 20]
    with pytest.raises(tw.ExecutionError, match="'z' expected an address of whole 16 bytes"):
        kernel_.launch(array[:4], alone, array[3:], **LAUNCH)


def test_what_the_kernel_leaves_comes_back_under_every_name(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    array = np.zeros(16, np.float32)

    def writes(*_: Any) -> None:
        driver.buffers[max(driver.buffers)][20:24] = np.float32(7).tobytes()

    monkeypatch.setattr(driver, "cuLaunchKernel", writes, raising=False)
    args = [array[:8], array.view(np.int8), array[1:]]
    x, y, z = tw.compile(TWO.replace("align<16>,", ""), "sm_90a").launch(*args, **LAUNCH)
    assert x[5] == z[4] == 7 and y.view(np.float32)[5] == 7 and not array.any()
    array.flags.writeable = False
    wrong = "argument 'x' expected an array that may be written, as the kernel does, got a read-onl"
    other, third = np.zeros(4, np.int8), np.zeros(4, np.float32)
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: writes_first(driver), raising=False)
    with pytest.raises(tw.ExecutionError, match=wrong):
        tw.compile(TWO, "sm_90a").launch(array[:8], other, third, **LAUNCH)


def writes_first(driver: Driver) -> None:
    """A kernel that writes to its first argument."""
    driver.buffers[min(set(driver.buffers) - set(driver.freed))][0] = 1


PROGRAMMATIC, COOPERATIVE = "PROGRAMMATIC_STREAM_SERIALIZATION", "COOPERATIVE"


@pytest.mark.parametrize(
    "asked", [(), (PROGRAMMATIC,), (COOPERATIVE,), (PROGRAMMATIC, COOPERATIVE)]
)
def test_a_launch_is_what_the_bindings_read(asked: tuple[str, ...]):
    """Its extents, its stream, its attributes, and where its arguments lie."""
    read: list[Any] = []

    def launch(config: int, function: int, arguments: int, _: int) -> int:
        own = bindings.CUlaunchConfig(config)
        names = [f"{name}Dim{axis}" for name in ("grid", "block") for axis in "XYZ"]
        extents = [getattr(own, name) for name in [*names, "sharedMemBytes"]]
        first = ctypes.c_uint64.from_address(config + 40).value
        for i in range(own.numAttrs):
            attribute = bindings.CUlaunchAttribute(first + 72 * i)
            programmatic = attribute.value.programmaticStreamSerializationAllowed
            read.append((attribute.id.name, programmatic, attribute.value.cooperative))
        read.append((extents, int(own.hStream), function, passed(arguments, types)))
        return 0

    types = ("u32", TENSORMAP, "u8", "f64")
    values = (7, bytes(range(128)), 3, 1 << 62)
    function = launcher.DeviceFunction(
        1234, types, 512, ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)
    )
    extents = function.extents((2, 3), (64,))
    function.ready(values, extents, PROGRAMMATIC in asked, COOPERATIVE in asked).start(99)
    assert read.pop() == ([2, 3, 1, 64, 1, 1, 512], 99, 1234, values)
    assert read == [(f"CU_LAUNCH_ATTRIBUTE_{name}", 1, 1) for name in asked]


STRUCT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 p[192], .param .u64 out) {
.reg .b64 d<3>; ld.param.u64 d0, [p+8]; ld.param.u64 d1, [out]; st.global.u64 [d1], d0; ret; }
"""


def test_a_struct_is_passed_by_value(driver: Driver):
    struct = {0: np.int32(5), 8: np.arange(4), 64: tw.TensorMap(np.zeros((8, 64)), box=(4, 4))}
    out = tw.compile(STRUCT, "sm_90a").launch(struct, np.zeros(1), grid=(1,), block=(1,))
    [[given, to]] = driver.launched
    pointer, of_map, packed, own = driver.buffers
    assert given[:16] == bytes([5, *bytes(7)]) + pointer.to_bytes(8, "little") and to == own
    assert driver.maps[given[64]][2] == of_map and len(given) == 192
    assert bytes(driver.buffers[packed]) == given and len(out) == 3
    of_bytes = np.arange(192, dtype=np.uint8)
    tw.compile(STRUCT, "sm_90a").launch(of_bytes, np.zeros(1), grid=(1,), block=(1,))
    assert driver.launched[-1][0] == of_bytes.tobytes()
