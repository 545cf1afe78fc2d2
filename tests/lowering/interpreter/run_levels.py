"""The levels at which tests run a kernel."""

from typing import Any

import pytest

LEVELS = ("atom", "ptx")


def at_levels(*levels: str) -> Any:
    """Runs a test once at each of the levels, by default at those of instructions."""
    return pytest.mark.parametrize("level", levels or LEVELS)
