"""Loads by `cp.async` in stages: PTX for targets of `mma.sync` equals the program level."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_warpgroups import DTYPES, matrix, operand, product, whole
from tile_ir import entry

import tilewright as tw
from tilewright.launch import ptxas

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


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89"])
def test_stages_of_copies(arch: str) -> None:
    """Edges along every dimension, more steps than stages, copies that complete late."""
    text = product(("bf16", "f32"), (64, 64, 32))
    ptx = tw.compile(text, arch).ptx
    assert COPY in ptx and "cp.async.wait_group 2" in ptx and "st.shared" not in ptx
    check(text, arch, (72, 56, 216), ("bf16", "bf16", "f32"), (2, 1), schedule=3)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
def test_stores_of_accumulators_fill_sectors(arch: str) -> None:
    """Four lanes have 16 bytes of f16 beside each other, so that they change places; of f32 32."""
    text = whole(product(("f16", "f16"), (64, 64, 32)))
    stores = set(re.findall(r"st\.global\S*", tw.compile(text, arch).ptx))
    assert stores == {"st.global.v4.b32"}
    check(text, arch, (72, 48, 64), ("f16", "f16", "f16"), (2, 1), schedule=3)


@pytest.mark.parametrize("tile, parts", [((128, 128, 64), 2), ((64, 128, 64), 1)])
def test_stores_leave_room_for_another_cta(tile: tuple[int, int, int], parts: int) -> None:
    """A CTA of a multiprocessor has 115,712 bytes beside another one; stages that `wgmma`s read
    have 98,304, and tiles of 32,768 that are stored go through the rest in parts."""
    sizes = "%mm = maxi %m, %least signed : tile<i32>\n    %kk = maxi %k, %least signed : tile<i32>"
    text = whole(product(("f16", "f16"), tile))
    for size in "mk":  # no parameters, so that TMA loads nothing
        text = re.sub(rf"(shape = \[[^]]*)%{size}\b", rf"\1%{size}{size}", text)
    least = f"    %least = constant <i32: 1> : tile<i32>\n    {sizes}\n    %A_a"
    text = text.replace("    %A_a", least, 1)
    kernel = tw.compile(text, "sm_90a")
    assert COPY in kernel.ptx and "wgmma" in kernel.ptx and "bulk.tensor" not in kernel.ptx
    assert kernel.shared_bytes == 98304 + 2 * tile[0] * tile[1] // parts <= 115_712
    check(text, "sm_90a", (136, 128, 200), ("f16", "f16", "f16"), (2, 1), schedule=3)


def test_stores_beside_stages() -> None:
    """What is stored while others are copied goes through the memory behind them, whole."""
    text = whole(product(("f16", "f16"), (64, 64, 64)))
    store = next(line for line in text.splitlines() if "store_view_tko" in line)
    after = text[text.index(store) :].split("-> token", 1)[0] + "-> token\n"
    inner = after.replace("%t =", "%t9 =").replace("%sum", "%next").replace("[%i,", "[%q,")
    text = text.replace(after, "").replace("      continue", f"{inner}      continue")
    assert tw.compile(text, "sm_80").ptx.count("bar.sync") < 8
    check(text, "sm_80", (192, 64, 192), ("f16", "f16", "f16"), (1, 1), schedule=3)


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
    """Where TMA is not to be used: as they lie, turned, or converted. Threads copy on while MMAs
    read what was not converted."""
    hints = " optimization_hints = <default = {allow_tma = false}>"
    text = product(types, (64, 32, 32), b_order=order, hints=hints, convert=convert)
    ptx = tw.compile(text, "sm_90a").ptx
    assert "wgmma.mma_async" in ptx and COPY in ptx and "tensor.2d.shared" not in ptx
    assert (ptx.rindex(COPY) > ptx.index("wgmma.mma_async")) is not bool(convert)
    memory = convert or types[0]
    wanted = (memory, memory, types[1])
    check(text, "sm_90a", (72, 32, 112), wanted, (2, 1), b_order=order, schedule=2)


def test_copies_of_a_block_after_the_other_leave_mmas_in_flight() -> None:
    """Where a loop runs within another one: five stages, of which MMAs read two."""
    hints = " optimization_hints = <default = {allow_tma = false}>"
    text = product(("f16", "f32"), (64, 32, 32), persistent=True, hints=hints)
    ptx = tw.compile(text, "sm_90a").ptx
    assert ptx.count("\tcp.async.commit_group") == 4 and "tensor.2d.shared" not in ptx
    assert ptx.index("wgmma.wait_group.sync.aligned 1") > ptx.rindex(COPY) > ptx.index("wgmma.mma")
    for k in (232, 72, 32):
        check(text, "sm_90a", (136, 32, k), ("f16", "f16", "f32"), (2, 1), schedule=2)


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


def chained(rows: int, keys: int, e: str) -> str:
    """A @k of O = sum over j of (Q K_j^T) V_j, `rows` of 32 and `keys` at once."""
    body = "    %i, %by, %bz = get_tile_block_id : tile<i32>\n"
    for name, extent in (("A", "%m"), ("B", "%n"), ("V", "%n"), ("C", "%m")):
        tile = f"{rows if name in 'AC' else keys}x32"
        body += matrix(name, extent, "%d", "f32" if name == "C" else e, tile)
    wide, tall = view(e, f"{keys}x32"), view(e, f"{rows}x32")
    shapes = f"{rows}x32", f"{keys}x32", f"32x{keys}", f"{rows}x{keys}"
    q, k, kt, p = (f"tile<{shape}x{e}>" for shape in shapes)
    s, c = f"tile<{rows}x{keys}xf32>", f"tile<{rows}x32xf32>"
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : {s}
    %zero = constant <f32: 0.0> : {c}
    %steps, %columns = get_index_space_shape %B : {wide} -> tile<i32>
    %q, %t = load_view_tko weak %A[%i, %o] : {tall}, tile<i32> -> {q}, token
    %sum = for %j in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero) -> ({c}) {{
      %k, %t0 = load_view_tko weak %B[%j, %o] : {wide}, tile<i32> -> {k}, token
      %v, %t1 = load_view_tko weak %V[%j, %o] : {wide}, tile<i32> -> {k}, token
      %kt = permute %k [1, 0] : {k} -> {kt}
      %s = mmaf %q, %kt, %none : {q}, {kt}, {s}
      %p = ftof %s : {s} -> {p}
      %next = mmaf %p, %v, %acc : {p}, {k}, {c}
      continue %next : {c}
    }}
    %u = store_view_tko weak %sum, %C[%i, %o] : {c}, {view("f32", f"{rows}x32")}, tile<i32> -> token
"""
    names = ", ".join(
        f"%{name}_p: tile<ptr<{'f32' if name == 'C' else e}>>, %{name}_l: tile<i32>"
        for name in "ABVC"
    )
    return entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %d: tile<i32>", body)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
