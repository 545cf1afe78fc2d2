"""tilewright-opt's command line: exit status 0 fine, 1 wrong input, 2 wrong usage; where an error
points; and no traceback, whatever it is given."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from example_files import EXAMPLES
from xdsl.universe import Universe
from xdsl.utils.diagnostic import Diagnostic

from tilewright.dialects.frozen import entity
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.tools.expected_errors import Expectation, expectations
from tilewright.tools.tilewright_opt import main

AXPY = EXAMPLES / "axpy.mlir"
GOOD = "func.func @f() attributes {gpu.kernel} {\n  func.return\n}\n"
LOWER = ("-p", "convert-cute-nvgpu-to-ptx")
AXPY = EXAMPLES / "axpy.mlir"


@entity
class Run:
    """What a run of the command left behind."""

    status: int
    out: str
    error: str


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Run the command on a text, in this process."""

    def run(text: str | bytes | None, *arguments: str) -> Run:
        path = tmp_path / "input.mlir"
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        status = 0
        try:
            main([str(path), *arguments])
        except SystemExit as exit_:
            status = exit_.code if isinstance(exit_.code, int) else 1
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Run(status, said.out, said.err)

    return run


def test_fine(opt):
    assert opt(GOOD).status == 0
    lowered = opt(GOOD, *LOWER, "-t", "ptx")
    assert lowered.status == 0 and ".visible .entry f()" in lowered.out


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (
            "func.func @f() {\n  cute_nvgpu.nothing\n}\n",
            2,
            3,
            "cute_nvgpu.nothing is not registered",
        ),
        ("func.func @f( {\n}\n", 1, 15, "Expected argument or type"),
        ("func.func @f() {\n", 1, 16, "in block definition"),
        ("func.func @f() {\n  %0 = arith.addi %1, %1 : i32\n}\n", 2, 19, "not defined: [%1]"),
        ("func.func @f(%x: !cute_nvgpu.nothing) {\n}\n", 1, 19, "'cute_nvgpu.nothing' is not"),
        ('func.func @f(%x: !cute.layout<"(4,8">)\n', 1, 31, "expected ',' or ')'"),
        ("%%%", 1, 1, "Expected suffix identifier"),
        ("\n\n  \x00", 3, 3, "Unexpected character"),
    ],
    ids=range(8),
)
def test_text_that_does_not_parse(opt, text: str, line: int, column: int, message: str):
    run = opt(text)
    assert run.status == 1 and run.out == ""
    head, *rest = run.error.splitlines()
    assert f"input.mlir:{line}:{column}: error: " in head
    assert message in head
    assert len(rest) == 2 and rest[1].index("^") == column - 1


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_text_is_an_empty_module(opt, text: str):
    run = opt(text)
    assert run.status == 0 and run.out.split() == ["builtin.module", "{", "}"]


def test_ir_that_does_not_verify_points_at_the_op(opt):
    run = opt("func.func @f() {\n\n  cute_nvgpu.bar.sync 16 threads 32\n  func.return\n}\n")
    assert run.status == 1
    assert run.error.splitlines() == [
        run.error.splitlines()[0],
        "  cute_nvgpu.bar.sync 16 threads 32",
        "  ^",
    ]
    assert "input.mlir:3:3: error: 'cute_nvgpu.bar.sync' expected a barrier below 16" in run.error


UNKNOWN = '  %y = "test.op"(%x) : (f32) -> f32'


def test_a_lowering_error_points_at_the_op(opt):
    run = opt(
        GOOD.replace("()", "(%x: f32)").replace("  func", f"{UNKNOWN}\n  func", 1),
        *LOWER,
    )
    assert run.status == 1
    assert "input.mlir:2:3: error: 'test.op' has no lowering to ptx" in run.error


def test_unknown_target_of_the_hardware(opt):
    run = opt(GOOD, "-p", "cute-nvgpu-check-target{arch=sm_1}")
    assert run.status in (1, 2)
    assert "unknown target 'sm_1'; nearest legal: sm_" in run.error


def test_missing_file(opt):
    run = opt(None)
    assert run.status == 1
    assert run.error.startswith("error: cannot read '") and "No such file" in run.error


