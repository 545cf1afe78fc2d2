"""Makes faults.py importable, which --import-mode=importlib does not; kernels without checks."""

import sys
from pathlib import Path

import pytest

from tilewright import pipeline

sys.path.append(str(Path(__file__).parent))

CHECKS = ("cute-nvgpu-check-tmem", "cute-nvgpu-check-hazards")


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower what the checks reject, so that the interpreter must find it."""
    kept = tuple(stage for stage in pipeline.PIPELINE if stage.name not in CHECKS)
    assert len(kept) == len(pipeline.PIPELINE) - len(CHECKS)
    monkeypatch.setattr(pipeline, "PIPELINE", kept)
