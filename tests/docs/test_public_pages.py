"""The stable API: the page sees a name that goes, a signature that changes, a deprecation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from public_pages import api_page
from typing_extensions import deprecated

import tilewright as tw

ROOT = Path(__file__).parents[2]
LISTED = (ROOT / "docs" / "api.md").read_text()
PUBLIC: dict[str, Any] = {name: getattr(tw, name) for name in tw.__all__}


def test_every_public_name_is_listed():
    assert re.findall(r"^## `(\w+)`$", LISTED, flags=re.MULTILINE) == tw.__all__


def interpret(module: str, kernel: str, *, grid: int) -> None:
    """Another signature."""


@pytest.mark.parametrize(
    "changed",
    [
        {name: value for name, value in PUBLIC.items() if name != "sparsify"},
        {**PUBLIC, "interpret": interpret},
        {**PUBLIC, "simulate": deprecated("use interpret")(interpret)},
    ],
    ids=["vanished", "signature", "deprecated"],
)
def test_the_list_is_another_where_the_api_is(changed: dict[str, Any]):
    assert api_page(changed) != LISTED == api_page()


def test_a_deprecation_is_told():
    page = api_page({"old": deprecated("use `interpret`")(interpret)})
    assert "## `old`\n\n**Deprecated:** use `interpret`\n" in page


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert headings[0] == tw.__version__
