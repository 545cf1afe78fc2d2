"""Structs that PTX takes by value, with numbers, pointers and tensor maps in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.tools.tilewright import main

TEXT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 p[192])
.reqntid 32 {
.reg .pred p1, first; .reg .b32 r<9>; .reg .b64 d<9>;
.shared .align 1024 .b8 box[256]; .shared .align 8 .b8 bar[8];
mov.b64 d0, p; cvta.param.u64 d1, d0; add.u64 d2, d1, 64;
ld.param.u64 d3, [p+8]; ld.param.u32 r4, [p];
mov.u32 r0, %tid.x; setp.eq.u32 first, r0, 0; mov.u32 r5, box; mov.u32 r6, bar;
@!first bra begun; mbarrier.init.shared.b64 [r6], 1;
fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [r6], 256;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
[r5], [d2, {4, 2}], [r6];
begun: bar.sync 0;
wait: mbarrier.try_wait.parity.shared.b64 p1, [r6], 0; @!p1 bra wait;
shl.b32 r1, r0, 3; add.u32 r5, r5, r1; ld.shared.v2.b32 {r7, r8}, [r5]; add.u32 r7, r7, r4;
cvt.u64.u32 d4, r1; add.u64 d3, d3, d4; st.global.v2.b32 [d3], {r7, r8}; ret; }
"""
"""A box of the map at byte 64, whose even columns grow by the number at 0, to the pointer at 8."""
TENSOR = np.arange(9 * 32, dtype=np.int32).reshape(9, 32)
BOX = TENSOR[2:6, 4:20] + np.tile([1000, 0], 8)


def struct(**parts: Any) -> dict[int, Any]:
    """That of the kernel, or with other parts."""
    own = {"b0": np.int32(1000), "b8": np.zeros((4, 16), np.int32)}
    own["b64"] = tw.TensorMap(TENSOR, box=(4, 16))
    return {int(name[1:]): part for name, part in (own | parts).items()}


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_a_tensor_map_in_a_struct(engine: Any) -> None:
    compiled = tw.compile(TEXT, "sm_90a").ptx
    for text in (TEXT, compiled):
        out, tensor = tw.interpret(text, grid=(1,), block=(32,), args=[struct()], engine=engine)
        assert_array_equal(out, BOX)
        assert_array_equal(tensor, TENSOR)
    assert "cvta.param.u64" in compiled


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"b0": 5}, r"'p\[0\]' expected a number of NumPy, which has a size, got 5"),
        ({"b4": bytes(8)}, r"'p\[8\]' expected bytes that no other part has"),
        ({"b190": np.int32(1)}, r"'p\[190\]' expected .* up to 192, .* got 4"),
        ({"b8": "x"}, r"'p\[8\]' expected a number for u64, got 'x'"),
        ({"b8": tw.TensorMap(TENSOR, box=(1, 4)), "b64": bytes(4)}, r"\[8\]' .* a multiple of 64"),
    ],
)
def test_parts_that_are_refused(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(tw.ArgumentError, match=said):
        tw.interpret(TEXT, grid=(1,), block=(32,), args=[struct(**parts)])


def test_a_struct_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(TEXT)
    np.save("x.npy", TENSOR)
    run = ["run", "k.ptx", "--grid", "1", "--block", "32", "--quiet"]
    main([*run, "0:i32=1000,8:out.npy=4x16:i32,64:x.npy#4x16"])
    assert_array_equal(np.load("out.npy"), BOX)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("64:x.npy#4by16", "expected ARRAY#BOX or ARRAY#BOX:SWIZZLE, got '#4by16'"),
        ("64:x.npy#4x16:48", "expected a swizzle of 0, 32, 64, 128 bytes, got 48"),
        ("x.npy", "expected parts such as 0:IN.npy,8:i32=5, got 'x.npy'"),
        ("0:i32=x", "expected an integer for i32, got 'x'"),
    ],
)
def test_parts_of_the_command_line_that_are_refused(
    word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(TEXT)
    np.save("x.npy", TENSOR)
    with pytest.raises(SystemExit):
        main(["run", "k.ptx", "--grid", "1", "--block", "32", word])
    assert said in capsys.readouterr().err
