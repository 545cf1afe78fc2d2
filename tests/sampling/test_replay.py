"""The replay of tests on an executor."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import replay

FAILS_ON_3 = "import sys; print(*sys.argv[1:], 'ran'); sys.exit('3' in sys.argv)"


def test_a_replay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Every test is in one batch, and a batch that fails is told."""
    monkeypatch.setattr(replay, "collected", lambda words: list("123456"))
    monkeypatch.setattr(replay, "PYTEST", (sys.executable, "-Sc", FAILS_ON_3))
    monkeypatch.setattr(replay, "executor_of", lambda name: ThreadPoolExecutor(1))
    assert replay.main([]) == 1
    assert capsys.readouterr().out.split("\n") == [
        "1 5 ran", "2 6 ran", "3 ran", "", "4 ran",
        "6 tests in 4 batches, of which 1 failed", "",
    ]  # fmt: skip
