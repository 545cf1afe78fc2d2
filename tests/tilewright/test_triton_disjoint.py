"""Which launches of Triton kernels write what no other pointer reaches."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright.triton.gpu import is_disjoint

COPY = """tt.func public @k(%a: !tt.ptr<f32>, %n: i32, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %p = tt.addptr %as, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %p : tensor<128x!tt.ptr<f32>>
    %own = tt.addptr %b, %n : !tt.ptr<f32>, i32
    %bs = tt.splat %own : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %q = tt.addptr %bs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %q, %x : tensor<128x!tt.ptr<f32>>
    tt.return
}"""


@pytest.mark.parametrize(
    ("a", "b", "c", "disjoint"),
    [
        (range(512), range(512, 1024), range(512), True),
        (range(512), range(512), range(2048, 4096), False),
        (range(512), range(1024, 2048), range(2047, 4096), False),
        (range(1 << 64), range(1024, 2048), range(4096, 8192), False),
    ],
)
def test_what_is_written_is_reached_by_nothing_else(
    a: range, b: range, c: range, disjoint: bool
) -> None:
    """What is read may be reached by several pointers; `%n` is in the address of what is written,
    and reaches nothing."""
    entry = tw.compile(COPY, "sm_90a").entry()
    assert is_disjoint(entry, [a, 512, b, c]) == disjoint
