"""Hazards behind branches that other blocks than the first one take."""

from __future__ import annotations

import pytest
from run_levels import at_levels

import tilewright as tw
from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.pipeline import run_pipeline, verified

AXES = "".join(
    f'  %{axis} = "gpu.block_id"() <{{dimension = #gpu<dim {axis}>}}> : () -> index\n'
    f'  %n{axis} = "gpu.grid_dim"() <{{dimension = #gpu<dim {axis}>}}> : () -> index\n'
    for axis in "xyz"
)


def kernel(asks: str, *, ordered: bool = False, grid: str = "") -> str:
    """Blocks of which `%there` is true hand their neighbours in the block a number."""
    barrier = '"gpu.barrier"() : () -> ()' if ordered else ""
    return f"""
func.func @k(%out: memref<?xf32>, %n: index)
    attributes {{gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>{grid}}} {{
{AXES}  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  %c63 = arith.constant 63 : index
  %v = arith.constant 1.0 : f32
  %m = memref.alloc() : memref<64xf32, #cute<space smem>>
  {asks}
  scf.if %there {{
    memref.store %v, %m[%t] : memref<64xf32, #cute<space smem>>
    {barrier}
    %o = arith.xori %t, %c63 : index
    %w = memref.load %m[%o] : memref<64xf32, #cute<space smem>>
    memref.store %w, %out[%t] : memref<?xf32>
  }}
  func.return
}}"""


ASKED = {
    "the second": "%there = arith.cmpi eq, %x, %c1 : index",
    "a number": "%there = arith.cmpi eq, %y, %c17 : index",
    "behind one": "%there = arith.cmpi ugt, %z, %c17 : index",
    "the last": "%e = arith.addi %x, %c1 : index\n%f = arith.cmpi eq, %e, %nx : index\n"
    "%g = arith.cmpi ne, %x, %c0 : index\n%there = arith.andi %f, %g : i1",
    "not the last": "%e = arith.addi %x, %c1 : index\n%there = arith.cmpi ne, %e, %nx : index",
    "odd ones": "%e = arith.andi %x, %c1 : index\n%there = arith.cmpi eq, %e, %c1 : index",
}


def hazard(text: str, level: str) -> str:
    """What the check says of a kernel at a level."""
    module, source = verified(text)
    if level == "ptx":
        run_pipeline(module, "sm_80", source, stages=[])
        from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import convert_kernel

        (function,) = functions(module)
        wrong, unproven = check(convert_kernel(function))
    else:
        (function,) = functions(module)
        wrong, unproven = check(function)
    assert not unproven
    return "" if wrong is None else str(wrong.error())


@at_levels()
@pytest.mark.parametrize("asked", ASKED)
def test_a_race_of_a_block(asked: str, level: str):
    assert "in block (" in hazard(kernel(ASKED[asked]), level)
    assert not hazard(kernel(ASKED[asked], ordered=True), level)


@at_levels()
def test_a_kernel_may_be_meant_for_one_block(level: str):
    one = ", gpu.known_grid_size = array<i32: 1, 1, 1>"
    assert not hazard(kernel(ASKED["the second"], grid=one), level)


def test_what_is_said():
    with pytest.raises(tw.CompileError, match=r"in block \(1, 0, 0\) of a grid of \(2, 1, 1\)"):
        tw.compile(kernel(ASKED["odd ones"]), arch="sm_80")
