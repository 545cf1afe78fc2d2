"""Descriptors: their bits, the addresses they stand for, and the layouts they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, coalesce, parse_layout
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    BIT_FIELDS,
    CHUNK,
    MAJOR_MODES,
    ROWS,
    SWIZZLE_MODES,
    TCGEN05,
    WGMMA,
    DescriptorError,
    DescriptorFormat,
    SmemDescriptor,
    SwizzleMode,
)
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import solve

WIDTHS = (1, 8, 16, 32)

descriptors = st.builds(
    SmemDescriptor,
    st.integers(0, (1 << 14) - 1).map(lambda each: each * CHUNK),
    st.integers(0, (1 << 14) - 1).map(lambda each: each * CHUNK),
    st.integers(0, (1 << 14) - 1).map(lambda each: each * CHUNK),
    st.sampled_from(SWIZZLE_MODES),
    st.integers(0, 7),
)


def test_the_bits_are_those_of_the_ptx_isa():
    word = SmemDescriptor(0x400, 0x80, 0x1000, 128, 5).encode()
    assert word == 0x40 | 0x8 << 16 | 0x100 << 32 | 5 << 49 | 1 << 62
    assert [field.bits for field in BIT_FIELDS] == ["13-0", "29-16", "45-32", "51-49", "63-62"]


@given(descriptors)
def test_decoding_gives_back_what_was_encoded(descriptor: SmemDescriptor):
    assert SmemDescriptor.decode(descriptor.encode()) == descriptor


@pytest.mark.parametrize(
    "field, message",
    [
        ({"start_address": 8}, "a multiple of 16 below 0x40000 for the matrix start address"),
        ({"leading_byte_offset": 1 << 18}, r"got 0x40000; nearest legal: 0x3fff0"),
        ({"stride_byte_offset": -16}, "got -0x10; nearest legal: 0x0"),
        ({"swizzle": 256}, "expected a swizzle of 0, 32, 64, 128 bytes, got 256.*legal: 128"),
        ({"base_offset": 8}, "expected 0 to 7 for the matrix base offset, got 0x8"),
    ],
)
def test_what_the_word_cannot_hold(field: dict[str, int], message: str):
    plain = {"start_address": 0, "leading_byte_offset": 16, "stride_byte_offset": 16}
    with pytest.raises(DescriptorError, match=message):
        SmemDescriptor(**(plain | field))


@pytest.mark.parametrize(
    "word, message", [(1 << 64, "a word of 64 bits"), (1 << 46, "bits 46 set"), (-1, "64 bits")]
)
def test_words_that_are_no_descriptor(word: int, message: str):
    with pytest.raises(DescriptorError, match=message):
        SmemDescriptor.decode(word)


@st.composite
def tiles(draw: st.DrawFn) -> tuple[Layout | ComposedLayout, int, str, int]:
    """A tile that a descriptor expresses, padded or not: its layout, the width of its elements, its
    major-ness, and where the memory that it indexes starts."""
    bits = draw(st.sampled_from(WIDTHS))
    major = draw(st.sampled_from(MAJOR_MODES))
    swizzle = draw(st.integers(0, 3))
    chunk = 8 * CHUNK // bits
    row = chunk << swizzle
    runs, groups = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    inside = row if runs > 1 else draw(st.integers(1, 1 << swizzle)) * chunk
    first, second = (draw(st.integers(1, 64)) * chunk for _ in range(2))
    along = ((inside, runs), (1, first))
    across = ((ROWS, groups), (row, second))
    modes = (across, along) if major == "k" else (along, across)
    outer = Layout(tuple(shape for shape, _ in modes), tuple(step for _, step in modes))
    if draw(st.booleans()):
        outer = Layout(
            tuple(coalesce(mode).shape for mode in outer),
            tuple(coalesce(mode).stride for mode in outer),
        )
    offset = draw(st.integers(0, 32)) * chunk
    pattern = 128 if swizzle else CHUNK
    address = draw(st.integers(0, 100)) * pattern
    if not swizzle and not offset:
        return outer, bits, major, address
    base = 4 - (bits.bit_length() - 4)
    inner = Swizzle(swizzle, base, 3) if swizzle else Swizzle(0, 4, 3)
    return ComposedLayout(inner, offset, outer), bits, major, address


@given(tiles())
def test_a_layout_comes_back_as_addresses(
    tile: tuple[Layout | ComposedLayout, int, str, int],
):
    layout, bits, major, address = tile
    mn, k = (layout[mode].size() for mode in (0, 1))
    found = solve(layout, bits, major)  # type: ignore[arg-type]
    descriptor = found.at(address)
    # The layout swizzles offsets from the memory's start, the hardware addresses.
    plain = layout.outer if isinstance(layout, ComposedLayout) else layout
    offsets = plain[0](np.arange(mn))[:, None] + plain[1](np.arange(k))[None, :]
    if isinstance(layout, ComposedLayout):
        offsets = layout.inner(layout.offset + offsets)
    assert_array_equal(
        descriptor.addresses(found.major, (mn, k), bits), 8 * address + offsets * bits
    )


@pytest.mark.parametrize(
    "text, lead, stride",
    [
        ("S<0,4,3> o 0 o ((8,2),(4,4)):((4,32),(1,64))", 16, 8),
        ("S<1,2,3> o 0 o ((8,2),(4,2)):((8,64),(1,4))", 1, 16),
    ],
)
def test_the_examples_of_the_ptx_isa_on_tf32(text: str, lead: int, stride: int):
    _check_example(text, 32, lead, stride)


@pytest.mark.parametrize(
    "text, lead, stride",
    [
        ("S<0,4,3> o 0 o ((8,1,2),(8,2)):((1,8,64),(8,128))", 16, 8),
        ("S<1,3,3> o 0 o ((8,2,2),(8,2)):((1,8,128),(16,256))", 16, 32),
        ("S<2,3,3> o 0 o ((8,4,2),(8,2)):((1,8,256),(32,512))", 32, 64),
    ],
)
def test_the_examples_of_the_ptx_isa_on_bf16(text: str, lead: int, stride: int):
    _check_example(text, 16, lead, stride)


def _check_example(text: str, bits: int, lead: int, stride: int) -> None:
    word = solve(parse_layout(text), bits).at(0).encode()
    assert (word >> 16 & 0x3FFF, word >> 32 & 0x3FFF) == (lead, stride)


def test_a_k_block_inside_a_swizzle_atom_advances_the_start_address():
    tile = solve(parse_layout("S<3,3,3> o 32 o (64,16):(64,1)"), 16)
    assert tile.at(0x400).start_address == 0x440
    assert tile.at(0x400).base_offset == 0


def test_a_pattern_off_its_boundary_has_a_base_offset():
    tile = solve(parse_layout("S<3,3,3> o 0 o (64,16):(64,1)"), 16)
    assert tile.at(0x480).base_offset == 1
    assert tile.at(0x800).base_offset == 0
    with pytest.raises(DescriptorError, match="a multiple of 128 bytes under a swizzle, got 0x440"):
        tile.at(0x440)


@pytest.mark.parametrize(
    "text, bits, message",
    [
        ("(64,16):(16,1)", 16, "mode mn of .8,i.:.8,SBO., got 64:16"),
        ("(64,16):(2,128)", 16, "MN-major: expected mode mn of .8,i.:.1,SBO., got 64:2"),
        ("S<3,4,3> o 0 o (64,64):(64,1)", 16, "got S<3,4,3> on elements of 16 bits.*S<3,3,3>"),
        ("S<3,3,3> o 4 o (64,16):(64,1)", 16, "starts at a multiple of 8 elements, got one at 4"),
        ("S<3,3,3> o 0 o (64,16):(65,1)", 16, "mode mn of .8,i.:.64,SBO., got 64:65"),
        ("(8,8,2):(8,1,64)", 16, "two modes"),
        ("((8,8),(8,2)):((8,64),(1,300000))", 16, "leading dimension byte offset.*got 0x927c0"),
        ("((8,8),(8,2)):((8,60),(1,64))", 16, "a multiple of 16 below 0x40000 for the stride"),
    ],
)
def test_layouts_that_no_descriptor_expresses(text: str, bits: int, message: str):
    with pytest.raises(DescriptorError, match=message):
        solve(parse_layout(text), bits)


def test_extents_that_are_no_whole_chunks():
    descriptor = SmemDescriptor(0, 16, 128)
    with pytest.raises(DescriptorError, match="whole chunks of 8 elements along the K mode"):
        descriptor.layout("k", (64, 12), 16)


# tcgen05

offsets = st.integers(0, (1 << 14) - 1).map(lambda each: each * CHUNK)


@given(offsets, offsets, offsets, st.sampled_from(TCGEN05.swizzles), st.integers(0, 7),
       st.integers(0, 1))  # fmt: skip
def test_tcgen05_decoding_gives_back_what_was_encoded(
    start: int, lead: int, stride: int, mode: SwizzleMode, base: int, absolute: int
):
    held = SmemDescriptor(
        start, lead, stride, mode.width, base, mode.atom, absolute, format=TCGEN05
    )
    assert SmemDescriptor.decode(held.encode(), TCGEN05) == held


def test_the_bits_of_tcgen05():
    assert [field.bits for field in TCGEN05.fields] == [
        "13-0", "29-16", "45-32", "48-46", "51-49", "52", "63-61"
    ]  # fmt: skip
    held = SmemDescriptor(0x400, CHUNK, 1024, 128, 5, format=TCGEN05)
    assert held.encode() == 0x4000404000010000 | 5 << 49 | 0x40
    none = SmemDescriptor(0x400, CHUNK, 128, format=TCGEN05)
    assert none.encode() == 0x0000400800010000 | 0x40


@pytest.mark.parametrize(
    "word, message",
    [
        (0x4000004000010000, r"expected 1 in bits 48-46 \(version\), got 0 in .*; nearest legal: "
                             "0x4000404000010000"),
        (0x6000404000010000, "expected a swizzling mode of 0, 1, 2, 4, 6, got 3; nearest legal: 2"),
        (0x4020404000010000, "bits 53 set"),
    ],
)  # fmt: skip
def test_words_that_are_no_descriptor_of_tcgen05(word: int, message: str):
    with pytest.raises(DescriptorError, match=message):
        SmemDescriptor.decode(word, TCGEN05)


def test_what_wgmma_has_not():
    with pytest.raises(DescriptorError, match="expected swizzle atoms of 16 bytes, got 32"):
        SmemDescriptor(0, 16, 16, 128, swizzle_atom=32)
    with pytest.raises(DescriptorError, match="a relative LBO for wgmma, got absolute"):
        SmemDescriptor(0, 16, 16, absolute=1)


def test_an_absolute_offset_has_no_layout():
    held = SmemDescriptor(0, 16, 16, 128, absolute=1, format=TCGEN05)
    with pytest.raises(DescriptorError, match="expected a relative LBO for a layout"):
        held.layout("k", (8, 16), 16)


@pytest.mark.parametrize("format", [WGMMA, TCGEN05], ids=lambda each: each.name)
@given(tiles())
def test_both_formats_express_one_layout_alike(
    format: DescriptorFormat, tile: tuple[Layout | ComposedLayout, int, str, int]
):
    layout, bits, major, address = tile
    mn, k = (layout[mode].size() for mode in (0, 1))
    one, other = (solve(layout, bits, major, each).at(address) for each in (WGMMA, format))  # type: ignore[arg-type]
    assert_array_equal(
        one.addresses(major, (mn, k), bits),  # type: ignore[arg-type]
        SmemDescriptor.decode(other.encode(), format).addresses(major, (mn, k), bits),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "runs, groups, lead, stride", [(1, 1, 0, 0), (2, 2, 512, 128), (4, 3, 4096, 256)]
)
def test_swizzles_that_keep_32_bytes_together(runs: int, groups: int, lead: int, stride: int):
    """tf32, MN-major: rows of 128 bytes, four of them an atom, S<2,5,2> on bytes."""
    text = f"S<2,3,2> o 0 o ((32,{runs}),(4,{groups})):((1,{lead}),(32,{stride}))"
    layout = parse_layout(text)
    assert isinstance(layout, ComposedLayout)
    tile = solve(layout, 32, format=TCGEN05)
    assert (tile.major, tile.swizzle, tile.swizzle_atom) == ("mn", 128, 32)
    mn, k = np.arange(32 * runs), np.arange(4 * groups)
    outer = layout.outer
    assert isinstance(outer, Layout)
    plain = outer[0](mn)[:, None] + outer[1](k)[None, :]
    byte = 4 * plain
    expected = byte ^ (byte >> 7 & 3) << 5
    found = tile.at(0x800).addresses("mn", (32 * runs, 4 * groups), 32)
    assert_array_equal(found, 8 * (0x800 + expected))
    with pytest.raises(DescriptorError, match="expected a swizzle of 32, 64 or 128 bytes"):
        solve(layout, 32, format=WGMMA)
