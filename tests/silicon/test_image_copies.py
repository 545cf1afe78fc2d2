"""What the interpreter copies by `im2col` is what an H200 copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_copies import IMAGE_COPIES, ImageCopy

import tilewright as tw

RECORDED = np.load(Path(__file__).parent / "fixtures" / "image_copies.npz")


@pytest.mark.parametrize("copy", IMAGE_COPIES, ids=lambda copy: copy.name)
def test_pixels_are_those_of_the_chip(copy: ImageCopy) -> None:
    outputs = tw.interpret(copy.text, grid=(1,), block=(32,), args=copy.arguments(), arch="sm_90a")
    np.testing.assert_array_equal(copy.result(outputs), RECORDED[copy.name])


STORE = next(copy for copy in IMAGE_COPIES if copy.op == "store")


@pytest.mark.parametrize(("change", "message"), [
    ({"coordinates": (0, 7, 7, 0)}, "expected pixels from 0 to 6"),
    ({"coordinates": (0, 4, -1, 0)}, "expected pixels from 0 to 8"),
    ({"coordinates": (-1, 4, 7, 0)}, "expected pixels of the tensor .* got image -1"),
    ({"lower": (-1, -1)}, "expected pixels of the tensor for im2col_no_offs"),
    ({"upper": (1, 1)}, "expected pixels of the tensor for im2col_no_offs"),
    ({"coordinates": (0, 4, 7, 4)}, "innermost coordinate that is a multiple of 8"),
    ({"op": "load", "offsets": (256, 0)}, "expected offsets of 8 bits, got 256"),
])  # fmt: skip
def test_where_the_chip_traps(change: dict[str, Any], message: str) -> None:
    """All but the offset, of which an H200 drops the upper bits."""
    copy = STORE._replace(offsets=(0, 0))._replace(**change)
    with pytest.raises(tw.ExecutionError, match=message):
        tw.interpret(copy.text, grid=(1,), block=(32,), args=copy.arguments(), arch="sm_90a")
