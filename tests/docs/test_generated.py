"""The reference pages are as docs/generate.py writes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = _generator().PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run python docs/generate.py"
