"""A tensor map that a kernel makes of another one in shared memory, and copies to global memory."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright.pipeline import run_pipeline, stages_of
from tilewright.source.parsing import parse_module

TEXT = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_map, .param .u64 k_to) .reqntid 32
{
  .shared .align 128 .b8 map[128];
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_map];
  ld.param.u64 %rd2, [k_to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, map;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r3, %r4;
  st.shared.u32 [%r4], %r2;
  FILLED;
  cvt.u64.u32 %rd5, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra REPLACED;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd5], %rd2;
REPLACED:
  MADE;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r3], 128;
  ret;
}
"""  # noqa: E501
SYNC, NOTHING = "bar.warp.sync -1", "mov.u32 %r9, 0"


def checked(filled: str, made: str) -> None:
    module = parse_module(TEXT.replace("FILLED", filled).replace("MADE", made))
    run_pipeline(module, "sm_90a", stages=stages_of("cute-nvgpu-check-hazards"))


@pytest.mark.filterwarnings("error::tilewright.passes.check_hazards.UnprovenWarning")
def test_barriers_of_the_warp_order_it():
    checked(SYNC, SYNC)


def test_what_others_wrote_is_not_replaced_yet():
    with pytest.raises(tw.CompileError, match=r"'ptx.tensormap.replace' .* 'ptx.st' at line 17"):
        checked(NOTHING, SYNC)


def test_what_is_replaced_is_not_copied_yet():
    words = r"'ptx.tensormap.cp_fenceproxy' .* 'ptx.tensormap.replace' at line 22"
    with pytest.raises(tw.CompileError, match=words):
        checked(SYNC, NOTHING)
