"""Grids shared out to an executor: the same bits, and the same errors, as in one place."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import distributed
import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from example_files import EXAMPLES
from faults import kernel
from numpy.random import default_rng
from test_global_races import CTA

import tilewright as tw
from tilewright.executors import executor_of, in_order, workers_of

P = "memref<?xi32>"


class Counting(Executor):
    """Runs what it is given at once, as one of `_max_workers`, and remembers the answers."""

    def __init__(self, workers: int):
        self._max_workers = workers
        self.answers: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_result(fn(*args, **kwargs))
        self.answers.append(future.result())
        return future


@pytest.fixture(scope="module")
def processes() -> Generator[Executor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


def gemm(executor: Executor | None, **settings: Any) -> Any:
    rng = default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(ml_dtypes.bfloat16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    text = (EXAMPLES / "gemm_sm80.mlir").read_text()
    args = [a, b, c, 128, 128, 128, 128, 128, 128]
    launch: Any = {"grid": (2, 2, 1), "block": (128, 1, 1), "args": args, **settings}
    return tw.interpret(text, "gemm", executor=executor, **launch)[2]


@pytest.mark.parametrize("settings", [{}, {"level": "ptx"}, {"schedule": 3}, {"max_steps": 9999}])
def test_a_gemm_is_the_same_bit_for_bit(settings: dict[str, Any]):
    executor = Counting(3)
    assert (gemm(executor, **settings) == gemm(None, **settings)).all()
    # Random orders, and counts of steps, are those of whole waves: here there is one.
    shares = [0, 0, 4] if {"schedule", "max_steps"} & settings.keys() else [1, 1, 2]
    assert sorted(share.ctas for share in executor.answers) == shares


def test_processes(processes: Executor):
    done: list[tuple[int, int]] = []
    ours = gemm(processes, progress=lambda *counts: done.append(counts))
    assert (ours == gemm(None)).all()
    assert done == [(2, 4), (4, 4)]


def test_a_worker_that_dies():
    with ProcessPoolExecutor(2) as pool, pytest.raises(tw.ExecutionError, match="go on to the end"):
        pool.submit(os._exit, 3)
        gemm(pool)


def test_a_dask_cluster():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=THOROUGH,
                                 dashboard_address=None, scheduler_port=0) as cluster,
        executor_of(f"dask:{cluster.scheduler_address}") as executor,
    ):  # fmt: skip
        assert workers_of(executor) == 2
        assert (gemm(executor) == gemm(None)).all()
        # A function of a module that only this process has found so far, and of this file.
        assert list(in_order(executor, kernel, ["", "a"])) == [kernel(""), kernel("a")]
        trial = tw.Trial((4,), (64,), [(256,)], schedules=2, executor=executor)
        tw.compile(kernel(CTA + OWN), "sm_80", verify_by_running=trial)


def test_a_trial_by_processes(processes: Executor):
    """Seeds by workers, or CTAs; and an error that says the same by both."""
    racing = kernel(CTA + OWN.replace("%p[%place]", "%p[%t]"))
    for schedules in (0, 2):
        messages: list[str] = []
        for executor in (None, processes):
            trial = tw.Trial((4,), (64,), [(256,)], schedules=schedules, executor=executor)
            tw.compile(kernel(CTA + OWN), "sm_80", verify_by_running=trial)
            with pytest.raises(tw.CompileError, match="race on global memory") as raised:
                tw.compile(racing, "sm_80", verify_by_running=trial)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]


def shared(body: str, **settings: Any) -> tuple[Any, list[Any]]:
    """The result or the error of a kernel on 4 CTAs by 2 workers, the same in one place, and the
    shares, each a reason where it could not be one."""
    answers: list[Any] = []
    executor = Counting(2)
    for where in (None, executor):
        try:
            (array,) = tw.interpret(
                kernel(CTA + body), grid=(4, 1, 1), block=(64, 1, 1),
                args=[np.zeros(256, np.int32)], executor=where, **settings,
            )  # fmt: skip
            answers.append(array.tolist())
        except tw.ExecutionError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
    return answers[0], executor.answers


OWN = f"""  %c64 = arith.constant 64 : index
  %base = arith.muli %block, %c64 : index
  %place = arith.addi %base, %t : index
  %n = arith.index_cast %place : index to i32
  memref.store %n, %p[%place] : {P}"""


def test_a_race_between_shares_is_found():
    body = OWN.replace("%p[%place]", "%p[%t]")
    message, shares = shared(body, races="error")
    assert "race on global memory" in message
    assert any(isinstance(share, str) for share in shares)
    assert shared(body, races="ignore")[0][64] == 0


def test_a_read_of_what_another_share_writes_is_found():
    body = (
        OWN
        + f"""
  %c192 = arith.constant 192 : index
  %far = arith.addi %t, %c192 : index
  %v = memref.load %p[%far] : {P}"""
    )
    message, shares = shared(body, races="error")
    assert "race on global memory" in message
    assert any(isinstance(share, str) for share in shares)


def test_shares_that_meet_alone():
    """Each share is right by itself: what both write shows where they are merged."""
    body = OWN.replace("memref.store %n, %p[%place]", "memref.store %block32, %p[%half]").replace(
        "  memref", """  %c2 = arith.constant 2 : index
  %pair = arith.divui %block, %c2 : index
  %block32 = arith.index_cast %pair : index to i32
  %half = arith.remui %t, %c2 : index
  memref""")  # fmt: skip
    body = body.replace("%p[%half]", "%p[%c0]")
    message, shares = shared(body, races="error")
    assert "race on global memory" in message
    assert not any(isinstance(share, str) for share in shares)


def test_atomics_run_in_one_place(caplog: pytest.LogCaptureFixture):
    body = (
        f'  %v = "memref.atomic_rmw"(%one, %p, %c0) <{{kind = 1 : i64}}> : (i32, {P}, index) -> i32'
    )
    with caplog.at_level(logging.INFO, "tilewright.executor"):
        result, shares = shared(body, races="error")
    assert result[0] == 256
    why = "got 'memref.atomic_rmw' at <string>:"
    assert all(why in share and "combines words of global memory" in share for share in shares)
    assert "all CTAs run in one place: " in caplog.text and why in caplog.text


def test_atomics_on_shared_memory_are_shared_out():
    """No other CTA sees them."""
    own = "memref<64xi32, #cute<space smem>>"
    body = OWN.replace(
        "  memref.store",
        f"""  %words = memref.alloc() : {own}
  memref.store %one, %words[%t] : {own}
  %old = "memref.atomic_rmw"(%one, %words, %t) <{{kind = 1 : i64}}> : (i32, {own}, index) -> i32
  memref.store""",
    )
    _, shares = shared(body, races="error")
    assert [getattr(share, "ctas", share) for share in shares] == [2, 2]


def test_what_is_printed_comes_once_and_in_order(capsys: pytest.CaptureFixture[str]):
    _, shares = shared(OWN + '\n  gpu.printf "%d ", %n : i32')
    numbers = [int(word) for word in capsys.readouterr().out.split()]
    assert numbers == [*range(256), *range(256)]
    assert all("the text '" in share and "to print" in share for share in shares)


def test_what_is_printed_under_schedules(processes: Executor, capfd: pytest.CaptureFixture[str]):
    """Run after run, by whoever makes them."""
    texts: list[str] = []
    for executor in (None, processes):
        trial = tw.Trial((2,), (64,), [(256,)], schedules=2, executor=executor)
        printing = kernel(CTA + OWN + '\n  gpu.printf "%d ", %n : i32')
        tw.compile(printing, "sm_80", verify_by_running=trial)
        texts.append(capfd.readouterr().out)
    assert texts[0] == texts[1] and len(texts[0].split()) >= 3 * 128


def test_what_fails_in_a_share_is_told_as_ever():
    message, _ = shared(OWN.replace("%p[%place]", "%p[%base]"), races="error")
    assert "two threads of the op write one element" in message


FIXTURES = EXAMPLES.parent / "tests/lowering/interpreter/cuda_tile/fixtures"


def test_blocks_of_tile_ir():
    rng = default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((80, 70), (70, 60)))
    c = np.zeros((80, 60), np.float32)
    args = [word for array in (a, b, c) for word in (array, *array.shape, array.shape[1], 1)]
    settings: list[dict[str, Any]] = [{}, {"max_steps": 99}, {"level": "atom"}]
    for setting in settings:
        launch: Any = {"grid": (3, 2), "args": args, **setting}
        bytecode, executor = (FIXTURES / "matmul.tileirbc").read_bytes(), Counting(2)
        shared = tw.interpret(bytecode, "k", executor=executor, **launch)[2]
        assert (shared == tw.interpret(bytecode, "k", **launch)[2]).all()
        shares = [0, 6] if "max_steps" in setting else [3, 3]
        assert sorted(share.ctas for share in executor.answers) == shares


@pytest.mark.parametrize("grid, refused", [(4, True), (1, None)])
def test_atomics_of_tile_ir(grid: int, refused: bool | None):
    executor, data = Counting(2), np.arange(512, dtype=np.int32) % 10
    args = [data, 512, 1, np.zeros(10, np.int32), 10, 1]
    bytecode = (FIXTURES / "histogram.tileirbc").read_bytes()
    shared = tw.interpret(bytecode, "k", grid=(grid,), args=args, executor=executor)[1]
    assert (shared == tw.interpret(bytecode, "k", grid=(grid,), args=args)[1]).all()
    assert len(executor.answers) == 2 * bool(refused)
    assert all("acquires and releases" in answer for answer in executor.answers)


def test_threads():
    with ThreadPoolExecutor(2) as pool:
        assert (gemm(pool) == gemm(None)).all()


@pytest.mark.parametrize("name", ["processes:0", "processes:x", "dask", "cloud", "mpi:3"])
def test_names_that_no_executor_has(name: str):
    with (
        pytest.raises(ValueError, match="expected an executor of processes:N, "),
        executor_of(name),
    ):
        pass


def test_clusters_stay_whole():
    text = kernel(CTA + OWN, attributes=', "gpu.known_cluster_size" = array<i32: 2, 1, 1>')
    executor = Counting(3)
    launch: Any = {"grid": (4,), "block": (64,), "args": [np.zeros(256, np.int32)]}
    (array,) = tw.interpret(text, arch="sm_90", executor=executor, **launch)
    assert array.tolist() == list(range(256))
    assert sorted(share.ctas for share in executor.answers) == [0, 2, 2]


OVERLAPPING = kernel(f"""  {CTA}
  %p64 = arith.constant 64 : index
  %first_ = arith.muli %block, %p64 : index
  %i = arith.addi %first_, %t : index
  %v = memref.load %q[%i] : {P}
  memref.store %v, %p[%i] : {P}""", f"%p: {P}, %q: {P}, %m: {P}")  # fmt: skip


def test_arrays_overlap_and_are_read_only_elsewhere_too(processes: Executor):
    """Each CTA reads from the half that the other argument shows of what it does not write."""
    array = np.arange(256, dtype=np.int32)
    room = array.view(np.int8).view(np.int32)
    launch: Any = {"grid": (2,), "block": (64,), "args": [room[:128], array[128:], array[64:192]]}
    here = tw.interpret(OVERLAPPING, **launch)
    assert (here[2] == np.concatenate([np.arange(192, 256), np.arange(128, 192)])).all()
    for executor in (processes, Counting(2)):
        there = tw.interpret(OVERLAPPING, executor=executor, **launch)
        assert all((a == b).all() for a, b in zip(here, there, strict=True))
    fixed = array[:128]
    fixed.flags.writeable = False
    launch["args"] = [fixed, array[128:], np.zeros(1, np.int32)]
    with pytest.raises(tw.ExecutionError, match="byte 0 of 'p', which is read-only"):
        tw.interpret(OVERLAPPING, executor=processes, **launch)


STRIDED = """func.func @k(%x: !cute.memref<i32, gmem, "(?,?):(?,?)">) attributes {gpu.kernel} {
  %b_ = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %b = arith.index_cast %b_ : index to i32
  %t_ = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %t_ : index to i32
  %at = cute.make_coord(%b, %t) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%x, %at)
  %w = arith.addi %v, %v : i32
  cute.memref.store(%w, %x, %at)
  func.return
}"""


def test_arrays_lie_elsewhere_as_they_do(processes: Executor):
    array = np.arange(64, dtype=np.int32).reshape(4, 16)[:, 1::2].T
    launch: Any = {"grid": (8,), "block": (4,), "args": [array]}
    (found,) = tw.interpret(STRIDED, executor=processes, **launch)
    assert (found == 2 * array).all()
