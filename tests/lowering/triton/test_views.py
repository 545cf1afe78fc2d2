"""Tiles of pointers that are accessed through views: what is seen through, what is not and why, and
that nothing else is loaded and stored than by pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from triton_kernel import converted

import tilewright as tw
from tilewright.dialects.cuda_tile.ops.memory import MakeTokenOp, StorePtrTkoOp
from tilewright.passes.cuda_tile.analysis.remarks import collected
from tilewright.passes.cuda_tile_pointers_to_views import CudaTilePointersToViewsPass
from tilewright.source.parsing import default_context
from tilewright.source.verification import verify
from tilewright.tile_kernel import flat_arguments

ROW = "tensor<4xi32>"
WHOLE_ROWS = f"%by = arith.constant dense<BY> : {ROW}\n%l = arith.divsi %i, %by : {ROW}"
SHARED_ROWS = {by: WHOLE_ROWS.replace("BY", str(by)) for by in (2, 4, 8)}
WRAPPED = f"%l = arith.remsi %i, %ns : {ROW}"


def kernel(row: str = "", rows: str = "", tile: str = "", pointers: str = "") -> str:
    """A kernel that copies the tile of 4 x 8 of the matrix %a, of %n rows of %s, that a program's
    numbers say. Of the steps that lead there one may be another: `row` the rows %l that are loaded,
    %i as they come; `rows` which %r of these are, those below %n; `tile` what is stored of the tile
    %t, %u; `pointers` those to it, %p."""
    row = row or f"%none = arith.constant dense<0> : {ROW}\n%l = arith.addi %i, %none : {ROW}"
    rows = rows or f"%r = arith.cmpi slt, %i, %ns : {ROW}"
    tile = tile or "%u = arith.addi %t, %zero : tensor<4x8xi32>"
    pointers = pointers or "%p = tt.addptr %as, %from : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>"
    loaded = "c1" if row in (WRAPPED, *SHARED_ROWS.values()) else "mask"
    return f"""tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %n: i32, %s: i32) {{
    %zero = arith.constant dense<0> : tensor<4x8xi32>
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %i0 = arith.muli %x, %c4 : i32
    %j0 = arith.muli %y, %c8 : i32
    %i1 = tt.splat %i0 : i32 -> {ROW}
    %j1 = tt.splat %j0 : i32 -> tensor<8xi32>
    %i2 = tt.make_range {{end = 4 : i32, start = 0 : i32}} : {ROW}
    %j2 = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %i = arith.addi %i1, %i2 : {ROW}
    %j = arith.addi %j1, %j2 : tensor<8xi32>
    %ns = tt.splat %n : i32 -> {ROW}
    %ss = tt.splat %s : i32 -> {ROW}
    {row}
    {rows}
    %js = tt.splat %s : i32 -> tensor<8xi32>
    %c = arith.cmpi slt, %j, %js : tensor<8xi32>
    %c0 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<8xi1> -> tensor<1x8xi1>
    %c1 = tt.broadcast %c0 : tensor<1x8xi1> -> tensor<4x8xi1>
    %r0 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<4xi1> -> tensor<4x1xi1>
    %r1 = tt.broadcast %r0 : tensor<4x1xi1> -> tensor<4x8xi1>
    %mask = arith.andi %r1, %c1 : tensor<4x8xi1>
    %k0 = tt.expand_dims %j {{axis = 0 : i32}} : tensor<8xi32> -> tensor<1x8xi32>
    %k1 = tt.broadcast %k0 : tensor<1x8xi32> -> tensor<4x8xi32>
    {_offsets("from", "l")}
    {_offsets("to", "i")}
    %as = tt.splat %a : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
    {pointers}
    %t = tt.load %p, %{loaded}, %zero : tensor<4x8x!tt.ptr<i32>>
    {tile}
    %bs = tt.splat %b : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
    %q = tt.addptr %bs, %to : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>
    tt.store %q, %u, %mask : tensor<4x8x!tt.ptr<i32>>
    tt.return
}}"""


def _offsets(name: str, row: str) -> str:
    return f"""%{name}0 = arith.muli %{row}, %ss : {ROW}
    %{name}1 = tt.expand_dims %{name}0 {{axis = 1 : i32}} : {ROW} -> tensor<4x1xi32>
    %{name}2 = tt.broadcast %{name}1 : tensor<4x1xi32> -> tensor<4x8xi32>
    %{name} = arith.addi %{name}2, %k1 : tensor<4x8xi32>"""


def seen_through(text: str) -> tuple[Any, list[str]]:
    """The module of a text whose accesses are through views where they may be; the remarks."""
    module = converted(text)
    with collected() as remarks:
        CudaTilePointersToViewsPass().apply(default_context(), module)
    verify(module, None)
    return module, [remark.text for remark in remarks]


ABOVE = f"""%one = arith.constant dense<1> : {ROW}
    %ra = arith.cmpi sge, %i, %one : {ROW}
    %rb = arith.cmpi slt, %i, %ns : {ROW}
    %r = arith.andi %ra, %rb : tensor<4xi1>"""
ALIKE = {
    "rows and columns within the matrix": {},
    "rows from the first one on": {"rows": ABOVE.replace("<1>", "<0>")},
    "rows up to the one before the last": {"rows": f"%r = arith.cmpi sgt, %ns, %i : {ROW}"},
    "rows that wrap around and are not stored": {"row": WRAPPED},
    **{f"rows that {by} share": {"row": row} for by, row in SHARED_ROWS.items()},
    "pointers advanced to the columns": {
        "pointers": """%p0 = tt.addptr %a, %j0 : !tt.ptr<i32>, i32
    %p1 = tt.addptr %p0, %i0 : !tt.ptr<i32>, i32
    %p2 = tt.splat %p1 : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>>
    %p3 = arith.subi %from, %zero : tensor<4x8xi32>
    %p = tt.addptr %p2, %p3 : tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>"""
    },
}


@pytest.mark.parametrize("name", ALIKE)
def test_views_are_what_pointers_are(name: str):
    """Of a grid larger than the matrix, whose last tiles lie outside of it."""
    text = kernel(**ALIKE[name])
    module, remarks = seen_through(text)
    assert not remarks
    assert "_ptr_tko" not in str(module)
    source = np.arange(400, dtype=np.int32)
    left = [
        tw.interpret(x, "k", grid=(4, 3), args=[source, np.full(400, -1, np.int32), 9, 17])
        for x in (converted(text), module)
    ]
    assert_array_equal(*(arrays[1] for arrays in left))
    assert (left[0][1] >= 0).sum() > 100


SUMMED = """%v = "tt.reduce"(%t) <{axis = 0 : i32}> ({
    ^bb0(%d: i32, %e: i32):
      %f = arith.addi %d, %e : i32
      tt.reduce.return %f : i32
    }) : (tensor<4x8xi32>) -> tensor<8xi32>
    %v0 = tt.expand_dims %v {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %u = tt.broadcast %v0 : tensor<1x8xi32> -> tensor<4x8xi32>"""
SWAPPED = f"""%l0 = arith.constant dense<1> : {ROW}
    %l = arith.xori %i, %l0 : {ROW}"""
HALVES = f"""%two = arith.constant dense<2> : {ROW}
    %half = arith.divsi %i, %two : {ROW}
    %r = arith.cmpi slt, %half, %ns : {ROW}"""
ODD = f"""%r2 = arith.constant dense<3> : {ROW}
    %r = arith.cmpi ne, %i, %r2 : {ROW}"""


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"row": WRAPPED, "tile": SUMMED},
            "its dimension 0 wraps around, and 'cuda_tile.reduce' uses what lies there",
        ),
        (
            {"row": WRAPPED, "rows": f"%r = arith.cmpi sle, %i, %ns : {ROW}"},
            "its dimension 0 wraps around, and 'cuda_tile.store_ptr_tko' uses what lies there",
        ),
        (
            {"row": SWAPPED},
            "its pointers are no sums of a pointer and multiples of a row and a column",
        ),
        ({"rows": ABOVE}, "its mask is not that a row or a column is below a number"),
        ({"rows": HALVES}, "its mask is not that a row or a column is below a number"),
        ({"rows": ODD}, "its mask is not that a row or a column is below a number"),
    ],
)
def test_what_is_not_seen_through_is_told(given: dict[str, str], why: str):
    """A remark says why."""
    module, remarks = seen_through(kernel(**given))
    assert f"'cuda_tile.load_ptr_tko' has a pointer for each element: {why}" in remarks
    assert "load_ptr_tko" in str(module)


DESCRIBED = """tt.func public @k(%a: !tt.tensordesc<tensor<64x64xf16>>, %an: i32, %am: i32, %as: i64, %at: i64,
    %b: !tt.tensordesc<tensor<64x64xf16>>, %bn: i32, %bm: i32, %bs: i64, %bt: i64, %c: !tt.ptr<f32>) {
    %zero = arith.constant 0 : i32
    %acc = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tt.descriptor_load %a[%zero, %zero] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %y = tt.descriptor_load %b[%zero, %zero] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %z = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %s = tt.splat %c : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
    %p = tt.addptr %s, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
    %q = tt.reshape %z : tensor<64x64xf32> -> tensor<4096xf32>
    tt.store %p, %q : tensor<4096x!tt.ptr<f32>>
    tt.return
}"""  # noqa: E501


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_a_descriptor_says_when_it_pads_with_nan(padding: str):
    """By TMA too, whose map is made with what the launch says."""
    assert "global.tile" in tw.compile(DESCRIBED, "sm_90a").ptx
    x, y = (np.random.default_rng(i).standard_normal((64, 64)).astype(np.float16) for i in (0, 1))
    matrices = [(x, (50, 64), (64, 1), (64, 64), padding), (y, (64, 64), (64, 1), (64, 64))]
    args = [*flat_arguments(matrices), np.zeros((64, 64), np.float32)]
    program, ptx = (
        tw.interpret(DESCRIBED, "k", grid=(1,), args=args, level=level, arch="sm_90a")[-1]
        for level in ("program", "ptx")
    )
    assert_array_equal(program, ptx)
    assert np.isnan(ptx[50:]).all() == (padding == "nan")
    assert_allclose(ptx[:50], x[:50].astype(np.float32) @ y, atol=1e-3)


def test_loads_wait_for_no_store_where_memory_is_disjoint():
    """By a caller's promise, of what is not written."""
    loop = """scf.for %k = %zero to %n step %one : i32 {
      %r = arith.muli %k, %eight : i32
      %x = tt.addptr %a, %r : !tt.ptr<f32>, i32
      %y = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %p = tt.addptr %y, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      %v = tt.load %p : tensor<8x!tt.ptr<f32>>
      %z = tt.addptr %b, %r : !tt.ptr<f32>, i32
      %w = tt.splat %z : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %q = tt.addptr %w, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    }"""
    text = f"""module attributes {{tt.disjoint = true}} {{
    tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    %i = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    {loop}
    tt.return }} }}"""
    for given, free in (
        (text, True),
        (text.replace("true", "false"), False),
        (text.replace("%x = tt.addptr %a", "%x = tt.addptr %b"), False),
        (text.replace("f32", "i32"), False),
    ):
        module, _ = seen_through(given)
        (load,) = (op for op in module.walk() if op.name == "cuda_tile.load_view_tko")
        assert isinstance(load.token.owner, MakeTokenOp) == free


@pytest.mark.parametrize(
    "more, free", [("", True), ("tt.store %c, %f : !tt.ptr<f32>", False), ("atomic", False)]
)
def test_single_stores_wait_for_no_other_where_memory_is_disjoint(more: str, free: bool):
    """Those through parameters that nothing else is through, in kernels without atomics."""
    if more == "atomic":
        more = """%y = arith.constant true
        %o = tt.atomic_rmw fadd, acq_rel, gpu, %b, %f, %y : (!tt.ptr<f32>, f32, i1) -> f32"""
    text = f"""module attributes {{tt.disjoint = true}} {{
    tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>) {{
    %f = arith.constant 1.0 : f32
    tt.store %a, %f : !tt.ptr<f32>
    {more}
    tt.store %c, %f : !tt.ptr<f32>
    tt.return }} }}"""
    module, _ = seen_through(text)
    *_, last = (op for op in module.walk() if isinstance(op, StorePtrTkoOp))
    assert last.token is not None
    assert isinstance(last.token.owner, MakeTokenOp) == free


def test_rows_that_begin_at_multiples_have_a_stride_that_is_one():
    """By `tl.multiple_of`, of the stride that is loaded and of the pointer."""
    said = kernel(
        pointers="%p = tt.addptr %as, %from {tt.divisibility = dense<16> : tensor<2xi32>} : "
        "tensor<4x8x!tt.ptr<i32>>, tensor<4x8xi32>"
    )
    for text, predicates in (
        (said, {"#cuda_tile.div_by<4>", "#cuda_tile.div_by<16>"}),
        (kernel(), set()),
    ):
        module, _ = seen_through(text)
        assert {
            str(op.predicate) for op in module.walk() if op.name == "cuda_tile.assume"
        } == predicates


SEQUENCES = """tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf16>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %c128 = arith.constant 128 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %c4096 = arith.constant 4096 : i32
    %rows = arith.constant dense<128> : tensor<64x1xi32>
    %wide = arith.constant dense<64> : tensor<64x1xi32>
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %x0 = arith.muli %x, %n : i32
    %x1 = arith.muli %x0, %c128 : i32
    %y1 = arith.muli %y, %c64 : i32
    %p0 = tt.addptr %a, %x1 : !tt.ptr<f16>, i32
    %p1 = tt.addptr %p0, %y1 : !tt.ptr<f16>, i32
    %n0 = arith.addi %n, %c63 : i32
    %n1 = arith.divsi %n0, %c64 : i32
    %t0 = arith.muli %x, %n1 : i32
    %t1 = arith.addi %t0, %y : i32
    %t2 = arith.muli %t1, %c4096 : i32
    %q0 = tt.addptr %b, %t2 : !tt.ptr<f16>, i32
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %i0 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %j = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
    %r0 = arith.muli %i0, %rows : tensor<64x1xi32>
    %r = tt.broadcast %r0 : tensor<64x1xi32> -> tensor<64x64xi32>
    %w0 = arith.muli %i0, %wide : tensor<64x1xi32>
    %w = tt.broadcast %w0 : tensor<64x1xi32> -> tensor<64x64xi32>
    %from = arith.addi %r, %j : tensor<64x64xi32>
    %to = arith.addi %w, %j : tensor<64x64xi32>
    %ns = tt.splat %n : i32 -> tensor<64x1xi32>
    %m0 = arith.cmpi slt, %i0, %ns : tensor<64x1xi32>
    %m = tt.broadcast %m0 : tensor<64x1xi1> -> tensor<64x64xi1>
    %ps = tt.splat %p1 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %p = tt.addptr %ps, %from : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %t = tt.load %p, %m, %zero : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %t, %t, %none : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %e = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
    %qs = tt.splat %q0 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %q = tt.addptr %qs, %to : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %q, %e : tensor<64x64x!tt.ptr<f16>>
    tt.return
}"""
"""Squares of tiles of 64 x 64: y counts the columns of a sequence of %n rows of 128, x sequences.
Tiles that are stored lie one behind the other."""


NUMBERED = """%xs = tt.addptr %at, %x : !tt.ptr<i32>, i32
    %xl = tt.load %xs : !tt.ptr<i32>
    %x0 = arith.muli %xl, %n : i32"""


@pytest.mark.parametrize("numbered", [False, True])
def test_sequences_are_a_dimension_and_come_by_tma(numbered: bool):
    """The stride from one to the next is a multiple of their length, which is a parameter, also
    where their numbers lie in memory; tiles that are stored have a number that is computed of it,
    and a stride that is known."""
    text, order = SEQUENCES, [0, 1]
    if numbered:
        text, order = text.replace("%n: i32)", "%n: i32, %at: !tt.ptr<i32>)"), [1, 0]
        text = text.replace("%x0 = arith.muli %x, %n : i32", NUMBERED)
    kernel = tw.compile(text, "sm_90a")
    maps = [str(x.source) for x in kernel.entries[0].parts or () if "flat_map" in str(x.source)]
    assert ["-128, 2," in text for text in maps] == [True, False]
    a = (np.arange(2 * 40 * 128).reshape(2, 40, 2, 64) % 7).astype(np.float16)
    args = [a, np.zeros((2, 64, 64), np.float16), 40, *([np.array(order, np.int32)] * numbered)]
    made = tw.interpret(text, "k", grid=(2, 1), args=args, level="ptx", arch="sm_90a")[1]
    tiles = np.zeros((2, 64, 64), np.float16)
    tiles[:, :40] = a[order, :, 0]
    assert_array_equal(made, tiles @ tiles)


def guarded(guard: str, loop: bool) -> str:
    """A kernel that copies the rows that the number of a program less %s says, where that is said
    not to be negative by `guard`, once or in a loop."""
    copy = """%w = arith.subi %i, %s : i32
    %d = arith.divsi %w, %c2 : i32
    %r = arith.muli %d, %c4 : i32
    %t = tt.descriptor_load %da[%r, %c0] : !tt.tensordesc<tensor<4x8xi32>> -> tensor<4x8xi32>
    tt.descriptor_store %db[%r, %c0], %t : !tt.tensordesc<tensor<4x8xi32>>, tensor<4x8xi32>"""
    once = f"%i = arith.addi %x, %c0 : i32\n {guard}\n scf.if %g {{ {copy} }}"
    turns = f"""%done = scf.while (%i = %x) : (i32) -> i32 {{
      {guard}
      scf.condition(%g) %i : i32
    }} do {{
    ^bb0(%i: i32):
      {copy}
      %next = arith.subi %i, %c2 : i32
      scf.yield %next : i32
    }}"""
    return f"""tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %n: i32, %s: i32) {{
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %one = arith.constant 1 : i64
    %row = arith.constant 8 : i64
    %x = tt.get_program_id x : i32
    %da = tt.make_tensor_descriptor %a, [%n, %c8], [%row, %one] : <i32>, <tensor<4x8xi32>>
    %db = tt.make_tensor_descriptor %b, [%n, %c8], [%row, %one] : <i32>, <tensor<4x8xi32>>
    {turns if loop else once}
    tt.return
}}"""


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize(
    ("guard", "seen"),
    [
        ("%g = arith.cmpi sge, %i, %s : i32", True),
        ("%g = arith.cmpi slt, %s, %i : i32", True),
        ("%g = arith.cmpi uge, %i, %s : i32", False),
        ("%g = arith.cmpi sge, %i, %c0 : i32", False),
    ],
)
def test_what_a_branch_says_is_known_in_it(guard: str, seen: bool, loop: bool):
    """Rows that may lie in front of the first one are loaded by pointers."""
    text = guarded(guard, loop)
    module, _ = seen_through(text)
    assert ("_ptr_tko" in str(module)) != seen
    source = np.arange(80, dtype=np.int32)
    args = [source, np.full(80, -1, np.int32), 9, 2]
    left = [tw.interpret(x, "k", grid=(8,), args=args, races="ignore")
            for x in (converted(text), module)]  # fmt: skip
    assert_array_equal(*(arrays[1] for arrays in left))
    assert (left[0][1][:72] == source[:72]).all()


def test_rows_that_wrap_around_may_be_masked_by_more():
    """What is stored of rows leaves those behind the end out, whatever else it leaves out."""
    rows = f"""%odd = arith.constant dense<3> : {ROW}
    %ra = arith.cmpi ne, %i, %odd : {ROW}
    %rb = arith.cmpi slt, %i, %ns : {ROW}
    %r = arith.andi %ra, %rb : tensor<4xi1>"""
    text = kernel(row=WRAPPED, rows=rows)
    module, remarks = seen_through(text)
    assert "load_view_tko" in str(module)
    assert [remark.split("'")[1] for remark in remarks] == ["cuda_tile.store_ptr_tko"]
    args = [np.arange(400, dtype=np.int32), np.full(400, -1, np.int32), 9, 17]
    left = [tw.interpret(x, "k", grid=(4, 3), args=args) for x in (converted(text), module)]
    assert_array_equal(*(arrays[1] for arrays in left))
