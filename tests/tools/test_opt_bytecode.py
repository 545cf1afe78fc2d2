"""Tile IR bytecode on the command line: printed, written, refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tilewright.dialects.cuda_tile.bytecode.container import MAGIC
from tilewright.tools.tilewright_opt import main

TEXT = """cuda_tile.module @kernels {
  entry @k(%x: tile<f32>) {
    %y = absf %x : tile<f32>
    return
  }
}
"""


@dataclass
class Run:
    """What a run of the command left."""

    returncode: int
    stdout: bytes
    stderr: bytes


Opt = Callable[..., Run]


@pytest.fixture
def opt(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Opt:
    """The command, in this process."""

    def run(*arguments: str, data: bytes = b"") -> Run:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
        status = 0
        try:
            main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
        return Run(status, *capsysbinary.readouterr())

    return run


@pytest.fixture
def kernel(tmp_path: Path, opt: Opt) -> Path:
    (tmp_path / "k.mlir").write_text(TEXT)
    path = tmp_path / "k.tileirbc"
    assert opt(str(tmp_path / "k.mlir"), "-t", "tileirbc", "-o", str(path)) == Run(0, b"", b"")
    return path


def test_written_and_printed(kernel: Path, opt: Opt):
    data = kernel.read_bytes()
    assert data.startswith(MAGIC)
    run = opt(str(kernel))
    assert run.returncode == 0
    assert b"= absf %" in run.stdout
    again = opt("-t", "tileirbc", data=data)
    assert (again.returncode, again.stdout) == (0, data)


def test_versions(kernel: Path, opt: Opt):
    run = opt(str(kernel), "-t", "tileirbc{version=13.3}")
    assert run.stdout[8:10] == b"\x0d\x03"
    run = opt(str(kernel), "-t", "tileirbc{version=12.9}")
    assert run.returncode == 1
    assert run.stderr == (
        b"error: 'tileirbc' expected a bytecode version, got 12.9; "
        b"legal: 13.1, 13.2, 13.3, 13.4, 13.5\n"
    )


def test_truncated(kernel: Path, opt: Opt):
    kernel.write_bytes(kernel.read_bytes()[:40])
    run = opt(str(kernel))
    assert run.returncode == 1
    assert run.stdout == b""
    (line,) = run.stderr.decode().splitlines()
    assert line.startswith(f"{kernel}: error: expected ")
    assert "(at byte " in line
    kernel.write_bytes(b"")
    assert b"invalid magic number" in opt(str(kernel)).stderr


def test_several_modules_are_no_file(tmp_path: Path, opt: Opt):
    (tmp_path / "two.mlir").write_text(f"{TEXT}// -----\n{TEXT}")
    run = opt(str(tmp_path / "two.mlir"), "--split-input-file", "-t", "tileirbc")
    assert run.returncode == 1
    assert run.stderr == b"error: 'tileirbc' expected one module for a file, got 2\n"