def test_chained_products_stay_in_registers(arch: str) -> None:
    """One barrier an iteration, of boxes none, and Q laid down once."""
    text = chained(64, 32, "f16")
    ptx, boxed = tw.compile(text, arch).ptx, arch == "sm_120a"
    loops = re.findall(r"(\$for\d+):(.*?)bra\.uni \1;", ptx, re.DOTALL)
    (loop,) = (loop for _, loop in loops if "mma.sync" in loop)
    assert "st.shared" in ptx and "st.shared" not in loop
    assert loop.count("bar.sync") == (not boxed) and ("mbarrier.arrive" in loop) == boxed
    q, k, v = operand(64, 32, "f16"), operand(136, 32, "f16"), operand(136, 32, "f16")
    args = [part for array in (q, k, v, np.zeros((64, 32), np.float32)) for part in (array, 32)]
    got = tw.interpret(
        text, "k", grid=(1,), args=[*args, 64, 136, 32], level="ptx", arch=arch, schedule=1
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


@pytest.mark.parametrize(
    "arch, tile, stages",
    [("sm_80", 512, 2), ("sm_80", 2048, 3), ("sm_90a", 512, 4), ("sm_90a", 2048, 4)],
)
def test_streams_are_copied_ahead(arch: str, tile: int, stages: int) -> None:
    """Every thread reads what it has copied: no barrier. Of 64 bytes a thread half as many threads
    have room for stages."""
    text = streamed(tile)
    kernel = tw.compile(text, arch)
    assert kernel.shared_bytes == stages * 4 * tile
    loop = kernel.ptx.partition("$for1:")[2].partition("bra.uni $for1")[0]
    assert COPY in loop and "bar.sync" not in loop and "ld.global" not in loop
    a = operand(3, 2700, "f32")
    args = [a, 2700, np.zeros((3, tile), np.float32), tile, 3, 2700, tile]
    got = tw.interpret(text, "k", grid=(3,), args=args, level="ptx", arch=arch, schedule=4)[1]
    count = -(-2700 // tile)
    chunks = np.pad(a, ((0, 0), (0, count * tile - 2700))).reshape(3, count, tile)
    assert (got == np.cumsum(chunks, axis=1, dtype=np.float32)[:, -1]).all()


def test_copies_are_begun_in_front_of_loads_that_threads_wait_for() -> None:
    """Behind what was read, and one iteration further ahead, where a loop loads nothing else."""
    text = streamed(512)
    scaled = text.replace(
        "%next = addf %acc, %x rounding",
        f"""%b, %t1 = load_view_tko weak %B[%i, %j] : {view("f32", "1x1")}, tile<i32>
          -> tile<1x1xf32>, token
      %wide = broadcast %b : tile<1x1xf32> -> tile<1x512xf32>
      %y = mulf %x, %wide rounding<nearest_even> : tile<1x512xf32>
      %next = addf %acc, %y rounding""",
    ).replace("    %rows, %steps", matrix("B", "%m", "%n", "f32", "1x1") + "    %rows, %steps")
    scaled = scaled.replace(
        "%m: tile<i32>,", "%B_p: tile<ptr<f32>>, %B_l: tile<i32>, %m: tile<i32>,"
    )
    for own, ahead in ((text, 4), (scaled, 3)):
        loop = tw.compile(own, "sm_90a").ptx.partition("$for1:")[2].partition("bra.uni $for1")[0]
        assert f"cp.async.wait_group {ahead - 1};" in loop
        assert (loop.index(COPY) < loop.index("ld.shared")) == (own is scaled)
    a, b = operand(3, 2700, "f32"), operand(3, 6, "f32")
    args = [a, 2700, np.zeros((3, 512), np.float32), 512, b, 6, 3, 2700, 512]
    want = tw.interpret(scaled, "k", grid=(3,), args=args, arch="sm_90a")[1]
    got = tw.interpret(scaled, "k", grid=(3,), args=args, level="ptx", arch="sm_90a", schedule=4)[1]
    assert got.any() and (got == want).all()


def ordered(token: str) -> str:
    """`streamed`, whose loads wait for a token; what comes behind the loop waits for the loads."""
    text = streamed(512, f" token = {token}")
    for old, new in (
        ("%sum = for", "%sum, %last = for"),
        ("iter_values(%acc = %zero)", "iter_values(%acc = %zero, %t = %first)"),
        ("-> (tile<1x512xf32>) {", "-> (tile<1x512xf32>, token) {"),
        ("continue %next : tile<1x512xf32>",
         "%t1 = join_tokens %t, %t0 : token\n      continue %next, %t1 : tile<1x512xf32>, token"),
        ("%C[%i, %o] token = %first\n", "%C[%i, %o] token = %last\n"),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("store", ["div_by<4>", "div_by<1>"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_what_is_written_before_a_loop_is_copied_behind_a_barrier(arch: str, store: str) -> None:
    """Zeros lie in the first chunk before the loop, the sum of the others behind it; where elements
    are stored one by one, by other threads than copy them."""
    text = ordered("%first").replace("%C_s = assume div_by<4>", f"%C_s = assume {store}")
    before, _, _ = tw.compile(text, arch).ptx.partition(COPY)
    assert "st.global" in before and "bar.sync" in before.rpartition("st.global")[2]
    for level, schedule in (("program", None), ("ptx", 4)):
        a = operand(3, 2560, "f32")
        chunks = a.reshape(3, 5, 512)[:, 1:].cumsum(axis=1, dtype=np.float32)[:, -1]
        args = [a, 2560, a, 2560, 3, 2560, 2560]
        options = {"level": level, "arch": arch, "schedule": schedule}
        got = tw.interpret(text, "k", grid=(3,), args=args, **options)[0]
        assert (got[:, :512] == chunks).all() and (got[:, 512:] == a[:, 512:]).all()


def test_a_store_waits_for_the_copies_of_other_threads() -> None:
    """Zeros are written over each chunk that was copied, by other threads than copied it."""
    tiles = view("f32", "1x512")
    text = streamed(512, " token = %first").replace(
        "%C_s = assume div_by<4>", "%C_s = assume div_by<1>"
    )
    text = text.replace(
        "      %next = addf",
        f"      %w = store_view_tko weak %zero, %C[%i, %j] token = %t0\n"
        f"          : tile<1x512xf32>, {tiles}, tile<i32> -> token\n      %next = addf",
    )
    text = text.replace("weak %sum, %C[%i, %o] token = %first", "weak %sum, %D[%i, %o]")
    text = text.replace(
        "%rows, %steps =", matrix("D", "%m", "%d", "f32", "1x512") + "%rows, %steps ="
    )
    text = text.replace("%m: tile<i32>", "%D_p: tile<ptr<f32>>, %D_l: tile<i32>, %m: tile<i32>", 1)
    assert COPY in tw.compile(text, "sm_80").ptx
    a = operand(3, 2560, "f32")
    sums = a.reshape(3, 5, 512)[:, 1:].cumsum(axis=1, dtype=np.float32)[:, -1]
    args = [a, 2560, a, 2560, np.zeros((3, 512), np.float32), 512, 3, 2560, 2560]
    options = {"level": "ptx", "arch": "sm_80", "schedule": 1}
    left, _, got = tw.interpret(text, "k", grid=(3,), args=args, **options)
    assert not left.any() and (got == sums).all()


def test_what_a_loop_may_write_is_not_copied_ahead() -> None:
    assert COPY not in tw.compile(ordered("%t"), "sm_80").ptx
