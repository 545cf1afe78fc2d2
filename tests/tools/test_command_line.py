"""The `tilewright` command itself: help, version, exit status, and no traceback, ever."""

import io
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

import tilewright
from tilewright.launch.ptxas import find_ptxas, ptxas_version
from tilewright.tools.commands import atoms as command_atoms
from tilewright.tools.tilewright import COMMANDS, main

PROGRAM = [sys.executable, "-m", "tilewright.tools.tilewright"]


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--help"])
    assert leaving.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} {summary}" in shown for name, summary in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([name, "--help"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: tilewright {name} ")


def test_version(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    own, xdsl, ptxas = capsys.readouterr().out.splitlines()
    assert own == f"tilewright {tilewright.__version__}" and xdsl == f"xdsl {version('xdsl')}"
    assert ptxas == f"ptxas {ptxas_version(find_ptxas())} ({find_ptxas()})"


def test_version_without_ptxas(capsys, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "nowhere")
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    said = "no ptxas (TILEWRIGHT_PTXAS names 'nowhere', which is no file)\n"
    assert capsys.readouterr().out.endswith(said)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["frobnicate"],
        ["--frobnicate"],
        ["--", "atoms"],
        ["atoms", "--frobnicate"],
        ["atoms", "surplus"],
        ["atoms", "--js"],
        ["explain"],
        ["check-ptx", "x"],
        ["layout", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"],
        ["layout", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "F"],
        ["select", "16", "8"],
        ["select", "16", "8", "16", "--types", "f16,f16,f32"],
        ["select", "16", "8", "x", "--types", "f16,f16,f32", "--arch", "sm_80"],
        ["run", "x.mlir"],
        ["run", "x.mlir", "--grid", "0", "--block", "32"],
        ["run", "x.mlir", "--grid", "1,1,1,1", "--block", "32"],
        ["run", "x.mlir", "--grid", "1", "--block", "32", "--level", "lane"],
    ],
)
def test_wrong_usage(words, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(words)
    captured = capsys.readouterr()
    assert leaving.value.code == 2
    assert captured.err.startswith("usage: tilewright") and not captured.out


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 1, "error: out of memory\n"),
        (RecursionError(), 1, "error: the input is nested too deeply\n"),
        (OSError(28, "No space left on device"), 1, "No space left on device\n"),
        (ZeroDivisionError("unforeseen"), 1, "ZeroDivisionError: unforeseen"),
    ],
)
def test_no_error_ends_in_a_traceback(error, status, said, monkeypatch, capsys):
    def fail(options):
        raise error

    monkeypatch.setattr(command_atoms, "run", fail)
    monkeypatch.delenv("TILEWRIGHT_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as leaving:
        main(["atoms"])
    shown = capsys.readouterr().err
    assert leaving.value.code == status
    assert said in shown and shown.count("\n") == (1 if said else 0)


def test_tracebacks_are_there_for_who_asks(monkeypatch):
    def fail(options):
        raise ZeroDivisionError

    monkeypatch.setattr(command_atoms, "run", fail)
    monkeypatch.setenv("TILEWRIGHT_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["atoms"])


def test_closed_stdout_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    main(["atoms"])


def test_closed_stdin_is_wrong_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as leaving:
        main(["check-ptx", "--arch", "sm_80"])
    assert leaving.value.code == 1
    assert "closed" in capsys.readouterr().err


def test_a_reader_that_leaves_ends_the_command_quietly():
    reading, writing = os.pipe()
    os.close(reading)
    with io.FileIO(writing, "w") as pipe:
        done = subprocess.run([*PROGRAM, "atoms"], stdout=pipe, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, b"")


def test_listing_the_lattice_imports_neither_xdsl_nor_numpy():
    program = (
        "import sys\n"
        "from tilewright.tools.tilewright import main\n"
        "main(['atoms'])\n"
        "main(['check-ptx', '--arch', 'sm_80', '--exit-zero', 'mma.foo'])\n"
        "main(['explain', 'cp.async.cg.shared.global'])\n"
        "heavy = {'xdsl', 'numpy', 'ml_dtypes'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