def test_a_folder_is_no_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exit_:
        main([str(tmp_path)])
    assert exit_.value.code == 1
    assert "Traceback" not in capsys.readouterr().err


def test_input_that_is_no_text(opt):
    run = opt(b"\xff\xfe\x00\x00")
    assert run.status == 1 and "not UTF-8" in run.error


@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "no-such-pass"),
        ("-p", "cute-nvgpu-check-target"),
        ("-p", "cute-nvgpu-check-target{gpu=sm_80}"),
        ("-p", "cute-nvgpu-check-target{arch=sm_80"),
        ("-p", "cute-nvgpu-check-target{arch=[1,2]}"),
        ("-p", "convert-cute-nvgpu-to-ptx{arch=80}"),
        ("-t", "no-such-target"),
        ("-t", "ptx{x=1}"),
        ("--no-such-flag",),
        ("-p",),
        ("a.mlir", "b.mlir"),
    ],
    ids=" ".join,
)
def test_wrong_usage(opt, arguments: tuple[str, ...]):
    run = opt(GOOD, *arguments)
    assert run.status == 2
    assert run.error.strip()
    assert run.out == ""


def test_output_file(opt, tmp_path: Path):
    path = tmp_path / "out.ptx"
    path.write_text("before")
    run = opt(GOOD, *LOWER, "-t", "ptx", "-o", str(path))
    assert (run.status, run.out) == (0, "")
    assert path.read_text().startswith("// tilewright: PTX\n")


def test_an_output_that_cannot_be_written_leaves_nothing(opt, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "out.mlir", tmp_path / "folder"):
        run = opt(GOOD, "-o", str(path))
        assert run.status == 1
        assert f"error: cannot write '{path}'" in run.error
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["folder", "input.mlir"]


def test_wrong_input_leaves_the_output_file_as_it_was(opt, tmp_path: Path):
    path = tmp_path / "out.mlir"
    path.write_text("before")
    assert opt("nonsense", "-o", str(path)).status == 1
    assert path.read_text() == "before"
    assert opt(GOOD + "// -----\nnonsense", "--split-input-file", "-o", str(path)).status == 1
    assert path.read_text() == "before"


def test_split_input_counts_lines_through(opt):
    run = opt(GOOD + "\n// -----\n\nnonsense\n", "--split-input-file")
    assert run.status == 1
    assert "input.mlir:7:1: error: " in run.error


class TestVerifyDiagnostics:
    """The annotations of the filecheck tests: these decide whether those prove anything."""

    BAD = "func.func @f() {\n  cute_nvgpu.bar.sync 16 threads 32\n  func.return\n}\n"

    def test_places(self):
        text = (
            "// expected-error {{here}}\n// expected-error @+2 {{below}}\n\n"
            "x // expected-error @-1 {{above}} expected-error @above {{too}}\n"
            "// expected-error @below {{next}}\n"
        )
        assert expectations(text, 10) == [
            Expectation(11, "here"),
            Expectation(14, "below"),
            Expectation(13, "above"),
            Expectation(13, "too"),
            Expectation(16, "next"),
        ]

    def annotated(self, annotation: str) -> str:
        first, rest = self.BAD.split("\n", 1)
        return f"{first}\n{annotation}\n{rest}"

    def test_an_expected_error_is_fine(self, opt):
        text = self.annotated("// expected-error @+1 {{expected a barrier below 16, got 16}}")
        assert opt(text, "--verify-diagnostics").status == 0

    @pytest.mark.parametrize(
        "annotation",
        [
            "// expected-error @+1 {{another message}}",
            "// expected-error @+2 {{expected a barrier}}",
            "// expected-error {{expected a barrier}}",
        ],
    )
    def test_another_error_or_place_is_not(self, opt, annotation: str):
        run = opt(self.annotated(annotation), "--verify-diagnostics")
        assert run.status == 1
        assert "expected error was not produced" in run.error and "unexpected error" in run.error

    def test_an_error_that_does_not_come_is_not(self, opt):
        run = opt("// expected-error @+1 {{something}}\n" + GOOD, "--verify-diagnostics")
        assert run.status == 1 and "line 2: expected error was not produced" in run.error


