"""PTX of other compilers, executed: what no kernel of ours has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from ptx_bodies import HEAD, LANE, TAIL, run

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import ArgumentError, ExecutionError
from tilewright.source.parsing import parse_module

BODIES: dict[str, tuple[str, NDArray[np.int64]]] = {
    "ballot": ("setp.lt.u32 %p1, %r1, 5;\nvote.sync.ballot.b32 %r0, %p1, -1;\n", LANE * 0 + 31),
    "match": (
        "and.b32 %r2, %r1, 1;\nmatch.any.sync.b32 %r0, %r2, 0xffffffff;\n",
        np.where(LANE % 2, 0xAAAAAAAA, 0x55555555),
    ),
    "redux": ("redux.sync.max.s32 %r0, %r1, -1;\n", LANE * 0 + 31),
    "up": ("shfl.sync.up.b32 %r0, %r1, 1, 0, -1;\n", np.maximum(LANE - 1, 0)),
    "part": (
        "shfl.sync.idx.b32 %r0|%p1, %r1, 9, 0x181f, -1;\n", LANE // 8 * 8 + 1,
    ),
    "local": (
        "mov.u64 %rd4, depot;\ncvta.local.u64 %rd5, %rd4;\nst.local.u32 [%rd4+4], %r1;\n"
        "ld.u32 %r0, [%rd5+4];\n",
        LANE,
    ),
    "const": (
        "and.b32 %r2, %r1, 3;\nmul.wide.u32 %rd4, %r2, 4;\nmov.u64 %rd5, table;\n"
        "add.s64 %rd5, %rd5, %rd4;\nld.const.u32 %r0, [%rd5];\n",
        LANE % 4 * 10 + 10,
    ),
    "generic": (
        "mov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\n"
        "st.shared.u32 [%r2], %r1;\ncvt.u64.u32 %rd4, %r2;\ncvta.shared.u64 %rd4, %rd4;\n"
        "setp.lt.u32 %p1, %r1, 16;\n"
        "st.global.u32 [%rd3], 7;\nselp.u64 %rd5, %rd4, %rd3, %p1;\nld.u32 %r0, [%rd5];\n",
        np.where(LANE < 16, LANE, 7),
    ),
    "carry": (
        "add.cc.u32 %r2, %r1, 0xfffffff0;\naddc.u32 %r0, %r1, 0;\n", LANE + (LANE >= 16),
    ),
    "elements": (  # the index is a number of 32 bits, whatever register it is in
        "and.b32 %r2, %r1, 1;\nld.const.u32 %r0, table[%r2+2];\ncvt.u64.u32 %rd4, %r1;\n"
        "add.u64 %rd4, %rd4, 0x700000000;\nst.shared.u8 tile[%rd4], %r1;\n"
        "mov.u32 %r3, tile[%r1];\nld.shared.u8 %r4, [%r3];\nadd.u32 %r0, %r0, %r4;\n"
        "cvt.u16.u32 %h1, %r2;\nst.local.u8 depot[%h1], 7;\nld.local.u8 %r5, depot[%r2];\n"
        "sub.u32 %r2, %r2, 1;\nld.const.u32 %r6, table[%r2+1];\nsub.u32 %r0, %r0, %r6;\n"
        "add.u32 %r0, %r0, %r5;\n",
        27 + LANE,
    ),
    "stack": (
        "st.local.u32 [depot], %r1;\nstacksave.u64 %rd4;\nand.b32 %r2, %r1, 3;\n"
        "mad.lo.u32 %r2, %r2, 4, 4;\ncvt.u64.u32 %rd5, %r2;\nalloca.u64 %rd6, %rd5;\n"
        "sub.u64 %rd7, %rd4, %rd6;\ncvt.u32.u64 %r0, %rd7;\nst.local.u32 [%rd6], %r1;\n"
        "alloca.u64 %rd8, 20, 32;\nst.local.u32 [%rd8+16], 100;\ncvta.local.u64 %rd9, %rd6;\n"
        "ld.u32 %r3, [%rd9];\nmad.lo.u32 %r0, %r3, 1000, %r0;\nld.local.u32 %r4, [%rd8+16];\n"
        "and.b64 %rd8, %rd8, 31;\ncvt.u32.u64 %r5, %rd8;\nadd.u32 %r4, %r4, %r5;\n"
        "add.u32 %r0, %r0, %r4;\nstackrestore.u64 %rd4;\nstacksave.u64 %rd5;\n"
        "sub.u64 %rd5, %rd5, %rd4;\ncvt.u32.u64 %r5, %rd5;\nadd.u32 %r0, %r0, %r5;\n"
        "alloca.u32 %r6, 1008;\nst.local.u32 [%r6], 5;\nld.local.u32 %r5, [%r6];\n"
        "add.u32 %r0, %r0, %r5;\nld.local.u32 %r5, [depot];\nadd.u32 %r0, %r0, %r5;\n",
        1001 * LANE + 105 + np.where(LANE % 4 < 2, 8, 16),
    ),
    "events": ("pmevent 3;\npmevent.mask 7;\nmov.u32 %r0, 1;\n", LANE * 0 + 1),
    "lop3": ("lop3.b32 %r0, %r1, 0xc, 0x6, 0xca;\n", LANE & 12 | ~LANE & 6),
    "narrow": (
        "st.global.u8 [%rd3], -3;\nld.global.s8 %r2, [%rd3];\nadd.s32 %r0, %r2, 4;\n", LANE * 0 + 1,
    ),
    "predicated": (
        "mov.u32 %r0, 1;\nsetp.gt.u32 %p1, %r1, 3;\n@!%p1 bra low;\n@%p1 mul.lo.u32 %r0, %r1, 3;\n"
        "@%p1 add.u32 %r0, %r0, 1;\nlow:\n",
        np.where(LANE > 3, 3 * LANE + 1, 1),
    ),
    "table": (
        "ts: .branchtargets A, B, C;\nand.b32 %r2, %r1, 3;\nsetp.lt.u32 %p1, %r1, 28;\n"
        "mov.u32 %r0, 99;\n@%p1 brx.idx %r2, ts;\nbra.uni D;\nA: mov.u32 %r0, 5;\nbra D;\n"
        "B: mov.u32 %r0, 6;\nbra D;\nC: mov.u32 %r0, 7;\nD:\n",
        np.where(LANE < 28, np.minimum(5 + LANE % 4, 7), 99),
    ),
    "comparison and another": (
        "setp.lt.u32 %p1, %r1, 20;\nsetp.gt.and.u32 %p2|%p3, %r1, 9, !%p1;\n"
        "selp.u32 %r2, 1, 0, %p2;\nselp.u32 %r3, 2, 0, %p3;\nadd.u32 %r0, %r2, %r3;\n",
        np.where(LANE < 20, 0, 1),
    ),
    "comparison and its opposite": (
        "setp.lt.u32 %p1|%p2, %r1, 20;\nselp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, 2, 0, %p2;\n"
        "add.u32 %r0, %r2, %r3;\n",
        np.where(LANE < 20, 1, 2),
    ),
    "set": (
        "setp.ne.u32 %p1, %r1, 3;\nset.lt.and.u32.s32 %r2, %r1, 9, %p1;\n"
        "set.ge.f32.u32 %f1, %r1, 4;\ncvt.rzi.u32.f32 %r3, %f1;\nmad.lo.u32 %r0, %r2, 2, %r3;\n",
        np.where((LANE < 9) & (LANE != 3), -2, 0) + (LANE >= 4),
    ),
    "lop3 and a predicate": (
        "setp.ne.u32 %p1, %r1, 3;\nlop3.and.b32 %r2|%p2, %r1, 6, 4, 0xC0, %p1;\n"
        "selp.u32 %r3, 100, 0, %p2;\nadd.u32 %r0, %r2, %r3;\n",
        (LANE & 6) + np.where((LANE & 6 != 0) & (LANE != 3), 100, 0),
    ),
    "match all": (
        "and.b32 %r2, %r1, 32;\nmatch.all.sync.b32 %r0|%p1, %r2, -1;\n"
        "match.all.sync.b32 %r3|%p2, %r1, -1;\nselp.u32 %r4, 1, 0, %p1;\n"
        "selp.u32 %r5, 2, 0, %p2;\nadd.u32 %r0, %r0, %r4;\nadd.u32 %r0, %r0, %r5;\n"
        "add.u32 %r0, %r0, %r3;\n",
        LANE * 0,
    ),
    "hints and time": (
        "mov.u32 %r2, %clock;\nmov.u64 %rd4, %globaltimer;\nnanosleep.u32 100;\n"
        "nanosleep.u32 %r2;\nmov.u32 %r5, %clock;\nprefetch.global.L1 [%rd3+128];\n"
        "prefetch.global.L2 [%rd3+1073741824];\n"  # where no memory is
        "mov.u32 %r3, %smid;\nmov.u32 %r4, %nwarpid;\nadd.u32 %r0, %r3, %r4;\n"
        "setp.gt.u32 %p1, %r5, %r2;\nsetp.ne.u64 %p2, %rd4, 0;\nand.pred %p1, %p1, %p2;\n"
        "selp.u32 %r0, %r0, 0, %p1;\n",
        LANE * 0 + 64,
    ),
    "generic atomics": (  # of odd threads in shared, of even ones in global memory
        "mov.u64 %rd4, tile;\ncvta.shared.u64 %rd5, %rd4;\nst.shared.u32 [tile], 0;\nbar.sync 0;\n"
        "and.b32 %r2, %r1, 1;\nsetp.ne.u32 %p1, %r2, 0;\nselp.b64 %rd6, %rd5, %rd3, %p1;\n"
        "red.add.u32 [%rd6], %r1;\natom.exch.b32 %r3, [%rd6], 7;\nbar.sync 0;\n"
        "ld.shared.u32 %r4, [tile];\nld.global.u32 %r5, [%rd3];\nmad.lo.u32 %r0, %r5, 10, %r4;\n",
        LANE * 0 + np.where(LANE % 2, 7, 77),
    ),
    "halves": (
        "mov.b64 %rd4, {%r1, 5};\nmov.b64 {%r2, %r3}, %rd4;\nadd.u32 %r0, %r2, %r3;\n", LANE + 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_instructions_of_other_compilers(name: str) -> None:
    body, expected = BODIES[name]
    np.testing.assert_array_equal(run(body), expected.astype(np.uint32))


def on_hopper(body: str) -> str:
    return HEAD.replace("sm_80", "sm_90") + body + TAIL


def test_clusters() -> None:
    """Each CTA knows its cluster; threads apart from each other arrive at its barrier."""
    text = on_hopper(
        "mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra low;\nbarrier.cluster.arrive.relaxed;\nbra.uni on;\n"
        "low:\nbarrier.cluster.arrive.release;\non:\nbarrier.cluster.wait.acquire;\n"
        "mov.u32 %r3, %clusterid.x;\nmov.u32 %r4, %cluster_ctaid.x;\nmov.u32 %r5, %nclusterid.x;\n"
        "mov.u32 %r6, %cluster_nctarank;\nmad.lo.u32 %r0, %r3, 10, %r4;\n"
        "mad.lo.u32 %r0, %r0, 10, %r5;\nmad.lo.u32 %r0, %r0, 10, %r6;\n"
    ).replace("k_out)", "k_out)\n.reqnctapercluster 2, 1, 1", 1)
    given = dict(grid=(6, 1, 1), block=(32, 1, 1), args=[np.zeros(6, np.uint32)])
    for written in (text, module_text(parse_module(text))):
        [result] = tw.interpret(written, **given)
        assert result.tolist() == [32, 132, 1032, 1132, 2032, 2132]


def test_a_loop_that_asks_an_mbarrier() -> None:
    """Whoever is told that the phase is complete knows what was written before."""
    text = on_hopper(
        ".shared .align 8 .b8 full[8];\nmov.u32 %r2, full;\nmov.u32 %r3, tile;\nmov.u32 %r4, 0;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 1;\nbar.sync 0;\n"
        "setp.ne.u32 %p1, %r1, 31;\n@%p1 bra ask;\nst.shared.u32 [%r3], 77;\n"
        "mbarrier.arrive.shared.b64 %rd9, [%r2];\n"
        "ask:\nadd.u32 %r4, %r4, 1;\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0, 99;\n"
        "@!%p2 bra ask;\nld.shared.u32 %r0, [%r3];\n"
    )
    given = dict(grid=(1, 1, 1), block=(32, 1, 1), args=[np.zeros(32, np.uint32)])
    for written in (text, module_text(parse_module(text))):
        [result] = tw.interpret(written, **given)
        assert (result == 77).all()


ASKS = "ask:\nmbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;\n@!%p2 bra ask;\n"


def sent_to_the_other_cta(barrier: str, ask: str) -> list[int]:
    """What each thread of two CTAs finds that a thread of the other one has sent."""
    text = (
        on_hopper(
            "mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\nmov.u32 %r4, tile;\n"
            "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [tile], 1;\n"
            "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [tile], 64;\n"
            "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
            "shl.b32 %r5, %r1, 3;\nadd.u32 %r5, %r5, %r4;\nadd.u32 %r5, %r5, 64;\n"
            "mapa.shared::cluster.u32 %r6, %r5, %r3;\n"
            f"mapa.shared::cluster.u32 %r7, %r4, {barrier};\nmad.lo.u32 %r8, %r2, 100, %r1;\n"
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%r6], {%r8, %r1}, "
            "[%r7];\n"
            f"{ask}ld.shared.v2.u32 {{%r8, %r9}}, [%r5];\nmad.lo.u32 %r0, %r8, 1000, %r9;\n"
            "mul.wide.u32 %rd2, %r2, 32;\nadd.s64 %rd3, %rd3, %rd2;\n"
            "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        )
        .replace("k_out)", "k_out)\n.reqnctapercluster 2, 1, 1", 1)
        .replace("8.0", "8.1", 1)
    )
    text = text.replace("tile[128]", "tile[256]").replace(".align 4 .b8 tile", ".align 8 .b8 tile")
    assert assemble(module_text(parse_module(text)), "sm_90").ok
    args = [np.zeros(16, np.uint32)]
    [result] = tw.interpret(text, grid=(2, 1, 1), block=(8, 1, 1), args=args)
    return result.tolist()


def test_registers_that_are_sent_arrive_with_the_phase() -> None:
    found = sent_to_the_other_cta("%r3", ASKS)
    assert found == [100000 * (1 - rank) + 1001 * i for rank in range(2) for i in range(8)]
    with pytest.raises(ExecutionError, match="ordered by no wait for the mbarrier that completes"):
        sent_to_the_other_cta("%r3", "")
    with pytest.raises(ExecutionError, match="expected an mbarrier of the CTA that it stores to"):
        sent_to_the_other_cta("%r2", ASKS)


@pytest.mark.parametrize("arrive, is_complete", [
    ("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [tile];\n", True),
    ("cp.async.mbarrier.arrive.shared.b64 [tile];\nmbarrier.arrive.shared.b64 _, [tile];\n", True),
    ("mbarrier.arrive.shared.b64 _, [tile];\n", False),
])  # fmt: skip
def test_copies_whose_arrival_a_phase_waits_for(arrive: str, is_complete: bool) -> None:
    """A thread reads what another one copies."""
    body = (
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [tile], 8;\nbar.sync 0;\n"
        "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, tile;\nadd.u32 %r3, %r3, %r2;\n"
        "cp.async.ca.shared.global.L2::cache_hint [%r3+8], [%rd3], 4, %rd9;\n"
        + arrive
        + ASKS.replace("try", "test")
        + "xor.b32 %r2, %r2, 4;\nmov.u32 %r3, tile;\nadd.u32 %r3, %r3, %r2;\n"
        "ld.shared.u32 %r0, [%r3+8];\nadd.u32 %r0, %r0, 5;\n"
    )
    policy = "createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0;\n"
    text = (HEAD + policy + body + TAIL).replace(".align 4 .b8 tile", ".align 8 .b8 tile")
    args = [np.arange(8, dtype=np.uint32)]
    if not is_complete:
        with pytest.raises(ExecutionError, match="is still copying to"):
            tw.interpret(text, grid=(1, 1, 1), block=(8, 1, 1), args=args)
        return
    [result] = tw.interpret(text, grid=(1, 1, 1), block=(8, 1, 1), args=args)
    assert result.tolist() == [(i ^ 1) + 5 for i in range(8)]


def test_barriers_that_reduce() -> None:
    body = (
        "setp.lt.u32 %p1, %r1, 20;\nbar.red.popc.u32 %r2, 0, %p1;\n"
        "bar.red.and.pred %p2, 0, 64, !%p1;\nbarrier.cta.red.or.aligned.pred %p3, 0, %p1;\n"
        "selp.u32 %r3, 100, 0, %p2;\nselp.u32 %r4, 200, 0, %p3;\nadd.u32 %r0, %r2, %r3;\n"
        "add.u32 %r0, %r0, %r4;\n"
    )
    assert (run(body, 64) == 220).all()


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_local_memory_is_read_once_it_is_written(engine: str) -> None:
    """By the thread itself: what others have written is theirs."""
    store = "@%p1 st.local.v2.u32 [%rd4], {%r1, %r1};\nld.local.u32 %r0, [%rd4+PLACE];\n"
    text = HEAD + "mov.u64 %rd4, depot;\nsetp.lt.u32 %p1, %r1, LESS;\n" + store + TAIL
    given = dict(grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)], engine=engine)

    def run_on(less: int, place: int) -> Any:
        return tw.interpret(text.replace("LESS", f"{less}").replace("PLACE", f"{place}"), **given)

    np.testing.assert_array_equal(run_on(32, 4)[0], LANE)
    words = "read of local memory that nothing has written"
    for less, place, thread in ((32, 8, 0), (31, 4, 31)):
        with pytest.raises(ExecutionError, match=words) as error:
            run_on(less, place)
        assert f"thread ({thread},0,0)" in str(error.value)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("races", ["error", "ignore"])
@pytest.mark.parametrize(
    "access", ["st.local.u32 [%rd4+PLACE], %r1", "ld.local.u32 %r0, [%rd4+PLACE]"],
)  # fmt: skip
def test_local_memory_is_a_thread_s_own(access: str, races: Any, engine: Any) -> None:
    """What lies behind a thread's part, or in front of it, is not another thread's."""
    fill = "st.local.v4.u32 [%rd4], {%r1, %r1, %r1, %r1};\n"
    text = HEAD + "mov.u64 %rd4, depot;\n" + fill + "ACCESS;\n" + TAIL
    for place, said in ((16, "16 to 19"), (-4, "-4 to -1")):
        wrong = text.replace("ACCESS", access.replace("PLACE", f"{place}"))
        words = f"access out of bounds: bytes {said} of local memory, of which each thread has 16"
        with pytest.raises(ExecutionError, match=words):
            tw.interpret(wrong, grid=(2,), block=(32,), args=[np.zeros(32, np.uint32)], races=races,
                         engine=engine)  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize(
    "access, said",
    [
        ("ld.local.u32 %r0, [%rd3]", "expected an address of local memory, got one of global"),
        ("st.local.u32 [%rd3], %r1", "expected an address of local memory, got one of global"),
        ("ld.global.u32 %r0, [%rd4]", "expected an address of global memory, got one of local"),
        ("st.global.u32 [%rd4], %r1", "expected an address of global memory, got one of local"),
        ("atom.add.u32 %r0, [%rd4], 1", "expected an address of global memory, got one of local"),
        ("red.add.u32 [%rd4], 1", "expected an address of global memory, got one of local"),
        ("@%p1 st.u32 [%rd6], %r1", "expected an array that may be written, got byte 4 of 'table'"),
    ],
)
def test_what_lies_in_another_space(access: str, said: str, engine: Any) -> None:
    made = "setp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd6, table+4;\ncvta.const.u64 %rd6, %rd6;\n"
    text = f"{HEAD}{made}mov.u64 %rd4, depot;\nst.local.u32 [%rd4], %r1;\n{access};\n{TAIL}"
    with pytest.raises(ExecutionError, match=said):
        tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)], engine=engine)


@pytest.mark.parametrize("access", ["atom.add.u32 %r0, [%rd5], 1", "red.add.u32 [%rd5], 1"])
def test_atomic_operations_in_no_memory(access: str) -> None:
    text = f"{HEAD}xor.b64 %rd5, %rd3, 0x4000000000000000;\n{access};\n{TAIL}"
    with pytest.raises(ExecutionError, match=r"access out of bounds: address .* no kernel"):
        tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)])


@pytest.mark.parametrize(
    "body, said",
    [
        ("brkpt;", "'ptx.brkpt' is executed"),
        ("alloca.u64 %rd4, 1024;\nmov.u32 %r2, 5;\nalloca.u32 %r3, %r2, 32;",
         "5 bytes aligned to 32 are more than the 1024 of the stack have left"),
        ("alloca.u64 %rd4, -8;", "are more than the 1024 of the stack have left"),
        ("stacksave.u64 %rd4;\nadd.u64 %rd4, %rd4, 8;\nstackrestore.u64 %rd4;",
         "expected a top of the stack that stacksave gave"),
        ("stacksave.u64 %rd4;\nst.local.u32 [%rd4], 5;", "access out of bounds"),
        ("alloca.u64 %rd4, 8;\nld.local.u32 %r0, [%rd4];", "that nothing has written"),
    ],
)  # fmt: skip
def test_stops_and_stacks(body: str, said: str) -> None:
    with pytest.raises(ExecutionError, match=said):
        run(f"mov.u32 %r0, 0;\n{body}\n")


def test_what_a_function_allocates_is_free_when_it_returns() -> None:
    """A loop of calls, each with 600 of the 1,024 bytes of the stack."""
    function = (
        ".func (.reg .u32 y) f (.reg .u32 x) {\n.reg .b64 p; .reg .pred q;\nalloca.u64 p, 600;\n"
        "st.local.u32 [p], x;\nsetp.gt.u32 q, x, 40;\n@q bra big;\nld.local.u32 y, [p];\nret;\n"
        "big: mov.u32 y, 5;\nret;\n}\n"
    )
    text = HEAD.replace(".visible", f"{function}.visible") + (
        "mov.u32 %r0, 0;\nmov.u32 %r2, %r1;\nagain:\ncall (%r3), f, (%r2);\n"
        "add.u32 %r0, %r0, %r3;\nadd.u32 %r2, %r2, 10;\nsetp.lt.u32 %p1, %r2, 60;\n"
        "@%p1 bra again;\n"
    )
    [result] = tw.interpret(text + TAIL, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)])
    given = [range(lane, 60, 10) for lane in range(32)]
    assert result.tolist() == [sum(x if x <= 40 else 5 for x in xs) for xs in given]


def test_addresses_by_their_bytes() -> None:
    """Two of them: words, the one with four more."""
    masks = [0xFF << 8 * place for place in range(8)]
    parts = [*(f"{mask:#x}(table)" for mask in masks), *(f"{mask}(generic(q)+4)" for mask in masks)]
    declared = (
        f".global .b32 q[2] = {{5, 6}};\n.global .align 8 .u8 s[16] = {{{', '.join(parts)}}};"
    )
    body = (
        "mov.u64 %rd4, s;\nld.global.u64 %rd5, [%rd4];\nld.u32 %r2, [%rd5+8];\n"
        "ld.global.u64 %rd5, [%rd4+8];\nld.u32 %r3, [%rd5];\nmad.lo.u32 %r0, %r2, 10, %r3;\n"
    )
    text = HEAD.replace(".const", ".global").replace(".visible", f"{declared}\n.visible")
    text += body + TAIL
    assert assemble(text, "sm_80").ok and assemble(module_text(parse_module(text)), "sm_80").ok
    [result] = tw.interpret(text, grid=(1,), block=(4,), args=[np.zeros(4, np.uint32)])
    assert result.tolist() == [306] * 4


def test_elements_of_vectors_are_those_of_their_type() -> None:
    """As ptxas 13.5 has it: `q[1]` is the second number, not the second vector."""
    declared = ".global .align 16 .v4 .b32 q[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};\n"
    body = "ld.global.u32 %r0, q[1];\nadd.u32 %r2, %r1, 1;\nld.global.u32 %r3, q[%r2];\n"
    text = HEAD.replace(".const", f"{declared}.const") + body + "mad.lo.u32 %r0, %r0, 10, %r3;\n"
    [result] = tw.interpret(text + TAIL, grid=(1,), block=(7,), args=[np.zeros(7, np.uint32)])
    assert result.tolist() == [20 + place for place in range(2, 9)]


def test_bytes_by_value_are_given_as_an_array() -> None:
    text = (HEAD + "mov.u32 %r0, 1;\n" + TAIL).replace(
        ".param .u64 k_out", ".param .u64 k_out, .param .align 8 .b8 k_pair[24]"
    )
    words = "argument 'pair' expected an array for bytes24_8, got int"
    with pytest.raises(ArgumentError, match=words):
        tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32), 3])


def test_a_vector_that_an_atomic_operation_gives_may_be_left_out() -> None:
    text = on_hopper(
        "mov.f32 %f1, 0f3F800000;\nand.b32 %r2, %r1, 0;\nmul.wide.u32 %rd2, %r2, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\natom.global.add.v2.f32 _, [%rd3], {%f1, %f1};\n"
        "atom.global.add.v2.f32 {%f2, %f3}, [%rd3], {%f1, %f1};\nmov.b32 %r0, %f3;\n"
    ).replace(TAIL, "ret;\n}\n")
    [result] = tw.interpret(
        text.replace("8.0", "8.1", 1),
        grid=(1, 1, 1),
        block=(4, 1, 1),
        args=[np.zeros(2, np.float32)],
    )
    assert result.tolist() == [8.0, 8.0]
