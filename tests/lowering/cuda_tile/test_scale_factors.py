"""Scale factors that TMA loads and `tcgen05.cp` takes to tensor memory: PTX equals the program
level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from tile_ir import entry

import tilewright as tw
from tilewright.launch import ptxas

ARCH, F8, F4 = "sm_100a", "f8E4M3FN", "f4E2M1FN"
STEPS, TILES = 2, 2
"""The tiles along K and along M."""
M, N, K = 128, 128, 128
"""The extents of a tile."""


def view(name: str, element: str, shape: tuple[int, ...], strides: tuple[int, ...],
         tile: tuple[int, ...]) -> tuple[str, str]:  # fmt: skip
    """IR for %NAME, the tiles of a tensor at %NAME_p, and its type."""
    sizes, steps = ", ".join(map(str, shape)), ", ".join(map(str, strides))
    tensor = f"tensor_view<{'x'.join(map(str, shape))}x{element}, strides=[{steps}]>"
    type_ = f"partition_view<tile=({'x'.join(map(str, tile))}), padding_value = zero, {tensor}>"
    return (
        f"""
    %{name}_a = assume div_by<16>, %{name}_p : tile<ptr<{element}>>
    %{name}_v = make_tensor_view %{name}_a, shape = [{sizes}], strides = [{steps}] : {tensor}
    %{name} = make_partition_view %{name}_v : {type_}
""",
        type_,
    )


def factors(
    name: str, scale: str, rows: int, own: int, blocks: int, *, turned: bool
) -> tuple[str, str]:
    """IR for %NAME, tiles of 32 times 16 bytes for 128 rows and four blocks, and for %NAME3, the
    factors of so many own rows at %NAME_at and %q: 16 bytes have four of the rows r, r + 32, r + 64
    and r + 96, or of four neighbours."""
    across, tiles = blocks // 4, own // 128
    shape, tile = (rows // 128, across * STEPS, 32, 16), (tiles, across, 32, 16)
    text, type_ = view(name, scale, shape, (shape[1] * 512, 512, 16, 1), tile)
    order, dims = ("0, 2, 3, 1, 4", "32x4") if turned else ("0, 3, 2, 1, 4", "4x32")
    return (
        text,
        f"""
      %{name}0, %{name}_t = load_view_tko weak %{name}[%{name}_at, %q, %o, %o] : {type_}, tile<i32>
          -> tile<{tiles}x{across}x32x16x{scale}>, token
      %{name}1 = reshape %{name}0 : tile<{tiles}x{across}x32x16x{scale}>
          -> tile<{tiles}x{across}x32x4x4x{scale}>
      %{name}2 = permute %{name}1 [{order}] : tile<{tiles}x{across}x32x4x4x{scale}>
          -> tile<{tiles}x{dims}x{across}x4x{scale}>
      %{name}3 = reshape %{name}2 : tile<{tiles}x{dims}x{across}x4x{scale}>
          -> tile<{own}x{blocks}x{scale}>
""",
    )


def scaled(
    scale: str, block: int, *, narrow: bool = False, turned: bool = False, m: int = M, n: int = N
) -> str:
    """A @k of C = A B, tile after tile of `m` rows along M and K; elements may be narrowed on the
    way."""
    blocks, element = K // block, F4 if narrow else F8
    a, a_type = view("A", F8, (TILES * m, STEPS * K), (STEPS * K, 1), (m, K))
    b, b_type = view("B", F8, (STEPS * K, n), (1, STEPS * K), (K, n))
    c, c_type = view("C", "f32", (TILES * m, n), (n, 1), (m, n))
    x, x_load = factors("X", scale, TILES * m, m, blocks, turned=turned)
    y, y_load = factors("Y", scale, n, n, blocks, turned=turned)
    u, w = ("%u", "%w") if not narrow else ("%u4", "%w4")
    ftof = (
        f"""
      %u4 = ftof %u : tile<{m}x{K}x{F8}> -> tile<{m}x{K}x{F4}>
      %w4 = ftof %w : tile<{K}x{n}x{F8}> -> tile<{K}x{n}x{F4}>
"""
        * narrow
    )
    body = f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %steps = constant <i32: {STEPS}> : tile<i32>
    %tiles = constant <i32: {TILES}> : tile<i32>
    %zero = constant <f32: 0.0> : tile<{m}x{n}xf32>
{a}{b}{c}{x}{y}
    for %X_at in (%o to %tiles, step %one) : tile<i32> {{
      %Y_at = muli %o, %o : tile<i32>
      %sum = for %q in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero)
          -> (tile<{m}x{n}xf32>) {{
      %u, %u_t = load_view_tko weak %A[%X_at, %q] : {a_type}, tile<i32> -> tile<{m}x{K}x{F8}>, token
      %w, %w_t = load_view_tko weak %B[%q, %o] : {b_type}, tile<i32> -> tile<{K}x{n}x{F8}>, token
{x_load}{y_load}{ftof}
      %Y4 = permute %Y3 [1, 0] : tile<{n}x{blocks}x{scale}> -> tile<{blocks}x{n}x{scale}>
      %next = mmaf_scaled {u}, {w}, %acc, %X3, %Y4 : tile<{m}x{K}x{element}>,
          tile<{K}x{n}x{element}>, tile<{m}x{n}xf32>, tile<{m}x{blocks}x{scale}>,
          tile<{blocks}x{n}x{scale}>
      continue %next : tile<{m}x{n}xf32>
      }}
      %t = store_view_tko weak %sum, %C[%X_at, %o] : tile<{m}x{n}xf32>, {c_type}, tile<i32> -> token
    }}
"""
    types = {"A": F8, "B": F8, "X": scale, "Y": scale, "C": "f32"}
    return entry(", ".join(f"%{name}_p: tile<ptr<{t}>>" for name, t in types.items()), body)


