"""`tilewright run` of CUDA Tile IR: bytecode and text, races, what is refused."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES

import tilewright as tw
from tilewright.tools.tilewright import main

BYTECODE = Path(__file__).parents[1] / "lowering/interpreter/cuda_tile/fixtures/saxpy.tileirbc"
STORES = """
cuda_tile.module @m {
  entry @stores(%to: tile<ptr<bf16>>, %value: tile<bf16>) {
    %token = store_ptr_tko weak %to, %value : tile<ptr<bf16>>, tile<bf16> -> token
  }
}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder to run in, with what the kernels take."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.arange(1000, dtype=np.float32))
    np.save("y.npy", np.ones(1000, np.float32))
    Path("stores.mlir").write_text(STORES)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as leaving:
        main(["run", *words])
    assert leaving.value.code == 1
    return capsys.readouterr().err


def test_bytecode_takes_flat_parameters(capsys: pytest.CaptureFixture[str]):
    words = ["x.npy", "1000", "1", "r.npy=@y.npy", "1000", "1", "1.5"]
    main(["run", str(BYTECODE), "--grid", "4", *words])
    assert (np.load("r.npy") == np.arange(1000) * 1.5 + 1).all()
    assert (np.load("y.npy") == 1).all()
    assert capsys.readouterr().out == "r.npy: 1000 float32\n"


def test_arrays_stand_for_their_shapes(capsys: pytest.CaptureFixture[str]):
    main(["run", str(BYTECODE), "--grid", "4", "x.npy", "r.npy=@y.npy", "1.5"])
    assert (np.load("r.npy") == np.arange(1000) * 1.5 + 1).all()
    main(["run", str(BYTECODE), "--grid", "4", "--seed", "3", "zeros:1000", "s.npy=@r.npy", "2"])
    assert (np.load("s.npy") == np.load("r.npy")).all()


KERNEL = """
import cuda.tile as ct

Size = ct.Constant[int]


@ct.kernel
def scaled(x, T: Size, y, factor: float):
    i = ct.bid(0)
    ct.store(y, (i, 0), ct.load(x, (i, 0), (T, T)) * factor)
"""
NAMES = [
    (["a.npy"], "takes 3 arguments (x, y, factor), got 1; missing: y, factor"),
    (["factor=2", "x=a.npy"], "takes 3 arguments (x, y, factor), got 2; missing: y"),
    (["a.npy", "o.npy=8x8", "1", "2"], "takes 3 arguments (x, y, factor), got 4; too many: '2'"),
    (["y=b.npy", "x=a.npy", "factor=2"], "argument 2 (y: ptr<f32>): expected dtype float32, got f"),
    (["a.npy", "o.npy=8x8:q", "2"], "argument 2 (y: ptr<f32>): expected DTYPE f32"),
    (["x=a.npy", "y=o.npy=8x8", "factor=b"], "argument 3 (factor: f32): expected a number"),
    (["x=a.npy", "y=o.npy=8x8", "factor=2", "--check", "unwritten"], "every element of 'y' to be"),
    (["x=a.npy", "y=o.npy=8x8", "factor=2", "--check", "unwritten", "--level", "ptx"],
     "every element of 'y' to be"),
    (["y=a.npy", "x=a.npy", "fact=2.5"], "expected each of x, y, factor once, by its name, got 'f"),
]  # fmt: skip


