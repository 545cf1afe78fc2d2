"""What the interpreter copies by `im2col` is what an H200 copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_copies import IMAGE_COPIES, ImageCopy
from numpy.testing import assert_array_equal

import tilewright as tw

RECORDED = np.load(Path(__file__).parent / "fixtures" / "image_copies.npz")


@pytest.mark.parametrize("copy", IMAGE_COPIES, ids=lambda copy: copy.name)
def test_pixels_are_those_of_the_chip(copy: ImageCopy):
    outputs = tw.interpret(copy.text, grid=(1,), block=(32,), args=copy.arguments(), arch="sm_90a")
    assert_array_equal(copy.result(outputs), RECORDED[copy.name])


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
def test_where_the_chip_traps(change: dict[str, Any], message: str):
    """All but the offset, of which an H200 drops the upper bits."""
    copy = STORE._replace(offsets=(0, 0))._replace(**change)
    with pytest.raises(tw.ExecutionError, match=message):
        tw.interpret(copy.text, grid=(1,), block=(32,), args=copy.arguments(), arch="sm_90a")


def _of_a_row(
    mode: str, width: int, height: int, begin: int, box: tuple[int, int, int], halo: int, more: int
) -> np.ndarray:
    """The first channels of the pixels that a copy along W reads, of 64 images; the box is its
    lower and upper corner and the stride."""
    lower, upper, step = box
    of = ImageCopy(mode, "load", (64, height, width, 16), (128, 16), (7, 2, begin, 0), (halo, more),
                   (0, lower), (0, upper), (1, step), swizzle=32)  # fmt: skip
    text = of.text.replace(".im2col.", f".{mode}.").replace("version 8.0", "version 8.6")
    tensor = np.arange(1, 64 * height * width * 16 + 1, dtype=np.uint32).reshape(of.shape)
    map_ = tw.TensorMap(tensor.astype(np.uint16), box=of.box, swizzle=32,
                        im2col=tw.Im2col(of.lower, of.upper, of.steps, mode))  # fmt: skip
    pieces = 128 + halo * (4 if mode == "im2col::w::128" else 1)
    out = np.zeros(pieces * 16, np.uint16)
    _, numbers = of.arguments()[1:3]
    args = [map_, out, numbers, out.nbytes]
    result = tw.interpret(text.replace("sm_90a", "sm_100a"), grid=(1,), block=(32,), args=args)[1]
    chunks = result.reshape(-1, 8)
    place = np.arange(len(chunks))
    return chunks[place ^ place // 8 % 2].reshape(-1, 16)


def _expected(width: int, height: int, places: list[list[int]]) -> np.ndarray:
    """The channels of pixels of row 2, by image and place."""
    tensor = np.arange(1, 64 * height * width * 16 + 1, dtype=np.uint32).astype(np.uint16)
    images = np.pad(tensor.reshape(64, height, width, 16)[:, 2], ((0, 0), (2, 4), (0, 0)))
    return np.stack([images[image, place + 2] for image, place in places])


def _row(width: int, begin: int, lower: int, upper: int, step: int) -> list[list[int]]:
    """Images and places from image 7 on."""
    last = width - 1 + upper
    first = [[7, place] for place in range(begin, last + 1, step)]
    rest = [[image, place] for image in range(8, 64) for place in range(lower, last + 1, step)]
    return first + rest


def test_pixels_of_a_row_are_those_of_the_isa_s_examples():
    """PTX ISA 5.5.5.3 and 5.5.5.4: fewer channels, images of 16 bits; a halo is what follows."""
    whole = _row(7, 3, 0, 0, 1)
    assert_array_equal(
        _of_a_row("im2col::w", 7, 9, 3, (0, 0, 1), 2, 0), _expected(7, 9, whole[:130])
    )
    two = _row(67, -1, -1, 0, 2)
    for halo, more in ((1, 0), (0, 1)):
        moved = [[image, place + more] for image, place in two[: 128 + halo]]
        got = _of_a_row("im2col::w", 67, 9, -1, (-1, 0, 2), halo, more)
        assert_array_equal(got, _expected(67, 9, moved))
    three = _row(7, -1, -1, -1, 3)[:128]
    for more in (0, 1, 2):
        moved = [[image, place + more] for image, place in three]
        got = _of_a_row("im2col::w", 7, 7, -1, (-1, -1, 3), 0, more)
        assert_array_equal(got, _expected(7, 7, moved))
    groups = _row(40, 0, 0, 0, 1)
    halos = [one for at in (0, 32, 64, 96) for one in groups[at : at + 34]]
    assert_array_equal(
        _of_a_row("im2col::w::128", 40, 9, 0, (0, 0, 1), 2, 0), _expected(40, 9, halos)
    )


@pytest.mark.parametrize(("given", "message"), [
    (("im2col::w::128", 7, 9, 3, (0, 0, 1), 2, 0), "PTX does not say where those beyond are"),
    (("im2col::w", 7, 9, 7, (0, 0, 1), 0, 0), "expected pixels up to 6, as the tensor map has"),
    (("im2col::w", 7, 9, 3, (0, 0, 1), 512, 0), "expected wHalo below 512 and wOffset below 32"),
    (("im2col::w::128", 7, 9, 3, (0, 0, 1), 0, 32), "expected wHalo below 32 and wOffset below"),
])  # fmt: skip
def test_pixels_of_a_row_that_are_refused(given: Any, message: str):
    with pytest.raises(tw.ExecutionError, match=message):
        _of_a_row(*given)


def test_tensor_maps_of_pixels_of_a_row():
    with pytest.raises(tw.TensorMapError, match="expected a swizzle for im2col::w, got none"):
        tw.TensorMap(np.zeros((2, 3, 4, 16), np.uint16), box=(8, 16),
                     im2col=tw.Im2col((0, 0), (0, 0), mode="im2col::w"))  # fmt: skip
