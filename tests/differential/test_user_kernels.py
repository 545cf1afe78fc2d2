"""The kernels of `benchmarks/user_kernels.py`, at small sizes, leave what NumPy computes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cutile_cases
import numpy as np
import pytest
import user_kernel_cases
import user_kernels
from cutile_problems import Case, Matrix, host_array
from numpy.typing import NDArray

import tilewright as tw

CASES = list(user_kernel_cases.cases())


def number(argument: Any) -> Any:
    """An argument as NumPy computes with it."""
    floats = isinstance(argument, np.ndarray) and not np.issubdtype(argument.dtype, np.integer)
    return argument.astype(np.float32) if floats else argument


def arguments(case: Case) -> list[Any]:
    """Of a small launch."""
    random = np.random.default_rng(0)
    given = user_kernel_cases.small(case).arguments
    return [host_array(one, random) if isinstance(one, Matrix) else one for one in given]


def check(case: Case, args: list[Any], want: NDArray[Any]) -> None:
    """The first result is as wanted, but for what bf16 has no bits for."""
    given = case.problems[0].arguments
    first = next(i for i, one in enumerate(given) if isinstance(one, Matrix) and one.result)
    error = np.linalg.norm(args[first].astype(np.float64) - want)
    assert error <= 4e-3 * np.linalg.norm(want) > 0


@pytest.mark.parametrize("case", CASES, ids=[case.configuration for case in CASES])
def test_what_kernels_leave(case: Case) -> None:
    args = arguments(case)
    want = user_kernel_cases.result(case, *map(number, args))
    kernel = getattr(user_kernels, case.kernel)
    tw.cutile.launch(user_kernel_cases.small(case).grid, kernel, (*args, *case.constants))
    check(case, args, want)


def check_compiled(case: Case, code: bytes, arch: str) -> None:
    """PTX leaves what NumPy computes."""
    args = arguments(case)
    want = user_kernel_cases.result(case, *map(number, args))
    flat = list[Any]()
    for one in args:
        array_ = isinstance(one, np.ndarray)
        flat += [one, *one.shape, *(x // one.itemsize for x in one.strides)] if array_ else [one]
    grid = user_kernel_cases.small(case).grid
    got = tw.interpret(code, grid=grid, args=flat, level="ptx", arch=arch, schedule=1)
    given = [one for one in args if isinstance(one, np.ndarray)]
    for before, after in zip(given, got, strict=True):
        before[...] = after
    check(case, args, want)


@pytest.mark.covered
@pytest.mark.parametrize("arch, threads", [("sm_90a", 288), ("sm_100a", 320)])
@pytest.mark.parametrize("kernel", ["paged_attention", "grouped_gemm"])
def test_warps_that_copy_look_up_where(kernel: str, arch: str, threads: int) -> None:
    """The page, or the expert, by the warp that copies: as far ahead as without a table."""
    case = next(case for case in CASES if case.kernel == kernel)
    code = cutile_cases.bytecode(case, Path())
    compiled = tw.compile(code, arch)
    assert not [remark for remark in compiled.remarks if remark.kind == "pipeline"]
    assert compiled.entry().block == (threads, 1, 1)
    check_compiled(case, code, arch)


def test_all_products_of_a_backward_pass_are_in_tensor_memory() -> None:
    """The sums of its second loop, and the weights, have the columns of the first one's."""
    case = next(x for x in CASES if x.configuration == "attention_backward d64 128")
    code = cutile_cases.bytecode(case, Path())
    ptx = tw.compile(code, "sm_100a").ptx
    assert "mma.sync" not in ptx and ptx.count("tcgen05.mma") == 4 * (4 + 8) - 8
    check_compiled(case, code, "sm_100a")


@pytest.mark.parametrize("configuration", ["rope 32", "attention_backward d64 128"])
def test_no_elements_change_threads(configuration: str) -> None:
    """Angles are loaded as the narrower numbers beside them, rows where loops broadcast them, and
    what is read beside products comes in stages: two are enough beside several of these."""
    case = next(case for case in CASES if case.configuration == configuration)
    code = cutile_cases.bytecode(case, Path())
    assert not tw.compile(code, "sm_90a").remarks
    check_compiled(case, code, "sm_90a")


def test_threads_have_neighbours_along_what_they_scan() -> None:
    """Of four rows of four columns each a thread tells others their totals alone, bit by bit; and
    the sums of columns."""
    case = next(case for case in CASES if case.kernel == "cumsum_columns")
    code = cutile_cases.bytecode(case, Path())
    assert tw.compile(code, "sm_90a").ptx.count("shfl.sync.bfly") == 2 * 2 * 4
    check_compiled(case, code, "sm_90a")


@pytest.mark.parametrize(
    "tile, threads, loads, writes",
    [((64, 128), 256, 4, 2), ((128, 128), 512, 4, 8), ((16, 128), 128, 2, 2)],
)
def test_rows_are_added_up_by_all_threads_of_a_multiprocessor(
    tile: tuple[int, int], threads: int, loads: int, writes: int
) -> None:
    """In 32 registers each, which are enough for all loads at once where few hold addresses, with
    nothing ahead; of a chip that has 1536 threads fewer CTAs."""
    case = replace(next(case for case in CASES if case.kernel == "column_sums"), constants=tile)
    code = cutile_cases.bytecode(case, Path())
    for arch, of_all in (("sm_90a", 2048), ("sm_120a", 1536)):
        ptx = tw.compile(code, arch).ptx
        assert ptx.count("ld.global.L1::no_allocate.v4.b32") == loads and "cp.async" not in ptx
        assert f".minnctapersm {of_all // threads}\n" in ptx and ptx.count("st.shared") == writes
    check_compiled(case, code, "sm_90a")


def test_few_rows_are_added_up_behind_copies() -> None:
    """Of eight rows a thread would carry a number for every sixteen bytes."""
    case = replace(next(case for case in CASES if case.kernel == "column_sums"), constants=(8, 256))
    assert "cp.async" in tw.compile(cutile_cases.bytecode(case, Path()), "sm_90a").ptx


def test_sums_of_tiles_go_between_warps_at_once() -> None:
    """Both sums of group norm, along both dimensions; the third barrier is its second loop's."""
    case = next(case for case in CASES if case.kernel == "group_norm")
    assert tw.compile(cutile_cases.bytecode(case, Path()), "sm_90a").ptx.count("bar.sync") == 3


@pytest.mark.parametrize(
    "configuration, stages, size",
    [("group_norm 16x512", 8, 16384),
     ("cumsum_columns 64x32", 6, 8192), ("cross_entropy 8192", 3, 16384),
     ("cross_entropy 4096", 4, 8192)],
)  # fmt: skip
def test_stages_of_streams(configuration: str, stages: int, size: int) -> None:
    """As many as were the fastest on an H200."""
    case = next(case for case in CASES if case.configuration == configuration)
    code = cutile_cases.bytecode(case, Path())
    kernel = tw.compile(code, "sm_90a")
    assert f"cp.async.wait_group {stages - 1};" in kernel.ptx
    assert stages * size <= kernel.shared_bytes < (stages + 1) * size
    # What a warp copies at once lies side by side.
    (threads, *_), chunk = kernel.entry().block, 16
    places = re.findall(r"ld\.shared\.v4\.\w+ \{[^}]*\}, \[%r\d+\+(\d+)\]", kernel.ptx)
    assert [int(place) for place in places[:3]] == [threads * chunk * i for i in (1, 2, 3)]
    check_compiled(case, code, "sm_90a")
