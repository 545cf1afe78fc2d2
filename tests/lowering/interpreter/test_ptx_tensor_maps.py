"""Tensor maps that a kernel makes in shared memory, of an argument's or of nothing, and shows to
the copies as 128 bytes of global memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text

Ptxas = Callable[..., Any]

ROWS, COLUMNS, STRIDE = 5, 20, 24
"""The part of the tensor that the made maps show, and how far its rows lie apart."""
TEXT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 made, .param .u64 other, .param .u64 out)
.reqntid 32 {
.reg .pred p, first; .reg .b32 r<9>; .reg .b64 d<9>;
.shared .align 1024 .b8 box[256]; .shared .align 128 .b8 map[128]; .shared .align 8 .b8 bar[8];
ld.param.u64 d1, [made]; ld.param.u64 d2, [other]; ld.param.u64 d3, [out];
mov.b64 d0, m; cvta.param.u64 d0, d0; mov.u32 r0, %tid.x; setp.eq.u32 first, r0, 0;
shl.b32 r1, r0, 2; mov.u32 r2, map; add.u32 r3, r2, r1; cvt.u64.u32 d4, r1; add.u64 d5, d0, d4;
mov.u32 r7, 0; BEGIN st.shared.u32 [r3], r7; bar.warp.sync -1; mov.u32 r4, 5; mov.u64 d6, 96;
@!first bra copied; MAKE copied: bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
[d1], [map], 128;
LATER
fence.proxy.tensormap::generic.acquire.gpu [d1], 128;
mov.u32 r5, box; mov.u32 r6, bar; @!first bra begun; mbarrier.init.shared.b64 [r6], 1;
fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [r6], 256;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
[r5], [d1, {8, 2}], [r6];
begun: bar.sync 0; wait: mbarrier.try_wait.parity.shared.b64 p, [r6], 0; @!p bra wait;
shl.b32 r1, r0, 3; add.u32 r5, r5, r1; ld.shared.b64 d6, [r5]; cvt.u64.u32 d4, r1;
add.u64 d3, d3, d4; st.global.b64 [d3], d6; ret; }
"""


def replaced(fields: str, space: str = "shared::cta", at: str = "map") -> str:
    """The instructions that replace fields, each as `name operands`."""
    return "".join(
        f"tensormap.replace.tile.{name}.{space}.b1024.b{64 if name[:8] in LONG else 32} "
        f"[{at}], {operands};\n"
        for name, _, operands in (one.strip().partition(" ") for one in fields.split(";"))
    )


LONG = "global_a", "global_s"
SHAPE = f"global_address d2; global_dim 0, {COLUMNS}; global_dim 1, r4; global_stride 0, d6"
ALL = (
    f"{SHAPE}; rank 1; box_dim 0, 16; box_dim 1, 4; element_stride 0, 1; element_stride 1, 1; "
    "elemtype 7; interleave_layout 0; swizzle_mode 2; fill_mode 0"
)
WAYS: dict[str, dict[str, str]] = {
    "of an argument": {"BEGIN": "ld.u32 r7, [d5];", "MAKE": replaced(SHAPE)},
    "of nothing": {"MAKE": replaced(ALL)},
    "in global memory": {
        "BEGIN": "ld.u32 r7, [d5];",
        "LATER": f"@!first bra changed; {replaced(SHAPE, 'global', 'd1')} changed: "
        "fence.proxy.tensormap::generic.release.gpu; bar.warp.sync -1;",
    },
}  # fmt: skip


def text_of(parts: dict[str, str]) -> str:
    text = TEXT
    for name in ("BEGIN", "MAKE", "LATER"):
        text = text.replace(name, parts.get(name, ""))
    return text


def arguments() -> list[Any]:
    """The map of another tensor with boxes of the same kind, and the tensor that is to be shown."""
    other = np.arange(1, 6 * STRIDE + 1, dtype=np.float32).reshape(6, STRIDE)
    map_ = tw.TensorMap(np.zeros((9, 32), np.float32), box=(4, 16), swizzle=64)
    return [map_, np.zeros(128, np.uint8), other, np.zeros((4, 16), np.float32)]


