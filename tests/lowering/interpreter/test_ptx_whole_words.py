"""Words of 128 bits, calls of addresses, clusters that are cancelled, hints for caches and devices:
read, assembled by ptxas from the text and from what is written of it, and run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text

Ptxas = Callable[..., Any]
LANE = np.arange(32)
HEAD = """.version 9.0
.target TARGET
.address_size 64
.func (.reg .b32 o) plus (.reg .b32 i) { add.u32 o, i, 100; ret; }
.func (.reg .b32 o) twice (.reg .b32 i) { mul.lo.u32 o, i, 2; ret; }
.func (.reg .b32 o) less (.reg .b32 i) { sub.u32 o, i, 1; ret; }
.func (.reg .b64 o) other (.reg .b64 i) { mov.b64 o, i; ret; }
.global .u64 table[3] = {plus, twice, less};
.visible .entry k(.param .u64 x, .param .u64 out) .maxntid 32 {
.reg .pred p, q; .reg .b16 h; .reg .b32 r<9>; .reg .b64 d<9>; .reg .b128 t<5>;
.shared .align 16 .b8 s[512]; .shared .align 8 .b8 bar[8];
ld.param.u64 d0, [x]; ld.param.u64 d1, [out]; mov.u32 r0, %tid.x; cvt.u64.u32 d2, r0;
mul.wide.u32 d3, r0, 16; add.s64 d4, d1, d3; setp.eq.u32 q, r0, 0;
"""


def text_of(body: str, target: str = "sm_90") -> str:
    return f"{HEAD.replace('TARGET', target)}{body}\nret; }}\n"


def run(text: str, grid: int = 1, count: int = 64, **named: Any) -> list[Any]:
    arch = text.split(".target ")[1].split()[0]
    args = [np.arange(count, dtype=np.uint64), np.zeros(count, np.uint64)]
    return tw.interpret(
        text, grid=(grid,), block=(32,), args=args, arch=f"{arch}a" if arch > "s" else arch, **named
    )


def check(text: str, ptxas: Ptxas) -> None:
    """ptxas takes the text, and what is written of it."""
    arch = text.split(".target ")[1].split()[0]
    assert ptxas(text, arch).ok and ptxas(module_text(read_module(text)), arch).ok


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_words_of_128_bits(engine: Any, ptxas: Ptxas) -> None:
    """As an H200 leaves them."""
    text = text_of("""
mov.b64 d5, 100; mov.b64 d6, 0; mov.b64 d7, 1; @q st.shared.v2.b64 [s], {d5, d6}; bar.sync 0;
mov.b128 t0, {d6, d7}; mov.b128 t1, {d5, d2}; atom.global.cas.b128 t2, [d0], t0, t1;
@q atom.global.cas.b128 t2, [d0+16], t0, t1; atom.global.exch.b128 _, [d0+32], t0; bar.sync 0;
setp.eq.u32 p, r0, 5; mov.b128 t4, {d2, d5}; @p atom.shared.exch.b128 t4, [s], t4;
st.global.b128 [d4], t4;""")
    check(text, ptxas)
    memory, out = run(text, engine=engine)
    assert memory[:7].tolist() == [100, 0, 2, 3, 0, 1, 6]
    pairs = np.stack([LANE, np.full(32, 100)], axis=1)
    pairs[5] = 100, 0
    np.testing.assert_array_equal(out.reshape(-1, 2), pairs)


def test_calls_of_addresses(ptxas: Ptxas) -> None:
    """As an H200 calls them: of functions in a table in memory, and of a list of targets."""
    text = text_of("""
rem.u32 r1, r0, 3; mul.wide.u32 d5, r1, 8; mov.u64 d6, table; add.s64 d6, d6, d5;
ld.global.u64 d7, [d6]; setp.ne.u32 p, r1, 1; setp.lt.u32 q, r0, 20; mov.u32 r3, 7;
{ of: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (r2), d7, (r0), of; }
mov.u64 d5, plus; mov.u64 d6, twice; selp.b64 d8, d5, d6, p;
to: .calltargets twice, plus; @q call (r3), d8, (r0), to;
shl.b32 r3, r3, 16; or.b32 r2, r2, r3; cvt.u64.u32 d7, r2; shl.b64 d3, d2, 3;
add.s64 d4, d1, d3; st.global.u64 [d4], d7;""")
    check(text, ptxas)
    functions = np.array([LANE + 100, LANE * 2, LANE - 1])
    called = functions[LANE % 3, LANE]
    listed = np.where(LANE < 20, np.where(LANE % 3 == 1, LANE * 2, LANE + 100), 7)
    np.testing.assert_array_equal(run(text)[1][:32], called | listed << 16)
    with pytest.raises(tw.CompileError, match="a table of labels or functions, got nowhere"):
        run(text_of("call (r2), d7, (r0), nowhere;\nto: .calltargets twice;"))


def test_a_cluster_that_never_begins(ptxas: Ptxas) -> None:
    """A CTA does the work of those that it cancels; the work is done once."""
    text = text_of(
        """
mov.u32 r7, %ctaid.x; mov.u32 r1, bar; mov.u32 r2, s; mov.u32 r6, 0;
@q mbarrier.init.shared.b64 [r1], 1; @q fence.mbarrier_init.release.cluster; bar.sync 0;
more: @q mbarrier.arrive.expect_tx.shared.b64 _, [r1], 16;
@q clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [r2], [r1];
mul.wide.u32 d5, r7, 8; add.s64 d5, d0, d5; mov.b64 d6, 1; @q atom.global.add.u64 d6, [d5], d6;
ask: mbarrier.try_wait.parity.shared.b64 p, [r1], r6; @!p bra ask;
xor.b32 r6, r6, 1; ld.shared.b128 t0, [r2]; bar.sync 0;
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, t0; @!p bra done;
fence.proxy.async.shared::cta;
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r7, r3, r4, _}, t0;
clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 r3, t0; bra more;
done: mov.u32 r3, %ctaid.x; mul.wide.u32 d5, r3, 8; add.s64 d5, d1, d5;
@q st.global.u64 [d5], d6;""",
        "sm_100",
    )
    check(text, ptxas)
    work, began = run(text, grid=300, count=300)
    np.testing.assert_array_equal(work, np.arange(300) + 1)
    assert 0 < np.count_nonzero(began) < 300


@pytest.mark.parametrize("line", [
    "createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 d5;",
    "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 d5, [d0], 4096, r0;",
    "createpolicy.cvt.L2.b64 d5, d0;", "ld.mmio.relaxed.sys.global.u32 r1, [d0];",
    "st.mmio.relaxed.sys.u64 [d1], d2;", "ldu.u32 r1, [d0];", "isspacep.global p, r0;",
    "cp.async.ca.shared.global [s+128], [d0], 4, q;",
    "cp.async.cg.shared.global.L2::cache_hint [s+128], [d0], 16, !q, d2;",
])  # fmt: skip
def test_caches_devices_and_sizes(line: str, ptxas: Ptxas) -> None:
    text = text_of(f"@q bra one; ret;\none: {line}\nst.global.u64 [d4], d2;")
    check(text, ptxas)
    run(text)


@pytest.mark.parametrize(("space", "order"), [
    (".global", "release.gpu"), ("", "release.sys"), (".global", "mmio.release.sys"),
])  # fmt: skip
def test_stores_and_sums_that_go_on_by_themselves(space: str, order: str, ptxas: Ptxas) -> None:
    text = text_of(
        f"st.async.{order}{space}.u64 [d4], d2; red.async.{order}{space}.add.s32 [d0], r0;"
        f"red.async.{order}{space}.add.u64 [d0+8], d2;", "sm_100"
    )  # fmt: skip
    check(text, ptxas)
    sums, stored = run(text)
    np.testing.assert_array_equal(stored[::2], LANE)
    assert sums[:2].tolist() == [LANE.sum(), LANE.sum() + 1]


def test_a_copy_that_a_predicate_leaves_out() -> None:
    text = text_of("""
