"""A pass that changes a result is named, with the first element that differs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.random import default_rng
from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

import tilewright as tw
from tilewright import pipeline
from tilewright.arguments.dtypes import DTYPES, random_array
from tilewright.dialects.cute_nvgpu.ops import fragment_memory

AXPY, MMA, TILES = (
    (EXAMPLES / name).read_text() for name in ("axpy.mlir", "mma.mlir", "tile_gemm_sm80.mlir")
)
TRIAL = tw.Trial(grid=(2,), block=(64,), args=[(100,), (100,), 2.5, 100])
SCALARS = """
func.func @k(%a: i8, %b: i16, %c: f16, %d: i1, %e: i64, %out: memref<?xf32>)
    attributes {gpu.kernel} {
  %0 = arith.sitofp %a : i8 to f32
  %1 = arith.sitofp %b : i16 to f32
  %2 = arith.extf %c : f16 to f32
  %3 = arith.uitofp %d : i1 to f32
  %4 = arith.sitofp %e : i64 to f32
  %5 = arith.addf %0, %1 : f32
  %6 = arith.addf %2, %3 : f32
  %7 = arith.addf %5, %6 : f32
  %8 = arith.addf %7, %4 : f32
  %i = arith.constant 0 : index
  memref.store %8, %out[%i] : memref<?xf32>
  func.return
}
"""


@dataclass(frozen=True)
class AddForMultiply(ModulePass):
    """Wrong: a sum where the kernel has a product."""

    name = "add-for-multiply"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, arith.MulfOp)]:
            Rewriter.replace_op(each, arith.AddfOp(each.lhs, each.rhs))


@dataclass(frozen=True)
class DropStores(ModulePass):
    """Wrong: nothing is stored."""

    name = "drop-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, memref.StoreOp)]:
            Rewriter.erase_op(each)


@dataclass(frozen=True)
class LoadFurther(ModulePass):
    """Wrong: what is loaded lies where the kernel's index says plus itself."""

    name = "load-further"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, memref.LoadOp)]:
            (index,) = each.indices
            twice = arith.AddiOp(index, index)
            Rewriter().insert_op(twice, InsertPoint.before(each))
            each.operands[1] = twice.result


@pytest.fixture
def with_pass(monkeypatch: pytest.MonkeyPatch):
    """Put a pass behind the stage that leaves atoms."""

    def insert(pass_: ModulePass) -> None:
        stage = pipeline.Stage(pass_.name, lambda arch: pass_)
        names = [stage.name for stage in pipeline.PIPELINE]
        first = names.index(pipeline.TILE_STAGE) + 1
        stages = (*pipeline.PIPELINE[:first], stage, *pipeline.PIPELINE[first:])
        monkeypatch.setattr(pipeline, "PIPELINE", stages)

    return insert


def test_right_passes_go_unnamed():
    assert tw.compile(AXPY, "sm_90a", verify_by_running=TRIAL) == tw.compile(AXPY, "sm_90a")
    trial = tw.Trial(grid=(1,), block=(32,), args=[1.5, -2.0, (32,)])
    assert tw.compile(MMA, "sm_90a", verify_by_running=trial).entries[0].name == "mma"


def test_scalars_of_every_width_reach_the_ptx_level():
    args = [-3, -300, 1.5, True, -5, (1,)]
    tw.compile(SCALARS, "sm_90a", verify_by_running=tw.Trial(grid=(1,), block=(1,), args=args))


def test_the_first_wrong_pass_is_named(with_pass):
    with_pass(DropStores())
    with_pass(AddForMultiply())
    with pytest.raises(tw.CompileError) as found:
        tw.compile(AXPY, "sm_90a", name="axpy.mlir", verify_by_running=TRIAL)
    generator = default_rng(0)
    x, y = (random_array((100,), np.dtype(np.float32), generator) for _ in range(2))
    before, after = np.float32(2.5) * x[0] + y[0], np.float32(2.5) + x[0] + y[0]
    assert re.fullmatch(
        rf"'add-for-multiply' expected y\[0\] = {before} \(0x{before.view('u4'):08x}\) as before "
        rf"it, got {after} \(0x{after.view('u4'):08x}\) \(100 of 100 elements differ, this one "
        r"first; seed 0\)",
        found.value.message,
    )
    assert found.value.line == 2 and str(found.value).startswith("axpy.mlir:2:1: error: ")


