"""Every tutorial runs as it stands: its code in one go and its commands print what is shown."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from page_examples import ROOT, blocks_of, consoles, printed_by_code, printed_by_command

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    ran = 0
    for (language, text), (next_language, shown) in pairwise([*blocks_of(page), ("", "")]):
        if language == "python":
            printed = printed_by_code(text, page.name, names)
            assert printed == (shown if next_language == "text" else ""), text
            ran += 1
        for command, parts in consoles([(language, text)]):
            printed = printed_by_command(command)
            for part in parts:
                assert part in printed, command
            for drawing in re.findall(r"--svg (\S+)", command):
                assert (tmp_path / drawing).read_text().startswith("<svg")
            ran += 1
    assert ran >= 3


def test_the_site_finds_words_of_code():
    settings = (ROOT / "mkdocs.yml").read_text()
    [separator] = re.findall(r"separator: '(.*)'", settings)
    words = re.split(separator, "`ct.load(a, (i,), padding_mode=ct.PaddingMode.ZERO)`")
    assert {"load", "padding_mode", "PaddingMode", "ZERO"} <= set(words)
    assert "  __pycache__/\n" in settings and settings.count("toggle:") == 2


def test_the_site_has_every_page():
    named = set(re.findall(r"^ *- ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert named == docs | {"index.md", "CHANGELOG.md", "CONTRIBUTING.md"}
