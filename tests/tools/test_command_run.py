"""`tilewright run`: what becomes of its arguments, and real runs of small kernels."""

import io
import json
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from run_command import AXPY, EXAMPLES, axpy, copy, refused
from xdsl.parser import Parser

from tilewright import execution
from tilewright.source.parsing import default_context
from tilewright.tools.commands import run_argument
from tilewright.tools.tilewright import main

GEMM = str(EXAMPLES / "gemm_sm80.mlir")
GEMM_SM90 = str(EXAMPLES / "gemm_sm90.mlir")
TILE_GEMM = str(EXAMPLES / "tile_gemm_sm80.mlir")


@pytest.mark.parametrize("options", [[], ["--level", "ptx"], ["--arch", "sm_90a"]])
def test_axpy(options, place, capsys):
    axpy("x.npy", "r.npy=@y.npy", "-2.5", "0x63", *options)
    expected = np.arange(100, dtype=np.float32) * np.float32(-2.5) + np.float32(0.5)
    expected[99] = 0.5
    assert (np.load("r.npy") == expected).all()
    assert (np.load("y.npy") == 0.5).all()
    assert capsys.readouterr().out == "r.npy: 100 float32\n"


def test_an_output_starts_as_zeros(place, capsys):
    axpy("x.npy", "r.npy=100:f32", "1", "100", "--kernel", "axpy", "--quiet")
    assert (np.load("r.npy") == np.arange(100)).all() and np.load("r.npy").dtype == np.float32
    assert capsys.readouterr() == ("", "")


def test_an_output_may_leave_its_type_out_and_take_the_place_of_an_input(place, capsys):
    axpy("x.npy", "y.npy=@y.npy", "1", "100")
    assert (np.load("y.npy") == np.arange(100) + 0.5).all()
    axpy("x.npy", "x.npy=5x20", "2", "100")
    assert (np.load("x.npy") == 2 * np.arange(100).reshape(5, 20)).all()
    assert capsys.readouterr().out.splitlines()[1] == "x.npy: 5x20 float32"


def test_scalars_that_look_like_options(place):
    axpy("x.npy", "r.npy=100", "--", "-inf", "2")
    assert np.load("r.npy")[1] == -np.inf


def test_ir_from_stdin(place, monkeypatch):
    text = Path(AXPY).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    main(["run", "-", "--grid=1", "--block=128", "x.npy", "r.npy=100", "1", "100"])
    assert (np.load("r.npy") == np.arange(100)).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "uint16"])
def test_bf16_has_no_name_in_npy(dtype, place):
    values = np.array([[1, 2, 3, -0.0], [np.inf, 1e30, -7, 0.5]], dtype=ml_dtypes.bfloat16)
    np.save("in.npy", values if dtype == "bfloat16" else values.view(dtype))
    copy("bf16", "in.npy", "out.npy=2x4:bf16")
    saved = np.load("out.npy")
    assert saved.dtype == np.dtype("V2")
    assert (saved.view(np.uint16) == values.view(np.uint16)).all()


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f8E8M0FNU"])
def test_eight_bit_floats_are_saved_as_bytes(element, place, monkeypatch, capsys):
    text = f"memref<4x{element}>"
    type_ = Parser(default_context(), text).parse_type()
    parameter = execution.Parameter("to", text, type_)
    monkeypatch.setattr(run_argument, "kernel_signature", lambda *_: [parameter])
    monkeypatch.setattr(run_argument, "argument_names", lambda *_: ["to"])
    monkeypatch.setattr(execution, "interpret", lambda *_, args, **__: args)
    np.save("in.npy", np.arange(4, dtype=np.uint8))
    for source in ("in.npy", "out.npy"):
        copy("f32", f"out.npy=@{source}")
        assert np.load("out.npy").dtype == np.dtype("V1")
        assert (np.load("out.npy").view(np.uint8) == np.arange(4)).all()
    assert capsys.readouterr().out.splitlines()[0].startswith("out.npy: 4 float8_e")


@pytest.mark.parametrize(
    ("element", "dtype", "given"),
    [("f16", "float16", "f16"), ("f64", "float64", "f64"), ("i8", "int8", "i8"),
     ("i8", "uint8", "u8"), ("i16", "int16", "i16"), ("i32", "int32", "i32"),
     ("i32", "uint32", "u32"), ("i64", "int64", "i64"), ("i32", "int32", "int32")],
)  # fmt: skip
def test_element_types(element, dtype, given, place):
    values = np.arange(8).reshape(2, 4).astype(dtype)
    np.save("in.npy", np.asfortranarray(values).astype(values.dtype.newbyteorder(">")))
    copy(element, "in.npy", f"out.npy=2x4:{given}")
    saved = np.load("out.npy")
    assert saved.dtype == dtype and (saved == values).all()


