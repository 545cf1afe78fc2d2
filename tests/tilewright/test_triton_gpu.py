"""Launches of Triton kernels on a GPU, as far as can be seen without one: a stand-in of torch says
that it is there, and that of the driver runs the PTX-level IR on what it is given."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import triton
import triton_kernels as kernels
from driver_stand_in import Driver, passed, telling
from numpy.typing import NDArray
from triton.runtime.errors import PTXASError
from triton.tools.tensor_descriptor import TensorDescriptor

import tilewright as tw
from tilewright.launch import launcher
from tilewright.pipeline import verified
from tilewright.triton.gpu import DeviceKernel, KernelLauncher, kernel_of, of_whole_shapes
from tilewright.triton.items import are_apart
from tilewright.triton.parameters import HostArray

STREAM = 77


class Tensor:
    """A tensor of torch on the GPU."""

    __module__ = "torch"

    def __init__(self, array: NDArray[Any], *, is_cuda: bool = True) -> None:
        self.array, self.dtype, self.is_cuda = array, str(array.dtype), is_cuda

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> Any:
        return SimpleNamespace(data_ptr=self.data_ptr, nbytes=lambda: self.array.nbytes)


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
        compiled._init_handles()
    np.testing.assert_array_equal(out, x + 1)
    assert len(driver.launches) == 2 and len(driver.cubins) == 1
    grid, block, stream, values = driver.launches[1]
    assert (grid, block, stream) == ((4, 1, 1), (64, 1, 1), STREAM)
    assert values == (x.ctypes.data, y.ctypes.data, out.ctypes.data, 100)
    assert ".visible .entry add" in compiled.asm["ptx"]
    assert (compiled.n_regs, compiled.n_spills) == (40, 2)


def told_from_here(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What launches pass from here on."""
    told: list[Any] = []
    monkeypatch.setattr(
        driver, "cuLaunchKernel", lambda *row: told.append(passed(row[9], driver.types)) or (0,)
    )
    return told