def test_a_store_that_is_left_out_shows(with_pass):
    with_pass(DropStores())
    with pytest.raises(tw.CompileError, match=r"'drop-stores' expected y\[0\] = .* of 100"):
        tw.compile(AXPY, "sm_90a", verify_by_running=replace(TRIAL, seed=7))


def test_a_kernel_that_no_longer_runs_is_the_pass_s_doing(with_pass):
    with_pass(LoadFurther())
    with pytest.raises(
        tw.CompileError, match=r"the kernel after 'load-further' does not run: .*out of"
    ):
        tw.compile(AXPY, "sm_90a", verify_by_running=TRIAL)


@dataclass(frozen=True)
class DropVectorStores(ModulePass):
    """Wrong: no fragment reaches memory."""

    name = "drop-vector-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, fragment_memory.StoreOp)]:
            Rewriter.erase_op(each)


def test_tiles_take_the_same_arguments_at_every_level(with_pass):
    """What a kernel of the tile level becomes is run on its arrays, not on pointers and extents."""
    trial = tw.Trial(grid=(1, 1), block=(128,), args=[(40, 32), (24, 32), (40, 24)])
    tw.compile(TILES, "sm_80", verify_by_running=trial)
    with_pass(DropVectorStores())
    with pytest.raises(tw.CompileError, match=r"'drop-vector-stores' expected C\[0, 0\] = "):
        tw.compile(TILES, "sm_80", verify_by_running=trial)


@pytest.mark.parametrize("trial, words", [
    (replace(TRIAL, args=[(50,), (100,), 2.5, 100]), "the kernel before any pass does not run: "),
    (replace(TRIAL, args=[(100,)]),
     "verify_by_running expected 4 arguments (x: memref<?xf32>, y: memref<?xf32>, a: f32, n: i32), "
     "got 1"),
    (replace(TRIAL, args=[(100,), (100,), (1,), 100]),
     "verify_by_running expected a number for 'a: f32', got the shape (1,)"),
    (replace(TRIAL, kernel="nothing"), "expected a kernel 'nothing', got axpy"),
])  # fmt: skip
def test_trials_that_cannot_run(trial: tw.Trial, words: str):
    with pytest.raises(tw.CompileError, match=re.escape(words)):
        tw.compile(AXPY, "sm_90a", verify_by_running=trial)


@pytest.mark.parametrize("element", DTYPES)
def test_random_arrays_of_every_element_type(element: str):
    dtype = np.dtype(DTYPES[element][0])
    array, same, other = (random_array((64,), dtype, default_rng(s)) for s in (3, 3, 4))
    assert array.dtype == dtype and array.tobytes() == same.tobytes() != other.tobytes()
    if dtype == ml_dtypes.float8_e8m0fnu:
        assert not np.isnan(array.astype(np.float32)).any()


def test_dump(tmp_path: Path):
    kernel = tw.compile(AXPY, "sm_90a", dump_dir=tmp_path / "axpy")
    files = sorted((tmp_path / "axpy").iterdir())
    names = [stage.name for stage in pipeline.PIPELINE if stage.name != pipeline.PROGRAM_STAGE]
    stages = [f"{i:02}-{name}.mlir" for i, name in enumerate(names, 1)]
    assert [each.name for each in files] == [
        "00-input.mlir", *stages, f"{len(stages) + 1:02}-module.ptx"
    ]  # fmt: skip
    assert files[-1].read_text() == kernel.ptx
    for each in files[:-1]:
        text = each.read_text()
        assert tw.interpret(text, grid=(1,), block=(1,), args=_axpy_args())[1][0] == 2.5
        assert ("ptx.entry" in text) == (each == files[-2])


def _axpy_args() -> list[object]:
    return [np.ones(4, np.float32), np.full(4, 0.5, np.float32), 2.0, 4]


def test_a_dump_ends_where_a_pass_fails(tmp_path: Path):
    with pytest.raises(tw.CompileError, match="requires sm_80 or later"):
        tw.compile(MMA, "sm_70", dump_dir=tmp_path)
    found = sorted(each.name for each in tmp_path.iterdir())
    assert found == [
        "00-input.mlir",
        "01-inline-calls.mlir",
        "02-cute-nvgpu-check-issue.mlir",
        f"03-{pipeline.TILE_STAGE}.mlir",
    ]
