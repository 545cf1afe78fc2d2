"""The boxes of a tile: what the hardware lays down, box by box, is the layout of the tile."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutError, parse_layout
from tilewright.dialects.cute.atoms import TmaBox
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.tma import TmaInstruction, box_for, tensor_box

ROW_MAJOR = Layout((1 << 20, 1 << 20), (1 << 20, 1))
COLUMN_MAJOR = Layout((1 << 20, 1 << 20), (1, 1 << 20))

TILES = {
    "one box": (ROW_MAJOR, "S<3,3,3> o 0 o (128,64):(64,1)", (128, 64)),
    "two of its swizzle": (ROW_MAJOR, "S<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))", (64, 64)),
    "atoms of eight rows": (ROW_MAJOR, "S<3,3,3> o 0 o ((8,4),64):((64,512),1)", (32, 64)),
    "narrow": (ROW_MAJOR, "S<1,3,3> o 0 o (32,(16,2)):(16,(1,512))", (32, 16)),
    "without a swizzle": (ROW_MAJOR, "(64,32):(32,1)", (64, 32)),
    "longer than a box": (ROW_MAJOR, "S<2,3,3> o 0 o (512,32):(32,1)", (256, 32)),
    "along columns": (COLUMN_MAJOR, "S<3,3,3> o 0 o (64,32):(1,64)", (32, 64)),
    "columns of two": (COLUMN_MAJOR, "S<3,3,3> o 0 o ((64,2),16):((1,1024),64)", (16, 64)),
}


def laid_down(box: TmaBox, index: int) -> int:
    """Where the hardware puts an element of a box: densely, bits 7 and up of the byte's address
    onto bits 4 and up."""
    byte = 2 * index
    bits = (box.swizzle // 16).bit_length() - 1 if box.swizzle else 0
    return (byte ^ ((byte >> 7) & ((1 << bits) - 1)) << 4) // 2


@pytest.mark.parametrize("name", TILES)
def test_boxes_make_the_tile(name: str):
    tensor, text, extents = TILES[name]
    layout = parse_layout(text)
    tile = tuple(layout[mode].size() for mode in (0, 1))
    box = box_for(tensor, tile, layout, "bf16")
    assert box.extents == extents
    of_mode = dict(zip(box.modes, box.extents, strict=True))
    plain = layout.outer if isinstance(layout, ComposedLayout) else layout
    seen = 0
    for start in product(*(range(0, tile[mode], of_mode[mode]) for mode in (0, 1))):
        first = plain(start)
        for place, inside in enumerate(product(*map(range, box.extents))):
            at = list(start)
            for mode, step in zip(box.modes, inside, strict=True):
                at[mode] += step
            assert layout(tuple(at)) == laid_down(box, first + place)
            seen += 1
    assert seen == layout.size()


def test_further_modes_are_one_long():
    batched = Layout((64, 64, 64), (64, 1, 4096))
    box = box_for(batched, (64, 64), parse_layout("S<3,3,3> o 0 o (64,64):(64,1)"), "bf16")
    assert (box.extents, box.modes) == ((64, 1, 64), (0, 2, 1))
    assert str(box) == "64x1x64xbf16, swizzle = 128, modes = [0, 2, 1]"


@settings(deadline=None)
@given(st.sampled_from(sorted(TILES)), st.sampled_from(sorted(TILES)))
def test_a_box_is_legal_for_tensor_maps(one: str, other: str):
    tensor, text, _ = TILES[one]
    layout = parse_layout(text)
    tile = tuple(layout[mode].size() for mode in (0, 1))
    assert tensor_box(box_for(tensor, tile, layout, "bf16")).bytes > 0
    wrong = parse_layout(TILES[other][1])
    if tuple(wrong[mode].size() for mode in (0, 1)) != tile:
        with pytest.raises(LayoutError, match="shared memory of the tile"):
            box_for(tensor, tile, wrong, "bf16")


@pytest.mark.parametrize(
    ("tensor", "text", "message"),
    [
        ("(64,64):(64,2)", "(64,64):(64,1)", "one mode of stride 1"),
        ("((8,8),64):((64,512),1)", "(64,64):(64,1)", "one extent each"),
        ("(64,64):(64,1)", "S<3,2,3> o 0 o (64,64):(64,1)", "memory through S<3,3,3>"),
        ("(64,64):(64,1)", "(64,64):(1,64)", "whole 16 bytes"),
        ("(64,64):(64,1)", "S<3,3,3> o 0 o (64,32):(32,1)", "tile"),
    ],
)
def test_what_no_box_copies(tensor: str, text: str, message: str):
    with pytest.raises(LayoutError, match=message):
        box_for(Layout.parse(tensor), (64, 64), parse_layout(text), "bf16")


def test_what_is_no_instruction():
    with pytest.raises(AtomError, match="a reduction of add"):
        TmaInstruction("reduce")
    with pytest.raises(AtomError, match="with reduce alone, got add"):
        TmaInstruction("load", "add")
    with pytest.raises(AtomError, match="multicast with a load alone"):
        TmaInstruction("store", multicast=True)
