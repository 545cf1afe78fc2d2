"""tcgen05.mma by `tilewright.simulate` against NumPy and ml_dtypes: every kind, wherever operands
may be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from umma_images import DTYPES, NONE, SWIZZLE_128_32, Images, Umma, build, d_place, result, value
from umma_programs import atom_of

import tilewright as tw

F16 = ("f16", "f16", "f32")
MX4 = ("e2m1", "e2m1", "f32")
CASES = {
    "f16": Umma(128, 64, 16, F16),
    "f16-into-f16": Umma(64, 24, 16, ("f16", "f16", "f16")),
    "bf16-unswizzled": Umma(64, 40, 16, ("bf16", "bf16", "f32"), swizzle=NONE),
    "f16-a-mn": Umma(128, 64, 16, F16, majors=("mn", "k")),
    "f16-mn-mn": Umma(128, 64, 16, F16, majors=("mn", "mn")),
    "f16-mn-mn-unswizzled": Umma(64, 32, 16, F16, majors=("mn", "mn"), swizzle=NONE),
    "tf32": Umma(128, 16, 8, ("tf32", "tf32", "f32")),
    "tf32-mn": Umma(128, 64, 8, ("tf32", "tf32", "f32"), majors=("mn", "mn"),
                    swizzle=SWIZZLE_128_32),
    "e4m3-e5m2": Umma(128, 32, 32, ("e4m3", "e5m2", "f32")),
    "e4m3-mn": Umma(64, 128, 32, ("e4m3", "e4m3", "f32"), majors=("k", "mn")),
    "e2m3-e3m2": Umma(128, 16, 32, ("e2m3", "e3m2", "f32")),
    "e2m1-e4m3-into-f16": Umma(64, 16, 32, ("e2m1", "e4m3", "f16"), swizzle=NONE),
    "s8-u8": Umma(128, 32, 32, ("s8", "u8", "s32")),
    "u8-s8-mn": Umma(64, 32, 32, ("u8", "s8", "s32"), majors=("mn", "k"), swizzle=NONE),
    "f16-tmem": Umma(128, 32, 16, F16, a_in_tmem=True),
    "tf32-tmem": Umma(64, 16, 8, ("tf32", "tf32", "f32"), a_in_tmem=True),
    "e4m3-tmem": Umma(128, 32, 32, ("e4m3", "e5m2", "f32"), a_in_tmem=True),
    "e2m1-tmem": Umma(128, 32, 32, ("e2m1", "e3m2", "f32"), a_in_tmem=True),
    "e3m2-tmem": Umma(64, 32, 32, ("e3m2", "e2m1", "f32"), a_in_tmem=True),
    "pair-256": Umma(256, 32, 16, F16, 2),
    "pair-128": Umma(128, 64, 16, F16, 2),
    "pair-128-tmem": Umma(128, 64, 16, F16, 2, a_in_tmem=True),
    "pair-256-i8": Umma(256, 32, 32, ("s8", "s8", "s32"), 2),
    "sp-f16": Umma(128, 32, 32, F16, sparse=True),
    "sp-bf16-selector": Umma(128, 16, 32, ("bf16", "bf16", "f32"), sparse=True, selector=1),
    "sp-tf32": Umma(128, 16, 16, ("tf32", "tf32", "f32"), sparse=True),
    "sp-e4m3": Umma(128, 16, 64, ("e4m3", "e2m1", "f32"), sparse=True),
    "sp-s8": Umma(128, 16, 64, ("s8", "s8", "s32"), sparse=True),
    "sp-f16-pair-256": Umma(256, 32, 32, F16, 2, sparse=True),
    "sp-f16-tmem": Umma(128, 32, 32, F16, sparse=True, a_in_tmem=True),
    "ws-32": Umma(32, 64, 16, F16, ws=True),
    "ws-64": Umma(64, 64, 16, ("f16", "f16", "f16"), ws=True),
    "ws-128-tmem": Umma(128, 64, 32, ("e4m3", "e4m3", "f32"), ws=True, a_in_tmem=True),
    "ws-sp-32": Umma(32, 64, 32, F16, ws=True, sparse=True),
    "ws-sp-64-e4m3": Umma(64, 64, 64, ("e4m3", "e4m3", "f32"), ws=True, sparse=True),
    "mxf8f6f4": Umma(128, 40, 32, ("e4m3", "e2m3", "f32"), vector=1, scale_type="ue8m0"),
    "mxf8f6f4-id": Umma(128, 32, 32, ("e5m2", "e2m1", "f32"), vector=1, scale_type="ue8m0",
                        ids=(3, 2)),
    "mxf8f6f4-pair": Umma(256, 64, 32, ("e4m3", "e4m3", "f32"), 2, vector=1, scale_type="ue8m0"),
    "mxf8f6f4-sp": Umma(128, 16, 64, ("e4m3", "e4m3", "f32"), sparse=True, vector=1,
                        scale_type="ue8m0"),
    "mxf4": Umma(128, 64, 64, MX4, packed=True, vector=2, scale_type="ue8m0", ids=(2, 0)),
    "mxf4nvf4": Umma(128, 48, 64, MX4, packed=True, vector=4, scale_type="ue4m3"),
    "mxf4nvf4-ue8m0": Umma(128, 16, 64, MX4, packed=True, vector=4, scale_type="ue8m0"),
    "mxf4nvf4-pair-128": Umma(128, 64, 64, MX4, 2, packed=True, vector=4, scale_type="ue4m3"),
    "mxf4-tmem": Umma(128, 16, 64, MX4, packed=True, vector=2, scale_type="ue8m0",
                      a_in_tmem=True),
    "mxf4-sp": Umma(128, 16, 128, MX4, packed=True, sparse=True, vector=2, scale_type="ue8m0"),
    "mxf4-k96": Umma(256, 32, 96, MX4, 2, packed=True, vector=3, scale_type="ue8m0", ids=(3, 1)),
    "mxf4nvf4-k96": Umma(256, 160, 96, MX4, 2, packed=True, vector=6, scale_type="ue4m3",
                         ids=(2, 0)),
}  # fmt: skip
KINDS = {"f16": "f16", "bf16": "f16", "tf32": "tf32", "s8": "i8", "u8": "i8"}


def run(
    u: Umma, images: Images, numerics: Literal["hardware", "exact"], **more: Any
) -> NDArray[np.uint32]:
    atom = atom_of(u)
    idesc = atom.descriptor(selector=u.selector, sfa_id=u.ids[0], sfb_id=u.ids[1]).encode()
    one = u.cta_group == 1
    given: dict[str, Any] = {"idesc": idesc, "a_desc": images.a_desc, **images.addresses, **more}
    return tw.simulate(
        atom,
        arch="sm_103a" if u.k == 96 else "sm_100a",
        numerics=numerics,
        smem=images.smem[0] if one else images.smem,
        tmem=images.tmem[0] if one else images.tmem,
        b_desc=images.b_desc,
        **given,
    )


def rounded(u: Umma, numbers: NDArray[Any]) -> NDArray[Any]:
    dtype = DTYPES[u.types[2]]
    return numbers.astype(dtype).astype(numbers.dtype)


@pytest.mark.covered
@pytest.mark.parametrize("numerics", ["exact", "hardware"])
@pytest.mark.parametrize("name", CASES)
def test_d_is_the_product(name: str, numerics: Literal["hardware", "exact"]):
    u = CASES[name]
    images = build(u)
    found = run(u, images, numerics)
    assert_array_equal(result(u, found), rounded(u, images.expected))
    # Nothing else changes.
    cells = {d_place(u, i, j) for i in range(u.m) for j in range(u.n)}
    rest = np.ones((u.cta_group, 128, 512), dtype=bool)
    for cta, lane, column in cells:
        rest[cta, lane, 8 + column] = False
    assert len(cells) == u.m * u.n
    assert_array_equal(found.reshape(rest.shape)[rest], images.tmem[rest])


@pytest.mark.parametrize("name", ["f16", "s8-u8", "mxf4nvf4", "sp-e4m3", "ws-32"])
def test_without_the_old_d(name: str):
    u = CASES[name]
    images = build(u, add=False)
    found = run(u, images, "exact", enable_input_d=False)
    assert_array_equal(result(u, found), rounded(u, images.expected))


@pytest.mark.parametrize("negated", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("name", ["f16", "e2m3-e3m2", "e2m1-tmem", "mxf4", "sp-tf32"])
def test_negated(name: str, negated: tuple[bool, bool]):
    u = CASES[name]
    images = build(u)
    idesc = atom_of(u).descriptor(negated=negated, sfa_id=u.ids[0], sfb_id=u.ids[1]).encode()
    found = run(u, images, "exact", idesc=idesc)
    d = value(images.d, u.types[2])
    sign = -1 if negated[0] != negated[1] else 1
    assert_array_equal(result(u, found), rounded(u, d + sign * (images.expected - d)))


def test_d_is_scaled_down_first():
    u = CASES["f16"]
    images = build(u)
    found = run(u, images, "exact", scale_input_d=3)
    d = value(images.d, "f32")
    assert_array_equal(result(u, found), images.expected - d + d / 8)


@pytest.mark.parametrize("name", ["f16", "pair-256"])
def test_lanes_that_are_not_written(name: str):
    u = CASES[name]
    images = build(u)
    words = np.arange(4 * u.cta_group, dtype=np.uint32) * np.uint32(0x12345679)
    found = result(u, run(u, images, "exact", disable_output_lane=words))
    d = value(images.d, "f32")
    for i in range(u.m):
        lane = d_place(u, i, 0)[0] * 128 + d_place(u, i, 0)[1]
        kept = int(words[lane // 32]) >> lane % 32 & 1
        assert_array_equal(found[i], d[i] if kept else images.expected[i])


def test_columns_that_count_as_zeros():
    u = CASES["ws-64"]
    images = build(u)
    # Two masks of 32 columns: 3 used and 2 zeros in turn, the second from within its zeros on.
    word = 1 << 8 | 1 << 33 | 1 << 39 | 1 << 40 | 2 << 48
    found = result(u, run(u, images, "exact", zero_column_mask_desc=word))
    first = [j % 5 >= 3 for j in range(32)]
    second = [(j + 1) % 5 < 2 for j in range(32)]
    d = value(images.d, "f16")
    zero = np.array(first + second)
    expected = np.where(zero[None], d, images.expected)
    assert_array_equal(found, rounded(u, expected))


def test_a_batch():
    u = CASES["f16"]
    images = [build(u, seed) for seed in range(3)]
    assert len({each.b_desc for each in images}) == 1
    atom = atom_of(u)
    found = tw.simulate(
        atom, arch="sm_100a", numerics="exact", smem=np.stack([each.smem[0] for each in images]),
        tmem=np.stack([each.tmem[0] for each in images]), d_tmem=8, a_desc=images[0].a_desc,
        b_desc=images[0].b_desc,
    )  # fmt: skip
    for place, each in enumerate(images):
        assert_array_equal(result(u, found[place]), each.expected)


# What the hardware computes, one element at a time in whole numbers: docs/numerics.md.


def exponent(number: Fraction, smallest: int) -> int:
    """floor(log2), not below that of the type's smallest normal number."""
    found = abs(number.numerator).bit_length() - number.denominator.bit_length()
    while Fraction(2) ** found > abs(number):
        found -= 1
    return max(found, smallest)