def test_the_installed_command(tmp_path: Path):
    """The console script itself, once, with text on stdin and an error on stderr."""
    command = Path(sys.executable).with_name("tilewright-opt")
    fine = subprocess.run([command], input=GOOD, capture_output=True, text=True, check=False)
    assert fine.returncode == 0 and "func.func @f()" in fine.stdout
    wrong = subprocess.run([command], input="x", capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "stdin" in wrong.stderr and not wrong.stdout


def test_nobody_reads_stdout(tmp_path: Path):
    """The exit status that the shell has for SIGPIPE, and no word."""
    command = Path(sys.executable).with_name("tilewright-opt")
    path = tmp_path / "input.mlir"
    path.write_text(GOOD)
    with subprocess.Popen([command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.close()
        assert (run.stderr.read(), run.wait()) == (b"", 141)


def test_closed_stdout_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "input.mlir"
    path.write_text(GOOD)
    monkeypatch.setattr("sys.stdout", None)
    main([str(path)])


@pytest.mark.parametrize("target", sorted(Universe.get_multiverse().all_targets))
def test_every_target_prints_or_says_why_not(opt, target: str):
    run = opt(GOOD, "-t", target)
    if run.status:
        assert run.status == 1 and run.error.count("error: ") == 1 and not run.out
    else:
        assert not run.error or "UserWarning" in run.error


def test_what_a_target_needs_or_lacks(opt, monkeypatch: pytest.MonkeyPatch):
    assert "error: 'mps' is not implemented for this" in opt(GOOD, "-t", "mps").error
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    said = opt(GOOD, "-t", "llvm").error
    assert "'llvm' expected the Python package 'llvmlite' to be installed" in said


def test_a_pass_that_breaks_is_named(opt, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(CheckTmemPass, "apply", fail)
    run = opt(GOOD, "-p", "canonicalize,cute-nvgpu-check-tmem")
    words = "internal error in 'cute-nvgpu-check-tmem', please report: KeyError: 'lost'"
    assert run.status == 1 and words in run.error and not run.out


def test_a_use_before_its_definition(opt):
    body = "  %b = arith.addi %a, %a : i32\n  %a = arith.constant 1 : i32\n"
    run = opt(GOOD.replace("{\n", "{\n" + body, 1))
    assert run.status == 1 and "input.mlir:2:3: error: 'arith.addi' expected operand 0" in run.error
    assert opt(GOOD.replace("{\n", "{\n" + body, 1), "--disable-verify").status == 0


def test_verification_is_off_for_one_run(opt):
    wrong = f"func.func private @f() attributes {{x = {1 << 64} : i64}}\n"
    assert opt(wrong, "--disable-verify", "--syntax-highlight").status == 0
    run = opt(wrong)
    assert run.status == 1 and "out of range" in run.error and not Diagnostic.colored


def test_deep_nests(opt):
    nest = "  %x = arith.constant true\n" + "scf.if %x {\n" * 123 + "}\n" * 123
    assert opt(GOOD.replace("{\n", "{\n" + nest, 1)).status == 0
    nest = "  %x = arith.constant true\n" + "scf.if %x {\n" * 20_000 + "}\n" * 20_000
    run = opt(GOOD.replace("{\n", "{\n" + nest, 1))
    assert run.status == 1 and "expected IR that nests less deeply" in run.error


STEPS = [
    *(("-p", name) for name in sorted(Universe.get_multiverse().all_passes)),
    *(("-t", name) for name in sorted(Universe.get_multiverse().all_targets)),
]


@pytest.mark.filterwarnings("ignore")
def test_every_pass_and_target_gives_an_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """xDSL's own, too, which may assume what nobody says."""
    monkeypatch.setattr(Universe, "get_multiverse", cache(Universe.get_multiverse))
    assert len(STEPS) > 100
    for step in STEPS:
        try:
            main([str(AXPY), *step])
            status = 0
        except SystemExit as leave:
            status = leave.code or 0
        said = capsys.readouterr().err
        assert status in (0, 1, 2) and bool(status) == ("error: " in said), step
        assert "internal error" not in said, (step, said)
