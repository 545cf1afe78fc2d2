"""Accesses of a cluster's shared memory, of devices and of multicast objects, in order, and
instructions on generic addresses: as ptxas takes them, before and after, and by both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text

Ptxas = Callable[..., Any]
HEAD = """.version 9.3
.target TARGET
.address_size 64
.visible .entry k(.param .u64 x) { .reg .pred p; .reg .b16 h<5>; .reg .b32 r<5>, i;
.reg .b64 o, d<4>; .shared .align 16 .b8 s[64]; ld.param.u64 o, [x]; mov.u32 i, s; mov.u64 d1, s;
cvta.shared.u64 d2, d1;
"""
ONE, TWO, THREE = 0x3C003C00, 0x40004000, 0x42004200
BODIES: tuple[tuple[str, str, list[int]], ...] = (
    ("sm_90a", "mov.u32 r1, 7; st.release.cluster.shared::cluster.u32 [i], r1; "
     "ld.acquire.cluster.shared::cluster.u32 r2, [i]; st.relaxed.cluster.u32 [o], r2; "
     "st.volatile.shared::cluster.u32 [i+4], r1; ld.volatile.shared::cluster.u32 r3, [i+4]; "
     "st.mmio.release.sys.u32 [o+4], r3; ld.mmio.acquire.sys.global.u32 r2, [o+8]; "
     "st.global.u32 [o+12], r2;", [7, 7, ONE, ONE]),
    ("sm_90a", "mov.u32 r1, 0x40004000; ld.global.v2.u16 {h1, h2}, [o]; "
     "multimem.red.add.v2.f16 [o], {h1, h2}; "
     "multimem.ld_reduce.add.acc::f32.v2.f16 {h3, h4}, [o]; st.global.v2.u16 [o+4], {h4, h3}; "
     "multimem.red.relaxed.sys.min.v2.f16 [o+8], {h3, h4}; "
     "multimem.red.global.max.v2.f16x2 [o+16], {r1, r1}; multimem.red.add.f16x2 [o+12], r1;",
     [TWO, TWO, ONE, THREE, TWO, TWO]),
    ("sm_100a", "mov.u32 r1, 5; multimem.st.async.release.gpu.u32 [o], r1; "
     "multimem.red.async.release.sys.global.add.s32 [o], r1; "
     "red.async.release.gpu.max.s32 [o+8], -1; "
     "red.async.mmio.release.sys.inc.u32 [o+4], r1; red.async.release.gpu.min.u32 [o+12], r1; "
     "multimem.ld_reduce.add.acc::f16.v2.e4m3x4 {r2, r3}, [o]; "
     "multimem.st.v2.e5m2x4 [o+16], {r3, r2}; mov.u32 r1, 0x1234; "
     "multimem.st.async.release.gpu.b8 [o+25], r1; multimem.st.async.release.sys.u8 [o+24], 9;",
     [10, 0, ONE, 5, 0, 10, ONE & ~0xFFFF | 0x3409]),
    ("sm_90a", "mbarrier.init.b64 [d2], 1; cp.async.mbarrier.arrive.noinc.b64 [d2]; "
     "mbarrier.test_wait.parity.b64 p, [d2], 0; selp.u32 r1, 1, 0, p; st.global.u32 [o], r1;", [1]),
    ("sm_90a", "mapa.shared::cluster.u64 d3, d1, 0; cvt.u32.u64 r2, d3; mov.u32 r1, 9; "
     "st.shared::cluster.u32 [r2], r1; ld.shared.u32 r3, [s]; st.global.u32 [o], r3;", [9]),
    ("sm_90a", "mbarrier.init.shared.b64 [i], 3; mov.u32 r2, 2; mapa.shared::cluster.u32 r3, i, 0; "
     "mbarrier.arrive.shared::cluster.b64 _, [r3], r2; "
     "mbarrier.arrive_drop.shared::cluster.b64 _, [r3]; mov.u32 r2, 16; "
     "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [r3], r2; "
     "mbarrier.complete_tx.shared.b64 [i], r2; mbarrier.test_wait.parity.shared.b64 p, [i], 0; "
     "selp.u32 r1, 1, 0, p; st.global.u32 [o], r1;", [1]),
)  # fmt: skip


@pytest.mark.parametrize(("arch", "body", "expected"), BODIES)
def test_accesses(arch: str, body: str, expected: list[int], ptxas: Ptxas) -> None:
    text = f"{HEAD.replace('TARGET', arch)}{body} ret; }}"
    for taken in (text, module_text(read_module(text))):
        assert ptxas(taken, arch).errors == []
    for engine in ("numpy", "compiled"):
        [out] = tw.interpret(text, args=[np.full(8, ONE, np.uint32)], grid=(1,), block=(1,),
                             arch=arch, engine=engine)  # fmt: skip
        assert out[: len(expected)].tolist() == expected


def test_spaces_of_addresses() -> None:
    """As on an H200: parameters are in global memory, constants are not."""
    spaces = ("param", "const", "global", "local", "shared::cta", "param::entry")
    asked = "".join(
        f"isspacep.{space} p, d3; selp.u32 r1, {1 << place}, 0, p; or.b32 i, i, r1; "
        for place, space in enumerate(spaces)
    )
    addresses = ("q; cvta.param.u64 d3, d3", "cc; cvta.const.u64 d3, d3", "o", "d2",
                 "l; cvta.local.u64 d3, d3")  # fmt: skip
    body = "".join(
        f"mov.u64 d3, {address}; mov.u32 i, 0; {asked} st.global.u32 [o+{4 * place}], i; "
        for place, address in enumerate(addresses)
    )
    text = HEAD.replace("(.param .u64 x)", "(.param .u64 x, .param .align 4 .b8 q[12])")
    text = text.replace("TARGET", "sm_90a").replace(".visible", ".const .u32 cc[2];\n.visible")
    text = f"{text}.local .u32 l[2]; {body} ret; }}"
    given = [np.zeros(8, np.uint32), np.zeros(12, np.uint8)]
    [out, _] = tw.interpret(text, args=given, grid=(1,), block=(1,), arch="sm_90a")
    assert out[:5].tolist() == [0b100101, 0b10, 0b100, 0b10000, 0b1000]


@pytest.mark.parametrize(
    "read", ["mov.u64 d3, y; ld.param.u16 r1, [d3+2]", "ld.param.u16 r1, [y+2]",
             "mov.u32 r2, 2; ld.param.u16 r1, y[r2]",
             "mov.u64 d3, y; cvta.param.u64 d3, d3; ld.u16 r1, [d3+2]"],
)  # fmt: skip
def test_the_bytes_of_a_number_among_the_parameters(read: str) -> None:
    """Where something takes its address, it is given as an array."""
    text = HEAD.replace("TARGET", "sm_90a").replace(
        "(.param .u64 x)", "(.param .u64 x, .param TYPE y)"
    )
    whole = "ld.param.u32 r3, [y]; st.global.u32 [o+4], r3;"
    text = f"{text}{whole} {read}; st.global.u32 [o], r1; ret; }}"
    text = text.replace("TYPE", ".u16" if "y[r2]" in read else ".u32")
    given = [np.zeros(8, np.uint32), np.array([0x12345678], np.uint32)]
    [out, _] = tw.interpret(text, args=given, grid=(1,), block=(1,), arch="sm_90a")
    assert out[:2].tolist() == [0x1234, 0x12345678]
