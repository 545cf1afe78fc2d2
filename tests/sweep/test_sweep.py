"""A sample of the sweep: a point of every op, on one target, two with TILEWRIGHT_THOROUGH=1; the
whole of it is `run.py`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from covering import THOROUGH
from judge import TARGETS, case_of, differs, tried
from points import pairs, placed, points, swept
from surroundings import NOTHING, Surroundings
from swept_shapes import BY_HAND

import tilewright as tw
from tilewright.dialects.cuda_tile.ops.operation import OPS
from tilewright.dialects.cuda_tile.ops.views import MakeView

FIRST = 40
"""The points of an op that the sample is of."""


@pytest.mark.parametrize("name", swept())
def test_compiled_is_interpreted(name: str):
    place, some = [*swept()].index(name), list(islice(points(name), FIRST))
    for number in range(1 + THOROUGH):
        point = placed([some[37 * (place + number) % len(some)]], random.Random(place))[0]
        arch = TARGETS[(2 * place + number) % len(TARGETS)]
        assert not tried([point], [arch], ["ptx"], assembles=bool(THOROUGH))


@pytest.mark.parametrize("name, element", [("mmaf", "f16"), ("mmai", "i8")])
def test_batches_of_large_products(name: str, element: str):
    """Two CTAs shared them by rows of a tile whose pointers are numbered across batches; one matrix
    comes after the other where the sums of both are all registers."""
    large = [p for p in pairs(name) if p.operands[0][0].shape == (2, 128, 64)]  # type: ignore[attr-defined]
    wide = [p for p in large if p.results[0].shape[-1] == 256 and element in p.name]  # type: ignore[attr-defined]
    assert not tried([replace(wide[0], around=NOTHING)], ["sm_90a"], ["ptx"], assembles=True)


@pytest.mark.parametrize(
    "tiles, arch, words",
    [
        ("viewed", "sm_90a", ("wgmma.mma_async", ".multicast::cluster")),
        ("bounded", "sm_100a", ("tcgen05.mma", "cp.async.bulk.tensor")),
        ("pointed", "sm_80", ("cp.async.cg", "mma.sync")),
    ],
)
def test_products_in_loops(tiles: str, arch: str, words: Sequence[str]):
    product = next(
        p for p in points("mmaf")
        if p.elements == {"f16", "f32"} and "tile<128x64xf32>" in p.name and not any(p.turned)
    )  # fmt: skip
    around = Surroundings(2, 3, tiles, aligned=True, num_cta_in_cga=2)
    product = replace(product, around=around)
    ptx = tw.compile(case_of(product).text, arch).ptx
    assert all(word in ptx for word in words)
    assert not tried([product], [arch], ["ptx"], assembles=False)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_ctas_share_batches(arch: str):
    """Of products that are too small for two CTAs each."""
    product = next(
        p for p in points("mmaf") if "-> tile<2x16x16xf" in p.name and "f16" in p.elements
    )
    product = replace(product, around=Surroundings(2, 2, "viewed", aligned=True, num_cta_in_cga=2))
    remarks = tw.compile(case_of(product).text, arch).remarks
    assert not any("num_cta_in_cga" in remark.text for remark in remarks)
    assert not tried([product], [arch], ["ptx"], assembles=True)


def test_tiles_change_layout_in_what_matrices_leave():
    """Sums that are loaded and stored, 128 KiB each, beside multiplicands."""
    product = next(p for p in points("mmai") if "tile<128x256xi32>" in p.name and p.turned[0])  # type: ignore[attr-defined]
    product = replace(product, around=Surroundings(1, 2, "viewed", aligned=True))
    text = case_of(product).text
    size = max(entry.shared_bytes for entry in tw.compile(text, "sm_90a").entries)
    assert size > 3 << 16, "they fit beside each other: this shows nothing"
    assert not tried([product], ["sm_90a"], ["ptx"], assembles=False)


def test_extents_that_their_type_has_no_bits_for():
    """256 in 8 bits is 0; a quotient of it is not."""
    name = "get_index_space_shape"
    some = (p for p in points(name) if "tensor_view<256x128" in p.name and "-> tile<i8>" in p.name)
    assert not tried([next(some)], ["sm_80"], ["ptx"], assembles=False)


def test_no_op_is_left_out():
    views = {op.name for op in OPS if issubclass(op, MakeView)}
    assert {op.name for op in OPS} - views == {f"cuda_tile.{n}" for n in (*BY_HAND, *swept())}


def test_a_difference_is_seen():
    a = np.array([1.0, np.nan, -0.0], np.float32)
    assert differs(a, a, 0) is None
    assert differs(a, np.array([1.0, np.nan, 0.0], np.float32), 0) is not None
    assert differs(np.array([1], np.int64), np.array([1 << 60], np.int64), 16) is not None
