"""Products of 64 rows in tensor memory: each has half of the lanes, two of them share columns."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attention_kernel import GIVEN, arguments, attention, operands
from hazards import at_levels, hazards
from test_hints import hinted
from test_tensor_memory import F32, MMA, square
from tile_ir import equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas

ARCH = "sm_100a"
LANE_16 = 16 << 16
"""The address of the first column in the second half of the lanes."""


def shared(keys: int, depth: int, occupancy: int, element: str = "bf16") -> str:
    """Attention of 64 rows whose scores, sums and weights have more columns than a CTA's part, one
    beside the other."""
    text = hinted(attention(64, keys, depth, GIVEN, element), f"occupancy = {occupancy}")
    return text.replace("sm_90", "default")


@pytest.mark.parametrize(
    "keys, depth, occupancy, element", [(64, 64, 4, "bf16"), (128, 128, 2, "f8E4M3FN")]
)
def test_weights_are_beside_scores_in_other_lanes(
    keys: int, depth: int, occupancy: int, element: str
) -> None:
    """64 columns of scores, 64 of sums and 32 of weights in 128; of bytes 128, 128 and 32 in
    256."""
    text = shared(keys, depth, occupancy, element)
    kernel = tw.compile(text, ARCH)
    assert "tensor-memory" not in {remark.kind for remark in kernel.remarks}
    assert f"], {512 // occupancy};" in next(
        line for line in kernel.ptx.splitlines() if "tcgen05.alloc" in line
    )
    assert f", {LANE_16};" in kernel.ptx and "tcgen05.st" in kernel.ptx
    report = ptxas.assemble(kernel.ptx, ARCH)
    assert report.clean and report.kernels["k"].spill_stores == 0
    given = operands(64, 2 * keys, depth, 1)
    args = arguments(given, 2)
    if element != "bf16":
        q, k, v = (x.astype(ml_dtypes.float8_e4m3fn) for x in given)
        args = arguments([q, k, v], 2)
        args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
    options: dict[str, Any] = {"grid": (1, 1), "args": args, "arch": ARCH}
    assert equal_as_ptx(text, schedule=2, **options).any()


def test_sums_share_columns() -> None:
    """Two that are needed at once, each added to what threads store: 32 columns."""
    text = square(f"""
    %c2 = addf %c, %c {F32}
    %x = mmaf %a, %b, %c {MMA}
    %y = mmaf %a, %b, %c2 {MMA}
    %d = mulf %y, %x {F32}
""")
    ptx = tw.compile(text, ARCH).ptx
    assert "], 32;" in ptx and f", {LANE_16};" in ptx
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((n, 32)).astype(np.float16) for n in (64, 32))
    c = rng.standard_normal((64, 32)).astype(np.float32)
    options: dict[str, Any] = {"grid": (1,), "args": [a, b, c, np.zeros_like(c)], "arch": ARCH}
    assert equal_as_ptx(text, place=3, **options).any()


def test_the_check_tells_lanes_apart() -> None:
    """Threads store weights while MMAs write scores to the same columns."""
    for level, module in at_levels(shared(64, 64, 4), ARCH).items():
        assert hazards(module) == [], level
