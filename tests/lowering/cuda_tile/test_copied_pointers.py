"""Loads by `cp.async` in stages, through pointers that a loop advances or that numbers of a tile
say: PTX equals the program level."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.random import default_rng
from test_copied_loads import COPY, view
from test_hints import hinted
from test_warpgroups import matrix, operand
from tile_ir import entry

import tilewright as tw
from tilewright.launch import ptxas
from tilewright.lowering.cuda_tile.memory.gathering_ring import GatheringRing
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings


def places(name: str, pointer: str, rows: int, columns: int, stride: int) -> str:
    """IR for %name: pointers to a matrix of f16 from %pointer on."""
    tile = f"tile<{rows}x{columns}x"
    return f"""
    %{name}_i = iota : tile<{rows}xi32>
    %{name}_i1 = reshape %{name}_i : tile<{rows}xi32> -> tile<{rows}x1xi32>
    %{name}_is = broadcast %{name}_i1 : tile<{rows}x1xi32> -> {tile}i32>
    %{name}_w = constant <i32: {stride}> : {tile}i32>
    %{name}_r = muli %{name}_is, %{name}_w : {tile}i32>
    %{name}_j = iota : tile<{columns}xi32>
    %{name}_j1 = reshape %{name}_j : tile<{columns}xi32> -> tile<1x{columns}xi32>
    %{name}_js = broadcast %{name}_j1 : tile<1x{columns}xi32> -> {tile}i32>
    %{name}_o = addi %{name}_r, %{name}_js : {tile}i32>
    %{name}_a = assume div_by<16>, {pointer} : tile<ptr<f16>>
    %{name}_1 = reshape %{name}_a : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %{name}_b = broadcast %{name}_1 : tile<1x1xptr<f16>> -> {tile}ptr<f16>>
    %{name} = offset %{name}_b, %{name}_o : {tile}ptr<f16>>, {tile}i32> -> {tile}ptr<f16>>
"""


def advanced(first: int, step: int, *, ends: str = "") -> str:
    """A @k of C = A B, 64x128 by 128x64, through pointers that the loop advances."""
    left, right = "tile<64x32xptr<f16>>", "tile<32x64xptr<f16>>"
    body = places("p", "%A", 64, 32, 128) + places("q", "%B", 32, 64, 64)
    body += f"""
    %by = constant <i32: 32> : tile<64x32xi32>
    %down1 = reshape %down : tile<i64> -> tile<1x1xi64>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %first = constant <i32: {first}> : tile<i32>
    %step = constant <i32: {step}> : tile<i32>
    %sum, %a_end, %b_end = for %k in (%first to %n, step %step) : tile<i32>
        iter_values(%acc = %zero, %a = %p, %b = %q) -> (tile<64x64xf32>, {left}, {right}) {{
      %x, %t0 = load_ptr_tko weak %a : {left} -> tile<64x32xf16>, token
      %y, %t1 = load_ptr_tko weak %b : {right} -> tile<32x64xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      %a_next = offset %a, %by : {left}, tile<64x32xi32> -> {left}
      %far = broadcast %down1 : tile<1x1xi64> -> tile<32x64xi64>
      %b_next = offset %b, %far : {right}, tile<32x64xi64> -> {right}
      continue %next, %a_next, %b_next : tile<64x64xf32>, {left}, {right}
    }}
    {ends}
    %v = make_tensor_view %C, shape = [64, 64], strides = [64, 1]
        : tensor_view<64x64xf32, strides=[64,1]>
    %w = make_partition_view %v
        : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %o = constant <i32: 0> : tile<i32>
    %u = store_view_tko weak %{"all" if ends else "sum"}, %w[%o, %o] : tile<64x64xf32>,
        partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
