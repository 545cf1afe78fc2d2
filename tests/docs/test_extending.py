"""The code of docs/extending.md runs as it stands, and prints what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs():
    """In a process of its own: it adds a dialect and rules."""
    code = "\n".join(text for kind, text in BLOCKS if kind == "python")
    shown = "".join(text for kind, text in BLOCKS if kind == "text")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown
