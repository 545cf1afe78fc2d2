"""What the interpreter copies by tensor maps that kernels make is what an H200 copied."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pytest
from covering import covering
from made_maps import MADE_MAPS, MadeMap

import tilewright as tw

_RECORDED = np.load(Path(__file__).parent / "fixtures" / "made_maps.npz")
CHANGES = dict(
    zip(_RECORDED["names"], np.split(_RECORDED["changed"], _RECORDED["ends"][:-1]), strict=True)
)


def differences(made: MadeMap) -> list[Hashable]:
    return [*made[1:-1], *(made.numbers.get(name) for name in NUMBERS)]


NUMBERS = sorted({name for made in MADE_MAPS for name in made.numbers})


@pytest.mark.parametrize("made", covering(MADE_MAPS, differences), ids=lambda made: made.name)
def test_copies_are_those_of_the_chip(made: MadeMap):
    """What traps there is an error here."""
    run = {"grid": (1,), "block": (32,), "args": made.arguments(), "arch": "sm_90a"}
    if not len(changed := CHANGES[made.name]):
        with pytest.raises(tw.ExecutionError):
            tw.interpret(made.text, **run)
    else:
        np.testing.assert_array_equal(made.result(tw.interpret(made.text, **run)), changed)
