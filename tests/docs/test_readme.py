"""The README's examples print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from tilewright.tools import tilewright, tilewright_opt

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = {"tilewright": tilewright.main, "tilewright-opt": tilewright_opt.main}


def _blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def _run(command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What one of our commands prints, on either stream."""
    program, *arguments = shlex.split(command)
    monkeypatch.chdir(ROOT)
    output = io.StringIO()
    streams = contextlib.redirect_stdout(output), contextlib.redirect_stderr(output)
    with streams[0], streams[1], contextlib.suppress(SystemExit):
        COMMANDS[program](arguments)
    return output.getvalue()


def test_first_example_is_the_file() -> None:
    assert (ROOT / "examples" / "mma.mlir").read_text() == _blocks("mlir")[0]


def _consoles() -> list[tuple[str, list[str]]]:
    """(command, what it shows) of every command of ours; `...` stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for block in _blocks("console"):
        command, _, shown = block.partition("\n")
        command = command.removeprefix("$ ")
        if command.split()[0] in COMMANDS:
            found.append((command, [part.strip("\n") for part in shown.split("...\n")]))
    return found


def test_readme_shows_commands() -> None:
    assert len(_consoles()) >= 2


@pytest.mark.parametrize("command, shown", _consoles())
def test_command_prints_what_is_shown(
    command: str, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = _run(command, monkeypatch)
    for part in shown:
        assert part in printed


def test_python_example_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(_blocks("python")[0], "README.md", "exec"), {})
    assert output.getvalue() == _blocks("text")[0]


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
