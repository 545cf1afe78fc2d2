"""What kernels in CUDA C++ have once nvcc has compiled them, and others seldom: each is read, taken
by ptxas as it is and as it is written, and run by both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.parsing.statements import PtxError
from tilewright.lowering.ptx.text import module_text
from tilewright.tools.tilewright import main

Ptxas = Callable[..., Any]
LANE = np.arange(32)
HEAD = """.version 9.0
.target TARGET
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out) {
.reg .pred p, q; .reg .b8 b; .reg .b16 v<9>; .reg .b32 h, r<9>; .reg .b64 d<9>, addr;
.reg .f64 a, c<4>; .shared .align 256 .b8 s[512];
ld.param.u64 d0, [x]; ld.param.u64 d1, [out]; mov.u32 r0, %tid.x; cvt.u64.u32 d2, r0;
mul.wide.u32 d3, r0, 8; add.s64 addr, d1, d3; add.s64 d4, d0, d3; ld.global.u64 d5, [d4];
"""
TAIL = "st.global.u64 [addr], d6; ret; }\n"
CARRIES = """cvt.u32.u64 r1, d5; shr.u64 d6, d5, 32; cvt.u32.u64 r2, d6;
sub.cc.u32 r3, r1, r2; addc.u32 r4, 0, 0; addc.u32 r5, 10, 0;
add.cc.u32 r3, r1, r2; subc.u32 r6, 100, 0; shl.b32 r4, r4, 8; or.b32 r4, r4, r5;
mov.b64 d6, {r4, r6};"""
SPINS = """and.b32 r1, r0, 1; setp.eq.u32 q, r1, 1; @q bra wait;
mov.u32 r2, 1; st.relaxed.cta.shared.b32 [s], r2;
join: bar.sync 0; cvt.u64.u32 d6, r0; bra done;
wait: ld.relaxed.cta.shared.b32 r3, [s]; setp.eq.u32 p, r3, 0; @p bra wait; bra join;
done:"""
LAST_ONE = """setp.ne.u32 p, r0, 0; @p bra made; mov.b64 d6, 64; st.shared.u64 [s], d6;
mov.b32 r1, 7; st.shared.b32 [s+8], r1; made: bar.sync 0; ld.shared.b32 r2, [s+8];
mov.b64 d7, -1; atom.shared.add.acq_rel.cta.u64 d8, [s], d7; setp.ne.s64 p, d8, 1; @p bra done;
ld.shared.b32 r3, [s+8]; add.s32 r3, r3, 1; st.shared.b32 [s+8], r3;
done: cvt.u64.u32 d6, r2;"""


def run(body: str, ptxas: Ptxas, x: Any, arch: str = "sm_90", block: int = 32) -> np.ndarray:
    """What the engines leave, which is the same."""
    text = HEAD.replace("TARGET", arch) + body + TAIL
    assert ptxas(text, arch).ok and ptxas(module_text(read_module(text)), arch).ok
    mine, other = (
        tw.interpret(
            text, grid=(1,), block=(block,), args=[x.view(np.uint64), np.zeros(64, np.uint64)],
            arch="sm_90a" if arch == "sm_90" else arch, engine=engine,
        )[1]
        for engine in ("numpy", "compiled")
    )  # fmt: skip
    np.testing.assert_array_equal(mine, other)
    return mine


def test_a_difference_carries_where_nothing_is_borrowed(ptxas: Ptxas) -> None:
    """As the adder does whose carry ptxas hands on: nvcc divides numbers of 128 bits by it, which
    an H200 does rightly. An instruction without `.cc` leaves the carry as it is."""
    low, high = (np.array([5, 2, 3, 0xFFFFFFFF] * 16, np.uint64), np.array([3, 3, 3, 1] * 16))
    out = run(CARRIES, ptxas, low | high.astype(np.uint64) << np.uint64(32))[:4]
    none_borrowed = np.array([1, 0, 1, 1])
    np.testing.assert_array_equal(out & 0xFFFFFFFF, none_borrowed << 8 | (10 + none_borrowed))
    np.testing.assert_array_equal(out >> 32, 99 + np.array([0, 0, 0, 1]))


@pytest.mark.parametrize("rounding", ["rn.f64.f64.f64.f64", "f64.f64.f64.f64.rn"])
def test_matrices_at_generic_addresses(rounding: str, ptxas: Ptxas) -> None:
    """A in global memory, B in shared memory; the rounding before the types and behind."""
    body = f"""mov.u64 d6, s; cvta.shared.u64 d6, d6; add.s64 d7, d6, d3; st.u64 [d7], d5;
bar.sync 0; mov.f64 c0, 0d3FF0000000000000; mov.f64 c1, c0;
wmma.load.a.sync.aligned.row.m8n8k4.f64 {{a}}, [d0], 4;
wmma.load.b.sync.aligned.col.m8n8k4.f64 {{c2}}, [d6], 4;
wmma.mma.sync.aligned.row.col.m8n8k4.{rounding} {{c0, c1}}, {{a}}, {{c2}}, {{c0, c1}};
wmma.store.d.sync.aligned.row.m8n8k4.f64 [d1], {{c0, c1}}, 8; bra done;"""
    x = np.random.default_rng(0).integers(-9, 9, (8, 4)).astype(np.float64)
    out = run(f"{body} mov.u64 d6, 0; done: ret; ", ptxas, x).view(np.float64)
    np.testing.assert_array_equal(out.reshape(8, 8), x @ x.T + 1)


def test_names_that_rules_have_too(ptxas: Ptxas) -> None:
    """`set` is read as instructions on registers of one letter, and the text has such a one."""
    body = "cvt.u32.u64 h, d5; set.eq.f16x2.f16x2 r1, h, r0; cvt.u64.u32 d6, r1;"
    x = np.where(LANE % 3 == 0, LANE, LANE | 0x3C000000).astype(np.uint64)
    out = run(body, ptxas, x)[:32]
    np.testing.assert_array_equal(out, np.where(LANE % 3 == 0, 0x3C003C00, 0x3C00))


@pytest.mark.parametrize("places, shift", [("b, 0", 0), ("b, 9", 0), ("0x71, b", 8)])
def test_a_byte_beside_a_constant(places: str, shift: int, ptxas: Ptxas) -> None:
    """Pairs of e2m1, as nvcc puts them into 16 bits; 1.0 is 2, and -6 is 15."""
    body = f"""mov.f32 f0, 0f3F800000; mov.f32 f1, 0fC0C00000;
cvt.rn.satfinite.e2m1x2.f32 b, f0, f1; mov.b16 v0, {{{places}}}; cvt.u64.u16 d6, v0;"""
    out = run(f".reg .f32 f<2>; {body}", ptxas, np.zeros(32, np.uint64), "sm_100a")[0]
    constant = {"b, 0": 0, "b, 9": 0x900, "0x71, b": 0x71}[places]
    assert out == 0x2F << shift | constant


@pytest.mark.parametrize("hint, version", [
    ("nounroll", "6.0"), ("used_bytes_mask 0xf", "8.3"), ("enable_smem_spilling", "8.7"),
    ("frequency 4", "9.0"),
])  # fmt: skip
def test_hints_ask_for_versions(hint: str, version: str, ptxas: Ptxas) -> None:
    text = f"""{HEAD.replace("TARGET", "sm_90")} .pragma "{hint}"; ld.global.u64 d6, [d4]; {TAIL}"""
    written = module_text(read_module(text))
    assert f".version {version}\n" in written and ptxas(written, "sm_90").ok


def test_a_strong_store_needs_nothing_written(ptxas: Ptxas) -> None:
    """And threads of a warp that come to a barrier one after the other meet there, though those
    who spin stand behind it."""
    np.testing.assert_array_equal(run(SPINS, ptxas, np.zeros(32, np.uint64))[:32], LANE)


def test_who_comes_last_knows_of_all_reads(ptxas: Ptxas) -> None:
    """What others of its warp read before they arrived is before what it writes, though it reads
    that anew; where it comes without knowing of them it races."""
    np.testing.assert_array_equal(run(LAST_ONE, ptxas, np.zeros(64, np.uint64), block=64), 7)
    with pytest.raises(tw.ExecutionError, match="race on shared memory"):
        run(LAST_ONE.replace("acq_rel", "relaxed"), ptxas, np.zeros(64, np.uint64), block=64)


def test_magnitudes_with_the_sign_of_others(ptxas: Ptxas) -> None:
    """As `fmodf` ends: LLVM 22.1 compiles it wrongly for AVX-512."""
    body = """.reg .f32 f<6>; mov.b64 {f0, f1}, d5; abs.f32 f2, f0; setp.lt.f32 p, f2, 0f40800000;
@p bra done; mul.f32 f2, f2, 0f3F000000;
done: abs.f32 f3, f2; setp.gtu.f32 p, f3, 0f7F800000; copysign.f32 f4, f1, f2;
selp.f32 f5, f2, f4, p; mov.b32 r1, f5; cvt.u64.u32 d6, r1;"""
    x = np.stack([LANE - 9, np.where(LANE % 3, 1, -1)], axis=1).astype(np.float32)
    out = run(body, ptxas, x)[:32].astype(np.uint32).view(np.float32)
    size = np.abs(x[:, 0])
    np.testing.assert_array_equal(out, np.where(size < 4, size, size / 2) * x[:, 1])


def test_half_a_warp_at_another_barrier(ptxas: Ptxas) -> None:
    body = """and.b32 r1, r0, 1; setp.eq.u32 q, r1, 1; @q bra other; bar.sync 0; bra done;
other: bar.sync 0; done: mov.u64 d6, 0;"""
    with pytest.raises(tw.ExecutionError, match="needs all 32 threads of a warp, and 16 execute"):
        run(body, ptxas, np.zeros(32, np.uint64))


@pytest.mark.parametrize("body", [
    "cvt.u16.u32 v0, r0; setp.equ.f16 p, v0, v0; selp.b32 r1, 1, 0, p; cvt.u64.u32 d6, r1;",
    "mov.b32 r1, 0x00010000; min.s16x2 r1, r1, r0; cvt.u64.u32 d6, r1;",
])  # fmt: skip
def test_check_takes_no_other_numbers_for_integers(body: str, tmp_path: Any) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(HEAD.replace("TARGET", "sm_90") + body + TAIL)
    assert main(["check", str(path)]) in (0, None)


def test_who_works_is_not_kept_by_who_spins(ptxas: Ptxas) -> None:
    """Threads of a warp that spin where the loop of all begins let the one go on that has work
    once they were seen to spin."""
    body = """mov.u32 r1, s; setp.ne.u32 p, r0, 0; @p bra made; mov.b32 r2, 12;
st.shared.b32 [r1], r2; mov.b32 r2, 0; st.shared.b32 [r1+4], r2; made: bar.warp.sync -1;
again: ld.relaxed.cta.shared.b32 r2, [r1]; setp.le.s32 p, r2, 0; @p bra done;
atom.acquire.cta.shared.cas.b32 r3, [r1+4], 0, 1; setp.ne.u32 p, r3, 0; @p bra again;
ld.relaxed.cta.shared.b32 r2, [r1]; setp.le.s32 p, r2, 0; @p bra free; add.s32 r2, r2, -1;
setp.gt.u32 q, r0, 40; @q bra free; st.relaxed.cta.shared.b32 [r1], r2;
free: mov.b32 r2, 0; st.release.cta.shared.b32 [r1+4], r2; bra again; done: mov.b64 d6, 7;"""
    text = HEAD.replace("TARGET", "sm_90") + body + TAIL
    assert ptxas(text, "sm_90").ok
    args = [np.zeros(32, np.uint64), np.zeros(32, np.uint64)]
    [_, out] = tw.interpret(text, grid=(1,), block=(32,), args=args, arch="sm_90a", max_steps=40000)
    assert (out == 7).all()


def test_a_copy_of_bytes_behind_an_init(ptxas: Ptxas, tmp_path: Any) -> None:
    """What `cuda::memcpy_async` becomes has no fence behind `mbarrier.init`; an H200 runs it."""
    body = """setp.ne.u32 p, r0, 0; mov.u32 r1, s; mov.u32 r2, r1; add.u32 r2, r2, 256;
@!p mbarrier.init.shared.b64 [r2], 32; bar.sync 0; @p bra go;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [r2], 256;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [r1], [d0], 256, [r2];
go: mbarrier.arrive.shared.b64 d6, [r2];
ask: mbarrier.try_wait.parity.shared.b64 q, [r2], 0; @!q bra ask;
shl.b32 r3, r0, 3; add.s32 r3, r1, r3; ld.shared.b64 d6, [r3];"""
    x = np.arange(32, dtype=np.uint64) * 3
    np.testing.assert_array_equal(run(body, ptxas, x)[:32], x)
    body = body.replace("[r2], 32", "[r2], 33").replace(
        "expect_tx.relaxed.cta.shared::cta.b64", "arrive.expect_tx.shared.b64 _,"
    )
    path = tmp_path / "k.ptx"
    path.write_text(HEAD.replace("TARGET", "sm_90") + body + TAIL)
    assert main(["check", str(path)]) in (0, None)


def test_check_counts_a_ring_of_three(tmp_path: Any) -> None:
    """What nvcc makes of `i % 3` is a product with 0xAAAAAAAB, in the text a negative number."""
    body = """setp.ne.u32 p, r0, 0; mov.u32 r1, s; mov.u32 r2, 0; @p bra done;
mbarrier.init.shared.b64 [r1], 1; mbarrier.init.shared.b64 [r1+8], 1;
mbarrier.init.shared.b64 [r1+16], 1; again: mul.wide.u32 d3, r2, -1431655765; shr.u64 d3, d3, 33;
cvt.u32.u64 r3, d3; mul.lo.s32 r3, r3, 3; sub.s32 r3, r2, r3; shl.b32 r3, r3, 3;
add.s32 r3, r1, r3; mbarrier.arrive.shared.b64 d6, [r3]; add.s32 r2, r2, 1;
setp.lt.u32 q, r2, 7; @q bra again; done: mov.b64 d6, 0;"""
    path = tmp_path / "k.ptx"
    path.write_text(HEAD.replace("TARGET", "sm_90") + body + TAIL)
    assert main(["check", str(path)]) in (0, None)


def test_a_shuffle_of_what_one_lane_has_alone(ptxas: Ptxas) -> None:
    """An aggregated atomic: the leader's value alone is written, and read by all."""
    body = """setp.ne.u32 p, r0, 0; @p bra go; mov.u32 r1, 77;
    go: mov.u32 r2, -1; shfl.sync.idx.b32 r3, r1, 0, 31, r2; cvt.u64.u32 d6, r3;"""
    assert (run(body, ptxas, np.arange(32))[:32] == 77).all()
    with pytest.raises(tw.ExecutionError, match="undefined"):
        run(body.replace("r1, 0, 31", "r1, 5, 31"), ptxas, np.arange(32))


def test_an_mbarrier_ends_behind_a_match(ptxas: Ptxas) -> None:
    """A `cuda::pipeline` of a block ends so: the first thread that a `match` brings together is
    behind the looks of the others."""
    body = """setp.ne.u32 p, r0, 0; mov.u32 r1, s; mov.b32 r2, -1; @p bra made;
    mbarrier.init.shared.b64 [r1], 32; made: bar.sync 0; mbarrier.arrive.shared.b64 d7, [r1];
    look: mbarrier.test_wait.shared.b64 q, [r1], d7; @!q bra look; and.b32 r3, r0, ODD;
    match.any.sync.b32 r4, r3, r2; @p bra done; mbarrier.inval.shared.b64 [r1];
    done: cvt.u64.u32 d6, r4;"""
    assert run(body.replace("ODD", "0"), ptxas, np.arange(32))[0] == (1 << 32) - 1
    with pytest.raises(tw.ExecutionError, match="at which thread 1 may still look"):
        run(body.replace("ODD", "1"), ptxas, np.arange(32))


def test_half_of_a_pair_that_nothing_has_written(ptxas: Ptxas) -> None:
    """Structs of 8 bytes are in one register, whether each field of them is written or not."""
    body = """.reg .b32 none; mov.b64 d7, {r0, none}; and.b64 d8, d7, 0xff00000000;
    setp.eq.u32 p, r0, 9; @p mov.b64 d7, {r0, r0}; cvt.u32.u64 r1, d7; cvt.u64.u32 d6, r1;"""
    assert (run(body, ptxas, np.arange(32))[:32] == LANE).all()
    for half in ("shr.u64 d6, d7, 32;", "shr.u64 d8, d8, 34; add.s64 d6, d6, d8;"):
        with pytest.raises(tw.ExecutionError, match=r"'ptx\.pack' use of an undefined"):
            run(body + half, ptxas, np.arange(32))


def test_local_memory_without_optimization(ptxas: Ptxas) -> None:
    """Each thread's is aligned; a register that nothing has written may be kept there."""
    body = """.local .align 8 .b8 depot[12]; .reg .b64 sp; .reg .b32 none; mov.u64 sp, depot;
    st.local.u32 [sp+8], none; st.local.u64 [sp], d5; st.local.u32 [sp+8], r0;
    ld.local.u64 d6, [sp]; ld.local.u32 r1, [sp+8]; cvt.u64.u32 d7, r1; add.s64 d6, d6, d7;"""
    assert (run(body, ptxas, np.arange(32))[:32] == 2 * LANE).all()
    with pytest.raises(tw.ExecutionError, match="nothing has written"):
        run(body.replace("st.local.u32 [sp+8], r0;", ""), ptxas, np.arange(32))


KEPT = """.local .align 8 .b8 depot[16]; .reg .b64 sp; mov.u64 sp, depot; ld.local.u32 r1, [sp+4];
and.b32 r1, r1, -256; and.b32 r2, r0, 255; or.b32 r1, r1, r2; st.local.u32 [sp+4], r1;
ld.local.u8 v0, [sp+12]; st.local.u8 [sp+8], v0; mov.u32 h, %reserved_smem_offset_1;
cvt.u64.u32 d8, h; cvta.shared.u64 d8, d8; ld.local.u32 r1, [sp+4]; LAST cvt.u64.u32 d6, r1;"""


def test_bit_fields_and_empty_objects(ptxas: Ptxas) -> None:
    """What nothing has written may be copied and masked; where it decides a result, it is an error,
    told at the first read; so is memory that the system keeps."""
    assert (run(KEPT.replace("LAST", "and.b32 r1, r1, 255;"), ptxas, LANE)[:32] == LANE).all()
    for wrong in (
        "", "setp.lt.s32 p, r1, 5; selp.u32 r1, 1, 0, p;", "and.b32 r1, r1, 0x100;",
        "setp.eq.s32 p, r1, r1; @p bra stop; stop: and.b32 r1, r1, 0x1ff; add.s64 addr, addr, d7;",
    ):  # fmt: skip
        with pytest.raises(tw.ExecutionError, match="local memory that nothing has written"):
            run(KEPT.replace("LAST", wrong), ptxas, LANE)
    with pytest.raises(tw.ExecutionError, match="out of bounds"):
        run("mov.u32 h, %reserved_smem_offset_1; st.shared.u32 [h], h;", ptxas, LANE)


def test_constants_have_a_space(ptxas: Ptxas) -> None:
    text = NAMED.replace(
        "ld.u32 r2, [d5];\n",
        """ld.u32 r2, [d5]; cvta.const.u64 d5, c;
.reg .pred p; isspacep.const p, d5; selp.u32 r2, 5, 0, p; isspacep.const p, d0; @p trap;\n""",
    )
    assert ptxas(text, "sm_90").ok
    assert tw.interpret(text, grid=(1,), block=(1,), args=[np.zeros(4, np.int32)])[0][3] == 5


CONVERSIONS = (
    ("cvt.s8.u8 r1, v0;", lambda x: (x & 255).astype(np.int8).astype(np.int32)),
    ("cvt.s32.s32 d6, r2; cvt.u32.u64 r1, d6; shr.s64 d6, d6, 32; cvt.u32.u64 r3, d6; "
     "xor.b32 r1, r1, r3;", lambda x: x ^ x >> 31),
    ("mov.b16 {b, _}, v0; cvt.s32.s8 r1, b;", lambda x: x.astype(np.int8).astype(np.int32)),
    (".reg .f32 f; cvt.rz.sat.f32.s32 f, r2; cvt.rzi.s32.f32 r1, f;", lambda x: (x > 0) * 1),
    (".reg .f32 f; cvt.rp.ftz.f32.u8 f, v0; cvt.rzi.s32.f32 r1, f;", lambda x: x & 255),
    (".reg .f32 f; mov.b32 f, 1; cvt.rp.ftz.f16.f32 v0, f; cvt.u32.u16 r1, v0;", lambda x: x**0),
    (".reg .f32 f; mov.f32 f, 1e39; mov.b32 r1, f;", lambda x: x * 0 + 0x7F800000),
)  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CONVERSIONS)
def test_conversions_that_few_write(body: str, expected: Any, ptxas: Ptxas) -> None:
    x = np.arange(32) * 0x9E3779B1 & 0xFFFFFFFF
    out = run(f"cvt.u32.u64 r2, d5; cvt.u16.u64 v0, d5; {body} cvt.u64.u32 d6, r1;", ptxas, x)
    np.testing.assert_array_equal(out[:32].astype(np.uint32).view(np.int32),
                                  expected(x.astype(np.uint32).view(np.int32)))  # fmt: skip


