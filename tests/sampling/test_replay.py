"""The replay of tests on an executor."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay import main


def test_a_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_right():\n    pass\n\ndef test_wrong():\n    assert 0\n"
    )
    assert main([str(tmp_path), "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "FAILED" in said and "test_wrong" in said
    assert said.endswith("2 tests in 2 batches, of which 1 failed\n")
