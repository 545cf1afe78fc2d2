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
    memory = convert or types[0]
    wanted = (memory, memory, types[1])
    check(text, "sm_90a", (72, 32, 112), wanted, (2, 1), b_order=order, schedule=2)


def test_copies_beside_boxes() -> None:
    """A by TMA and B, whose rows are known to be multiples of 4 bytes, by copies; MMAs in flight
    all along."""
    text = product(("bf16", "f32"), (64, 32, 32))
    text = text.replace("%B_s = assume div_by<8>", "%B_s = assume div_by<2>")
    ptx = tw.compile(text, "sm_90a").ptx
    assert "cp.async.ca.shared" in ptx and "tensor.2d.shared" in ptx
    assert "wgmma.wait_group.sync.aligned 1" in ptx
    check(text, "sm_90a", (64, 32, 232), ("bf16", "bf16", "f32"), (1, 1), schedule=2)


def test_both_kinds_of_stages_have_room() -> None:
    """TMA would take all of shared memory for A."""
    text = product(("bf16", "f32"), (128, 128, 64))
    text = text.replace("%B_s = assume div_by<8>", "%B_s = assume div_by<2>")
    ptx = tw.compile(text, "sm_90a").ptx
    assert "cp.async.ca.shared" in ptx and "tensor.2d.shared" in ptx


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


STREAM = """
    %i, %by, %bz = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<{tile}xf32>
"""


def streamed(tile: int, token: str = "") -> str:
    """A @k of sums of rows, a chunk at a time, of which it writes one for each place in a chunk."""
    tiles = view("f32", f"1x{tile}")
    body = STREAM.format(tile=f"1x{tile}")
    for name, columns in (("A", "%n"), ("C", "%d")):
        body += matrix(name, "%m", columns, "f32", f"1x{tile}")
    body += f"""
    %rows, %steps = get_index_space_shape %A : {tiles} -> tile<i32>
    %first = store_view_tko weak %zero, %C[%i, %o] : tile<1x{tile}xf32>, {tiles}, tile<i32> -> token
    %sum = for %j in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero)
        -> (tile<1x{tile}xf32>) {{
      %x, %t0 = load_view_tko weak %A[%i, %j]{token} : {tiles}, tile<i32>
          -> tile<1x{tile}xf32>, token
      %next = addf %acc, %x rounding<nearest_even> : tile<1x{tile}xf32>
      continue %next : tile<1x{tile}xf32>
    }}
    %u = store_view_tko weak %sum, %C[%i, %o] token = %first
        : tile<1x{tile}xf32>, {tiles}, tile<i32> -> token
"""
    names = ", ".join(f"%{name}_p: tile<ptr<f32>>, %{name}_l: tile<i32>" for name in "AC")
    return entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %d: tile<i32>", body)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_streams_are_copied_ahead(arch: str) -> None:
    """Every thread reads what it has copied: no barrier."""
    text = streamed(512)
    ptx = tw.compile(text, arch).ptx
    loop = ptx.partition("$for1:")[2].partition("bra.uni $for1")[0]
    assert COPY in loop and "bar.sync" not in loop and "ld.global" not in loop
    a = operand(3, 2700, "f32")
    args = [a, 2700, np.zeros((3, 512), np.float32), 512, 3, 2700, 512]
    got = tw.interpret(text, "k", grid=(3,), args=args, level="ptx", arch=arch, schedule=4)[1]
    chunks = np.pad(a, ((0, 0), (0, 6 * 512 - 2700))).reshape(3, 6, 512)
    assert (got == np.cumsum(chunks, axis=1, dtype=np.float32)[:, -1]).all()


def test_what_is_written_before_is_not_copied_ahead() -> None:
    assert COPY not in tw.compile(streamed(512, " token = %first"), "sm_80").ptx