def _added(type_: str, space: str) -> str:
    """A number that is added to one in memory, by its bits."""
    kind, at = f"b{type_[-2:]}", {"shared": "s", "global": "addr"}[space]
    noftz = ".noftz" if kind == "b16" else ""
    return f""".reg .{kind} old, new; mov.{kind} old, OLD; mov.{kind} new, NEW;
    setp.ne.u32 p, r0, 0; @p bra over; st.{space}.{kind} [{at}], old;
    red.{space}.add{noftz}.{type_} [{at}], new; ld.{space}.u{kind[1:]} d6, [{at}]; over:"""


ON_A_CHIP = [
    ("cvt.rn.f16.f64 v0, c0; cvt.u64.u16 d6, v0;", 0x7FF0000000000001, 0x7E00),
    ("cvt.rm.f16.f64 v0, c0; cvt.u64.u16 d6, v0;", 0xFFF4000000000001, 0xFF00),
    (
        ".reg .f32 f; cvt.rz.ftz.f32.f64 f, c0; mov.b32 r1, f; cvt.u64.u32 d6, r1;",
        0x7FF8000000000000,
        0x7FC00000,
    ),
    (
        ".reg .f32 f; cvt.rm.ftz.f32.f64 f, c0; mov.b32 r1, f; cvt.u64.u32 d6, r1;",
        0xB6A0000000000000,
        0x80000000,
    ),
    ("fns.b32 r1, 0x33000000, 44, -1; cvt.u64.u32 d6, r1;", 0, 0xFFFFFFFF),
    ("mov.f64 a, 0f3f800001; mov.b64 d6, a;", 0, 0x3F800001),
    *(
        (_added(type_, space).replace("OLD", old).replace("NEW", new), 0, result)
        for type_, space, old, new, result in (
            ("f32", "shared", "0x7f800001", "0", 0x7FFFFFFF),
            ("f32", "global", "0x3f800000", "0x7f9952e3", 0x7FFFFFFF),
            ("f16", "global", "0x6899", "0xfcb3", 0x7FFF),
            ("f16", "shared", "0x7f80", "0x4fb2", 0x7FFF),
            ("bf16", "shared", "0xfe01", "0xfffb", 0x7FFF),
            ("f64", "global", "0x7ff0000000000001", "0", 0x7FF0000000000001),
            ("f64", "global", "0xffffffffffffffff", "0x7ff8000000000000", 0x7FF8000000000000),
            ("f64", "shared", "0x7ff8000000000000", "0x7fffffffffffffff", 0x7FF8000000000000),
        )
    ),
    *(
        (
            f"""mul.wide.u32 d3, r0, 16; add.s64 addr, d1, d3; mov.b64 d7, {0xFE00000180003C00};
         mov.b64 {{v0, v1, v2, v3}}, d5; st.global.b64 [addr], d7; red.global.{kind}.noftz.v4.f16
         [addr], {{v0, v1, v2, v3}}; ld.global.b64 d6, [addr];""",
            0x3C00000000007E00,
            expected,
        )
        for kind, expected in (
            ("min", 0x3C00000080003C00),
            ("max", 0x3C00000100003C00),
            ("add", 0x7FFF000100007FFF),
        )
    ),
    (
        """mov.b64 c1, 0x7ff0000000000001; setp.ne.u32 p, r0, 0;
     @p bra over; st.shared.f64 [s], c1; st.shared.f64 [s+8], c1; fence.proxy.async; mov.u32 r1, s;
     add.s64 d8, d1, 256; st.global.f64 [d8], c0; st.global.f64 [d8+8], c0; fence.proxy.async;
     cp.async.bulk.commit_group;
     cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [d8], [r1], 16;
     cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ld.global.u64 d6, [d8]; over:""",
        0x3FF0000000000000,
        0x7FF0000000000001,
    ),
]


