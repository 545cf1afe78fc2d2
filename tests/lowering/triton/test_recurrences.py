"""The state of a recurrence, which a loop multiplies, adds to and stores: PTX equals the program
level; what its iterations wait for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import tilewright as tw
from tilewright.launch import ptxas

HALF = "tensor<64x64xbf16>"
STATE = "tensor<64x32xbf16>"
SUMS = "tensor<64x32xf32>"


def tile(
    name: str, rows: str, columns: str, width: int, stride: int, base: str = "", of: str = "bf16"
) -> str:  # fmt: skip
    """The pointers `name`_tile of a tile at a base, by default the parameter of the name's first
    letter."""
    x, all_ = f"%{name}_", f"tensor<64x{width}x!tt.ptr<{of}>>"
    along, across = f"tensor<{width}xi32>", f"tensor<1x{width}xi32>"
    return f"""
      {x}row = tt.expand_dims {rows} {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
      {x}stride = arith.constant dense<{stride}> : tensor<64x1xi32>
      {x}far = arith.muli {x}row, {x}stride : tensor<64x1xi32>
      {x}base = tt.splat {base or "%" + name[0]} : !tt.ptr<{of}> -> tensor<64x1x!tt.ptr<{of}>>
      {x}begin = tt.addptr {x}base, {x}far : tensor<64x1x!tt.ptr<{of}>>, tensor<64x1xi32>
      {x}column = tt.expand_dims {columns} {{axis = 0 : i32}} : {along} -> {across}
      {x}wide = tt.broadcast {x}begin : tensor<64x1x!tt.ptr<{of}>> -> {all_}
      {x}columns = tt.broadcast {x}column : {across} -> tensor<64x{width}xi32>
      {x}tile = tt.addptr {x}wide, {x}columns : {all_}, tensor<64x{width}xi32>"""


def recurrence() -> str:
    """For 64 rows of W, K^T and V each time: H is stored, U = V - W H, and K^T (g U) is added to H,
    of which there are two halves."""
    loads = "\n".join(
        tile(f"{name}{half}", "%rows", columns, 64, 128)
        + f"\n      %{name}t{half} = tt.load %{name}{half}_tile : tensor<64x64x!tt.ptr<bf16>>"
        for half, columns in ((0, "%i0"), (1, "%i1"))
        for name in "wk"
    )
    stores = "\n".join(
        tile(f"h{half}", f"%i{half}", "%j", 32, 32, "%state")
        + f"""
      %hb{half} = arith.truncf %s{half} : {SUMS} to {STATE}
      tt.store %h{half}_tile, %hb{half} : tensor<64x32x!tt.ptr<bf16>>"""
        for half in (0, 1)
    )
    added = "\n".join(
        f"""
      %kk{half} = tt.trans %kt{half} {{order = array<i32: 1, 0>}} : {HALF} -> {HALF}
      %n{half} = tt.dot %kk{half}, %gb, %s{half} : {HALF} * {STATE} -> {SUMS}"""
        for half in (0, 1)
    )
    pointers = ", ".join(
        f"%{name}: !tt.ptr<{'f32' if name == 'g' else 'bf16'}> {{tt.divisibility = 16 : i32}}"
        for name in "wkvuhg"
    )
    return f"""module attributes {{tt.disjoint = true, "ttg.num-warps" = 4 : i32}} {{
  tt.func public @k({pointers}, %steps: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c4096 = arith.constant 4096 : i32
    %none = arith.constant dense<0.0> : {SUMS}
    %v64 = arith.constant dense<64> : tensor<64xi32>
    %two = arith.constant dense<2> : tensor<64xi32>
    %i0 = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %j = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
    %i1 = arith.addi %i0, %v64 : tensor<64xi32>
    %end:2 = scf.for %q = %zero to %steps step %one
        iter_args(%s0 = %none, %s1 = %none) -> ({SUMS}, {SUMS}) : i32 {{
      %first = arith.muli %q, %c64 : i32
      %firsts = tt.splat %first : i32 -> tensor<64xi32>
      %rows = arith.addi %firsts, %i0 : tensor<64xi32>
      %far = arith.muli %q, %c4096 : i32
      %state = tt.addptr %h, %far : !tt.ptr<bf16>, i32
      {stores}
      {loads}
      %p0 = tt.dot %wt0, %hb0, %none : {HALF} * {STATE} -> {SUMS}
      %p1 = tt.dot %wt1, %hb1, %p0 : {HALF} * {STATE} -> {SUMS}
      {tile("v", "%rows", "%j", 32, 32)}
      %vt = tt.load %v_tile : tensor<64x32x!tt.ptr<bf16>>
      %vf = arith.extf %vt : {STATE} to {SUMS}
      %uf = arith.subf %vf, %p1 : {SUMS}
      %ub = arith.truncf %uf : {SUMS} to {STATE}
      {tile("u", "%rows", "%j", 32, 32)}
      tt.store %u_tile, %ub : tensor<64x32x!tt.ptr<bf16>>
      %grows = arith.muli %rows, %two : tensor<64xi32>
      %gs = tt.splat %g : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %gp = tt.addptr %gs, %grows : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %gt = tt.load %gp : tensor<64x!tt.ptr<f32>>
      %gx = tt.expand_dims %gt {{axis = 1 : i32}} : tensor<64xf32> -> tensor<64x1xf32>
      %gy = tt.broadcast %gx : tensor<64x1xf32> -> {SUMS}
      %gu = arith.mulf %uf, %gy : {SUMS}
      %gb = arith.truncf %gu : {SUMS} to {STATE}
      {added}
      scf.yield %n0, %n1 : {SUMS}, {SUMS}
    }}
    tt.return
  }} }}"""


def test_what_a_recurrence_waits_for():
    """Two CTAs share a multiprocessor; sums stay where they are, what two products multiply is laid
    down once, and few numbers come an iteration early, where there is one."""
    text = recurrence()
    kernel = tw.compile(text, "sm_90a")
    assert ptxas.assemble(kernel.ptx, "sm_90a").clean
    assert 2 * (kernel.shared_bytes + 1024) <= 228 << 10
    assert "ld.shared.v4.f32" not in kernel.ptx
    before, loop = kernel.ptx.split("wgmma.mma", 1)[0].split("// scf.for", 1)
    assert before.count("ld.global.f32") == loop.count("ld.global.f32") == 1
    assert loop.index("ld.global.f32") < loop.index("st.shared")
    *_, last, _ = kernel.ptx.split("wgmma.commit_group.sync")
    assert "wgmma.mma" in last and "st.shared" not in last
    nothing = [np.zeros(0, ml_dtypes.bfloat16)] * 5
    tw.interpret(
        text, "k", grid=(1,), args=[*nothing, np.zeros(0, np.float32), 0], level="ptx",
        arch="sm_90a",
    )  # fmt: skip
    steps, random = 3, default_rng(0)
    w, k, v = (
        (random.standard_normal((steps * 64, width)) / 8).astype(ml_dtypes.bfloat16)
        for width in (128, 128, 32)
    )
    g = random.random(steps * 128).astype(np.float32)
    u, h = np.zeros_like(v), np.zeros((steps * 128, 32), ml_dtypes.bfloat16)
    program, ptx = (
        tw.interpret(
            text, "k", grid=(1,), args=[w, k, v, u.copy(), h.copy(), g, steps], level=level,
            arch="sm_90a", numerics="hardware",
        )[3:5]
        for level in ("program", "ptx")
    )  # fmt: skip
    state = np.zeros((128, 32), np.float32)
    for i in range(steps):
        rows = slice(64 * i, 64 * i + 64)
        assert_array_equal(ptx[1][128 * i : 128 * i + 128], program[1][128 * i : 128 * i + 128])
        got = v[rows].astype(np.float32) - w[rows].astype(np.float32) @ state.astype(
            v.dtype
        ).astype(np.float32)
        assert_allclose(ptx[0][rows].astype(np.float32), got, atol=2e-2)
        state += k[rows].T.astype(np.float32) @ (got * g[128 * i : 128 * i + 128 : 2, None])
    assert_array_equal(*(x[0] for x in (program, ptx)))


def test_sums_that_are_stored_each_time_leave_room_for_a_second_cta():
    """H is stored, and (e^G K)^T V is added to e^g H, where g is the last row of G."""
    text = f"""module attributes {{tt.disjoint = true, "ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%k: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %v: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %h: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %g: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %steps: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c63 = arith.constant dense<4032> : tensor<64xi32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %end = scf.for %q = %zero to %steps step %one
        iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {{
      %first = arith.muli %q, %c64 : i32
      %firsts = tt.splat %first : i32 -> tensor<64xi32>
      %rows = arith.addi %firsts, %i : tensor<64xi32>
      {tile("h", "%rows", "%i", 64, 64)}
      %hb = arith.truncf %s : tensor<64x64xf32> to {HALF}
      tt.store %h_tile, %hb : tensor<64x64x!tt.ptr<bf16>>
      {tile("k", "%rows", "%i", 64, 64)}
      %kt = tt.load %k_tile : tensor<64x64x!tt.ptr<bf16>>
      {tile("v", "%rows", "%i", 64, 64)}
      %vt = tt.load %v_tile : tensor<64x64x!tt.ptr<bf16>>
      {tile("g", "%rows", "%i", 64, 64, of="f32")}
      %gt = tt.load %g_tile : tensor<64x64x!tt.ptr<f32>>
      %far = arith.muli %first, %c64 : i32
      %last = tt.addptr %g, %far : !tt.ptr<f32>, i32
      %lasts = tt.splat %last : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %along = arith.addi %i, %c63 : tensor<64xi32>
      %lp = tt.addptr %lasts, %along : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %lt = tt.load %lp : tensor<64x!tt.ptr<f32>>
      %le = math.exp2 %lt : tensor<64xf32>
      %lx = tt.expand_dims %le {{axis = 1 : i32}} : tensor<64xf32> -> tensor<64x1xf32>
      %ly = tt.broadcast %lx : tensor<64x1xf32> -> tensor<64x64xf32>
      %less = arith.mulf %s, %ly : tensor<64x64xf32>
      %ge = math.exp2 %gt : tensor<64x64xf32>
      %kf = arith.extf %kt : {HALF} to tensor<64x64xf32>
      %kg = arith.mulf %kf, %ge : tensor<64x64xf32>
      %kb = arith.truncf %kg : tensor<64x64xf32> to {HALF}
      %kk = tt.trans %kb {{order = array<i32: 1, 0>}} : {HALF} -> {HALF}
      %n = tt.dot %kk, %vt, %less : {HALF} * {HALF} -> tensor<64x64xf32>
      scf.yield %n : tensor<64x64xf32>
    }}
    tt.return
  }} }}"""
    kernel = tw.compile(text, "sm_90a")
    assert "wgmma.mma" in kernel.ptx and 2 * (kernel.shared_bytes + 1024) <= 228 << 10
    steps, random = 3, default_rng(0)
    k, v = (random.standard_normal((64 * steps, 64)).astype(ml_dtypes.bfloat16) for _ in "kv")
    g, h = -random.random((64 * steps, 64)).astype(np.float32), np.zeros_like(k)
    program, ptx = (
        tw.interpret(
            text, "k", grid=(1,), args=[k, v, h.copy(), g, steps], level=level, arch="sm_90a",
            numerics="hardware",
        )[2]
        for level in ("program", "ptx")
    )  # fmt: skip
    assert_array_equal(ptx, program)
    assert np.abs(ptx[64:].astype(np.float32)).max() > 1


def test_what_tiles_beside_one_another_wait_for():
    """U = A (V / 2) by columns: V is on its way before A is there."""
    text = f"""module attributes {{tt.disjoint = true, "ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%a: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %v: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %u: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}}) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %width = arith.constant dense<128> : tensor<1x64xi32>
    %half = arith.constant dense<0.5> : {HALF}
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    {tile("a", "%i", "%i", 64, 64)}
    %at = tt.load %a_tile : tensor<64x64x!tt.ptr<bf16>>
    scf.for %q = %zero to %two step %one : i32 {{
      %first = arith.muli %q, %c64 : i32
      %firsts = tt.splat %first : i32 -> tensor<64xi32>
      %j = arith.addi %firsts, %i : tensor<64xi32>
      {tile("v", "%i", "%j", 64, 128)}
      %vt = tt.load %v_tile : tensor<64x64x!tt.ptr<bf16>>
      %vh = arith.mulf %vt, %half : {HALF}
      %s = tt.dot %at, %vh, %none : {HALF} * {HALF} -> tensor<64x64xf32>
      %sb = arith.truncf %s : tensor<64x64xf32> to {HALF}
      {tile("u", "%i", "%j", 64, 128)}
      %in = arith.cmpi slt, %u_column, %width : tensor<1x64xi32>
      %mask = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
      tt.store %u_tile, %sb, %mask : tensor<64x64x!tt.ptr<bf16>>
    }}
    tt.return
  }} }}"""
    ptx = tw.compile(text, "sm_90a").ptx
    assert ptx.index("cp.async.cg") < ptx.index("mbarrier.try_wait") < ptx.index("wgmma.mma")
    random = default_rng(0)
    a, v = (random.standard_normal((64, n)).astype(ml_dtypes.bfloat16) for n in (64, 128))
    *_, u = tw.interpret(
        text, "k", grid=(1,), args=[a, v, np.zeros_like(v)], level="ptx", arch="sm_90a"
    )
    expected = a.astype(np.float32) @ (v.astype(np.float32) / 2)
    assert_allclose(u.astype(np.float32), expected, rtol=1e-2, atol=1e-2)
