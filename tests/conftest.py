"""What all tests share: the assembler as an oracle."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.ptxas import PtxasReport, assemble, find_ptxas


@pytest.fixture(scope="session")
def ptxas() -> Callable[..., PtxasReport]:
    """`tilewright.ptxas.assemble`. Without a ptxas, every test that asks for it is an error."""
    find_ptxas()
    return assemble
