"""`tilewright run` with arguments that it does not take: one diagnostic, and nothing is written."""

import re
from pathlib import Path

import numpy as np
import pytest
from run_command import axpy, copy, refused

from tilewright.tools.tilewright import main

WRONG = [
    (["x.npy", "r.npy=@y.npy", "2"], "takes 4 arguments", "got 3; missing: n: i32"),
    (["n=2", "x=x.npy", "y=r.npy=9"], "takes 4 arguments", "got 3; missing: a: f32"),
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