def test_a_launch_like_one_before_has_its_own_arrays_by_their_names(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    given = [np.zeros(128, np.float32) for _ in range(6)]
    told = told_from_here(driver, monkeypatch)
    turns = [given[:3], given[3:], given[1:4], given[2:5]]
    with tw.triton.on_gpu():
        for x, y, out in turns:
            kernels.add[(4,)](n=128, out=Tensor(out), BLOCK=32, y=Tensor(y), x=Tensor(x))
    assert told == [(*(array.ctypes.data for array in turn), 128) for turn in turns]


def test_a_launch_like_one_before_is_known_but_for_the_sign_of_zero(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    driver.memory += [x, out]
    monkeypatch.setattr(
        driver, "cuLaunchKernel", lambda *given: driver.launches.append(given) or (0,)
    )
    with tw.triton.on_gpu():
        for factor in (0.0, 0.0, 0.0, -0.0, 0.0):
            pair = (Tensor(x), Tensor(x))
            kernels.scaled[(1,)](pair, Tensor(out), (factor, 2), BLOCK=16)
    arguments = [given[9] for given in driver.launches]
    assert arguments[2] == arguments[4] != arguments[3]  # of two templates


def test_a_launch_like_one_before_is_of_its_constants(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: (0,))
    out = Tensor(np.zeros(16, np.float32))
    values = 2, 3, 2.5, (2,), (3,), (2.5,), False, True
    with tw.triton.on_gpu():
        rounds = [[kernels.filled[(1,)](out, one, BLOCK=16) for one in values] for _ in range(4)]
    assert len({*map(id, rounds[0])}) == len(values)  # of 0.0 and -0.0 Triton has one
    assert all(one is first for row in rounds for one, first in zip(row, rounds[0], strict=True))


@pytest.mark.parametrize(
    ("memories", "apart"),
    [
        ((range(512), range(512, 1024), range(512)), True),
        ((range(512), range(512), range(2048, 4096)), False),
        ((range(512), range(1024, 2048), range(2047, 4096)), False),
        ((range(1 << 64), range(1024, 2048), range(4096, 8192)), False),
    ],
)
def test_what_is_written_is_reached_by_nothing_else(memories: tuple[range, ...], apart: bool):
    """What is read may be reached by several pointers."""
    assert are_apart([1], memories) == apart


@pytest.mark.parametrize("written", [[0], [2], [0, 1], [0, 1, 2]])
def test_memories_in_any_order_are_apart_where_they_share_no_byte(written: list[int]):
    sizes = 3, 1, 2
    for places in product(range(7), repeat=len(sizes)):
        memories = [range(at, at + size) for at, size in zip(places, sizes, strict=True)]
        pairs = ((memories[i], one) for i in written for j, one in enumerate(memories) if i != j)
        assert are_apart(written, memories) == all({*own}.isdisjoint(one) for own, one in pairs)


def test_a_launch_like_one_before_is_known_while_what_it_writes_is_apart(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    def template(kernel: DeviceKernel, *args: Any, apart: bool, **how: Any) -> Any:
        made.append(apart)
        return own(kernel, *args, apart=apart, **how)

    made, own = list[bool](), DeviceKernel.template
    monkeypatch.setattr(DeviceKernel, "template", template)
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *given: (0,))
    x, a, b, c = (Tensor(np.zeros(16, np.float32)) for _ in range(4))
    counts: list[int] = []
    with tw.triton.on_gpu():
        for arrays in (*3 * [(x, a, b)], (x, b, c), (x, x, b), (a, b, b), (a, c, x)):
            kernels.added[(1,)](arrays[0], 3, *arrays[1:], BLOCK=16)
            counts.append(len(made))
    assert counts == [1, 1, 1, 1, 2, 3, 3]
    assert made == [True, False, False]


class Wrapped:
    """What has such a pointer as a tensor's, and says nothing of where that is."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.dtype = array, str(array.dtype)

    def data_ptr(self) -> int:
        return self.array.ctypes.data


@pytest.mark.parametrize("kind", [Tensor, Wrapped])
def test_a_compiled_kernel_is_launched_on_its_own_arrays_and_numbers(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, kind: Any
):
    """A sign is that of another text, and what does not fit is refused, as ever."""
    made, own = list[int](), DeviceKernel.template
    monkeypatch.setattr(
        DeviceKernel, "template", lambda *given, **how: made.append(1) or own(*given, **how)
    )
    told = told_from_here(driver, monkeypatch)
    arrays = [np.zeros(64, np.float32) for _ in range(4)]
    kernels.scattered.device_caches.clear()
    with tw.triton.on_gpu():
        compiled = kernels.scattered.warmup(
            *map(Tensor, arrays[:2]), 2.0, 32, 0, BLOCK=16, grid=(1,)
        )
        launch = compiled[(1, 1, 1)]
        rows = [(2.0, 32), (-0.1, 48), (1e300, 48), (0.5, -16), (0.5, -32), (2.0, 1 << 20)]
        for i, (factor, n) in enumerate(rows):
            launch(*map(kind, arrays[i % 3 : i % 3 + 2]), factor, n, i // 5, 16)
        with pytest.raises(tw.ArgumentError, match="'n' expected an i32, got 4294967296"):
            launch(*map(kind, arrays[:2]), 2.0, 1 << 32, 0, 16)
        with pytest.raises(tw.ArgumentError, match="factor, n, first, BLOCK, constants too, got 5"):
            launch(*map(kind, arrays[:2]), 2.0, 32, 0)
    with np.errstate(over="ignore"):
        bits = [int(np.float32(factor).view(np.uint32)) for factor, _ in rows]
    assert told == [
        (*(x.ctypes.data for x in arrays[i % 3 : i % 3 + 2]), bits[i], n % (1 << 32), i // 5)
        for i, (_, n) in enumerate(rows)
    ]
    assert len(made) == 3  # for any, for negative ones, and for another one of 16 bits


def test_a_launch_on_other_numbers_is_known_where_they_do_not_decide(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    """Not of another sign, another constant, nor a number whose word its bits are not."""

    def launch(launcher: KernelLauncher, *given: Any) -> Any:
        asked.append(given[2][3])
        return own(launcher, *given)

    asked, own = list[int](), KernelLauncher.launch
    monkeypatch.setattr(KernelLauncher, "launch", launch)
    told = told_from_here(driver, monkeypatch)
    x, out = (np.zeros(64, np.float32) for _ in range(2))
    kernels.scattered.device_caches.clear()
    rows = [(2.0, n, 0) for n in (32, 32, 32, 32, 32, 48, 0, 1 << 20)]
    rows += [(2.0, n, 0) for n in (-16, -32, -16, 64)]
    rows += [(factor, 80, first) for factor, first in ((0.5, 0), (-0.0, 0), (0.0, 3), (2.0, 3))]
    with tw.triton.on_gpu():
        for i, (factor, n, first) in enumerate(3 * rows):
            arrays = map(Tensor, (x, out) if i % 2 else (out, x))
            kernels.scattered[(1,)](*arrays, factor, n, first, BLOCK=16)
    addresses = x.ctypes.data, out.ctypes.data
    assert told == [
        (*addresses[:: 1 if i % 2 else -1], np.float32(factor).view("u4"), n % (1 << 32), first)
        for i, (factor, n, first) in enumerate(3 * rows)
    ]
    assert asked[len(asked) // 2 :].count(64) == 0 and not {48, 0, 1 << 20} & {*asked}


def test_functions_without_arguments_are_told_apart(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: (0,))
    twins = [triton.jit(kernels.waiting.fn) for _ in range(2)]
    with tw.triton.on_gpu():
        for _ in range(4):
            compiled = [twin[(1,)]() for twin in twins]
    assert compiled[0] is not compiled[1]


def test_threads_launch_a_compiled_kernel(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    """Each on arrays and numbers of its own, the first ones at once."""
    told = told_from_here(driver, monkeypatch)
    sets = [[np.zeros(64, np.float32) for _ in range(3)] for _ in range(16)]
    kernels.add.device_caches.clear()
    with tw.triton.on_gpu():
        launch = kernels.add.warmup(*map(Tensor, sets[0]), 64, BLOCK=16, grid=(1,))[(4, 1, 1)]

        def many(number: int) -> None:
            for _ in range(20):
                launch(*map(Tensor, sets[number]), 16 * number + 32, 16)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(many, range(16)))
    rows = [(*(x.ctypes.data for x in own), 16 * i + 32) for i, own in enumerate(sets)]
    assert sorted(told) == sorted(row for row in rows for _ in range(20))


def test_a_compiled_kernel_is_launched_on_a_stream_and_hooks_are_told(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        driver, "cuLaunchKernel", lambda *row: told.append((row[1:4], row[8])) or (0,)
    )
    told: list[Any] = []
    runtime: Any = triton.knobs.runtime
    hooks = runtime.launch_enter_hook, runtime.launch_exit_hook
    args = (*(Tensor(np.zeros(64, np.float32)) for _ in range(3)), 64)
    hook = told.append
    kernels.add.device_caches.clear()
    with tw.triton.on_gpu():
        compiled = kernels.add.warmup(*args, BLOCK=16, grid=(1,))
        compiled[(4, 1, 1)](*args, 16)
        compiled[(3, 2, 1)](*args, 16, stream=5)
        compiled[(4, 0, 1)](*args, 16)
        for one in hooks:
            one.add(hook)
        compiled[(1, 1, 1)](*args, 16, stream=6)
        for one in hooks:
            one.remove(hook)
        assert triton.runtime.driver.active.launches == 4
    names = [one if isinstance(one, tuple) else one.get()["name"] for one in told]
    launched = [((4, 1, 1), STREAM), ((3, 2, 1), 5), "add", ((1, 1, 1), 6), "add"]
    assert names == launched


def test_a_launch_like_one_before_is_of_the_text_that_the_function_has(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    """And of that function, where two have one text."""

    def cuModuleLoadDataEx(text: bytes, *_: Any) -> tuple[int, int]:
        loaded.append(text)
        return 0, len(loaded)

    def cuLaunchKernel(module: int, *_: Any) -> None:
        launched.append(module)

    for function in (cuModuleLoadDataEx, cuLaunchKernel):
        monkeypatch.setattr(driver, function.__name__, function)
    monkeypatch.setattr(driver, "cuModuleGetFunction", lambda module, _: (0, module), raising=False)
    monkeypatch.setattr(launcher, "assembled", lambda *_: None)
    loaded, launched = list[bytes](), list[int]()
    args = [*(Tensor(np.zeros(16, np.float32)) for _ in range(3)), 16]
    twins = [triton.jit(kernels.add.fn) for _ in range(2)]
    with tw.triton.on_gpu():
        for text in (twins[0].src, twins[0].src.replace("tl.load(x", "3.0 * tl.load(x")):
            twins[0]._unsafe_update_src(text)
            twins[0].device_caches.clear()
            for function in (*3 * twins[:1], *3 * twins[1:]):
                function[(1,)](*args, BLOCK=16)
    assert launched == [1] * 6 + [2] * 3 + [1] * 3 and loaded[0] != loaded[1]


@pytest.mark.parametrize(("rows", "whole"), [(16, True), (3, False)])
def test_sizes_of_descriptors_are_taken_for_multiples_of_16_where_they_are(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, rows: int, whole: bool
):
    def told(kernel: DeviceKernel, *_: Any, **how: Any) -> Any:
        assert how["whole"] is whole
        chosen = of_whole_shapes(kernel.code) if how["whole"] else kernel.code
        text = str(verified(chosen)[0])
        facts.append(len(re.findall(r"assume div_by<16>, %descriptor[._]", text)))
        return SimpleNamespace(start=lambda addresses, stream: None)

    facts: list[int] = []
    monkeypatch.setattr(DeviceKernel, "template", told)
    out = np.zeros((16, 16), np.float32)
    descriptor = TensorDescriptor(out.view(HostArray), [rows, 16], [16, 1], [16, 16])
    with tw.triton.on_gpu():
        kernels.from_descriptor[(1,)](descriptor, Tensor(out), M=16, N=16)
    assert facts == [2 * whole]


def test_memory_that_the_gpu_does_not_reach_is_refused(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    invalid = SimpleNamespace(name="INVALID_VALUE")
    monkeypatch.setattr(driver, "cuPointerGetAttribute", lambda *_: (invalid, 0), raising=False)
    x = np.ones(16, np.float32)
    args = (Tensor(x), Tensor(x, is_cuda=False), Tensor(x), 16)
    with tw.triton.on_gpu(), pytest.raises(tw.ArgumentError, match="'y' expected memory that the"):
        kernels.add[(1,)](*args, BLOCK=16)
    assert not driver.launches


def test_what_is_refused_is_an_error_that_autotuning_passes_over(driver: Driver):
    with pytest.raises(tw.CompileError) as error:
        kernel_of(b"module { tt.func public @k() { tt.nothing } }", "k", 90)
    assert isinstance(error.value, PTXASError)


def test_the_registered_driver_stands_in_for_nvidias(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    driver.memory.append(out := np.zeros(16, np.int32))
    triton_driver: Any = triton.runtime.driver
    registered = triton.backends.backends
    assert registered["tilewright"].driver.__module__ == "tilewright.triton.driver"
    assert not registered["tilewright"].driver.is_active()
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "tilewright")
    with patch.dict(registered), patch.object(triton_driver, "_active", None):
        triton_driver.set_active(registered["tilewright"].driver())
        compiled = kernels.racing[(0,)](Tensor(out), BLOCK=16)
        assert "nvidia" not in registered
        assert triton_driver.active.get_current_device() == 0
    assert "ptx" in compiled.asm and "ttgir" not in compiled.asm
