"""Makes faults.py importable, which --import-mode=importlib does not; patience that ends soon."""

import pytest

from tilewright.lowering.interpreter.machine import livelock, schedule


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who spins lets others run, and is looked at, ten times as soon."""
    monkeypatch.setattr(livelock, "FIRST", livelock.FIRST // 10)
    monkeypatch.setattr(schedule, "PATIENCE", schedule.PATIENCE // 10)