@pytest.mark.parametrize(("body", "bits", "expected"), ON_A_CHIP)
def test_what_an_h200_made_of_nan(body: str, bits: int, expected: int, ptxas: Ptxas) -> None:
    out = run(f"mov.b64 c0, d5; mov.b64 d6, 0; {body}", ptxas, np.full(32, bits, np.uint64))
    assert int(out.view(np.uint64)[0]) == expected


def test_each_thread_fences_what_it_has_written(ptxas: Ptxas) -> None:
    """A fence of a warp is one of each of its threads."""
    body = """shl.b32 r1, r0, 3; mov.u32 r2, s; add.u32 r2, r2, r1; add.u32 r2, r2, r1;
    st.shared.u64 [r2], d5; st.shared.u64 [r2+8], d5; fence.proxy.async; add.s64 d8, addr, d3;
    st.global.u64 [d8], d5; st.global.u64 [d8+8], d5; FENCE
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [d8], [r2], 16;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bra end; end: ld.global.u64 d6, [d8];
    mov.u64 addr, d8;"""
    out = run(body.replace("FENCE", "fence.proxy.async;"), ptxas, np.arange(32))
    np.testing.assert_array_equal(out, 2 * np.repeat(np.arange(32, dtype=np.uint64), 2))
    with pytest.raises(tw.ExecutionError, match=r"with no fence\.proxy\.async between"):
        run(body.replace("FENCE", ""), ptxas, np.arange(32))


