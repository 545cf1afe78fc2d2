"""Spellings and forms of PTX that no kernel of ours has: read, executed, written and assembled."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import ptx_bodies
import pytest
from numpy.typing import NDArray
from ptx_bodies import LANE, TAIL

from tilewright.pipeline import PIPELINE, run_pipeline, verified
from tilewright.source.diagnostic import CompileError, ExecutionError

HEAD = """\
.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 k_out)
{
  .shared .align 16 .b8 tile[128];
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
  .reg .f64 %d<9>;
  ld.param.u64 %rd1, [k_out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
"""

run = partial(ptx_bodies.run, head=HEAD)


HALVES = "cvt.rn.f16.u32 %h1, %r1;\nmov.b32 %r2, {%h1, 0x4400};\nmov.b32 %r3, 0x48004000;\n"
"""(lane, 4) and (2, 8), two f16 side by side each."""

BODIES: dict[str, tuple[str, NDArray[np.int64]]] = {
    "sums in two floats": (
        "cvt.rn.f32.u32 %f1, %r1;\nmov.b64 %rd4, {%f1, %f1};\nmov.b64 %rd5, {%f1, 0f40000000};\n"
        "fma.rn.f32x2 %rd6, %rd4, %rd5, %rd5;\nmov.b64 {%f2, %f3}, %rd6;\n"
        "add.rz.f32 %f2, %f2, %f3;\ncvt.rzi.u32.f32 %r0, %f2;\n",
        LANE * LANE + LANE + 2 * LANE + 2,
    ),
    "sums of halves in f32": (
        "cvt.rn.f16.u32 %h1, %r1;\nmov.f32 %f1, 0f3F000000;\nadd.f32.f16 %f2, %h1, %f1;\n"
        "fma.rn.f32.f16 %f2, %h1, %h1, %f2;\ncvt.rni.u32.f32 %r0, %f2;\n",
        np.rint(LANE + 0.5 + LANE * LANE),
    ),
    "the least of three": (
        "cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f41000000;\nneg.f32 %f3, %f2;\n"
        "max.f32 %f3, %f1, %f3, 0f40800000;\nmin.f32 %f1, %f3, %f2, %f1;\n"
        "mov.f32 %f4, 0fC0E00000;\nmax.abs.f32 %f2, %f1, %f4, 0f40C00000;\n"
        "add.f32 %f1, %f1, %f2;\ncvt.rzi.u32.f32 %r0, %f1;\n",
        np.minimum(LANE, 8) + np.maximum(np.minimum(LANE, 8), 7),
    ),
    "distances of bytes and halves": (
        "mul.lo.u32 %r2, %r1, 0x07010305;\nmov.u32 %r3, 0x20103040;\nmov.u32 %r4, 5;\n"
        "vabsdiff4.u32.u32.u32.add %r5, %r2, %r3, %r4;\n"
        "vabsdiff2.u32.u32.u32.add %r0, %r2, %r3, %r5;\n",
        5 + sum(
            abs((LANE * 0x07010305 >> place & mask) - (0x20103040 >> place & mask))
            for width, mask in ((8, 0xFF), (16, 0xFFFF)) for place in range(0, 32, width)
        ),
    ),
    "comparisons of halves": (
        HALVES + "setp.lt.f16x2 %p1|%p2, %r2, %r3;\nselp.u32 %r4, 1, 0, %p1;\n"
        "selp.u32 %r5, 2, 0, %p2;\nadd.u32 %r0, %r4, %r5;\n",
        np.where(LANE < 2, 1, 0) + 2,
    ),
    "comparisons of halves and another": (
        HALVES + "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.and.f16x2 %p1|%p2, %r2, %r3, %p1;\n"
        "selp.u32 %r4, 1, 0, %p1;\nselp.u32 %r5, 2, 0, %p2;\nadd.u32 %r0, %r4, %r5;\n",
        np.where(LANE == 0, 3, 0),
    ),
    "set of halves": (
        HALVES + "set.lt.u32.f16x2 %r4, %r2, %r3;\nset.lt.f16x2.f16x2 %r5, %r2, %r3;\n"
        "xor.b32 %r0, %r4, %r5;\n",
        np.where(LANE < 2, 0xFFFF ^ 0x3C00, 0) | (0xFFFF ^ 0x3C00) << 16,
    ),
    "set to a half": (
        "set.lt.f16.u32 %h1, %r1, 3;\ncvt.u32.u16 %r0, %h1;\n", np.where(LANE < 3, 0x3C00, 0),
    ),
    "a choice by a subnormal number": (
        "neg.s32 %r2, %r1;\nor.b32 %r2, %r2, 0x80000000;\nand.b32 %r2, %r2, 0x8000001F;\n"
        "mov.b32 %f1, %r2;\nslct.ftz.u32.f32 %r0, 1, 2, %f1;\n",
        LANE * 0 + 1,
    ),
    "high products that do not wrap": (
        "mul.lo.s32 %r2, %r1, 0x4000000;\nmad.hi.sat.s32 %r3, %r2, 64, 0x7ffffff0;\n"
        "mad24.hi.sat.s32 %r4, 0x7fffff, %r1, 0x7fffffff;\nsub.u32 %r0, %r4, %r3;\n",
        0x7FFFFFFF - np.minimum(0x7FFFFFF0 + LANE * 0x4000000 * 64 // 2**32,
                                0x7FFFFFFF),
    ),
    "conversions that saturate": (
        "sub.s32 %r2, %r1, 16;\nmul.lo.s32 %r2, %r2, 20;\ncvt.sat.u8.s32 %r3, %r2;\n"
        "cvt.rn.f64.s32 %d1, %r2;\ncvt.rzi.s8.f64 %r4, %d1;\ncvt.sat.f64.f64 %d2, %d1;\n"
        "cvt.rni.u32.f64 %r5, %d2;\nmad.lo.u32 %r0, %r3, 1000, %r4;\nadd.u32 %r0, %r0, %r5;\n",
        np.clip(LANE * 20 - 320, 0, 255) * 1000 + np.clip(LANE * 20 - 320, -128, 127)
        + (LANE > 16),
    ),
    "halves": (
        "cvt.rp.f16.u32 %h1, %r1;\ncvt.bf16.f16 %h2, %h1;\nmul.bf16 %h2, %h2, %h2;\n"
        "cvt.rmi.bf16.bf16 %h2, %h2;\ncvt.f16.bf16 %h3, %h2;\ncvt.rni.sat.f16.f16 %h4, %h3;\n"
        "add.f16 %h3, %h3, %h4;\ncvt.rni.u32.f16 %r0, %h3;\n",
        (LANE * LANE).astype(ml_dtypes.bfloat16).astype(int) + (LANE > 0),
    ),
    "packed": (
        "sub.s32 %r2, %r1, 16;\nmul.lo.s32 %r3, %r2, 20;\n"
        "cvt.pack.sat.s8.s32.b32 %r4, %r2, %r3, 0;\ncvt.pack.sat.u8.s32.b32 %r0, %r3, %r1, %r4;\n",
        (LANE - 16) % 256 << 24 | (np.clip(LANE * 20 - 320, -128, 127) % 256) << 16
        | np.clip(LANE * 20 - 320, 0, 255) << 8 | LANE,
    ),
    "halves that are added side by side": (
        "shr.u32 %r2, %r1, 2;\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd4, %rd1, %rd4;\n"
        "and.b32 %r3, %r1, 3;\ncvt.rn.f16.u32 %h1, %r3;\nmov.b32 %r4, {%h1, 0x3c00};\n"
        "atom.global.add.noftz.f16x2 %r5, [%rd4], %r4;\nbar.sync 0;\nld.global.u32 %r0, [%rd3];\n"
        "st.global.u32 [%rd3], 0;\n",
        np.where(LANE < 8, 0x44004600, 0),
    ),
    "floats that are added side by side": (
        "atom.global.v2.f32.add {%f1, %f2}, [%rd1], {0f3F800000, 0f40000000};\nbar.sync 0;\n"
        "atom.global.add.v2.f32 {%f3, %f4}, [%rd1], {0f00000000, 0f00000000};\nbar.sync 0;\n"
        "setp.le.f32 %p1, %f1, %f3;\n@!%p1 trap;\nadd.f32 %f3, %f3, %f4;\n"
        "cvt.rzi.u32.f32 %r0, %f3;\n",
        LANE * 0 + 96,
    ),
    "spaces of addresses": (
        ".local .align 4 .b8 own[8];\nmov.u64 %rd4, own;\ncvta.local.u64 %rd5, %rd4;\n"
        "mov.u32 %r2, tile;\nmapa.shared::cluster.u32 %r3, %r2, 0;\ncvt.u64.u32 %rd6, %r3;\n"
        "cvta.shared::cluster.u64 %rd6, %rd6;\nst.u32 [%rd5], %r1;\n"
        + "".join(
            f"isspacep.{space} %p{place}, %rd{address};\nselp.b32 %r{4 + place}, {1 << place}, 0, "
            f"%p{place};\nadd.u32 %r20, %r20, %r{4 + place};\n"
            for place, (space, address) in enumerate(
                [("global", 1), ("shared", 1), ("local", 5), ("global", 5), ("shared::cta", 6),
                 ("shared::cluster", 6), ("local", 6)]
            )
        ).replace("%r20, %r20", "%r20, 0", 1)
        + "mapa.u64 %rd7, %rd6, 0;\ngetctarank.u64 %r21, %rd7;\nst.u32 [%rd7], 64;\nbar.sync 0;\n"
        "ld.shared.u32 %r22, [tile];\nmad.lo.u32 %r0, %r21, 1000, %r20;\n"
        "add.u32 %r0, %r0, %r22;\n",
        LANE * 0 + 64 + 0b0110101,
    ),
    "the least float of a warp": (
        "cvt.rn.f32.u32 %f1, %r1;\nsub.f32 %f1, %f1, 0f41200000;\nneg.f32 %f2, 0f7FC00000;\n"
        "setp.eq.u32 %p1, %r1, 3;\nselp.f32 %f3, %f2, %f1, %p1;\n"
        "redux.sync.min.f32 %f4, %f3, -1;\nredux.sync.max.abs.f32 %f5, %f1, -1;\n"
        "redux.sync.max.NaN.f32 %f6, %f3, -1;\nsetp.nan.f32 %p2, %f6, %f6;\n"
        "selp.u32 %r2, 1000, 0, %p2;\ncvt.rni.s32.f32 %r3, %f4;\ncvt.rni.s32.f32 %r4, %f5;\n"
        "mad.lo.s32 %r0, %r4, 10000, %r2;\nadd.s32 %r0, %r0, %r3;\n",
        LANE * 0 + 210000 + 1000 - 10,
    ),
    "a barrier that threads come to one by one": (
        "setp.lt.u32 %p1, %r1, 20;\n@%p1 bra A;\nbarrier.red.popc.u32 %r0, 0, 0;\nbra B;\n"
        "A: barrier.cta.red.popc.u32 %r0, 0, 1;\nB:\n",
        LANE * 0 + 20,
    ),
    "parts of a parameter, hints": (
        "ld.param.u32 %r2, [k_out];\nld.param.u64 %rd4, [k_out];\ncvt.u32.u64 %r3, %rd4;\n"
        "ld.param.b8 %r4, [k_out];\nand.b32 %r5, %r3, 255;\nsub.u32 %r2, %r2, %r3;\n"
        "sub.u32 %r4, %r4, %r5;\nadd.u32 %r0, %r2, %r4;\nprefetchu.L1 [%rd1];\n"
        "applypriority.global.L2::evict_normal [%rd1], 128;\ndiscard.global.L2 [%rd1+128], 128;\n"
        "fence.proxy.tensormap::generic.release.gpu;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n"
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n",
        LANE * 0,
    ),
    "words of 128 bits": (
        ".reg .b128 %q<3>, whole;\nst.global.u32 [%rd3], %r1;\nbar.sync 0;\n"
        "ld.global.b128 %q1, [%rd1+16];\nmov.b128 %q2, %q1;\nmov.b128 {%rd4, %rd5}, %q2;\n"
        "mov.b128 whole, {%rd5, %rd4};\nst.shared.b128 [tile], whole;\nbar.sync 0;\n"
        "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [tile];\nmad.lo.u32 %r0, %r2, 10, %r5;\n",
        LANE * 0 + 65,
    ),
    "words of 256 bits": (
        "st.global.u32 [%rd3], %r1;\nbar.sync 0;\n"
        "ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd1];\n"
        "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1+16];\n"
        "add.u32 %r2, %r3, %r9;\nadd.u32 %r0, %r2, %r10;\n"
        "bar.sync 0;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 st.global.v4.b64 [%rd1], {%rd1, %rd1, %rd1, %rd1};\nbar.sync 0;\n",
        LANE * 0 + 12,
    ),
    "atomics of the cluster's memory": (
        "mov.u32 %r2, tile;\nst.shared.u32 [tile], 0;\nmapa.shared::cluster.u32 %r3, %r2, 0;\n"
        "bar.sync 0;\natom.shared::cluster.add.u32 %r4, [%r3], 1;\n"
        "red.shared::cluster.max.u32 [%r3], 7;\nbar.sync 0;\nld.shared.u32 %r0, [tile];\n",
        LANE * 0 + 32,
    ),
}  # fmt: skip


BULK = (
    "mov.u32 %r2, tile;\n.shared .align 8 .b8 full[8];\nmov.u32 %r3, full;\n"
    "st.global.u32 [%rd3], %r1;\nfence.proxy.async.global;\nbar.sync 0;\n"
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra ask;\nmbarrier.init.shared.b64 [%r3], 1;\n"
    "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;\n"
    "cp.async.bulk.prefetch.L2.global [%rd1], 128;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [%r3];\n"
    "ask:\nbar.sync 0;\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n@!%p2 bra W;\n"
    "shl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r4, %r2;\nld.shared.u32 %r5, [%r4];\n"
    "mul.lo.u32 %r5, %r5, 10;\nst.shared.u32 [%r4], %r5;\nfence.proxy.async.shared::cta;\n"
    "bar.sync 0;\n@%p1 bra out;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nout:\nbar.sync 0;\n"
    "ld.global.u32 %r0, [%rd3];\n"
)


def test_copies_of_bytes() -> None:
    """To shared memory, where an mbarrier counts them, and added to what global memory has."""
    np.testing.assert_array_equal(run(BULK), LANE * 11)
    with pytest.raises(ExecutionError, match="multiple of 16 as size in bytes, got 120; nearest"):
        run(BULK.replace("[%rd1], 128, [%r3]", "[%rd1], 120, [%r3]"))
    with pytest.raises(ExecutionError, match="out of bounds"):
        run(BULK.replace("[%rd1], 128, [%r3]", "[%rd1+64], 128, [%r3]"))
    with pytest.raises(ExecutionError, match="mbarrier"):
        run(BULK.replace("W: ", "bra on;\nW: ").replace("@!%p2 bra W;\n", "@!%p2 bra W;\non:\n"))


@pytest.mark.parametrize("name", ["cp.async.bulk", "multimem.cp.async.bulk"])
def test_bytes_by_a_mask(name: str) -> None:
    """Of each 16 bytes those whose bits are set."""
    reduction = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128;"
    form = f"{name}.global.shared::cta.bulk_group"
    masked = f"mov.b16 %h1, 0xF002;\n{form}.cp_mask [%rd1], [%r2], 128, %h1;"
    bytes_ = (LANE * 10).astype(np.uint32).view(np.uint8)
    chosen = np.isin(np.arange(128) % 16, (1, 12, 13, 14, 15))
    expected = np.where(chosen, bytes_, LANE.astype(np.uint32).view(np.uint8)).view(np.uint32)
    np.testing.assert_array_equal(run(BULK.replace(reduction, masked)), expected)
    whole = f"{form} [%rd1], [%r2], 128;"
    np.testing.assert_array_equal(run(BULK.replace(reduction, whole)), LANE * 10)
    summed = BULK.replace("cp.reduce", "multimem.cp.reduce")
    np.testing.assert_array_equal(run(summed), LANE * 11)


def test_bytes_outside_of_an_allocation() -> None:
    """The first and the last bytes of a copy may lie there; here those are zeros."""
    load = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
    plain, to = f"{load} [%rd1], 128", f"{load}.ignore_oob [%r2], [%rd1], 128"
    ignoring = BULK.replace(f"{load} [%r2], [%rd1], 128", f"{to}, 8, 4")
    assert ignoring != BULK and plain not in ignoring
    expected = LANE + 10 * np.where((LANE < 2) | (LANE == 31), 0, LANE)
    np.testing.assert_array_equal(run(ignoring), expected)
    beyond = ignoring.replace("[%rd1], 128, 8, 4", "[%rd1+16], 128, 0, 15")
    with pytest.raises(ExecutionError, match="out of bounds"):
        run(beyond)
    with pytest.raises(ExecutionError, match="expected 0 to 15 bytes to ignore, got 16"):
        run(ignoring.replace("128, 8, 4", "128, 16, 4"))


def test_a_state_is_waited_for() -> None:
    """Twice around the phases of an mbarrier, by what each arrival gives."""
    body = (
        ".shared .align 8 .b8 full[8];\nmov.u32 %r2, full;\nmov.u32 %r3, tile;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 32;\nbar.sync 0;\n"
        "shl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r4, %r3;\nxor.b32 %r5, %r4, 64;\nmov.u32 %r6, 0;\n"
        "mov.u32 %r7, %r1;\nL:\nst.shared.u32 [%r4], %r7;\n"
        "mbarrier.arrive.shared::cta.b64 %rd4, [%r2];\n"
        "A: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd4;\n@!%p2 bra A;\n"
        "ld.shared.u32 %r7, [%r5];\nmbarrier.arrive.release.cta.shared::cta.b64 %rd5, [%r2];\n"
        "B: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd5, 99;\n@!%p2 bra B;\n"
        "add.u32 %r7, %r7, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 3;\n@%p3 bra L;\n"
        "mov.u32 %r0, %r7;\n"
    )
    np.testing.assert_array_equal(run(body), (LANE ^ 16) + 3)
    asks = "A: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd4;\n@!%p2 bra A;\n"
    with pytest.raises(ExecutionError, match="race on shared memory"):
        run(body.replace(asks, ""))


def test_an_mbarrier_of_the_cluster_expects_bytes() -> None:
    body = BULK.replace(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;",
        "mapa.shared::cluster.u32 %r9, %r3, 0;\n"
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r9], 128;",
    ).replace("try_wait.parity", "test_wait.parity")
    np.testing.assert_array_equal(run(body), LANE * 11)


def test_copies_of_bytes_are_checked() -> None:
    """By what they access, without running them."""

    def check(body: str) -> None:
        text = HEAD.replace("k_out)", "k_out)\n.reqntid 32", 1) + body + TAIL
        module, source = verified(text, "k.ptx")
        stages = [stage for stage in PIPELINE if "-check-" in stage.name]
        run_pipeline(module, "sm_100a", source, stages=stages)

    check(BULK)
    with pytest.raises(CompileError, match=r"fence.proxy"):
        check(BULK.replace("fence.proxy.async.shared::cta;\n", ""))


@pytest.mark.parametrize("name", BODIES)
def test_forms_of_other_compilers(name: str) -> None:
    body, expected = BODIES[name]
    np.testing.assert_array_equal(run(body), expected.astype(np.uint32))
