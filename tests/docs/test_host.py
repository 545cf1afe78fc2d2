"""The examples of docs/host.md print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "host.md").read_text()
PYTHON, TEXT = (
    re.findall(rf"^```{name}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    for name in ("python", "text")
)


@pytest.mark.parametrize("code, shown", list(zip(PYTHON, TEXT, strict=True)))
def test_an_example_prints_what_is_shown(code: str, shown: str):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "host.md", "exec"), {})
    assert output.getvalue() == shown