shl.b32 r1, r0, 4; mov.u32 r2, s; add.s32 r1, r1, r2; add.s64 d3, d0, d3; setp.lt.u32 p, r0, 9;
cp.async.cg.shared.global [r1], [d3], 16, p; cp.async.wait_all;
ld.shared.v2.b64 {d5, d6}, [r1]; st.global.v2.b64 [d4], {d5, d6};""")
    out = run(text)[1]
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 18, 0, np.arange(64)))


def test_bytes_that_become_zeros(ptxas: Ptxas) -> None:
    body = """
shl.b32 r1, r0, 4; mov.u32 r2, s; add.s32 r1, r1, r2; st.shared.v2.b64 [r1], {d0, d0};
bar.sync 0; mov.b64 d5, SIZE; @q st.bulk.weak.shared::cta [r2+64], d5, 0; bar.sync 0;
ld.shared.v2.b64 {d5, d6}, [r1]; setp.ne.u64 p, d5, 0; selp.b64 d5, 1, 0, p;
setp.ne.u64 p, d6, 0; selp.b64 d6, 1, 0, p; st.global.v2.b64 [d4], {d5, d6};"""
    check(text := text_of(body.replace("SIZE", "72"), "sm_100"), ptxas)
    out = run(text)[1]
    assert np.flatnonzero(out == 0).tolist() == list(range(8, 17))
    with pytest.raises(tw.ExecutionError, match="a multiple of 8 bytes, got 12"):
        run(text_of(body.replace("SIZE", "12"), "sm_100"))


@pytest.mark.parametrize("register", ["envreg3", "dynamic_smem_size", "aggr_smem_size", "pm1_64"])
def test_what_the_launch_says_is_read_and_not_run(register: str, ptxas: Ptxas) -> None:
    into = "d5" if register.endswith("_64") else "r1"
    text = text_of(
        f"mov.b{64 if into[0] == 'd' else 32} {into}, %{register};"
        f"cvt.u64.u32 d6, r0; st.global.u64 [d4], {'d5' if into == 'd5' else 'd6'};"
    )
    check(text, ptxas)
    with pytest.raises(tw.CompileError, match=f"a register that a run has, got %{register}"):
        run(text)


def test_a_relaxed_arrival_orders_nothing() -> None:
    """What is written before it is not known behind the wait."""
    body = """
