"""Makes the modules beside this file importable, which --import-mode=importlib does not; and the
assembler as these tests ask it: whether a text is legal, which takes no optimizing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tilewright.launch.ptxas import PtxasReport, assemble, find_ptxas

sys.path.append(str(Path(__file__).parent))


@pytest.fixture(scope="session")
def ptxas() -> Callable[..., PtxasReport]:
    """`tilewright.launch.ptxas.assemble` at -O0. Without a ptxas, every test that asks for it fails."""
    find_ptxas()
    return partial(assemble, verbose=False, options=["-O0"])