def cut(number: Fraction, below: int) -> Fraction:
    """Toward zero to a multiple of 2**below."""
    unit = Fraction(2) ** below
    return int(number / unit) * unit


SMALLEST = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e4m3": -6, "e5m2": -14,
            "e2m3": 0, "e3m2": -2, "e2m1": 0}  # fmt: skip


def fused(u: Umma, images: Images, i: int, j: int) -> float:
    """D[i][j]: addends cut off 25 (35 of blocks of 16) bits below the largest exponent, their sum
    cut off to f32."""
    a, b = value(images.a, u.types[0])[i], value(images.b, u.types[1])[j]
    c = Fraction(value(images.d, "f32")[i, j])
    addends, tops = [c], [exponent(c, -126)] if c else []
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(a, b, strict=True)]
    if images.scales is None:
        for x, y in pairs:
            addends.append(x * y)
            if x and y:
                tops.append(exponent(x, SMALLEST[u.types[0]]) + exponent(y, SMALLEST[u.types[1]]))
        bits = 25
    else:
        assert u.scale_type is not None
        sfa, sfb = (value(each, u.scale_type) for each in images.scales)
        block, bits = (16, 35) if u.packed else (1, 25)
        for first in range(0, u.k, block):
            s = first * u.vector // u.k
            p, q = Fraction(sfa[i, s]), Fraction(sfb[j, s])
            total = sum(x * y for x, y in pairs[first : first + block])
            addends.append(total * p * q)
            scale = exponent(p, -200) + exponent(q, -200)
            if u.packed:
                tops.append(scale)
            elif pairs[first][0] and pairs[first][1]:
                x, y = pairs[first]
                tops.append(scale + exponent(x, SMALLEST[u.types[0]])
                            + exponent(y, SMALLEST[u.types[1]]))  # fmt: skip
    below = max(tops, default=0) - bits
    total = sum(cut(each, below) for each in addends)
    return float(cut(total, exponent(total, -126) - 23)) if total else 0.0


