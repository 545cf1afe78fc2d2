"""Launches like one before: what they find, what they are refused, and that cuTile is not asked."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from itertools import product as product_of
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import cuda.tile as ct
import numpy as np
import pytest
from bridge_kernels import add, of_list
from driver_stand_in import Driver, OnGpu, passed
from launched_kernels import product
from test_cutile_gpu import aligned, own_cache, stand_in  # pyright: ignore

import tilewright as tw
from tilewright import cutile
from tilewright.cutile import gpu, launches, relaunch
from tilewright.dialects.ptx.control_flow import TENSORMAP
from tilewright.launch import known_launches, launcher
from tilewright.launch.launcher import LaunchError

__all__ = ["own_cache"]


def arrays(size: int = 128, offset: int = 0) -> list[Any]:
    """Three arrays, and their memory."""
    return [aligned(size, offset=offset) for _ in range(3)]


def run(given: Any, size: int = 32, **options: Any) -> None:
    """An add of arrays that say that they are on the GPU."""
    blocks = -(-len(given[0]) // size)
    cutile.launch((blocks,), add, (*map(OnGpu, given), size), **options)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return stand_in(monkeypatch, add, (*arrays(), 32))


@pytest.fixture
def signatures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Those that cuTile was given."""
    made: list[Any] = []
    own = launches._signature  # pyright: ignore[reportPrivateUsage]

    def signature(*given: Any, **options: Any) -> Any:
        made.append(own(*given, **options))
        return made[-1]

    monkeypatch.setattr(launches, "_signature", signature)
    return made


def test_other_arrays_of_the_kind(driver: Driver, signatures: list[Any]):
    """Other addresses and other sizes: cuTile is asked once, and each has its own numbers."""
    for size in (128, 128, 256, 512):
        given = arrays(size)
        driver.memory += given
        given[0] += np.arange(size, dtype=np.float32)
        given[1] += size
        for _ in range(2):
            given[2][:] = 0
            run(given)
            assert (given[2] == np.arange(size) + size).all()
    assert len(signatures) == 1 and len(driver.launches) == 8
    assert driver.launches[-1][0] == (16, 1, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda a, b, c: (a[1:-3], b[1:-3], c[1:-3]),
        lambda a, b, c: (a[:-1], b[:-1], c[:-1]),
        lambda a, b, c: (a[::2], b[:64], c[:64]),
        lambda a, b, c: (a, a, c),
        lambda a, b, c: (a.view(np.int32), b.view(np.int32), c.view(np.int32)),
    ],
    ids=["alignment", "size", "stride", "aliases", "type"],
)
def test_another_kind_is_another_signature(
    driver: Driver, signatures: list[Any], change: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: (0,))
    given = arrays()
    for _ in range(2):
        run(given)
        run(change(*given))
    assert len(signatures) == 2 and repr(signatures[0]) != repr(signatures[1])


def test_arrays_in_any_order_overlap_where_they_share_bytes():
    reaches = (3, 1, 2)
    apart, meeting = object(), object()
    rows: Any = relaunch._Templates(reaches, range(3))  # pyright: ignore[reportPrivateUsage]
    for places in product_of(range(1, 8), repeat=3):
        memory = [set(range(at, at + size)) for at, size in zip(places, reaches, strict=True)]
        shared = any(a & b for a, b in combinations(memory, 2))
        overlaps = relaunch._overlaps(places, reaches)  # pyright: ignore[reportPrivateUsage]
        rows.by_overlaps = {(): apart, overlaps or None: meeting}
        assert rows.find(places) is (meeting if shared else apart)


@ct.kernel
def scaled(a, c, pair, T: ct.Constant[float]):
    ct.store(c, (0,), ct.load(a, (0,), (16,)) * pair[0] + pair[1] + T)


