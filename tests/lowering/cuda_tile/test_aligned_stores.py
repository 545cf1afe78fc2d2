"""Stores of rows whose stride and size are loaded, at the `ptx` level: in either way they are what
they are at the program level."""

from __future__ import annotations

import numpy as np
import pytest
from tile_ir import entry

import tilewright as tw

VIEW = "partition_view<tile=(16x64), tensor_view<?x?xf16, strides=[?,1]>>"
TEXT = entry(
    "%sizes: tile<ptr<i32>>, %c: tile<ptr<f16>>",
    f"""
    %i, %j, %k = get_tile_block_id : tile<i32>
    %c_a = assume div_by<16>, %c : tile<ptr<f16>>
    %n, %t0 = load_ptr_tko weak %sizes : tile<ptr<i32>> -> tile<i32>, token
    %v = make_tensor_view %c_a, shape = [%n, %n], strides = [%n, 1] : tile<i32>
        -> tensor_view<?x?xf16, strides=[?,1]>
    %p = make_partition_view %v : {VIEW}
    %row = iota : tile<64xi32>
    %tile = itof %row signed : tile<64xi32> -> tile<64xf16>
    %wide = reshape %tile : tile<64xf16> -> tile<1x64xf16>
    %x = broadcast %wide : tile<1x64xf16> -> tile<16x64xf16>
    %t1 = store_view_tko weak %x, %p[%i, %j] : tile<16x64xf16>, {VIEW}, tile<i32> -> token
""",
)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_rows_are_stored_as_they_turn_out_to_be_aligned(arch: str) -> None:
    ptx = tw.compile(TEXT, arch).ptx
    assert "st.global.v4.b32" in ptx and "st.global.b16" in ptx
    for n in (72, 75):
        args = [np.array([n], np.int32), np.zeros(n * n, np.float16)]
        want, got = (
            tw.interpret(TEXT, "k", grid=(5, 2), args=args, arch=arch, level=level)[1]
            for level in ("program", "ptx")
        )
        assert want.any() and (got == want).all()
