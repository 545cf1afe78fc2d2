"""Every command of ours that a page of the documentation shows runs, and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from page_examples import ROOT, blocks_of, consoles, ran, words_of

from tilewright.tools.commands.parsers import command_module, command_parser

ELSEWHERE = {
    "conformance lattice --family mma": "minutes; test_command_conformance.py asks a part",
    "conformance lattice --sample 5000": "a minute; test_command_conformance.py asks a part",
    "--level ptx": "test_cuda_tile_fixtures.py",
    "--assemble sm_90a,sm_120a": "test_cuda_tile_fixtures.py",
    "-o report.html --grid": "seconds of a GEMM; test_command_report.py runs others",
}
"""Commands that only their arguments are looked at of, by words in them: what runs them."""
PAGES = sorted((ROOT / "docs").glob("*.md"))
SHOWN = [
    (page.name, command, parts)
    for page in PAGES
    if page.name != "cutile.md"  # test_cutile.py
    for command, parts in consoles(blocks_of(page))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "kernel.mlir").write_text("func.func @k() {\n  func.return\n}\n")
    for name, array in (("x", np.arange(100)), ("y", np.ones(100))):
        np.save(folder / f"{name}.npy", array.astype(np.float32))
    return folder


def test_pages_show_commands():
    assert len(SHOWN) >= 15
    commands = [command for _, command, _ in SHOWN]
    assert all(any(words in command for command in commands) for words in ELSEWHERE)


@pytest.mark.parametrize(
    "page, command, parts", SHOWN, ids=[f"{page}-{command[:60]}" for page, command, _ in SHOWN]
)
def test_command(
    page: str, command: str, parts: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    if any(words in command for words in ELSEWHERE):
        _, name, *rest = words_of(command)
        command_parser(name, command_module(name)).parse_intermixed_args(rest)
        return
    status, printed = ran(command)
    assert status in (None, 0), printed
    for part in parts:
        assert part in printed
