"""tilewright-opt between passes: `--dump-dir` and `--verify-by-running`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from example_files import EXAMPLES
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.tools.tilewright_opt import TilewrightOpt, main

AXPY, GEMM = str(EXAMPLES / "axpy.mlir"), str(EXAMPLES / "gemm_sm90.mlir")
LOWER = "convert-cute-nvgpu-to-ptx"


@dataclass(frozen=True)
class SwapSubtraction(ModulePass):
    """Wrong: a sum becomes a difference."""

    name = "swap-subtraction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, arith.AddfOp)]:
            Rewriter.replace_op(each, arith.SubfOp(each.lhs, each.rhs))


class Driver(TilewrightOpt):
    """tilewright-opt with a pass that is wrong."""

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.register_pass(SwapSubtraction.name, lambda: SwapSubtraction)


@pytest.fixture
def opt(capsys: pytest.CaptureFixture[str]):
    """Run the command in this process: its exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = 0
        try:
            main(arguments, Driver)
        except SystemExit as exit_:
            status = exit_.code if isinstance(exit_.code, int) else 1
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, said.out, said.err

    return run


def trial(words: str) -> tuple[str, str]:
    return "--verify-by-running", words


def test_right_passes(opt):
    words = trial("--grid 2 --block 64,1 100 100:f32 2.5 0x64 --seed 3")
    status, out, error = opt(AXPY, "-p", LOWER, "-t", "ptx", *words)
    assert (status, error) == (0, "") and out == opt(AXPY, "-p", LOWER, "-t", "ptx")[1]


def test_schedules(opt):
    """Each of them runs, of the seeds from 7 on."""
    words = trial("--grid 2 --block 64 100 100 2.5 100 --schedule 7 --schedules 2 --races error")
    assert opt(AXPY, "-p", LOWER, *words)[::2] == (0, "")


def test_an_executor(opt):
    """Workers make the runs under schedules; a name that none has is told."""
    words = "--grid 2 --block 64 100 100 2.5 100 --schedules 2 --executor"
    assert opt(AXPY, "-p", LOWER, *trial(f"{words} processes:2"))[::2] == (0, "")
    status, _, error = opt(AXPY, "-p", LOWER, *trial(f"{words} cloud"))
    assert status == 1
    assert error.startswith("error: cannot use --executor: expected an executor of processes:N")


LAST_WINS = """
func.func @k(%p: memref<1xi32>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %first = arith.cmpi ult, %t, %c128 : index
  %v = arith.extui %first : i1 to i32
  scf.if %first {
    memref.store %v, %p[%c0] : memref<1xi32>
  } else {
    memref.store %v, %p[%c0] : memref<1xi32>
  }
  func.return
}
"""


def test_a_schedule_that_differs(opt, tmp_path: Path):
    """Of two warpgroups the last to store wins."""
    (tmp_path / "k.mlir").write_text(LAST_WINS)
    words = trial("--grid 1 --block 256 1 --schedules 20 --races ignore")
    status, _, error = opt(str(tmp_path / "k.mlir"), "-p", LOWER, *words)
    assert status == 1 and "the kernel before any pass does not run: schedule " in error


def test_tensor_maps(opt):
    words = trial("--grid 1,1 --block 384 --arch sm_90a 128x64 64x128 128x128 64")
    passes = f"cute-nvgpu-synthesize-layouts,cute-nvgpu-check-hazards,{LOWER}"
    status, _, error = opt(GEMM, "-p", passes, *words)
    assert (status, error) == (0, "")


def test_the_wrong_pass_is_named(opt):
    words = trial("--kernel axpy --grid 2 --block 64 100 100 2.5 100")
    status, out, error = opt(AXPY, "-p", f"canonicalize,swap-subtraction,{LOWER}", *words)
    assert (status, out) == (1, "")
    head, line, caret = error.splitlines()
    assert f"{AXPY}:2:1: error: 'swap-subtraction' expected y[0] = " in head
    assert "(100 of 100 elements differ, this one first; seed 0)" in head
    assert line.startswith("func.func @axpy") and caret == "^"