@pytest.mark.parametrize(
    "u",
    [
        Umma(128, 16, 16, F16),
        Umma(128, 16, 8, ("tf32", "tf32", "f32")),
        Umma(128, 16, 32, ("e5m2", "e4m3", "f32")),
        Umma(128, 16, 32, ("e4m3", "e5m2", "f32"), vector=1, scale_type="ue8m0"),
        Umma(128, 16, 64, MX4, packed=True, vector=4, scale_type="ue4m3"),
    ],
    ids=lambda u: f"{u.types[0]}-{u.scale_type}",
)
def test_the_hardware_cuts_addends_off(u: Umma):
    images = build(u, add=True)
    rng = np.random.default_rng(5)
    # D far above and far below the products, so that bits are lost on either side.
    spread = np.ldexp(rng.standard_normal((u.m, u.n)), rng.integers(-20, 31, (u.m, u.n)))
    images.d = spread.astype(np.float32).view(np.uint32)
    for i in range(u.m):
        for j in range(u.n):
            cta, lane, column = d_place(u, i, j)
            images.tmem[cta, lane, 8 + column] = images.d[i, j]
    found = result(u, run(u, images, "hardware"))
    exact = result(u, run(u, images, "exact"))
    assert (found != exact).any()
    for i in range(0, u.m, 8):
        for j in range(u.n):
            assert found[i, j] == fused(u, images, i, j), (i, j)