FUNCTIONS = """.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 got) low(.param .b32 x, .param .b8 y) { .reg .b16 v<3>; .reg .b32 r<3>;
ld.param.u8 v0, [x]; ld.param.s8 v1, [y]; cvt.u32.u16 r0, v0; cvt.s32.s16 r1, v1;
shl.b32 r0, r0, 8; sub.s32 r0, r0, r1; st.param.b32 [got], r0; ret; }
.func (.param .b32 got) other(.param .b32 x, .param .b8 y) { .reg .b32 r0; .reg .b64 d0;
mov.u64 d0, low; { .param .b32 a0; .param .b8 a1; .param .b32 a2; st.param.b32 [a0], 300;
st.param.b8 [a1], 7; proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b8 _);
call (a2), d0, (a0, a1), proto; ld.param.b32 r0, [a2]; } st.param.b32 [got], r0; ret; }
.visible .entry k(.param .u64 out) { .reg .b16 v0; .reg .b32 r<3>; .reg .b64 d<3>;
ld.param.u64 d0, [out]; mov.b16 v0, 0x1ff; { .param .b32 a0; .param .b8 a1; .param .b32 a2;
st.param.b32 [a0], 0x1234; st.param.b8 [a1], v0; call (a2), low, (a0, a1); ld.param.b32 r0, [a2];
} { .param .b32 a0; .param .b8 a1; .param .b32 a2; st.param.b32 [a0], 0; st.param.b8 [a1], 0;
call (a2), other, (a0, a1); ld.param.b32 r1, [a2]; } st.global.v2.u32 [d0], {r0, r1}; ret; }
"""


