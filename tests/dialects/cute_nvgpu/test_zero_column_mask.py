"""The zero-column mask: its bits, and the columns that they name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.zero_column_mask import ZeroColumnMask

_counts = st.tuples(*(st.integers(0, 255) for _ in range(4)))
_flags = st.tuples(*(st.booleans() for _ in range(4)))


@given(st.integers(1, 256), st.integers(1, 256), _counts, _flags, st.integers(0, 63), st.booleans())
def test_decoding_gives_back_what_was_encoded(
    used: int,
    zeroed: int,
    starts: tuple[int, int, int, int],
    first: tuple[bool, bool, bool, bool],
    shift: int,
    masked: bool,
):
    mask = ZeroColumnMask(used, zeroed, starts, first, shift, masked)
    assert ZeroColumnMask.decode(mask.encode()) == mask


def test_the_bits_are_those_of_the_ptx_isa():
    mask = ZeroColumnMask(4, 3, (1, 2, 5, 6), (True, False, True, False), 16)
    assert mask.encode() == (
        1 | 2 << 8 | 5 << 16 | 6 << 24 | 0b0101 << 32 | 1 << 39 | 2 << 40 | 3 << 48 | 16 << 56
    )


def test_runs_go_on_from_where_they_start():
    mask = ZeroColumnMask(3, 2)
    assert "".join("01"[each] for each in mask.zeros(128, 12)) == "000110001100"
    mask = ZeroColumnMask(3, 2, (1, 0, 0, 0), (True, False, False, False))
    assert "".join("01"[each] for each in mask.zeros(128, 12)) == "100011000110"


def test_a_mask_for_each_part_of_d():
    mask = ZeroColumnMask(1, 1, first_zeroed=(True, False, True, False))
    assert "".join("01"[each] for each in mask.zeros(32, 16)) == "1010010110100101"
    assert "".join("01"[each] for each in mask.zeros(64, 16)) == "1010101001010101"
    assert mask.zeros(128, 4) == [True, False, True, False]


def test_without_a_mask_every_column_is_used():
    assert not any(ZeroColumnMask(first_zeroed=(True,) * 4, masked=False).zeros(64, 128))


def test_a_shift_is_at_most_what_m_allows():
    ZeroColumnMask(shift=32).check(64)
    message = "expected a column shift of at most 16 for M = 32, got 32; nearest legal: 16"
    with pytest.raises(DescriptorError, match=message):
        ZeroColumnMask(shift=32).check(32)


def test_words_that_are_no_mask():
    with pytest.raises(DescriptorError, match="bits 36 set"):
        ZeroColumnMask.decode(1 << 36)
    with pytest.raises(DescriptorError, match="columns of a run of zeros, less 1, got 0x100"):
        ZeroColumnMask(zeroed=257)
