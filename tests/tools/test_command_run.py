"""`tilewright run`: what becomes of its arguments, and real runs of small kernels."""

import io
import json
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright import execution, progress
from tilewright.progress import ProgressBar
from tilewright.source.parsing import default_context
from tilewright.tools.commands import run_argument
from tilewright.tools.tilewright import main

EXAMPLES = Path(__file__).parents[2] / "examples"
AXPY = str(EXAMPLES / "axpy.mlir")
GEMM = str(EXAMPLES / "gemm_sm80.mlir")
GEMM_SM90 = str(EXAMPLES / "gemm_sm90.mlir")
TILE_GEMM = str(EXAMPLES / "tile_gemm_sm80.mlir")
COPY = """
func.func @copy(%from: memref<2x4x{0}>, %to: memref<2x4x{0}>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %j = "gpu.thread_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %v = memref.load %from[%j, %i] : memref<2x4x{0}>
  memref.store %v, %to[%j, %i] : memref<2x4x{0}>
  func.return
}}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, with x and y of 100 floats, to run in."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.arange(100, dtype=np.float32))
    np.save("y.npy", np.full(100, 0.5, dtype=np.float32))
    return tmp_path


def axpy(*words):
    main(["run", AXPY, "--grid", "2", "--block", "64,1", *words])


def copy(element, *words):
    Path("copy.mlir").write_text(COPY.format(element))
    main(["run", "copy.mlir", "--grid", "1", "--block", "4,2,1", *words])


def refused(capsys, command, *words):
    with pytest.raises(SystemExit) as leaving:
        command(*words)
    captured = capsys.readouterr()
    assert leaving.value.code == 1 and not captured.out
    return captured.err


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


WRONG = [
    (["x.npy", "r.npy=@y.npy", "2"], "takes 4 arguments", "got 3; missing: n: i32"),
    (["x.npy", "r.npy=@y.npy", "2", "3", "z"], "takes 4 arguments", "got 5; too many: 'z'"),
    (["f64.npy", "r.npy=9", "2", "3"], "argument 1 (x: memref<?xf32>)", "float64 in 'f64.npy'"),
    (["no.npy", "r.npy=9", "2", "3"], "argument 1", "'no.npy', which is no file"),
    (["5", "r.npy=9", "2", "3"], "argument 1", "expected IN.npy, OUT.npy=SHAPE:DTYPE or OUT"),
    (["junk.npy", "r.npy=9", "2", "3"], "argument 1", "'junk.npy' is no .npy file of numbers"),
    (["empty.npy", "r.npy=9", "2", "3"], "argument 1", "'empty.npy' is no .npy file"),
    (["short.npy", "r.npy=9", "2", "3"], "argument 1", "'short.npy' is no .npy file"),
    (["objects.npy", "r.npy=9", "2", "3"], "argument 1", "'objects.npy' is no .npy file"),
    (["archive.npz", "r.npy=9", "2", "3"], "argument 1", "'archive.npz' is no .npy file"),
    ([".", "r.npy=9", "2", "3"], "argument 1", "cannot read '.': Is a directory"),
    (["x.npy", "r.npy=@no.npy", "2", "3"], "argument 2", "'no.npy', which is no file"),
    (["x.npy", "r.npy=9:f64", "2", "3"], "argument 2", "expected DTYPE f32 or", "got 'f64'"),
    (["x.npy", "r.npy=9x:f32", "2", "3"], "argument 2", "such as 256x256:f32, got '9x:f32'"),
    (["x.npy", f"r.npy={10**17}", "2", "3"], "argument 2", "that fits into memory"),
    (["x.npy", "=9", "2", "3"], "argument 2", "got '=9'"),
    (["x.npy", "r.npy=9", "two", "3"], "argument 3 (a: f32)", "a number for f32, got 'two'"),
    (["x.npy", "r.npy=9", "2", "3.5"], "argument 4 (n: i32)", "an integer for i32, got '3.5'"),
    (["x.npy", "r.npy=9", "2", str(1 << 32)], "argument 4", "of -2147483648 to 4294967295"),
    (["a.npy=@x.npy", "a.npy=9", "2", "3"], "two arguments write", "a.npy'"),
    (["x.npy", "no/r.npy=9", "2", "3"], "cannot write 'no/r.npy': no directory 'no'"),
    (["x.npy", ".=9", "2", "3"], "cannot write '.': it is a directory"),
    (["x.npy", "r.npy=9", "2", "3", "--arch", "sm_91"], "unknown target 'sm_91'", "sm_90"),
    (["x.npy", "r.npy=9", "2", "3", "--kernel", "gemm"], "a kernel 'gemm', got axpy"),
    (["x.npy", "r.npy=9", "2", "99"], "'memref.load' read out of bounds", "of 'y'"),
]


@pytest.mark.parametrize(("words", "said"), [(each[0], each[1:]) for each in WRONG])
def test_wrong_arguments_are_one_diagnostic_and_nothing_is_written(words, said, place, capsys):
    np.save("f64.npy", np.zeros(100))
    np.save("objects.npy", np.array([{}, None]))
    np.savez("archive.npz", x=np.zeros(100, dtype=np.float32))
    Path("junk.npy").write_text("no numbers here, just text")
    Path("empty.npy").touch()
    Path("short.npy").write_bytes(Path("x.npy").read_bytes()[:-4])
    before = sorted(place.rglob("*"))
    found = refused(capsys, axpy, *words)
    assert found.count("error: ") == 1 and "Traceback" not in found
    assert all(each in found for each in said), found
    assert sorted(place.rglob("*")) == before


HEADERS = [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,2], }", "{'descr': '<f4",
    "{'descr': '<f4', 'fortran_order': False, 'shape': ((1 << 99),)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }",
    "{b'descr': '<f4', 'fortran_order': False, 'shape': (100,)}", "(" * 300, "{[]: 1}", "{}", "\0",
    "{'descr': [('a',)], 'fortran_order': False, 'shape': ()}",
    f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 80},)}}",
    f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 62}, 16)}}",
]  # fmt: skip


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header[:60])
def test_headers_that_say_no_array(header, place, capsys):
    length = len(header).to_bytes(2, "little")
    Path("made.npy").write_bytes(b"\x93NUMPY\1\0" + length + header.encode() + bytes(400))
    said = refused(capsys, axpy, "made.npy", "r.npy=100", "2", "100")
    assert "argument 1 (x: memref<?xf32>): " in said and "internal error" not in said


def test_shapes_are_those_of_the_memref(place, capsys):
    np.save("in.npy", np.zeros((2, 5), dtype=np.float32))
    assert "argument 1 (from: memref<2x4xf32>): expected shape 2x4, got 2x5" in refused(
        capsys, copy, "f32", "in.npy", "out.npy=2x4"
    )
    np.save("in.npy", np.zeros((2, 4), dtype=np.float32))
    assert "expected shape 2x4, got 8" in refused(capsys, copy, "f32", "in.npy", "out.npy=8")
    assert "expected shape 2x4, got ()" in refused(capsys, copy, "f32", "in.npy", "out.npy=")


def test_raw_bits_stand_for_bf16_alone(place, capsys):
    np.save("in.npy", np.zeros((2, 4), dtype=np.int16))
    said = refused(capsys, copy, "bf16", "in.npy", "out.npy=2x4")
    assert "expected dtype bfloat16 or uint16 or void16, got int16 in 'in.npy'" in said


def test_wrong_ir_is_shown_with_its_place(place, capsys):
    Path("wrong.mlir").write_text("func.func @k(%a: i32) {\n  func.return %b : i32\n}\n")
    said = refused(capsys, main, ["run", "wrong.mlir", "--grid", "1", "--block", "1"])
    assert re.match(r"wrong\.mlir:\d+:\d+: error: ", said) and said.rstrip().endswith("^")
    Path("wrong.mlir").write_bytes(b"\xff")
    said = refused(capsys, main, ["run", "wrong.mlir", "--grid", "1", "--block", "1"])
    assert said.startswith("error: 'wrong.mlir' is not UTF-8 text")
    said = refused(capsys, main, ["run", "no.mlir", "--grid", "1", "--block", "1"])
    assert said == "error: cannot read 'no.mlir': No such file or directory\n"


def test_too_large_a_block(place, capsys):
    words = ["--block", "2000", "x.npy", "y.npy", "1", "1"]
    said = refused(capsys, main, ["run", AXPY, "--grid", "1", *words])
    assert said.startswith("error: ") and "1024" in said


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_appears_after_two_seconds_and_leaves_no_trace(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    terminal = Terminal()
    bar = ProgressBar("blocks", stream=terminal)
    bar.update(1, 4)
    assert terminal.getvalue() == ""
    now[0] = 2.5
    bar.update(2, 4)
    drawn = f"\r[{'#' * 20}{'.' * 20}] 2/4 blocks, 2 s"
    assert terminal.getvalue() == drawn
    bar.update(3, 4)
    assert terminal.getvalue() == drawn
    bar.close()
    assert terminal.getvalue() == drawn + "\r" + " " * (len(drawn) - 1) + "\r"


def test_progress_is_for_terminals(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    terminal, file = Terminal(), io.StringIO()
    bars = [ProgressBar("blocks", stream=file), ProgressBar("blocks", stream=terminal, shown=False)]
    monkeypatch.setenv("TILEWRIGHT_PROGRESS", "0")
    bars.append(ProgressBar("blocks", stream=terminal))
    now[0] = 5.0
    for bar in bars:
        bar.update(1, 2)
        bar.close()
    assert not terminal.getvalue() and not file.getvalue()


def test_device_without_a_gpu_or_its_bindings(place, monkeypatch, capsys):
    # None in sys.modules makes the import fail, as where the gpu extra is not installed.
    monkeypatch.setitem(sys.modules, "cuda", None)
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    said = refused(capsys, axpy, "x.npy", "r.npy=100", "1", "100", "--device")
    assert said.startswith("error: ") and said.count("\n") == 1
    assert not Path("r.npy").exists()


def test_gemm_gives_the_same_file_at_both_levels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
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
    np.testing.assert_allclose(np.load("atom.npy"), exact, rtol=1e-4, atol=1e-5)


def test_tiles_give_the_same_file_at_all_levels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, 40)).astype(np.float16) for rows in (80, 72))
    np.save("a.npy", a)
    np.save("b.npy", b)
    for level in ("tile", "atom", "ptx"):
        main(["run", TILE_GEMM, "--grid", "1", "--block", "128", "--level", level, "a.npy",
              "b.npy", f"{level}.npy=80x72:f32"])  # fmt: skip
    files = {Path(f"{level}.npy").read_bytes() for level in ("tile", "atom", "ptx")}
    assert len(files) == 1
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(np.load("tile.npy"), exact, rtol=1e-4, atol=1e-5)


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
    np.testing.assert_array_equal(np.load("y.npy"), expected)
    said = refused(capsys, main, ["run", "k.mlir", "--grid", "1", "--block", "3", "x.npy",
                                  "y.npy=3x5:f32"])  # fmt: skip
    assert "argument 'y' expected shape (?, 4), got (3, 5)" in said


def gemm_sm90(*words):
    main(["run", GEMM_SM90, "--grid", "1", "--block", "384", *words])


def test_tensor_maps_are_given_like_memrefs(place, capsys):
    rng = np.random.default_rng(0)
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
