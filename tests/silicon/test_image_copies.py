"""What the interpreter copies by `im2col` is what an H200 copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from image_copies import IMAGE_COPIES, ImageCopy

import tilewright as tw

RECORDED = np.load(Path(__file__).parent / "fixtures" / "image_copies.npz")


@pytest.mark.parametrize("copy", IMAGE_COPIES, ids=lambda copy: copy.name)
def test_pixels_are_those_of_the_chip(copy: ImageCopy) -> None:
    outputs = tw.interpret(copy.text, grid=(1,), block=(32,), args=copy.arguments(), arch="sm_90a")
    np.testing.assert_array_equal(copy.result(outputs), RECORDED[copy.name])
