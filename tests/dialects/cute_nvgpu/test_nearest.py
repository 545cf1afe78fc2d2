"""The nearest of a few legal choices, as diagnostics name it."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.dialects.cute_nvgpu.lattice.nearest import closest, distance


@pytest.mark.parametrize(
    ("wanted", "legal", "nearest"),
    [
        (5, (1, 2, 4, 8), 4),
        (6, (4, 8), 4),  # the first of several
        (-3, range(16), 0),
        (99, range(16), 15),
        (1 << 40, range(1, 1 << 20), (1 << 20) - 1),
        (100, range(24, 257, 8), 96),
        (48, range(32, 1025, 32), 64),
        ((16, 8, 12), [(16, 8, 16), (16, 8, 8), (8, 8, 4)], (16, 8, 16)),
        (("f16", "f32"), [("bf16", "f16"), ("f16", "f16")], ("f16", "f16")),
        (("mxf4", 4, None), [("mxf4nvf4", 4, "x"), ("mxf4", 2, "x")], ("mxf4nvf4", 4, "x")),
    ],
)
def test_closest(wanted: Any, legal: Any, nearest: Any):
    assert closest(wanted, legal) == nearest


def test_ranges_as_their_values():
    legal = range(24, 257, 8)
    for wanted in range(-20, 300):
        assert distance(closest(wanted, legal), wanted) == min(abs(x - wanted) for x in legal)