def shown() -> NDArray[np.float32]:
    """The box from row 2 and column 8 on, its chunks of 16 bytes swizzled, zeros outside."""
    part = np.zeros((ROWS + 4, COLUMNS + 16), np.float32)
    part[:ROWS, :COLUMNS] = arguments()[2][:ROWS, :COLUMNS]
    place = np.arange(16)
    return part[2:6, 8:24].reshape(16, 4)[place ^ place // 8 % 4].reshape(4, 16)


@pytest.mark.covered
@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("way", WAYS)
def test_maps_that_a_kernel_makes(way: str, engine: Any, ptxas: Ptxas) -> None:
    text = text_of(WAYS[way])
    for taken in (text, module_text(read_module(text))):
        assert ptxas(taken, "sm_90a").ok
        out = tw.interpret(taken, grid=(1,), block=(32,), args=arguments(), engine=engine)[-1]
        np.testing.assert_array_equal(out, shown())


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("element_stride 1, 9", r"expected each of 1 to 8 elements, got \(9, 1\)"),
        ("global_stride 0, d4", r"whole 16 bytes, got 0x\w+ and \(4,\)"),
        ("elemtype 2; fill_mode 1", "expected floats where NaN is outside, got 4x16xui32"),
        ("interleave_layout 1", "expected a box of 3 to 5 dimensions and slices, got 4x1x4xf32"),
        ("rank 5", "a tensor map whose rank, elemtype, .* are known here, got 5, 7, 0, 2, 0"),
        ("box_dim 0, 20", "expected 64 bytes along the last dimension of the box"),
        ("rank 0", "expected a tensor map of 2 dimensions, got one of 16xf32"),
        ("global_dim 1, 0", r"expected extents of 1 to 2\^31 - 1, got \(0, 20\)"),
        ("global_address 4096", "tensor out of bounds: address 0x1000 is in no kernel argument"),
    ],
)
def test_maps_that_are_none(wrong: str, said: str) -> None:
    text = text_of({"MAKE": f"mov.u64 d4, 4; {replaced(ALL)} {replaced(wrong)}"})
    with pytest.raises(tw.ExecutionError, match=said):
        tw.interpret(text, grid=(1,), block=(32,), args=arguments())


def test_maps_of_no_memory() -> None:
    text = text_of(WAYS["of nothing"]).replace("[d1, {8, 2}]", "[d7, {8, 2}]")
    text = text.replace("mov.u32 r5, box;", "add.u64 d7, d1, 32; mov.u32 r5, box;")
    with pytest.raises(tw.ExecutionError, match="or in memory at a multiple of 64 bytes, got"):
        tw.interpret(text, grid=(1,), block=(32,), args=arguments())


ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [d1], 128;"
RELEASE = "fence.proxy.tensormap::generic.release.gpu;"
WROTE = {way: "replace" if "global" in way else "cp_fenceproxy" for way in WAYS}


@pytest.mark.covered
@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "instead, missing",
    [
        ("", "acquire of its address"),
        (ACQUIRE.replace("d1", "d2"), "acquire of its address"),
        (f"@!first {ACQUIRE}", "release, and an acquire behind it,"),
        (f"@!first {ACQUIRE} bar.warp.sync -1;", ""),
        (f"@first {ACQUIRE}", ""),
    ],
)
def test_maps_are_shown_by_fences(way: str, instead: str, missing: str, engine: Any) -> None:
    """An acquire of another thread is one where a barrier follows it."""
    text = text_of(WAYS[way]).replace(ACQUIRE, instead)
    run = partial(tw.interpret, text, grid=(1,), block=(32,), args=arguments(), engine=engine)
    if missing:
        said = rf"by a tensor map that 'ptx.tensormap.{WROTE[way]}' .*generic.{missing} between"
        with pytest.raises(tw.ExecutionError, match=said):
            run()
    np.testing.assert_array_equal(run(races="ignore" if missing else "error")[-1], shown())


@pytest.mark.parametrize("instead", [ACQUIRE, ACQUIRE + RELEASE])
def test_an_acquire_needs_a_release_before_it(instead: str) -> None:
    text = text_of(WAYS["in global memory"]).replace(RELEASE, "").replace(ACQUIRE, instead)
    with pytest.raises(tw.ExecutionError, match="release, and an acquire behind it, between"):
        tw.interpret(text, grid=(1,), block=(32,), args=arguments())