def gathered(mask: str) -> str:
    """A @k of C = A[rows] B: rows of A, as a tile of their numbers says, through pointers."""
    tall, flat = "64x32", view("f16", "32x32")
    body = matrix("B", "%k", "%n", "f16", "32x32") + matrix("C", "%m", "%n", "f32", "64x32")
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %depth = constant <i32: 32> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %nothing = constant <f16: 0.0> : tile<{tall}xf16>
    %A_a = assume div_by<16>, %A_p : tile<ptr<f16>>
    %A_s = assume div_by<8>, %A_l : tile<i32>
    %k_a = assume div_by<8>, %k : tile<i32>
    %i64 = iota : tile<64xi32>
    %at0 = reshape %R_p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %at1 = broadcast %at0 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %at = offset %at1, %i64 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %r, %t = load_ptr_tko weak %at : tile<64xptr<i32>> -> tile<64xi32>, token
    %r1 = reshape %r : tile<64xi32> -> tile<64x1xi32>
    %rows = broadcast %r1 : tile<64x1xi32> -> tile<{tall}xi32>
    %s1 = reshape %A_s : tile<i32> -> tile<1x1xi32>
    %stride = broadcast %s1 : tile<1x1xi32> -> tile<{tall}xi32>
    %begin = muli %rows, %stride : tile<{tall}xi32>
    %p1 = reshape %A_a : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %base = broadcast %p1 : tile<1x1xptr<f16>> -> tile<{tall}xptr<f16>>
    %i32 = iota : tile<32xi32>
    %k1 = reshape %k_a : tile<i32> -> tile<1x1xi32>
    %size = broadcast %k1 : tile<1x1xi32> -> tile<{tall}xi32>
    %steps, %columns = get_index_space_shape %B : {flat} -> tile<i32>
    %sum = for %j in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero)
        -> (tile<64x32xf32>) {{
      %f = muli %j, %depth : tile<i32>
      %f1 = reshape %f : tile<i32> -> tile<1xi32>
      %first = broadcast %f1 : tile<1xi32> -> tile<32xi32>
      %c = addi %first, %i32 : tile<32xi32>
      %c1 = reshape %c : tile<32xi32> -> tile<1x32xi32>
      %cs = broadcast %c1 : tile<1x32xi32> -> tile<{tall}xi32>
      %in = cmpi {mask}, unsigned : tile<{tall}xi32> -> tile<{tall}xi1>
      %far = addi %begin, %cs : tile<{tall}xi32>
      %ps = offset %base, %far : tile<{tall}xptr<f16>>, tile<{tall}xi32> -> tile<{tall}xptr<f16>>
      %x, %t0 = load_ptr_tko weak %ps, %in, %nothing
          : tile<{tall}xptr<f16>>, tile<{tall}xi1>, tile<{tall}xf16> -> tile<{tall}xf16>, token
      %y, %t1 = load_view_tko weak %B[%j, %o] : {flat}, tile<i32> -> tile<32x32xf16>, token
      %next = mmaf %x, %y, %acc : tile<{tall}xf16>, tile<32x32xf16>, tile<64x32xf32>
      continue %next : tile<64x32xf32>
    }}
    %u = store_view_tko weak %sum, %C[%o, %o] : tile<64x32xf32>, {view("f32", "64x32")}, tile<i32>
        -> token
"""
    names = ", ".join(
        f"%{name}_p: tile<ptr<{type_}>>, %{name}_l: tile<i32>"
        for name, type_ in (("A", "f16"), ("B", "f16"), ("R", "i32"), ("C", "f32"))
    )
    return entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>", body)


@pytest.mark.parametrize("relation, copies", [("less_than", 3), ("less_than_or_equal", 1)])
def test_gathers_are_copied_ahead(relation: str, copies: int) -> None:
    """16 bytes at a time, where a mask holds for all of them or for none; else only B is."""
    text = gathered(f"{relation} %cs, %size")
    ptx = tw.compile(text, "sm_80").ptx
    loop = ptx.partition("$for1:")[2].partition("bra.uni $for1")[0]
    assert loop.count(COPY) == copies
    a, b = operand(40, 72, "f16"), operand(72, 32, "f16")
    rows = np.random.default_rng(1).integers(0, 39, 64).astype(np.int32)
    args = [a, 72, b, 32, rows, 64, np.zeros((64, 32), np.float32), 32, 64, 32, 72]
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_80", schedule=1)[3]
    want = a[rows].astype(np.float32) @ b.astype(np.float32)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
