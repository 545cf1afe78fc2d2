"""Makes the modules beside this file importable, which --import-mode=importlib does not; and the
assembler as these tests ask it: whether a text is legal, which takes no optimizing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from tilewright.launch.ptxas import PtxasReport, assemble, find_ptxas


@pytest.fixture(scope="session")
def ptxas() -> Callable[..., PtxasReport]:
    """`ptxas.assemble` at -O0. Without a ptxas, every test that asks for it fails."""
    find_ptxas()
    return partial(assemble, verbose=False, options=["-O0"])
