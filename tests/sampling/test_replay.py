"""The replay of tests on an executor."""

from __future__ import annotations

import pytest
import replay


def test_a_replay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every test is in one batch, and a batch that fails is told."""
    names = [
        f"tests/sampling/test_campaign.py::test_{word}"
        for word in ("none", "what_hangs_is_stopped")
    ]
    monkeypatch.setattr(replay, "collected", lambda words: names)
    assert replay.main(["--jobs", "2"]) == 1
    said = capsys.readouterr().out
    assert "test_none" in said and "1 passed" in said
    assert said.endswith("2 tests in 2 batches, of which 1 failed\n")