# What is refused.

U = CASES["f16"]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("f16", {"a_desc": None}, "expected a_desc= and b_desc="),
    ("f16", {"d_tmem": None}, "expected an address d_tmem="),
    ("f16", {"a_tmem": 3}, "expected no address a_tmem="),
    ("f16", {"d_tmem": 500}, "lane 0 and column 512 expected within 128 lanes of 512 columns"),
    ("f16", {"d_tmem": 16 << 16}, "expected operand D to begin in lane 0"),
    ("f16", {"idesc": 0x08200490}, "expected an idesc of 128x64x16"),
    ("f16", {"idesc": 0x08200050}, "bits 6 set"),
    ("f16", {"scale_input_d": 16}, "expected no scale_input_d=16"),
    ("s8-u8", {"scale_input_d": 1}, "expected no scale_input_d=1"),
    ("f16", {"disable_output_lane": [0, 0]}, "expected 4 words of disable_output_lane="),
    ("ws-64", {"disable_output_lane": [0] * 4}, "expected no disable_output_lane="),
    ("f16", {"zero_column_mask_desc": 0}, "expected no zero_column_mask_desc="),
    ("ws-64", {"zero_column_mask_desc": 1 << 56 | 1 << 39}, "a column shift is not modelled"),
    ("ws-64", {"zero_column_mask_desc": 63 << 56}, "a column shift of at most 32 for M = 64"),
    ("f16", {"a_desc": 1 << 62 | 64}, "expected 1 in bits 48-46"),
    ("f16", {"a_desc": 1 << 46 | 0x3FFF}, "bytes of shared memory, got smem of 131072"),
    ("f16", {"c": np.zeros((32, 4), np.uint32)}, "expected no c="),
    ("f16", {"smem": np.zeros((2, 16), np.uint8)}, r"smem= of uint8 \[bytes\]"),
    ("f16", {"tmem": np.zeros((128, 512), np.int32)}, r"tmem= of uint32 \[..., 128, 512\]"),
    ("pair-256", {"tmem": np.zeros((128, 512), np.uint32)}, r"uint32 \[..., 2, 128, 512\]"),
    ("sp-bf16-selector", {"sp_meta_tmem": 331}, "expected metadata that begin in an even column"),
    ("f16-into-f16", {"d_tmem": 32 << 16}, "expected operand D to begin in lane 0 or 16"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "more", "message"), REFUSED)