def test_constants_and_numbers(monkeypatch: pytest.MonkeyPatch, signatures: list[Any]):
    """Another number is no other kernel, another constant is one, 0.0 and -0.0 too."""
    a, c = aligned(16), aligned(16)
    driver = stand_in(monkeypatch, scaled, (a, c, (0.5, 3), 1.0))
    signatures.clear()
    told: list[Any] = []

    def start(*given: Any) -> tuple[int]:
        told.append(np.array(passed(given[9], driver.types)[-2:], np.uint32).tobytes())
        return (0,)

    monkeypatch.setattr(driver, "cuLaunchKernel", start)

    def run_with(*numbers: Any, constant: float = 1.0) -> None:
        cutile.launch((1,), scaled, (OnGpu(a), OnGpu(c), numbers, constant))

    numbers = [(0.5, 3), (1.5, 3), (1.5, 1 << 24 | 1), (-0.0, -4), (0.0, -4)]
    for row in numbers:
        run_with(*row)
    assert told == [np.float32(x).tobytes() + np.int32(n).tobytes() for x, n in numbers]
    assert len(signatures) == 1
    with pytest.raises(tw.ExecutionError, match="expected a number of 32 bits"):
        run_with(0.5, 1 << 31)
    before = len(signatures)
    for more, constant in [(0, 1.0), (1, 0.0), (2, -0.0), (2, 0.0)]:
        run_with(0.5, 3, constant=constant)
        assert len(signatures) == before + more


def test_another_number_of_arguments(driver: Driver):
    given = arrays()
    driver.memory += given
    run(given)
    for args in ((*map(OnGpu, given),), (*map(OnGpu, given), 32, 32)):
        with pytest.raises(tw.ExecutionError, match="'add' expected 4 arguments"):
            cutile.launch((4,), add, args)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"grid": (1 << 31,)}, "expected extents of a grid of 24 bits"),
        ({"grid": (0,)}, "expected grid as up to three positive integers"),
        ({"grid": (1.0,)}, "expected grid as up to three positive integers"),
        ({"numerics": "exactly"}, "expected numerics as one of"),
        ({"stream": "s", "args": 3}, "expected args as a list"),
    ],
)
def test_what_is_checked_is_checked_again(driver: Driver, wrong: Any, words: str):
    given = arrays()
    driver.memory += given
    good = {"grid": (1,), "args": (*map(OnGpu, given), 32)}
    for _ in range(2):
        cutile.launch(good["grid"], add, good["args"])
        wronged = good | wrong
        with pytest.raises(tw.ExecutionError, match=words):
            cutile.launch(wronged.pop("grid"), add, wronged.pop("args"), **wronged)
    assert len(driver.launches) == 2


@pytest.mark.parametrize("kernel", [len, [], b"", None])
@pytest.mark.parametrize("programmatic", [False, "yes", []])
def test_what_is_no_kernel(driver: Driver, kernel: Any, programmatic: Any):
    given = arrays()
    driver.memory += given
    run(given)
    args = (*map(OnGpu, given), 32)
    with cutile.on_gpu():
        with pytest.raises((tw.ExecutionError, tw.CompileError), match="expected"):
            ct.launch(None, (4,), kernel, args, programmatic)
        with pytest.raises((tw.ExecutionError, tw.CompileError), match="expected"):
            cutile.launch((4,), kernel, args, programmatic_dependent_launch=programmatic)
    assert len(driver.launches) == 1


def test_every_context_has_its_own_module(driver: Driver):
    given = arrays()
    driver.memory += given
    for context in (1, 2, 1, 2):
        driver.context = context
        run(given)
    assert len(driver.cubins) == 2 and len(driver.launches) == 4