"""
    parameters = "%A: tile<ptr<f16>>, %B: tile<ptr<f16>>, %C: tile<ptr<f32>>"
    body = "    %down = assume div_by<8>, %by_rows : tile<i64>\n" + body
    return entry(f"{parameters}, %n: tile<i32>, %by_rows: tile<i64>", body)


ENDS = """
    %z, %t = load_ptr_tko weak %a_end : tile<64x32xptr<f16>> -> tile<64x32xf16>, token
    %wide = ftof %z : tile<64x32xf16> -> tile<64x32xf32>
    %both = cat %wide, %wide dim = 1 : tile<64x32xf32>, tile<64x32xf32> -> tile<64x64xf32>
    %all = addf %sum, %both : tile<64x64xf32>"""


@pytest.mark.covered
@pytest.mark.parametrize(
    "first, step, times, ends", [(0, 1, 4, ""), (-7, 3, 4, ""), (0, 1, 3, ENDS)]
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_pointers_that_a_loop_advances(
    arch: str, first: int, step: int, times: int, ends: str
) -> None:
    """Their loads are copied ahead, 16 bytes at a time; where they end is known behind the loop."""
    text = advanced(first, step, ends=ends)
    assert COPY in tw.compile(text, arch).ptx
    a, b = operand(64, 128, "f16"), operand(128, 64, "f16")
    args = [a, b, np.zeros((64, 64), np.float32), first + step * times - (step > 1), 32 * 64]
    options = {"grid": (1,), "args": args, "arch": arch}
    got = tw.interpret(text, "k", level="ptx", schedule=3, **options)
    want = tw.interpret(text, "k", **options)
    assert np.abs(got[2] - want[2]).max() <= 1e-5 * np.abs(want[2]).max()


def gathered(mask: str, stored: str = "f32") -> str:
    """A @k of C = A[rows] B: rows of A, as a tile of their numbers says, through pointers."""
    tall, flat = "64x32", view("f16", "32x32")
    body = matrix("B", "%k", "%n", "f16", "32x32")
    body += matrix("C", "%m", "%n", stored, "64x32")
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
        for name, type_ in (("A", "f16"), ("B", "f16"), ("R", "i32"), ("C", stored))
    )
    return entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>", body)


SCATTERED = """
    %w_at = offset %at1, %r : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %w, %t2 = load_ptr_tko weak %w_at : tile<64xptr<i32>> -> tile<64xi32>, token
    %w1 = itof %w signed : tile<64xi32> -> tile<64xf32>
    %w2 = reshape %w1 : tile<64xf32> -> tile<64x1xf32>
    %weights = broadcast %w2 : tile<64x1xf32> -> tile<64x32xf32>
    %z = mulf %sum, %weights : tile<64x32xf32>
    %C_stride = assume div_by<8>, %C_l : tile<i32>
    %s3 = reshape %C_stride : tile<i32> -> tile<1x1xi32>
    %s4 = broadcast %s3 : tile<1x1xi32> -> tile<64x32xi32>
    %c_row = muli %rows, %s4 : tile<64x32xi32>
    %C_base = assume div_by<16>, %C_p : tile<ptr<f32>>
    %c_p1 = reshape %C_base : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %c_base = broadcast %c_p1 : tile<1x1xptr<f32>> -> tile<64x32xptr<f32>>
    %c_1 = reshape %i32 : tile<32xi32> -> tile<1x32xi32>
    %c_2 = broadcast %c_1 : tile<1x32xi32> -> tile<64x32xi32>
    %c_far = addi %c_row, %c_2 : tile<64x32xi32>
    %c_at = offset %c_base, %c_far : tile<64x32xptr<f32>>, tile<64x32xi32> -> tile<64x32xptr<f32>>
    %u = store_ptr_tko weak %c_at, %z : tile<64x32xptr<f32>>, tile<64x32xf32> -> token