# The last of two warps to store wins.
LAST_WINS = """
func.func @k(%p: memref<1xi32>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %team = arith.divui %t, %c128 : index
  %v = arith.index_cast %team : index to i32
  %first = arith.cmpi ult, %t, %c128 : index
  scf.if %first {
    memref.store %v, %p[%c0] : memref<1xi32>
  } else {
    memref.store %v, %p[%c0] : memref<1xi32>
  }
  func.return
}
"""


def last_wins(*words):
    Path("k.mlir").write_text(LAST_WINS)
    main(["run", "k.mlir", "--grid", "1", "--block", "256", "p.npy=1", *words])


def test_races_on_global_memory(place, capsys):
    said = refused(capsys, last_wins, "--races", "error")
    assert "'memref.store' race on global memory: this write and the write by" in said
    last_wins("--races", "warn")
    assert "race on global memory" in capsys.readouterr().err
    last_wins("--races", "ignore")
    assert np.load("p.npy") == [1]


def test_schedules_that_differ(place, capsys):
    said = refused(capsys, last_wins, "--schedules", "20", "--races", "ignore")
    told = re.search(
        r"schedule (\d+) expected p\[0\] = 1 \(0x00000001\) as in the order of the text, got 0 "
        r"\(0x00000000\) \(1 of 1 elements differ, this one first\)", said
    )  # fmt: skip
    assert told is not None, said
    last_wins("--schedule", told[1], "--races", "ignore", "--quiet")
    assert np.load("p.npy") == [0]
    said = refused(
        capsys, last_wins, "--schedule", told[1], "--schedules", "1", "--races", "ignore"
    )
    assert f"schedule {told[1]} expected" in said


def test_schedules_that_agree(place):
    axpy("x.npy", "r.npy=@y.npy", "2", "100", "--schedules", "3", "--max-steps", "10000")
    assert (np.load("r.npy") == np.arange(100) * 2 + 0.5)[:99].all()


def test_a_kernel_that_takes_too_long(place, capsys):
    said = refused(capsys, last_wins, "--max-steps", "5", "--schedules", "1")
    assert "is reached after more than max_steps=5 steps" in said and "k.mlir:" in said


@pytest.mark.parametrize(
    "words",
    [["--races", "all"], ["--schedule", "-1"], ["--schedules", "0"], ["--max-steps", "x"]],
)
def test_options_of_schedules_that_are_wrong(words, place, capsys):
    with pytest.raises(SystemExit) as leaving:
        last_wins(*words)
    assert leaving.value.code == 2
    assert f"argument {words[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["races=error", "schedule=1", "schedules=2", "max-steps=9"])
def test_the_device_has_no_schedules(option, place, capsys):
    said = refused(capsys, last_wins, "--device", f"--{option}")
    assert f"expected no --{option.split('=')[0]} with --device" in said


def test_too_large_a_block(place, capsys):
    words = ["--block", "2000", "x.npy", "y.npy", "1", "1"]
    said = refused(capsys, main, ["run", AXPY, "--grid", "1", *words])
    assert said.startswith("error: ") and "1024" in said


def test_device_without_a_gpu_or_its_bindings(place, monkeypatch, capsys):
    # None in sys.modules makes the import fail, as where the gpu extra is not installed.
    monkeypatch.setitem(sys.modules, "cuda", None)
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    said = refused(capsys, axpy, "x.npy", "r.npy=100", "1", "100", "--device")
    assert said.startswith("error: ") and said.count("\n") == 1
    assert not Path("r.npy").exists()


def test_gemm_gives_the_same_file_at_both_levels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = default_rng(0)
    extents = {"a": (80, 40), "b": (40, 72)}
    bf16 = ml_dtypes.bfloat16
    values = {name: rng.standard_normal(shape).astype(bf16) for name, shape in extents.items()}
    for name, value in values.items():
        np.save(f"{name}.npy", value)
    for level in ("atom", "ptx"):
        main(["run", GEMM, "--grid", "2,2", "--block", "128", "--level", level, "a.npy",
              "b.npy", f"{level}.npy=80x72:f32", "80", "72", "40", "40", "72", "72"])  # fmt: skip
    assert Path("atom.npy").read_bytes() == Path("ptx.npy").read_bytes()
    exact = values["a"].astype(np.float64) @ values["b"].astype(np.float64)
    assert_allclose(np.load("atom.npy"), exact, rtol=1e-4, atol=1e-5)