def test_threads(driver: Driver, monkeypatch: pytest.MonkeyPatch, signatures: list[Any]):
    """They compile once, and each launch has its own arguments."""
    sets = [arrays() for _ in range(16)]
    compiled: list[Any] = []
    own = launches.compiled
    monkeypatch.setattr(launches, "compiled", lambda *all_: (compiled.append(1), own(*all_))[1])
    started: list[Any] = []

    def start(*given: Any) -> tuple[int]:
        started.append((given[8], passed(given[9], driver.types)[0]))
        return (0,)

    monkeypatch.setattr(driver, "cuLaunchKernel", start)

    def many(number: int) -> None:
        for _ in range(20):
            run(sets[number], stream=SimpleNamespace(cuda_stream=number + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(many, range(16)))
    addresses = [given[0].ctypes.data for given in sets]
    assert sorted(started) == sorted((i + 1, a) for i, a in enumerate(addresses) for _ in range(20))
    assert len(compiled) == 1


def test_a_forked_process_forgets(driver: Driver):
    given = arrays()
    driver.memory += given
    run(given)
    child = os.fork()
    if not child:
        os._exit(1 if relaunch._PLANS or relaunch._TEMPLATES else 0)  # pyright: ignore
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert relaunch._PLANS  # pyright: ignore[reportPrivateUsage]


def test_what_a_graph_cannot_have(monkeypatch: pytest.MonkeyPatch):
    """It is refused before the driver is asked for anything but whether there is a graph."""
    one, total = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.float32)
    driver = stand_in(monkeypatch, of_list, ([one], total), one, total)
    driver.captured.add(7)
    memory = len(driver.memory)
    with pytest.raises(LaunchError, match="List argument in CUDAGraph isn't supported yet"):
        cutile.launch((1,), of_list, ([OnGpu(one)], OnGpu(total)), stream=7)
    with cutile.on_gpu(), pytest.raises(LaunchError, match="in a CUDA graph, got one of NumPy"):
        ct.launch(7, (1,), add, (*arrays(), 32))
    assert not driver.launches and not driver.cubins and len(driver.memory) == memory


def test_who_watches_cutile_compile_is_told(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    given, told = arrays(), []
    driver.memory += given
    with cutile.on_gpu():
        own = ct.kernel._compile

        def watched(kernel: Any, signature: Any, context: Any, capability: Any) -> Any:
            told.append(capability)
            return own(kernel, signature, context, capability)

        monkeypatch.setattr(ct.kernel, "_compile", watched)
        for _ in range(2):
            ct.launch(None, (4,), add, (*map(OnGpu, given), 32))
        monkeypatch.undo()
    assert told == [(9, 0)]


def test_the_cache_is_not_for_ever(monkeypatch: pytest.MonkeyPatch, driver: Driver):
    """And arrays elsewhere take no room in it."""
    monkeypatch.setattr(known_launches, "MOST", 2)
    counts: list[int] = []
    for size in (128, 128, 128, 256, 512, 1024):
        driver.memory += (given := arrays(size))
        run(given)
        counts.append(len(relaunch._TEMPLATES))  # pyright: ignore[reportPrivateUsage]
    assert counts == [0, 1, 1, 2, 1, 2]


def test_arrays_here_ask_for_no_stream(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    """torch's build for the CPU has none."""
    given = arrays()
    driver.memory += given
    run(given)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=None))
    cutile.launch((4,), add, (given[0], given[0] + 1, given[2], 32))
    assert (given[2] == 1).all() and len(driver.launches) == 1


def test_on_the_stream_that_is_current(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    given = arrays()
    driver.memory += given
    for number in (5, 6, 7):
        stream = SimpleNamespace(cuda_stream=number)
        streams = SimpleNamespace(current_stream=lambda stream=stream: stream)
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=streams))
        run(given)
    assert [row[2] for row in driver.launches] == [5, 6, 7]


class Map:
    """The driver's tensor map: an address, then numbers that were encoded."""

    def __init__(self, *words: int) -> None:
        self.words = (ctypes.c_uint64 * 16)(*words)

    def getPtr(self) -> int:
        return ctypes.addressof(self.words)


