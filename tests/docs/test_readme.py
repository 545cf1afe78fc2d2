"""The README's examples print what it shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from page_examples import ROOT, blocks_of, consoles, printed_by_command

BLOCKS = blocks_of(ROOT / "README.md")
CONSOLES = consoles(BLOCKS)


def _blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def test_first_example_is_the_file():
    assert (ROOT / "examples" / "mma.mlir").read_text() == _blocks("mlir")[0]


def test_readme_shows_commands():
    assert len(CONSOLES) >= 2


@pytest.mark.parametrize("command, shown", CONSOLES)
def test_command_prints_what_is_shown(
    command: str, shown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    printed = printed_by_command(command)
    for part in shown:
        assert part in printed


def test_make_says_what_it_makes():
    """Every target that the pages name, with nothing set up."""
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = {line.partition(":")[0] for line in done.stdout.splitlines()}
    pages = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    named = {"help", *re.findall(r"^\$ make ([\w-]+)", pages, re.MULTILINE)}
    assert {"demo", "test", "docs"} <= named <= listed


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"`[^`\n]*`", "", page.read_text())
        for link in re.findall(r"\]\((?!https?:)([^)#\s]+)\)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
