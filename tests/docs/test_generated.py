"""The reference pages are as docs/generate.py writes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generate import PAGES
from op_pages import DIALECTS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str):
    assert (DOCS / name).read_text() == PAGES[name](), "run python docs/generate.py"


def test_every_op_has_its_law_and_how_it_is_written():
    pages = [(DOCS / f"ops_{name}.md").read_text() for name in DIALECTS]
    entries = [entry for page in pages for entry in re.split(r"^## ", page, flags=re.M)[1:]]
    assert len(entries) > 270
    for entry in entries:
        name, law, *written = entry.split("\n\n", 2)
        assert law.strip(), name
        assert f"{name.strip('`')}" in law or any(name.strip("`") in text for text in written), name
