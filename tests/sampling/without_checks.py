"""Kernels that the static checks reject, for what has to find their faults when they run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tilewright import pipeline

CHECKS = ("cute-nvgpu-check-tmem", "cute-nvgpu-check-hazards")


@contextmanager
def without_checks() -> Generator[None]:
    """Compile and lower without them."""
    kept = tuple(stage for stage in pipeline.PIPELINE if stage.name not in CHECKS)
    assert len(kept) == len(pipeline.PIPELINE) - len(CHECKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "PIPELINE", kept)
        yield