def test_inputs_from_a_file(opt, tmp_path: Path):
    x = np.zeros(100, np.float32)
    x[40] = 1
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.zeros(100, np.float32))
    words = trial(f"--grid 2 --block 64 {tmp_path}/x.npy {tmp_path}/y.npy 1 100")
    status, _, error = opt(AXPY, "-p", "swap-subtraction", *words)
    assert status == 0, error  # ax + 0 == ax - 0
    np.save(tmp_path / "y.npy", x)
    _, _, error = opt(AXPY, "-p", "swap-subtraction", *words)
    assert "expected y[40] = 2.0 (0x40000000) as before it, got 0.0 (0x00000000) (1 of 100" in error


@pytest.mark.parametrize("words, status, message", [
    ("--grid 0 --block 1", 2, "argument --grid: expected X,Y,Z, each 1 or more, got '0'"),
    ("--block 1", 2, "the following arguments are required: --grid"),
    ("--grid '1", 2, "No closing quotation"),
    ("--grid 1 --block 64 100 100 2.5", 1, "got 3; missing: n: i32"),
    ("--grid 1 --block 64 100 100:f16 2.5 3", 1, "DTYPE f32 or tf32 or float32, got 'f16'"),
    ("--grid 1 --block 64 none.npy 100 2.5 3", 1, "got 'none.npy', which is no file"),
    ("--grid 1 --block 64 100 100 x 3", 1, "expected a number for f32, got 'x'"),
    ("--grid 1 --block 64 --arch sm_1 100 100 1 3", 1, "unknown target 'sm_1'"),
    ("--grid 1 --block 64 --kernel f 100 100 1 3", 1, "expected a kernel 'f', got axpy"),
    ("--grid 1 --block 64 --schedules 0 100 100 1 3", 2, "expected an integer from 1 on, got '0'"),
    ("--grid 1 --block 64 --max-steps 3 100 100 1 3", 1, "after more than max_steps=3 steps"),
    ("--grid 2 --block 64 100 50 1 100", 1, "the kernel before any pass does not run: "),
])  # fmt: skip
def test_trials_that_are_wrong(opt, words: str, status: int, message: str):
    found, out, error = opt(AXPY, "-p", LOWER, *trial(words))
    assert (found, out) == (status, "") and message in error


def test_dump(opt, tmp_path: Path):
    folder = tmp_path / "made" / "here"
    status, out, _ = opt(
        AXPY, "-p", f"canonicalize,{LOWER}", "-t", "ptx", "--dump-dir", str(folder)
    )
    names = ["00-input.mlir", "01-canonicalize.mlir", f"02-{LOWER}.mlir", "03-module.ptx"]
    assert status == 0 and sorted(each.name for each in folder.iterdir()) == names
    assert (folder / names[-1]).read_text() == out
    again = opt(str(folder / names[2]), "-t", "ptx")[1]
    assert _instructions(again) == _instructions(out) != []


def _instructions(ptx: str) -> list[str]:
    """The lines without comments, which name places of the text that was read."""
    return [line for line in ptx.splitlines() if not line.strip().startswith("//")]


def test_dump_numbers_all_chunks_of_an_input(opt, tmp_path: Path):
    text = "func.func @f() attributes {gpu.kernel} {\n  func.return\n}\n"
    (tmp_path / "two.mlir").write_text(f"{text}// -----\n{text.replace('@f', '@g')}")
    folder = tmp_path / "dump"
    opt(str(tmp_path / "two.mlir"), "--split-input-file", "-p", LOWER, "--dump-dir", str(folder))
    names = ["00-input.mlir", f"01-{LOWER}.mlir", "02-input.mlir", f"03-{LOWER}.mlir"]
    assert sorted(each.name for each in folder.iterdir()) == names
    assert "@g" in (folder / names[2]).read_text()


def test_a_folder_that_cannot_be_written(opt, tmp_path: Path):
    (tmp_path / "file").write_text("")
    status, out, error = opt(AXPY, "--dump-dir", str(tmp_path / "file"))
    assert (status, out) == (1, "") and f"error: cannot write '{tmp_path}/file'" in error