@pytest.mark.usefixtures("no_machine_code")
def test_arguments_have_the_names_of_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    Path("scaled_kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(Path.cwd())
    scaled = import_module("scaled_kernel").scaled
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    np.save("a.npy", x)
    Path("k.tileirbc").write_bytes(tw.cutile.bytecode(scaled, (x, 4, x, 2.0)))
    main(["run", "k.tileirbc", "--grid", "2", "y=out.npy=@a.npy", "factor=2.5", "x=a.npy"])
    assert (np.load("out.npy")[:, :4] == 2.5 * x[:, :4]).all()
    np.save("b.npy", x.astype(np.float64))
    for words, message in NAMES:
        assert message in refused(capsys, "k.tileirbc", "--grid", "2", *words)
    main(["report", "k.tileirbc", "--grid", "2", "--arch", "sm_90a", "x=8x8", "y=8x8", "factor=2"])
    with pytest.raises(SystemExit):
        main(["report", "k.tileirbc", "--grid", "2", "8x8"])
    assert "(x, y, factor), got 1; missing: y, factor" in capsys.readouterr().err


@pytest.mark.usefixtures("no_machine_code")
def test_33_arrays_have_their_names_in_a_run_and_in_a_report(
    monkeypatch: pytest.MonkeyPatch,
):
    names = [f"x{number}" for number in range(33)]
    total = " + ".join(f"ct.load({name}, (0,), (64,))" for name in names[1:])
    Path("many_arrays.py").write_text(
        f"import cuda.tile as ct\n\n@ct.kernel\ndef many({', '.join(names)}):\n"
        f"    ct.store(x0, (0,), {total})\n"
    )
    monkeypatch.syspath_prepend(Path.cwd())
    ones = np.ones(64, np.float32)
    np.save("one.npy", ones)
    kernel = import_module("many_arrays").many
    Path("many.tileirbc").write_bytes(tw.cutile.bytecode(kernel, [ones] * 33))
    arguments = [*(f"{name}=one.npy" for name in reversed(names[1:])), "x0=sum.npy=64:f32"]
    main(["run", "many.tileirbc", "--grid", "1", *arguments])
    assert (np.load("sum.npy") == 32).all()
    main(["report", "many.tileirbc", "--arch", "sm_90a", "--grid", "1", *arguments])
    assert '"errors":[]' in Path("report.html").read_text()


def test_text_with_races_as_asked(capsys: pytest.CaptureFixture[str]):
    command = ["stores.mlir", "--grid", "2", "--quiet", "to.npy=1:bf16", "2.5"]
    message = "'cuda_tile.store_ptr_tko' expected no other block to access argument 0[0]"
    said = refused(capsys, *command)
    assert said.startswith("stores.mlir:4:") and f"error: {message}" in said
    assert not Path("to.npy").exists()
    main(["run", *command, "--races", "warn"])
    said = capsys.readouterr().err
    assert said.startswith("stores.mlir:4:") and f"warning: {message}" in said
    main(["run", *command, "--races", "ignore", "--numerics", "fast"])
    assert capsys.readouterr().err == ""
    assert np.load("to.npy").view(ml_dtypes.bfloat16).tolist() == [2.5]


def test_one_block_has_no_race(capsys: pytest.CaptureFixture[str]):
    main(["run", "stores.mlir", "--grid", "1", "to.npy=4", "1"])
    assert np.load("to.npy").view(ml_dtypes.bfloat16).tolist() == [1, 0, 0, 0]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "1", "--block", "32", "to.npy=1", "1"], "expected no block for Tile IR, got"),
        (["--grid", "1", "--device", "to.npy=1", "1"], "Tile IR runs on the CPU only"),
        (["--grid", "1", "to.npy=1"], "takes 2 arguments (to: ptr<bf16>, value: bf16), got 1"),
        (["--grid", "1", "x.npy", "1"], "argument 1 (to: ptr<bf16>): expected dtype bfloat16"),
        (["--grid", "1", "to.npy=1", "one"], "expected a number for bf16, got 'one'"),
        (["--grid", "1", "--kernel", "k", "to.npy=1", "1"], "expected a kernel 'k', got stores"),
    ],
)
def test_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert message in refused(capsys, "stores.mlir", *words)
    assert not Path("to.npy").exists()


def test_the_instructions_that_it_is_compiled_to():
    main(["run", "stores.mlir", "--grid", "1", "--level", "ptx", "to.npy=1", "2.5"])
    assert np.load("to.npy").view(ml_dtypes.bfloat16).tolist() == [2.5]


def test_other_kernels_need_a_block(capsys: pytest.CaptureFixture[str]):
    axpy = str(EXAMPLES / "axpy.mlir")
    words = ["--grid", "1", "x.npy", "y.npy", "1", "100"]
    assert "expected a block, got none" in refused(capsys, axpy, *words)
