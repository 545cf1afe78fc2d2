"""A kernel under several schedules: the first that fails or differs is told, with its seed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright.schedules import under_schedules

RESULTS = {None: 1.0, 5: 1.0, 6: -0.0}


def results(schedule: int | None) -> list[NDArray[Any]]:
    if schedule not in RESULTS:
        raise tw.ExecutionError("deadlock")
    return [np.zeros(2, np.int8), np.array([[1, RESULTS[schedule]]], np.float32)]


def test_those_that_agree():
    assert under_schedules(results, 5, 1, "ab")[1][0, 1] == 1


def test_one_alone_is_compared_with_nothing():
    assert under_schedules(results, 6, 0, "ab")[1][0, 1] == 0


@pytest.mark.parametrize(
    "first, message",
    [(4, "deadlock\nnote: under schedule 4"),
     (None, "deadlock\nnote: under schedule 0"),
     (5, "schedule 6 expected b[0, 1] = 1.0 (0x3f800000) as in the order of the text, got -0.0 "
         "(0x80000000) (1 of 2 elements differ, this one first)")],
)  # fmt: skip
def test_the_first_that_fails_or_differs(first: int | None, message: str):
    with pytest.raises(tw.ExecutionError, match=f"^{re.escape(message)}$"):
        under_schedules(results, first, 3, "ab")
