"""cuTile Python kernels on a GPU, as far as can be seen without one: the signature, and a launch
whose driver runs the PTX-level IR on the values that it is given."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import cuda.tile as ct
import ml_dtypes
import numpy as np
import pytest
from bridge_kernels import add, of_list, of_pair
from cuda.tile.tune import _tune_utils as tune
from driver_stand_in import ARCH, Driver, OnGpu, passed, telling

import tilewright as tw
from tilewright import cutile
from tilewright.cutile import launches, relaunch
from tilewright.cutile.gpu import BlockSchedule, launched
from tilewright.cutile.parameters import parameters_of
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.kernel import Kernel
from tilewright.launch import launcher, ptxas
from tilewright.launch.kernel import Entry, Extents
from tilewright.lowering.cuda_tile.kernel.kernel import RULES


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(launches, "_KERNELS", {})
    monkeypatch.setattr(relaunch, "_PLANS", {})
    monkeypatch.setattr(relaunch, "_TEMPLATES", {})


def stand_in(monkeypatch: pytest.MonkeyPatch, kernel: Any, args: Any, *memory: Any) -> Driver:
    """A driver for launches of a kernel on arrays in its memory."""
    driver = Driver(cutile.bytecode(kernel, args), list(memory))
    monkeypatch.setattr(launcher, "_driver", lambda: driver)
    told = partial(setattr, driver, "types")
    monkeypatch.setattr(launcher, "function", telling(told))
    return driver


def aligned(size: int, dtype: Any = np.float32, offset: int = 0) -> Any:
    """An array whose address is so many bytes behind a multiple of 64."""
    room = np.zeros(size * np.dtype(dtype).itemsize + 128, np.uint8)
    first = -room.ctypes.data % 64 + offset
    return room[first : first + size * np.dtype(dtype).itemsize].view(dtype)


def vectors() -> tuple[Any, Any, Any]:
    """Two to add, and where the sum goes."""
    return np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(100, np.float32)


@pytest.mark.parametrize("dlpack", [False, True])
def test_a_launch_on_arrays_of_the_gpu(monkeypatch: pytest.MonkeyPatch, dlpack: bool):
    a, b, c = vectors()
    args = tuple(OnGpu(array, dlpack=dlpack) for array in (a, b, c))
    driver = stand_in(monkeypatch, add, (a, b, c, 32), a, b, c)
    for _ in range(2):
        cutile.launch((4,), add, (*args, 32), stream=SimpleNamespace(cuda_stream=77))
    assert (c == np.arange(100) + 1).all()
    assert len(driver.cubins) == 1 and driver.cubins[0][:4] == b"\x7fELF" and not driver.texts
    grid, block, stream, values = driver.launches[1]
    assert (grid, stream) == ((4, 1, 1), 77) and len(driver.launches) == 2
    assert values == (a.ctypes.data, 100, 1, b.ctypes.data, 100, 1, c.ctypes.data, 100, 1)
    assert block == cutile.compile(add, (*args, 32), ARCH).entry().block
    assert not driver.synchronized


def test_ptx_is_assembled_by_the_driver_where_it_refuses_what_ptxas_made(
    monkeypatch: pytest.MonkeyPatch,
):
    a, b, c = vectors()
    driver = stand_in(monkeypatch, add, (a, b, c, 32), a, b, c)
    driver.refuses_cubins = True
    cutile.launch((4,), add, (*map(OnGpu, (a, b, c)), 32))
    assert (c == np.arange(100) + 1).all()
    assert len(driver.cubins) == len(driver.texts) == 1
    assert ptxas.assemble(driver.texts[0], ARCH).clean


def test_ptx_is_assembled_by_the_driver_where_there_is_no_ptxas(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv(ptxas.VARIABLE, str(tmp_path / "none"))
    a, b, c = vectors()
    driver = stand_in(monkeypatch, add, (a, b, c, 32), a, b, c)
    cutile.launch((4,), add, (*map(OnGpu, (a, b, c)), 32))
    assert (c == np.arange(100) + 1).all() and not driver.cubins and ".target" in driver.texts[0]


def test_a_script_on_the_gpu_with_arrays_of_numpy(monkeypatch: pytest.MonkeyPatch):
    a, b, c = np.arange(16, dtype=np.float32), np.ones(16, np.float32), np.zeros(16, np.float32)
    args = ((a, b), c, (0.5, 3))
    driver = stand_in(monkeypatch, of_pair, args)
    with cutile.on_gpu():
        ct.launch(None, (1,), of_pair, args)
    assert (c == (a + b) * 0.5 + 3).all()
    assert driver.synchronized == [0]


def test_what_cutile_is_told_of_arrays_on_the_gpu():
    """Sizes of 1, as its own launch tells; nothing that is not so."""
    row = OnGpu(np.ones((1, 64), np.float32))
    (parameter, *_) = parameters_of(add, (row, row, row, 32))
    assert parameter.constraint([], aligned=True).shape_constant == (1, None)
    assert parameter.constraint([]).shape_constant == (None, None)
    with pytest.raises(tw.ExecutionError, match="'a' expected strides forwards, got"):
        cutile.signature(add, (OnGpu(np.ones(4, np.float32)[::-1]), row, row, 32))


def test_arrays_of_numpy_that_share_memory(monkeypatch: pytest.MonkeyPatch):
    """They share it there too: one copy goes to the GPU, and comes back once."""
    a, c = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    driver = stand_in(monkeypatch, add, (a[:32], a[16:48], c, 32))
    with cutile.on_gpu():
        ct.launch(None, (1,), add, (a[:32], a[16:48], c, 32))
        assert (c == 2 * np.arange(32) + 16).all()
        assert [array.nbytes for array in driver.memory[-2:]] == [4 * 48, 4 * 32]
        ct.launch(None, (1,), add, (a[16:48], c, a[16:48], 32))
    assert (a[16:48] == 3 * np.arange(32) + 32).all()
    assert (a[:16] == np.arange(16)).all() and (a[48:] == np.arange(48, 64)).all()


def test_arrays_of_numpy_lie_as_they_do_here(monkeypatch: pytest.MonkeyPatch):
    """Views of larger arrays, and one that is read-only, which is read alone."""
    a, b = np.arange(64, dtype=np.float32)[::2], np.ones(32, np.float32)
    whole = np.zeros((32, 3), np.float32)
    c = whole[:, 1]
    b.flags.writeable = False
    stand_in(monkeypatch, add, (a, b, c, 32))
    with cutile.on_gpu():
        ct.launch(None, (1,), add, (a, b, c, 32))
        assert (c == a + 1).all() and not whole[:, ::2].any()
        with pytest.raises(tw.ExecutionError, match="'c' expected an array that may be written"):
            ct.launch(None, (1,), add, (a, a.copy(), b, 32))


def test_lists_are_tables_on_the_gpu(monkeypatch: pytest.MonkeyPatch):
    arrays = [np.full((4, 8), 2.0**i, np.float32) for i in range(3)]
    total = np.zeros((4, 8), np.float32)
    driver = stand_in(monkeypatch, of_list, (arrays, total), *arrays, total)
    started: list[Any] = []

    def start(*given: Any) -> tuple[int]:
        started.append(passed(given[9], driver.types))
        return (0,)

    monkeypatch.setattr(driver, "cuLaunchKernel", start)
    cutile.launch((1,), of_list, ([OnGpu(array) for array in arrays], OnGpu(total)))
    (values,) = started
    (table,) = [array for array in driver.memory if array.ctypes.data == values[0]]
    assert table.view(np.int64).reshape(3, 5).tolist() == [
        [array.ctypes.data, 4, 8, 8, 1] for array in arrays
    ]
    assert values[1] == 3


def test_what_a_launch_assumes():
    """Of whole 16 bytes, and 16 elements, are those that are so."""
    rows = aligned(64 * 40, np.float16).reshape(64, 40)
    for array, base, strides, shape in [
        (rows, 16, (8, 1), (16, 1)),
        (rows[:, 4:36], 1, (8, 1), (16, 16)),
        (aligned(64 * 36, ml_dtypes.bfloat16).reshape(64, 36), 16, (1, 1), (16, 1)),
    ]:
        (parameter, *_) = parameters_of(add, (array, array, array, 16))
        constraint = parameter.constraint([array], aligned=True)
        assert constraint.base_addr_divisible_by == base
        assert constraint.stride_divisible_by == strides
        assert constraint.shape_divisible_by == shape
        assert constraint.stride_constant == (None, 1)


def test_what_is_assumed_makes_wide_accesses():
    texts = [
        cutile.compile(add, (*(aligned(1024, offset=offset) for _ in range(3)), 1024), ARCH).ptx
        for offset in (0, 4)
    ]
    assert ".v4" in texts[0] and ".v4" not in texts[1]


@ct.kernel
def prints_much(a):
    x = ct.load(a, (0, 0), (64, 64))
    ct.printf("%d", x)


def test_what_does_not_compile_is_shown_at_its_line(monkeypatch: pytest.MonkeyPatch):
    """Of an op that has no rule: all of them have."""
    monkeypatch.delitem(RULES, PrintTkoOp)
    a = np.zeros((64, 64), np.int32)
    with pytest.raises(tw.CompileError) as caught:
        cutile.compile(prints_much, (a,), ARCH)
    head, line, caret = str(caught.value).split("\n")
    assert "test_cutile_gpu.py:" in head and "'cuda_tile.print_tko' has no lowering to cute" in head
    assert line[len(caret) - 1 :].startswith("ct.printf(")


@ct.kernel
def quotients(a, b, c):
    ct.store(c, (0,), ct.load(a, (0,), (64,)) // ct.load(b, (0,), (64,)))


def test_quotients_of_unsigned_numbers(monkeypatch: pytest.MonkeyPatch):
    """cuTile rounds them to negative infinity, which tileiras does not take."""
    a, b = np.arange((1 << 32) - 64, 1 << 32, dtype=np.uint32), np.arange(1, 65, dtype=np.uint32)
    here, c = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    cutile.launch((1,), quotients, (a, b, here))
    stand_in(monkeypatch, quotients, (a, b, c), a, b, c)
    cutile.launch((1,), quotients, tuple(map(OnGpu, (a, b, c))), stream=0)
    assert (here == a // b).all() and (c == here).all()
    (remark,) = cutile.compile(quotients, (a, b, c), ARCH).remarks
    assert "'cuda_tile.divi' of unsigned numbers rounds down" in str(remark)


def test_compiled_kernels_outlive_a_process(monkeypatch: pytest.MonkeyPatch):
    """What the cache gives back is what was compiled, remarks and tensor maps included."""
    args = (aligned(4096, np.float16).reshape(64, 64), aligned(4096, np.float16).reshape(64, 64))
    first = cutile.compile(turn, args, ARCH)
    monkeypatch.setattr(launches, "_KERNELS", {})
    monkeypatch.setattr("tilewright.cutile.gpu.compile", None)
    second = cutile.compile(turn, args, ARCH)
    assert first is not second and first == second and first.remarks


@ct.kernel
def turn(a, c):
    ct.store(c, (0, 0), ct.transpose(ct.load(a, (0, 0), (64, 64)) + 1))


def test_arrays_of_both_places_are_refused():
    a, c = np.zeros(16, np.float32), OnGpu(np.zeros(16, np.float32))
    with pytest.raises(tw.ExecutionError, match="got both: 'c' there and 'b' here"):
        cutile.launch((1,), add, (a, a, c, 16))


def test_schedules_of_blocks(monkeypatch: pytest.MonkeyPatch):
    """CTAs share the blocks of a small grid, and take those of a large one in turn, where one has a
    multiprocessor for itself."""
    monkeypatch.setattr(launcher, "multiprocessors", lambda: 132)
    own = Entry("k", (), 200_000, None, None, (), by_warpgroups=True)
    alone = Kernel("", (own,), "sm_90a")
    grids = ((1, 2, 1), (8, 2, 1), (17, 2, 1), (33, 2, 1), (66, 2, 1), (67, 2, 1), (1 << 15,) * 3)
    schedules = [BlockSchedule.of(alone, grid) for grid in grids]
    assert [one.ctas for one in schedules] == [8, 8, 2, 2, 1, 1, 1]
    assert [one.taken for one in schedules] == [*[False] * 5, True, False]
    lasts = {
        blocks: BlockSchedule.of(alone, (blocks, 1, 1)).last for blocks in (264, 265, 297, 298)
    }
    assert lasts == {264: 1, 265: 8, 297: 4, 298: 1}
    summed = replace(alone, entries=(replace(own, sizes=(0, 1), written_sizes=(0,)),))
    by_depth = [BlockSchedule.of(summed, (265, 1, 1), (4096, k)).last for k in (511, 512, 4096)]
    assert by_depth == [1, 8, 8]
    pair = replace(alone, entries=(replace(own, ctas=2),))
    half = replace(alone, entries=(replace(own, shared_bytes=100_000),))
    assert BlockSchedule.of(pair, (67, 1, 1)).taken
    by_warps = replace(alone, entries=(replace(own, by_warpgroups=False),))
    for other, grid in ((half, (200, 1, 1)), (by_warps, (1, 1, 1))):
        assert BlockSchedule.of(other, grid) == BlockSchedule()


@pytest.mark.parametrize(
    "fields, blocks, grid, told",
    [
        ({"ctas": 2}, (3, 5, 7), (6, 5, 7), ()),
        ({"takes_blocks": "alike"}, (30, 5, 7), (132, 1, 1), (30, 5, 7, 0, 1050)),
        ({"takes_blocks": "alike"}, (3, 5, 1), (15, 1, 1), (3, 5, 1, 0, 15)),
        ({"takes_blocks": "alike"}, (8, 256, 1), (128, 1, 1), (8, 256, 1, 0, 2048)),
        ({"takes_blocks": "alike", "ctas": 8}, (300, 1, 1), (128, 1, 1), (300, 1, 1, 0, 300)),
        ({"takes_blocks": "longest first"}, (8, 256, 1), (132, 1, 1), (8, 256, 1, 0, 2048)),
        ({"takes_blocks": "longest first"}, (3, 5, 1), (15, 1, 1), (3, 5, 1, 0, 15)),
    ],
)
def test_grids_of_ctas(
    fields: dict[str, Any], blocks: Extents, grid: Extents, told: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.setattr(launcher, "multiprocessors", lambda: 132)
    own = Entry("k", (), 0, None, None, (), **fields)
    assert launched([own], blocks) == [(grid, told)]


def test_another_process_times_a_launch(monkeypatch: pytest.MonkeyPatch):
    """Memory is shared by handles, as many bytes in front of an array as there are."""
    a, b, c = vectors()
    stand_in(monkeypatch, add, (a, b, c, 32), a, b, c)
    handle, opened = b"the memory of all", Mock(return_value=a.ctypes.data)
    shared = Mock(side_effect=lambda address: (handle, address - a.ctypes.data))
    monkeypatch.setattr(launcher, "shared_handle", shared)
    monkeypatch.setattr(launcher, "opened", opened)
    with cutile.on_gpu(arch=ARCH):
        export, measure = tune._export_ipc_benchmark_payload, tune._benchmark_with_ipc_payload
        launch = export(None, (4,), add, (*map(OnGpu, (a, b, c)), 32), False)
        assert not c.any()
        assert measure(launch) == 1e3  # the driver's events are a millisecond apart
        assert (c == np.arange(100) + 1).all()
        opened.assert_called_once_with(handle)
        assert export(None, (4,), add, (a, b, c, 32), False) is None
        shared.side_effect = launcher.LaunchError("no memory of its own")
        assert export(None, (4,), add, (*map(OnGpu, (a, b, c)), 32), False) is None
