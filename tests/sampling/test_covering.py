"""Cases that `make test` takes of many."""

from __future__ import annotations

import covering
import pytest

SUITE = """
import pytest

@pytest.mark.covered
@pytest.mark.parametrize("letter", "abc")
@pytest.mark.parametrize("number, sign", [(0, "+"), (1, "-"), (2, "+"), (3, "-")])
def test_product(letter, number, sign): ...

@pytest.mark.parametrize("letter", "ab")
@pytest.mark.parametrize("number", [0, 1])
def test_all(letter, number): ...
"""


@pytest.mark.parametrize("thorough", [False, True])
def test_every_row_of_a_product_is_shown(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *, thorough: bool
):
    monkeypatch.setattr(covering, "THOROUGH", thorough)
    names = [item.name for item in covering.shown(pytester.getitems(SUITE))]
    cases = [name.rstrip("]").split("[")[1].split("-", 1) for name in names[:-4]]
    assert len(cases) == (12 if thorough else 4)
    assert {number for number, _ in cases} == {*"0123"}
    assert {letter[-1] for _, letter in cases} == {*"abc"}
    assert all(name.startswith("test_all[") for name in names[-4:])
