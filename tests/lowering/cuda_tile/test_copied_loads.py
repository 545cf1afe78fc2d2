"""Loads by `cp.async` in stages: PTX for targets of `mma.sync` equals the program level."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_warpgroups import DTYPES, matrix, operand, product
from tile_ir import entry

import tilewright as tw
from tilewright import ptxas

COPY = "cp.async.cg.shared.global"


def check(
    text: str, arch: str, sizes: tuple[int, int, int], types: tuple[str, str, str],
    grid: tuple[int, int], *, b_order: str = "", schedule: int | None = None, pad: int = 1,
) -> None:  # fmt: skip
    """At the `ptx` level the result is that of the program level, but for the order of sums; rows
    in memory are multiples of `pad`."""
    m, n, k = sizes
    wide_n, wide_k = (-(-size // pad) * pad for size in (n, k))
    a, b = operand(m, wide_k, types[0]), operand(k, wide_n, types[1], b_order)
    c = np.zeros((m, wide_n), DTYPES[types[2]])
    args = [part for array in (a, b, c) for part in (array, array.shape[1])] + [m, n, k]
    want = tw.interpret(text, "k", grid=grid, args=args, arch=arch)[2].astype(np.float64)
    options = {"level": "ptx", "arch": arch, "schedule": schedule}
    got = tw.interpret(text, "k", grid=grid, args=args, **options)[2].astype(np.float64)
    largest = np.abs(want).max()
    assert largest > 0 and np.abs(got - want).max() <= 2.0**-16 * largest


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_120a"])
def test_stages_of_copies(arch: str) -> None:
    """Edges along every dimension, more steps than stages, copies that complete late."""
    text = product(("bf16", "f32"), (64, 64, 32))
    ptx = tw.compile(text, arch).ptx
    assert COPY in ptx and "cp.async.wait_group 2" in ptx and "st.shared" not in ptx
    check(text, arch, (72, 56, 216), ("bf16", "bf16", "f32"), (2, 1), schedule=3)


@pytest.mark.parametrize(
    "types, order, convert",
    [
        (("bf16", "f32"), "", ""),
        (("f16", "f32"), "columns", ""),
        (("f8E4M3FN", "f32"), "", ""),
        (("tf32", "f32"), "", "f32"),
    ],
)
def test_warpgroups_read_copies(types: tuple[str, str], order: str, convert: str) -> None:
    """Where TMA is not to be used: as they lie, turned, or converted."""
    hints = " optimization_hints = <default = {allow_tma = false}>"
    text = product(types, (64, 32, 32), b_order=order, hints=hints, convert=convert)
    ptx = tw.compile(text, "sm_90a").ptx
    assert "wgmma.mma_async" in ptx and COPY in ptx and "tensor.2d.shared" not in ptx
    memory = (convert or types[0],) * 2
    check(text, "sm_90a", (72, 32, 112), (*memory, types[1]), (2, 1), b_order=order, schedule=2)


@pytest.mark.parametrize(
    "types, k, order",
    [
        (("f16", "f16"), 32, "columns"),
        (("f8E4M3FN", "f32"), 64, "columns"),
        (("f8E5M2", "f32"), 64, ""),
        (("i8", "i32"), 64, "columns"),
        (("tf32", "f32"), 16, ""),
    ],
)
def test_types_and_orders(types: tuple[str, str], k: int, order: str) -> None:
    text = product(types, (32, 32, k), b_order=order)
    assert COPY in tw.compile(text, "sm_89").ptx
    check(text, "sm_89", (32, 32, 2 * k + 16), (types[0], *types), (1, 1), b_order=order)


def test_hints_say_the_depth_and_the_warps() -> None:
    hints = " optimization_hints = <default = {latency = 2}>"
    text = product(("bf16", "f32"), (64, 64, 32), hints=hints)
    assert "cp.async.wait_group 1" in tw.compile(text, "sm_80").ptx
    deep = tw.compile(text.replace("latency = 2", "latency = 8"), "sm_80")
    assert "cp.async.wait_group 7" in deep.ptx
    warps = "optimization_hints = <default = {num_worker_warps_per_cta = 8}>"
    head, _, body = product(("bf16", "f32"), (64, 64, 32)).partition(") {")
    text = f"{head}) {warps} {{{body}"
    assert tw.compile(text, "sm_80").entry().block == (256, 1, 1)
    check(text, "sm_80", (64, 64, 72), ("bf16", "bf16", "f32"), (1, 1))


def test_converted_operands_are_fragments() -> None:
    """f32 as tf32: read from the stage as the MMA takes it, nothing is laid down anew."""
    text = product(("tf32", "f32"), (64, 32, 32), convert="f32")
    ptx = tw.compile(text, "sm_80").ptx
    assert COPY in ptx and "st.shared" not in ptx
    check(text, "sm_80", (64, 32, 72), ("f32", "f32", "f32"), (1, 1))


def test_runs_that_the_edge_divides() -> None:
    """A size that is no multiple of what a copy moves, and rows of 4 bytes that are known to be."""
    text = product(("f16", "f32"), (32, 32, 32))
    check(text, "sm_80", (37, 45, 51), ("f16", "f16", "f32"), (2, 2), schedule=1, pad=8)
    narrow = text.replace("div_by<8>", "div_by<2>")
    assert "cp.async.ca.shared.global" in tw.compile(narrow, "sm_80").ptx
    check(narrow, "sm_80", (32, 32, 70), ("f16", "f16", "f32"), (1, 1))


def test_loops_within_loops_use_their_stages_again() -> None:
    text = product(("bf16", "f32"), (32, 32, 32), persistent=True)
    check(text, "sm_86", (96, 32, 136), ("bf16", "bf16", "f32"), (2, 1), schedule=1)


def test_sums_that_begin_with_a_tile() -> None:
    """It changes layout in the memory that stages take afterwards."""
    text = product(("bf16", "f32"), (64, 64, 32), more=True)
    check(text, "sm_80", (64, 64, 72), ("bf16", "bf16", "f32"), (1, 1), schedule=2)


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_121a"])
def test_no_warnings_no_spills(arch: str) -> None:
    kernel = tw.compile(product(("bf16", "f32"), (128, 128, 64)), arch)
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.ok and not report.warnings and report.kernels["k"].spill_stores == 0


def view(element: str, tile: str) -> str:
    tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
    return f"partition_view<tile=({tile}), padding_value = zero, {tensor}>"


def test_chained_products_stay_in_registers() -> None:
    """O = sum over j of f16(Q K_j^T) V_j: one barrier an iteration, and Q laid down once."""
    body = "    %i, %by, %bz = get_tile_block_id : tile<i32>\n"
    for name, rows in (("A", "%m"), ("B", "%n"), ("V", "%n"), ("C", "%m")):
        element = "f32" if name == "C" else "f16"
        tile = "64x32" if name in "AC" else "32x32"
        body += matrix(name, rows, "%d", element, tile)
    wide, tall = view("f16", "32x32"), view("f16", "64x32")
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %steps, %columns = get_index_space_shape %B : {wide} -> tile<i32>
    %q, %t = load_view_tko weak %A[%i, %o] : {tall}, tile<i32> -> tile<64x32xf16>, token
    %sum = for %j in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero)
        -> (tile<64x32xf32>) {{
      %k, %t0 = load_view_tko weak %B[%j, %o] : {wide}, tile<i32> -> tile<32x32xf16>, token
      %v, %t1 = load_view_tko weak %V[%j, %o] : {wide}, tile<i32> -> tile<32x32xf16>, token
      %kt = permute %k [1, 0] : tile<32x32xf16> -> tile<32x32xf16>
      %s = mmaf %q, %kt, %zero : tile<64x32xf16>, tile<32x32xf16>, tile<64x32xf32>
      %p = ftof %s : tile<64x32xf32> -> tile<64x32xf16>
      %next = mmaf %p, %v, %acc : tile<64x32xf16>, tile<32x32xf16>, tile<64x32xf32>
      continue %next : tile<64x32xf32>
    }}
    %u = store_view_tko weak %sum, %C[%i, %o] : tile<64x32xf32>, {view("f32", "64x32")}, tile<i32>
        -> token
"""
    names = ", ".join(
        f"%{name}_p: tile<ptr<{'f32' if name == 'C' else 'f16'}>>, %{name}_l: tile<i32>"
        for name in "ABVC"
    )
    text = entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %d: tile<i32>", body)
    ptx = tw.compile(text, "sm_80").ptx
    before, _, loop = ptx.partition("$for1:")
    loop = loop.partition("bra.uni $for1")[0]
    assert "st.shared" in before and "st.shared" not in loop and loop.count("bar.sync") == 1
    q, k, v = operand(64, 32, "f16"), operand(136, 32, "f16"), operand(136, 32, "f16")
    args = [part for array in (q, k, v, np.zeros((64, 32), np.float32)) for part in (array, 32)]
    got = tw.interpret(
        text, "k", grid=(1,), args=[*args, 64, 136, 32], level="ptx", arch="sm_80", schedule=1
    )[3]
    wide_q, wide_k, wide_v = (x.astype(np.float32) for x in (q, k, v))
    want = (wide_q @ wide_k.T).astype(np.float16).astype(np.float32) @ wide_v
    assert np.abs(got - want).max() <= 2e-3 * np.abs(want).max()
