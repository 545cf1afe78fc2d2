"""`tilewright check`: what is wrong with kernels of PTX, with its place and an exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.tools.tilewright import main

KERNEL = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out)
{
  .shared .align 4 .b8 tile[128];
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.u32 %r3, %r2, %r3;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  ld.shared.u32 %r4, [%r2+4];
  redux.sync.add.u32 %r5, %r4, -1;
  st.global.u32 [%rd1], %r5;
  ret;
}
""".replace("k(.param .u64 k_out)", "k(.param .u64 k_out)\n.reqntid 32")


def check(tmp_path: Path, text: str, *options: str) -> int:
    path = tmp_path / "k.ptx"
    path.write_text(text)
    try:
        main(["check", str(path), *options])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("register", ["%tid.y", "%warpid", "%clusterid.x", "%lanemask_lt"])
def test_a_right_kernel(register: str, tmp_path: Path):
    """The launch says nothing of some special registers."""
    asks = f"mov.u32 %r1, %tid.x;\n  mov.u32 %r6, {register};\n  st.global.u32 [%rd1+4], %r6;"
    assert check(tmp_path, KERNEL.replace("mov.u32 %r1, %tid.x;", asks)) == 0


@pytest.mark.parametrize(
    ("text", "options", "message", "line"),
    [
        (KERNEL.replace("bar.sync 0;", ""), (), "no barrier or mbarrier orders them", 16),
        (KERNEL.replace("mov.u32 %r2, tile", "mov.u32 %r9, tile"), (), "declared", 11),
        (KERNEL, ("--arch", "sm_75"), "sm_80", 17),
        (KERNEL.replace("sm_90", "sm_101a"), (), "alias of sm_110a", 2),
    ],
)
def test_what_is_wrong_is_said_at_its_line(
    text: str, options: tuple[str, ...], message: str, line: int, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    assert check(tmp_path, text, *options) == 1
    said = capsys.readouterr().err
    assert message in said, said
    assert f"k.ptx:{line}:" in said or message.startswith("alias"), said