def encoding(monkeypatch: pytest.MonkeyPatch, driver: Driver, encode: Any) -> None:
    """Let a driver make tensor maps by a function."""
    for name in ("DataType", "Interleave", "Swizzle", "L2promotion", "FloatOOBfill"):
        monkeypatch.setattr(driver, f"CUtensorMap{name}", MagicMock(), raising=False)
    monkeypatch.setattr(driver, "CUfunction_attribute", MagicMock(), raising=False)
    for name in ("cuuint32_t", "cuuint64_t"):
        monkeypatch.setattr(driver, name, int, raising=False)
    monkeypatch.setattr(driver, "cuTensorMapEncodeTiled", encode, raising=False)


def test_tensor_maps_are_kept(monkeypatch: pytest.MonkeyPatch):
    """By sizes; one of sizes that there were is that one at another address."""
    calls: list[str] = []
    launched: list[list[list[int]]] = []
    one, two, wide, b, c = (
        aligned(256 * n, np.float16).reshape(256, n) for n in (1024, 1024, 2048, 256, 256)
    )
    driver = stand_in(monkeypatch, product, (one, b, c, 64))

    def encode(*given: Any) -> tuple[int, Map]:
        calls.append("encode")
        return 0, Map(given[2], *given[3])

    def start(*given: Any) -> tuple[int]:
        places = zip(passed(given[9], driver.types), driver.types, strict=True)
        maps = [map_ for map_, type_ in places if type_ == TENSORMAP]
        launched.append([list(struct.unpack_from("3Q", map_)) for map_ in maps])
        return (0,)

    encoding(monkeypatch, driver, encode)
    monkeypatch.setattr(driver, "cuLaunchKernel", start)
    expected = [
        (one, ["encode"] * 3), (one, ["encode"] * 3), (two, []), (one, []),
        (wide, ["encode"]), (two, []),
    ]  # fmt: skip
    for array, wanted in expected:
        calls.clear()
        cutile.launch((9, 9), product, (*map(OnGpu, (array, b, c)), 64))
        (maps,) = launched
        launched.clear()
        assert calls == wanted
        assert maps == [[x.ctypes.data, *x.shape[::-1]] for x in (array, b, c)]


def test_few_rows_are_another_kernel(monkeypatch: pytest.MonkeyPatch):
    """A launch like one before is of the kernel that may assume as many rows."""
    shared: list[int] = []
    b, *others = (aligned(256 * n, np.float16).reshape(n, 256) for n in (256, 256, 16))
    driver = stand_in(monkeypatch, product, (others[0], b, others[0], 64))

    def start(*given: Any) -> tuple[int]:
        shared.append(given[7])
        return (0,)

    encoding(monkeypatch, driver, MagicMock(return_value=(0, Map())))
    monkeypatch.setattr(driver, "cuLaunchKernel", start)
    for _ in range(2):
        for one in others:
            c = one.copy()
            cutile.launch((9, 9), product, (*map(OnGpu, (one, b, c)), 64))
    assert shared[:2] == shared[2:] and shared[1] < shared[0]
    assert len(driver.cubins) == 2


def test_few_last_blocks_are_a_launch_of_their_own(monkeypatch: pytest.MonkeyPatch):
    """Of nine blocks on eight multiprocessors two CTAs share the last, also in launches like one
    before."""
    monkeypatch.setattr(gpu, "_WORTH", 2)
    monkeypatch.setattr(launcher, "multiprocessors", lambda: 8)
    matrices = [aligned(384 * 384, np.float16).reshape(384, 384) for _ in range(3)]
    driver = stand_in(monkeypatch, product, (*matrices, 128))
    encoding(monkeypatch, driver, lambda *given: (0, Map(given[2], *given[3])))
    started: list[Any] = []

    def start(_: Any, *given: Any) -> tuple[int]:
        numbers = [x for x in passed(given[8], driver.types) if isinstance(x, int)]
        started.append((given[:3], numbers[-5:]))
        return (0,)

    monkeypatch.setattr(driver, "cuLaunchKernel", start)
    for _ in range(2):
        cutile.launch((3, 3), product, (*map(OnGpu, matrices), 128))
    rows = [((8, 1, 1), [3, 3, 1, 0, 8]), ((2, 1, 1), [3, 3, 1, 8, 9])]
    assert started == 2 * rows
