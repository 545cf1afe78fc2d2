"""Kernels in Python as an editor has them: errors and remarks at their lines, and what of the file
runs for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.tools.language_server.diagnose import LineStarts, diagnose

CUTILE = """\
import cuda.tile as ct
from beside import twice

HALF = 1.0 / len("ab")
a = open("/there/is/no/such/file")


def scaled(a):
    return twice(a) * HALF


# tilewright: a=1000:f32 b=1000:f32
# tilewright: T=128
@ct.kernel
def scale(a, b, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(b, (i,), scaled(ct.load(a, (i,), (T,))))


# tilewright: a=1000:f32 T=128
@ct.kernel
def reshaped(a, T: ct.Constant[int]):
    ct.store(a, (0,), ct.reshape(ct.load(a, (0,), (T,)), (7,)))


# tilewright: a=1000:f32
@ct.kernel
def with_too_few(a, T: ct.Constant[int]):
    pass


# tilewright: a=1000:f99
@ct.kernel
def misspelt(a):
    pass


# tilewright: a=1
def plain(a):
    pass


raise SystemExit("this does not run")
"""
TRITON = """\
import triton
import triton.language as tl


def configs():
    widest = 64 if triton.runtime.driver.active.get_current_target().backend == "cuda" else 32
    return [triton.Config({"T": width}) for width in (widest, 2 * widest)]


@triton.jit
def plus(x):
    return x + unknown


# tilewright: x=1000:f32 n=1000
@triton.autotune(configs(), key=["n"])
@triton.jit
def double(x, n, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


# tilewright: x=1000:f32
@triton.jit
def wrong(x):
    tl.store(x, plus(tl.load(x)))


# tilewright: x=1000:f32
@triton.jit
def refused(x):
    y = tl.inline_asm_elementwise("frob $0, $1;", "=r,r", [tl.load(x)], tl.float32, True, 1)
    tl.store(x, y)
"""


@pytest.fixture(autouse=True)
def beside(tmp_path: Path) -> Path:
    """A module in the folder of the file that is edited."""
    module = tmp_path / "beside.py"
    module.write_text("def twice(x):\n    return x + x\n")
    return module


def told(text: str, path: Path) -> list[tuple[int, str, str, str]]:
    """Line, severity, text and message of all findings."""
    lines = LineStarts(text)
    return [
        (lines.place(one.start)[0] + 1, one.severity, text[one.start : one.end], one.message)
        for one in diagnose(text, str(path), "sm_90a")
    ]


def line_of(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


def test_kernels_of_cutile(tmp_path: Path):
    """Each by itself; only what they refer to runs, and no file on the disk is read for it."""
    remark, *errors = told(CUTILE, tmp_path / "edited.py")
    line = line_of(CUTILE, "scaled(ct.load")
    assert remark[:3] == (line, "remark", "ct.load") and remark[3].endswith("[vector]")
    assert remark[3].startswith("'ct.load' moves 4 bytes at a time")
    errors = [error for error in errors if error[1] == "error"]
    assert [(line, word) for line, _, word, _ in errors] == [
        (line_of(CUTILE, "ct.reshape"), "ct.reshape"),
        (line_of(CUTILE, "def with_too_few"), "def"),
        (line_of(CUTILE, "def misspelt"), "def"),
        (line_of(CUTILE, "def plain"), "def"),
    ]
    reshape, few, misspelt, plain = (message for *_, message in errors)
    assert "Cannot reshape (128,) to (7,)" in reshape and "missing a required argument: 'T'" in few
    assert misspelt.endswith("NAME=SHAPE:DTYPE or NAME=NUMBER in the comment, got 'a=1000:f99'")
    assert plain.startswith("expected a @ct.kernel or @triton.jit function, got <function plain")


def test_kernels_of_triton(tmp_path: Path):
    """Also the function that a kernel calls, and one that is tuned: by its first configuration."""
    findings = told(TRITON, tmp_path / "edited.py")
    line = line_of(TRITON, "tl.load(x + i")
    remarks = [one for one in findings if one[1] == "remark"]
    assert [(at, word) for at, _, word, _ in remarks] == [(line, "tl.load"), (line, "tl.store")]
    wrong, refused = (one for one in findings if one[1] == "error")
    assert wrong[::2] == (line_of(TRITON, "unknown"), "unknown") and "not defined" in wrong[3]
    assert refused[0] == line_of(TRITON, "frob") and "frob" in refused[3]


def test_what_cannot_be_imported(tmp_path: Path):
    missing = CUTILE.replace("from beside", "from nowhere")
    [(line, severity, _, message)] = told(missing, tmp_path / "edited.py")
    assert (line, severity) == (2, "error") and "No module named 'nowhere'" in message


def test_modules_of_the_folder_are_read_anew(tmp_path: Path, beside: Path):
    before = told(CUTILE, tmp_path / "edited.py")
    beside.write_text("def twice(x):\n    return x + nothing\n")
    after = told(CUTILE, tmp_path / "edited.py")
    assert "nothing" in after[0][3] and "nothing" not in before[0][3]


@pytest.mark.parametrize("text", ["def f(:", "\0", "raise SystemExit", "# tilewright: a=1\n"])
def test_what_has_no_kernels_has_no_findings(text: str, tmp_path: Path):
    assert not told(text, tmp_path / "edited.py")