def check(text: str, scale: str, block: int, m: int = M, n: int = N, arch: str = ARCH) -> None:
    rng, dtype = np.random.default_rng(0), ml_dtypes.float8_e4m3fn
    e8m0 = scale == "f8E8M0FNU"
    blocks = STEPS * K // block
    a, b = (rng.standard_normal((rows, STEPS * K)).astype(dtype) for rows in (TILES * m, n))
    x, y = (
        rng.integers(120, 136, rows * blocks).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
        if e8m0 else rng.integers(40, 72, rows * blocks).astype(np.uint8).view(dtype)
        for rows in (TILES * m, n)
    )  # fmt: skip
    args: list[Any] = [a, b, x, y, np.zeros((TILES * m, n), np.float32)]
    want = tw.interpret(text, "k", grid=(1,), args=args, arch=arch)[4]
    got = tw.interpret(text, "k", grid=(1,), args=args, arch=arch, level="ptx", schedule=1)[4]
    near = 0 if arch == ARCH else 1e-6
    assert np.abs(want).max() > 0 and np.abs(got - want).max() <= near * np.abs(want).max()


@pytest.mark.parametrize(
    "scale, block, narrow, kind",
    [
        ("f8E8M0FNU", 32, False, "mxf8f6f4.block_scale.block32"),
        ("f8E4M3FN", 16, True, "mxf4nvf4.block_scale.block16"),
    ],
)
def test_factors_come_ahead(scale: str, block: int, kind: str, *, narrow: bool) -> None:
    """512 bytes for each 128 rows and four blocks; no thread touches them."""
    text = scaled(scale, block, narrow=narrow)
    kernel = tw.compile(text, ARCH)
    assert kernel.ptx.count("tcgen05.cp.cta_group::1.32x128b.warpx4") == 2 * K // block // 4
    assert f"kind::{kind} " in kernel.ptx
    check(text, scale, block)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
def test_no_warnings(arch: str) -> None:
    """The tiles take turns."""
    kernel = tw.compile(scaled("f8E8M0FNU", 32), arch)
    assert ptxas.assemble(kernel.ptx, arch).clean
    assert kernel.ptx.partition("fence.mbarrier_init")[0].count("mbarrier.init.s") == 4


def test_factors_that_lie_otherwise_say_so() -> None:
    text = scaled("f8E8M0FNU", 32, turned=True)
    kernel = tw.compile(text, ARCH)
    said = [remark.text for remark in kernel.remarks if remark.kind == "pipeline"]
    assert len(said) == 2 and all("as tcgen05.cp takes them" in text for text in said)
    assert "tcgen05.cp" not in kernel.ptx and "block_scale" in kernel.ptx
    check(text, "f8E8M0FNU", 32)


def test_pairs_scale() -> None:
    """Each CTA copies the factors of its rows of A, and all of B's."""
    text = scaled("f8E8M0FNU", 32, m=256)
    start = text.index(") {", text.index("entry @")) + 1
    hint = " optimization_hints = <sm_100 = {num_cta_in_cga = 2}>"
    text = text[:start] + hint + text[start:]
    kernel = tw.compile(text, ARCH)
    assert "tcgen05.cp.cta_group::2" in kernel.ptx and kernel.entry().cluster == (2, 1, 1)
    assert "tcgen05.mma.cta_group::2.kind::mxf8f6f4" in kernel.ptx
    assert ptxas.assemble(kernel.ptx, ARCH).clean
    check(text, "f8E8M0FNU", 32, 256)


@pytest.mark.parametrize("arch, spilled", [(ARCH, 0), ("sm_90a", 8), ("sm_120a", 200)])
def test_a_tile_of_cutiles_sample_is_computed_in_turns(arch: str, spilled: int) -> None:
    """256x256 sums and their factors are more than the columns, or the registers, of one CTA: one
    half of the tile after the other, as the hint allows one CTA alone."""
    text = scaled("f8E8M0FNU", 32, m=256, n=256)
    start = text.index(") {", text.index("entry @")) + 1
    text = text[:start] + " optimization_hints = <default = {num_cta_in_cga = 1}>" + text[start:]
    kernel = tw.compile(text, arch)
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.clean and report.kernels["k"].spill_stores <= spilled
    assert ("block_scale" in kernel.ptx) is (arch == ARCH) and kernel.entry().ctas == 1
    if arch == ARCH or THOROUGH:
        check(text, "f8E8M0FNU", 32, 256, 256, arch)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
def test_a_tile_of_cutiles_sample_is_that_of_a_pair(arch: str) -> None:
    """Without a hint two CTAs share what has no room in tensor memory."""
    kernel = tw.compile(scaled("f8E8M0FNU", 32, m=256, n=256), arch)
    assert kernel.entry().cluster == (2, 1, 1) and kernel.entry().block == (320, 1, 1)
    assert "tcgen05.mma.cta_group::2.kind::mxf8f6f4" in kernel.ptx
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.clean and report.kernels["k"].spill_stores == 0
