"""The zero-column mask descriptor of `tcgen05.mma.ws`: which columns of B count as zeros.

A mask is a string of runs: columns that are used and columns that are zeros, in turn, of `used`
and `zeroed` columns each. M = 128 has one mask of N columns, M = 64 two of N/2, M = 32 four of N/4;
each begins `start` columns into its first run, which is of zeros where `first_zeroed` says so.
PTX ISA 9.7.16.4.3.
"""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.descriptors.bit_field import (
    BitField,
    DescriptorError,
    check_word,
)
from tilewright.dialects.frozen import frozen

SECTION = "9.7.16.4.3"
SUBMASKS = 4

_STARTS = tuple(
    BitField(f"start{i}", 8 * i, 8, 0, f"start count of mask {i}") for i in range(SUBMASKS)
)
_FIRSTS = tuple(
    BitField(f"first{i}", 32 + i, 1, 0, f"first run of mask {i} is of zeros")
    for i in range(SUBMASKS)
)
_MASKED = BitField("masked", 39, 1, 0, "masking")
_ZEROED = BitField("zeroed", 40, 8, 0, "columns of a run of zeros, less 1")
_USED = BitField("used", 48, 8, 0, "columns of a run that is used, less 1")
_SHIFT = BitField("shift", 56, 6, 0, "column shift")

FIELDS: tuple[BitField, ...] = (*_STARTS, *_FIRSTS, _MASKED, _ZEROED, _USED, _SHIFT)

_MOST_SHIFT = {32: 16, 64: 32, 128: 32}
"""The largest column shift, by M."""


@frozen
class ZeroColumnMask:
    """A mask descriptor. `masked` false uses every column. Raises DescriptorError for what the
    word cannot hold."""

    used: int = 1
    zeroed: int = 1
    starts: tuple[int, int, int, int] = (0, 0, 0, 0)
    first_zeroed: tuple[bool, bool, bool, bool] = (False, False, False, False)
    shift: int = 0
    masked: bool = True

    def __post_init__(self) -> None:
        for field, value in self._values():
            field.check(value, SECTION)

    def _values(self) -> list[tuple[BitField, int]]:
        return [
            *zip(_STARTS, self.starts, strict=True),
            *zip(_FIRSTS, map(int, self.first_zeroed), strict=True),
            (_MASKED, int(self.masked)),
            (_ZEROED, self.zeroed - 1),
            (_USED, self.used - 1),
            (_SHIFT, self.shift),
        ]

    def encode(self) -> int:
        """The 64-bit word."""
        return sum(field.put(value) for field, value in self._values())

    @staticmethod
    def decode(word: int) -> ZeroColumnMask:
        """The mask that a word holds. Raises DescriptorError for bits that no field has."""
        check_word(word, 64, FIELDS)
        s0, s1, s2, s3 = (field.get(word) for field in _STARTS)
        f0, f1, f2, f3 = (bool(field.get(word)) for field in _FIRSTS)
        return ZeroColumnMask(
            _USED.get(word) + 1,
            _ZEROED.get(word) + 1,
            (s0, s1, s2, s3),
            (f0, f1, f2, f3),
            _SHIFT.get(word),
            bool(_MASKED.get(word)),
        )

    def check(self, m: int) -> None:
        """Raise DescriptorError for a column shift that an MMA of that M has not."""
        most = _MOST_SHIFT[m]
        if self.shift > most:
            raise DescriptorError(
                f"expected a column shift of at most {most} for M = {m}, got {self.shift}; "
                f"nearest legal: {most} (PTX ISA {SECTION})"
            )

    def zeros(self, m: int, n: int) -> list[bool]:
        """One truth for each of the N columns of B: it counts as zeros."""
        masks = 128 // m
        if not self.masked:
            return [False] * n
        return [zero for mask in range(masks) for zero in self._run(mask, n // masks)]

    def _run(self, mask: int, columns: int) -> list[bool]:
        """One mask: it begins in its first run, `start` columns into it."""
        zero, left = self.first_zeroed[mask], 0
        left = (self.zeroed if zero else self.used) - self.starts[mask]
        flags: list[bool] = []
        while len(flags) < columns:
            if left <= 0:
                zero = not zero
                left += self.zeroed if zero else self.used
                continue
            flags.append(zero)
            left -= 1
        return flags