def test_bytes_of_parameters(ptxas: Ptxas) -> None:
    """A parameter has the low byte of a register; a call by a prototype that its own function has
    too is none of itself, as nothing takes the address of that."""
    assert ptxas(FUNCTIONS, "sm_90").ok and ptxas(module_text(read_module(FUNCTIONS)), "sm_90").ok
    (out,) = tw.interpret(FUNCTIONS, grid=(1,), block=(1,), args=[np.zeros(2, np.int32)],
                          arch="sm_90a")  # fmt: skip
    assert out.tolist() == [0x3400 + 1, (300 % 256 << 8) - 7]
    far = FUNCTIONS.replace("mov.u64 d0, low;", "mov.u64 d0, low; add.s64 d0, d0, 64;")
    assert ptxas(far, "sm_90").ok
    with pytest.raises(tw.ExecutionError, match=r"call \(a2\), d0, \(a0, a1\), proto"):
        tw.interpret(far, grid=(1,), block=(1,), args=[np.zeros(2, np.int32)], arch="sm_90a")


NAMED = """.version 9.0
.target sm_90
.address_size 64
.global .align 4 .u32 g[4] = {10, 20, 30, 40};
.const .align 8 .u64 c[2] = {7, 9};
.global .align 8 .u64 t[4] = {generic(g)+12, g, 5, generic(c)+8};
.const .align 8 .u64 first[2] = {t, generic(g)+8};
.visible .entry k(.param .u64 out) { .reg .b32 r<3>; .reg .b64 d<6>; ld.param.u64 d0, [out];
ld.const.u64 d1, [first]; ld.const.u64 d5, [first+8]; ld.u64 d2, [d1]; ld.u32 r0, [d2];
ld.global.u64 d3, [t+8]; ld.u32 r1, [d3+4]; ld.u64 d4, [d1+24]; ld.u64 d4, [d4]; ld.u32 r2, [d5];
cvt.u32.u64 r0, d4; ld.u32 r1, [d2]; st.global.v2.u32 [d0], {r0, r1};
ld.u32 r1, [d3+4]; st.global.v2.u32 [d0+8], {r1, r2}; ret; }
"""


def test_variables_that_name_others(ptxas: Ptxas) -> None:
    again = module_text(read_module(NAMED))
    assert ptxas(NAMED, "sm_90").ok and ptxas(again, "sm_90").ok
    for text in (NAMED, again):
        (out,) = tw.interpret(text, grid=(1,), block=(1,), args=[np.zeros(4, np.uint32)])
        assert out.tolist() == [9, 40, 20, 30]
    with pytest.raises(PtxError, match=r"expected constants of \.u64, got c"):
        read_module(NAMED.replace("{t, generic(g)+8}", "{c, 0}"))


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ('{"x" = "g"}', "names of words by their numbers"),
        ('{"1" = "g"}', "got one in word 1"),
        ('{"0" = "h"}', "got 'h', which none is"),
    ],
)
def test_names_that_are_none(names: str, why: str) -> None:
    text = f"""ptx.global @g align 8 dense<1> : tensor<8xi8>
    ptx.global @p align 8 names {names} dense<0> : tensor<8xi8>"""
    with pytest.raises(tw.CompileError, match=why):
        tw.compile(text, "sm_90")