mov.u32 r1, bar; @q mbarrier.init.shared.b64 [r1], 32; bar.sync 0;
shl.b32 r2, r0, 3; mov.u32 r3, s; add.s32 r2, r2, r3; st.shared.b64 [r2], d2;
mbarrier.arriveWEAK.shared.b64 d5, [r1];
ask: mbarrier.test_wait.parity.shared.b64 p, [r1], 0; @!p bra ask;
xor.b32 r4, r0, 1; shl.b32 r4, r4, 3; add.s32 r4, r4, r3; ld.shared.b64 d6, [r4];
shl.b64 d3, d2, 3; add.s64 d4, d1, d3; st.global.u64 [d4], d6;"""
    out = run(text_of(body.replace("WEAK", "")))[1]
    np.testing.assert_array_equal(out[:32], LANE ^ 1)
    with pytest.raises(tw.ExecutionError, match="race"):
        run(text_of(body.replace("WEAK", ".relaxed.cta")))


def test_a_member_of_a_register_s_mask_is_elected(ptxas: Ptxas) -> None:
    """Of the odd lanes behind 20 the first, and every one knows of it."""
    text = text_of("""
mov.u32 r1, 0xAAAAAAAA; shl.b32 r1, r1, 20; mov.u32 r4, 0; mov.u32 r3, 99; mov.u64 d6, 0;
shr.u32 r2, r1, r0; and.b32 r2, r2, 1; setp.ne.u32 p, r2, 0; @!p bra done;
elect.sync r3|q, r1; selp.b32 r4, 1, 0, q;
done: shl.b32 r4, r4, 8; or.b32 r3, r3, r4; cvt.u64.u32 d5, r3; st.global.v2.b64 [d4], {d5, d6};""")
    check(text, ptxas)
    _, out = run(text)
    members = LANE[(LANE > 20) & (LANE % 2 == 1)]
    expected = np.full(32, 99)
    expected[members] = 21
    expected[21] += 256
    np.testing.assert_array_equal(out[::2], expected)