"""


def scattered(text: str, stored: str = "f32") -> str:
    """The kernel of gathered rows that stores them where they came from, times weights."""
    begin = text.index("    %u = store_view_tko")
    end = text.index("-> token", begin) + len("-> token\n")
    store = SCATTERED.replace("ptr<f32>", f"ptr<{stored}>")
    if stored != "f32":
        narrow = f"%h = ftof %z : tile<64x32xf32> -> tile<64x32x{stored}>\n    %u = "
        store = store.replace("%u = ", narrow).replace("%c_at, %z", "%c_at, %h")
        store = store.replace("tile<64x32xf32> -> token", f"tile<64x32x{stored}> -> token")
    return text[:begin] + store + text[end:]


def test_scattered_rows_with_weights() -> None:
    """Weights by the numbers of rows are on their way while the last MMAs are, and lanes store
    lines: two swaps of the 16 elements of each, half of them sent."""
    text = scattered(gathered("less_than %cs, %size"))
    ptx = tw.compile(text, "sm_90a").ptx
    products, _, _ = ptx.rpartition("wgmma.wait_group")
    assert "ld.global.b32" in products[products.rindex("$for") :]
    assert ptx.count("\tshfl.sync.bfly") == 16
    a, b = operand(64, 136, "f16"), operand(136, 32, "f16")
    rows = default_rng(1).permutation(64).astype(np.int32)
    args = [a, 136, b, 32, rows, 64, np.zeros((64, 32), np.float32), 32, 64, 32, 136]
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")[3]
    want = a.astype(np.float32) @ b.astype(np.float32) * rows[:, None]
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def check_gathered(text: str, times: int = 1) -> None:
    """Products of gathered rows for an sm_100a, added up so often."""
    k = 32 * 17 - 8
    a, b = operand(40, k, "f16"), operand(k, 32, "f16")
    args = [a, k, b, 32, np.arange(64, dtype=np.int32) % 39, 64, np.zeros((64, 32), np.float32),
            32, 64, 32, k]  # fmt: skip
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_100a", schedule=1)[3]
    want = times * (a[np.arange(64) % 39].astype(np.float32) @ b.astype(np.float32))
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("relation, direct", [("less_than", True), ("less_than_or_equal", False)])
def test_gathers_for_mmas_in_flight(relation: str, *, direct: bool) -> None:
    """Those of the iteration before have read what threads copy over, or lay down anew."""
    text = gathered(f"{relation} %cs, %size")
    kernel = tw.compile(text, "sm_100a")
    ptx = kernel.ptx
    assert (COPY in ptx) == direct
    # Copies arrive themselves, and the async proxy sees what they wrote behind a wait alone.
    seen = re.search(r"again; }\n\t//.*\n\tfence.proxy.async::generic.acquire", ptx)
    assert bool(seen) == ("cp.async.mbarrier.arrive.noinc" in ptx) == direct
    assert "cp.async.wait" not in ptx
    # A warpgroup gathers, and one warp issues; else one copies B alone.
    assert kernel.entry().block == (288 if direct else 192, 1, 1)
    check_gathered(text)


@pytest.mark.parametrize("occupancy", [1, 8])
def test_gathers_wait_for_mmas(monkeypatch: pytest.MonkeyPatch, occupancy: int) -> None:
    """Those of a warpgroup for a stage that is empty; those of threads that multiply, which have no
    room for one, of the iteration before, and where a loop begins again, whose sums go on, of
    all."""
    text = gathered("less_than %cs, %size").replace("%sum = for", "%end = for")
    text = hinted(text, f"occupancy = {occupancy}").replace("<sm_90 =", "<default =")
    text = text.replace(
        "%end = for",
        """%half = constant <i32: 16> : tile<i32>
        %sum = for %q in (%o to %depth, step %half) : tile<i32> iter_values(%begun = %zero)
            -> (tile<64x32xf32>) {
          %end = for""",
    ).replace("acc = %zero", "acc = %begun")
    text = text.replace("    %u = store", "continue %end : tile<64x32xf32> }\n%u = store")
    check_gathered(text, 2)
    monkeypatch.setattr(GatheringRing, "copy", lambda ring, *at, fresh: ring._fill(*at))
    monkeypatch.setattr(Rings, "wait_for_before", lambda *_: None)
    with pytest.raises(tw.ExecutionError, match=r"'ptx.cp.async' write .* 'ptx.tcgen05.mma'"):
        check_gathered(f"{text}\n", 2)


@pytest.mark.parametrize("relation, copies", [("less_than", 3), ("less_than_or_equal", 1)])
def test_gathers_are_copied_ahead(relation: str, copies: int) -> None:
    """16 bytes at a time, where a mask holds for all of them or for none; else only B is."""
    text = gathered(f"{relation} %cs, %size")
    ptx = tw.compile(text, "sm_80").ptx
    loop = ptx.partition("$for1:")[2].partition("bra.uni $for1")[0]
    assert loop.count(COPY) == copies
    a, b = operand(40, 72, "f16"), operand(72, 32, "f16")
    rows = default_rng(1).integers(0, 39, 64).astype(np.int32)
    args = [a, 72, b, 32, rows, 64, np.zeros((64, 32), np.float32), 32, 64, 32, 72]
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_80", schedule=1)[3]
    want = a[rows].astype(np.float32) @ b.astype(np.float32)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def counted(first: int, step: int, trips: int, leave: int) -> str:
    """A @k that adds up products of ones and 32x64 of A, from row %i - %first on; iterations from
    one on end before they load."""
    tile, last = "tile<64x64xf32>", first + step * trips
    body = places("q", "%A", 32, 64, 64) + matrix("C", "%m", "%n", "f32", "64x64")
    numbers = {"first": first, "last": last, "step": step, "leave": first + step * leave}
    for name, number in numbers.items():
        body += f"    %{name} = constant <i16: {number}> : tile<i16>\n"
    body += f"""
    %ones = constant <f16: 1.0> : tile<64x32xf16>
    %zero = constant <f32: 0.0> : {tile}
    %o = constant <i32: 0> : tile<i32>
    %row = constant <i32: 64> : tile<i32>
    %sum = for %i in (%first to %last, step %step) : tile<i16>
        iter_values(%acc = %zero) -> ({tile}) {{
      %over = cmpi greater_than_or_equal %i, %leave, signed : tile<i16> -> tile<i1>
      if %over {{
        continue %acc : {tile}
      }}
      %passed = subi %i, %first : tile<i16>
      %wide = exti %passed signed : tile<i16> -> tile<i32>
      %far = muli %wide, %row : tile<i32>
      %far1 = reshape %far : tile<i32> -> tile<1x1xi32>
      %far2 = broadcast %far1 : tile<1x1xi32> -> tile<32x64xi32>
      %at = offset %q, %far2 : tile<32x64xptr<f16>>, tile<32x64xi32> -> tile<32x64xptr<f16>>
      %y, %t1 = load_ptr_tko weak %at : tile<32x64xptr<f16>> -> tile<32x64xf16>, token
      %next = mmaf %ones, %y, %acc : tile<64x32xf16>, tile<32x64xf16>, {tile}
      continue %next : {tile}
    }}
    %u = store_view_tko weak %sum, %C[%o, %o] : {tile}, {view("f32", "64x64")}, tile<i32> -> token
"""
    if leave >= trips:
        body = body.replace(body[body.index("      %over") : body.index("      %passed")], "")
    return entry(
        "%A: tile<ptr<f16>>, %C_p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %C_l: tile<i32>",
        body,
    )


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("first, step, leave", [(31000, 300, 5), (0, 32, 2)])
def test_nothing_is_copied_that_no_iteration_loads(
    arch: str, first: int, step: int, leave: int
) -> None:
    """Numbers of iterations that are copied ahead may be none of the variable's type; those that
    leave before a load do not make it."""
    text, rows = counted(first, step, 5, leave), 32 + step * (min(leave, 5) - 1)
    assert (COPY in tw.compile(text, arch).ptx) == (leave >= 5)
    a = operand(rows, 64, "f16")
    args = [a, np.zeros((64, 64), np.float32), 64, 64, 64]
    got = tw.interpret(text, "k", level="ptx", grid=(1,), args=args, arch=arch)
    used = sum(a[step * i : step * i + 32].astype(np.float32).sum(0) for i in range(min(leave, 5)))
    assert np.allclose(got[1], used, atol=1e-3)


def sums(name: str, *pointers: str) -> str:
    """IR for %name: the sums of products of rows of 1024 numbers, as many as %n."""
    tile, places = "tile<1024xf32>", "tile<1024xptr<f32>>"
    body = f"""
    %{name} = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %none) -> ({tile}) {{
      %first = muli %i, %row : tile<i32>
      %f1 = reshape %first : tile<i32> -> tile<1xi32>
      %f2 = broadcast %f1 : tile<1xi32> -> tile<1024xi32>
      %x = constant <f32: 1.0> : {tile}"""
    last = "%x"
    for p in pointers:
        body += f"""
      %at_{p} = offset %{p}, %f2 : {places}, tile<1024xi32> -> {places}
      %of_{p}, %t_{p} = load_ptr_tko weak %at_{p} : {places} -> {tile}, token
      %to_{p} = mulf {last}, %of_{p} : {tile}"""
        last = f"%to_{p}"
    return f"""{body}
      %sum = addf %s, {last} : {tile}
      continue %sum : {tile}
    }}"""


@pytest.mark.parametrize("rows", [0, 2, 4, 7])
def test_stages_are_kept_on_each_way_to_a_later_loop(rows: int) -> None:
    """Two ways lead behind an `if` in an `if`; on both, what the second loop copies beside is not
    where it finds the tiles of the first one."""
    body = """
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %row = constant <i32: 1024> : tile<i32>
    %none = constant <f32: 0.0> : tile<1024xf32>
    %numbers = iota : tile<1024xi32>"""
    for p, by in (("a", 16), ("b", 16), ("c", 4)):
        body += f"""
    %{p}_a = assume div_by<{by}>, %{p}_p : tile<ptr<f32>>
    %{p}_1 = reshape %{p}_a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %{p}_s = broadcast %{p}_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %{p} = offset %{p}_s, %numbers : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>"""
    body += f"""
    %c1 = cmpi equal %way, %one, signed : tile<i32> -> tile<i1>
    %c2 = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
    {sums("u", "a")}
    if %c1 {{ if %c2 {{ return }} }}
    {sums("v", "a", "b")}
    %w = mulf %u, %v : tile<1024xf32>
    %done = store_ptr_tko weak %c, %w
        : tile<1024xptr<f32>>, tile<1024xf32> -> token
"""
    pointers = ", ".join(f"%{p}_p: tile<ptr<f32>>" for p in "abc")
    text = entry(f"{pointers}, %n: tile<i32>, %way: tile<i32>", body)
    a, b = (default_rng(i).integers(-3, 4, (7, 1024)) for i in range(2))
    want = a[:rows].sum(0) * (a * b)[:rows].sum(0)
    for way in range(2):
        args = [a.astype(np.float32), b.astype(np.float32), np.zeros(1024, np.float32), rows, way]
        got = tw.interpret(text, "k", level="ptx", grid=(1,), args=args, arch="sm_80")
        assert (got[2] == want).all()


@pytest.mark.parametrize("occupancy", [2, 3, 4])
def test_gatherers_that_have_no_registers_to_give_up(occupancy: int) -> None:
    """As many CTAs on a multiprocessor leave a thread 80 registers or fewer."""
    text = hinted(gathered("less_than %cs, %size"), f"occupancy = {occupancy}")
    ptx = tw.compile(text, "sm_90a").ptx
    assert f".minnctapersm {occupancy}" in ptx
    assert ("setmaxnreg" in ptx) is (occupancy == 2)
    assert ptxas.assemble(ptx, "sm_90a").clean