def test_tiles_give_the_same_file_at_all_levels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = default_rng(0)
    a, b = (rng.standard_normal((rows, 40)).astype(np.float16) for rows in (80, 72))
    np.save("a.npy", a)
    np.save("b.npy", b)
    for level in ("tile", "atom", "ptx"):
        main(["run", TILE_GEMM, "--grid", "1", "--block", "128", "--level", level, "a.npy",
              "b.npy", f"{level}.npy=80x72:f32"])  # fmt: skip
    files = {Path(f"{level}.npy").read_bytes() for level in ("tile", "atom", "ptx")}
    assert len(files) == 1
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert_allclose(np.load("tile.npy"), exact, rtol=1e-4, atol=1e-5)


TRANSPOSE = """
func.func @transpose(%x: !cute.memref<f32, gmem, "(?,?):(?,1)">,
    %y: !cute.memref<f32, gmem, "(?,4):(1,?)">) attributes {gpu.kernel} {
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %c0 = arith.constant 0 : i32
  %first = cute.make_coord(%t, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%x, %first)
  cute.memref.store(%v, %y, %first)
  func.return
}"""


def test_files_are_arranged_as_a_tensor_asks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("k.mlir").write_text(TRANSPOSE)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save("x.npy", x)
    main(["run", "k.mlir", "--grid", "1", "--block", "3", "x.npy", "y.npy=3x4:f32", "--quiet"])
    expected = np.zeros((3, 4), np.float32)
    expected[:, 0] = x[:, 0]
    assert_array_equal(np.load("y.npy"), expected)
    said = refused(capsys, main, ["run", "k.mlir", "--grid", "1", "--block", "3", "x.npy",
                                  "y.npy=3x5:f32"])  # fmt: skip
    assert "argument 'y' expected shape (?, 4), got (3, 5)" in said


def gemm_sm90(*words):
    main(["run", GEMM_SM90, "--grid", "1", "--block", "384", *words])


def test_tensor_maps_are_given_like_memrefs(place, capsys):
    rng = default_rng(0)
    a, b = (rng.integers(-8, 9, shape).astype(ml_dtypes.bfloat16) for shape in ((3, 8), (8, 16)))
    np.save("a.npy", a)
    np.save("b.npy", b)
    gemm_sm90("a.npy", "b.npy", "c.npy=3x16", "8")
    assert (np.load("c.npy") == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert capsys.readouterr().out == "c.npy: 3x16 float32\n"


def test_an_array_that_no_tensor_map_describes(place, capsys):
    np.save("a.npy", np.zeros((3, 9), ml_dtypes.bfloat16))
    said = refused(capsys, gemm_sm90, "a.npy", "a.npy", "c.npy=3x16", "8")
    assert "argument 1 (map_a: !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>)" in said
    assert "expected strides of whole 16 bytes, got 9 elements (18 bytes)" in said


@pytest.mark.parametrize("options", [[], ["--schedules", "2"]])
def test_an_executor_changes_nothing(options, place, capsys):
    axpy("x.npy", "r.npy=@y.npy", "2", "100", *options, "--executor", "processes:2")
    assert (np.load("r.npy") == np.arange(100) * 2 + 0.5).all()


@pytest.mark.parametrize("name, said", [("cloud", "got 'cloud'"), ("mpi", "No module named")])
def test_an_executor_that_is_not_there(name, said, place, capsys):
    error = refused(capsys, axpy, "x.npy", "r.npy=100", "2", "100", "--executor", name)
    assert error.startswith("error: cannot use --executor: ") and said in error


def test_a_trace(place, capsys):
    axpy("x.npy", "r.npy=100:f32", "2", "100", "--trace", "t.json")
    trace = json.loads(Path("t.json").read_text())
    names = {event["name"] for event in trace["traceEvents"]}
    assert {"ld", "mul", "st", "operands of mul", "thread_name"} <= names
    assert (np.load("r.npy") == np.arange(100) * 2).all()


@pytest.mark.parametrize("options", [["--level", "tile"], ["--schedule", "1"]])
def test_a_trace_of_what_has_none(options, place, capsys):
    error = refused(capsys, axpy, "x.npy", "r.npy=100", "2", "100", "--trace", "t.json", *options)
    assert "expected level 'ptx' and no schedule for a timeline" in error
    assert not Path("t.json").exists()


def test_breakpoints(place, capsys):
    axpy("x.npy", "r.npy=100:f32", "2", "100", "--break", "9", "--print", "%i[5]", "--print", "%xi")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("line 9: 'arith.mulf' by 100 threads")
    assert lines[2:4] == ["  %i[5] = 5", f"  %xi = {', '.join(f'{i}.0' for i in range(8))}, ..."]


def test_what_is_printed_at_no_line(place, capsys):
    error = refused(capsys, axpy, "x.npy", "r.npy=100", "2", "100", "--print", "%i")
    assert "expected --break LINE for --print, got none" in error