def test_what_simulate_refuses(name: str, more: dict[str, Any], message: str):
    u = CASES[name]
    images = build(u)
    atom = atom_of(u)
    one = u.cta_group == 1
    given = {
        "a_desc": images.a_desc, "b_desc": images.b_desc,
        "smem": images.smem[0] if one else images.smem,
        "tmem": images.tmem[0] if one else images.tmem,
        **images.addresses, **more,
    }  # fmt: skip
    with pytest.raises(tw.AtomError, match=message):
        tw.simulate(atom, arch="sm_100a", **given)


def test_halves_of_the_lanes_go_together():
    u = CASES["tf32-tmem"]
    images = build(u)
    images.addresses["a_tmem"] += 16 << 16
    with pytest.raises(tw.AtomError, match="expected D, A to begin in one lane, got 0, 16"):
        run(u, images, "exact")


def test_copies_must_be_equal():
    u = CASES["mxf8f6f4"]
    images = build(u)
    images.tmem[0, 40, 340] ^= 1
    with pytest.raises(tw.AtomError, match=r"expected 4 equal copies of operand SFA, got .*row 8"):
        run(u, images, "exact")


def test_undefined_metadata():
    u = CASES["sp-e4m3"]
    images = build(u)
    images.tmem[0, 3, 330] = 0x44444440
    with pytest.raises(tw.AtomError, match="got 0x0 for chunk 0 of row 3"):
        run(u, images, "exact")


def test_saturation():
    u = CASES["s8-u8"]
    images = build(u)
    images.d = np.full((u.m, u.n), np.int32(2**31 - 10)).view(np.uint32)
    images.tmem[0, :, 8 : 8 + u.n] = images.d
    atom = tw.atom("sm100.mma", shape=(u.m, u.n, u.k), elem_type=u.types, satfinite=True)
    found = tw.simulate(
        atom, arch="sm_100a", smem=images.smem[0], tmem=images.tmem[0], a_desc=images.a_desc,
        b_desc=images.b_desc, d_tmem=8,
    )  # fmt: skip
    products = value(images.a, "s8") @ value(images.b, "u8").T
    clamped = np.minimum(products + 2**31 - 10, 2**31 - 1)
    assert_array_equal(result(u, found), clamped)
