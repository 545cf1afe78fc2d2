"""What TMA copies on the GPU of this machine equals the interpreter: boxes, swizzles, edges.

Skipped, with the reason, where there is no GPU of that architecture. Run as a script, it prints a
table.
"""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from this_gpu import needs_gpu

import tilewright as tw
from tilewright.launch.launcher import device_arch, device_name

ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8}
# element, swizzle, box, rows above the box in the tile, corner; a tensor of 40 x 512 bytes. Boxes
# that reach over its edges and ones that start within their swizzle's pattern are among them; the
# innermost coordinate is a multiple of 16 bytes.
CASES = [
    (element, swizzle, (rows, width // np.dtype(dtype).itemsize), skipped, (row, column))
    for element, dtype in ELEMENTS.items()
    for swizzle, widths in ((0, (16, 64, 256)), (32, (32,)), (64, (64,)), (128, (128,)))
    for width in widths
    for rows, skipped, row, chunk in ((8, 0, 0, 0), (24, 0, 30, -1), (16, 8, 5, 3), (8, 0, -3, 31))
    for column in (chunk * 16 // np.dtype(dtype).itemsize,)
]


def kernel(element: str, swizzle: int, box: tuple[int, int], skipped: int) -> str:
    """Loads a box below `skipped` rows of a tile, whose raw words go to the output."""
    rows, columns = box
    bits = 8 * np.dtype(ELEMENTS[element]).itemsize
    suffix = f", swizzle = {swizzle}" if swizzle else ""
    map_ = f"!cute_nvgpu.tma_descriptor<{rows}x{columns}x{element}{suffix}>"
    shape = f"({rows + skipped},{columns}):({columns},1)"
    base = (128 // bits).bit_length() - 1
    layout = f'!cute.layout<"{shape}">'
    if swizzle:
        swizzled = f"S<{(swizzle // 16).bit_length() - 1},{base},3> o 0 o {shape}"
        layout = f'!cute.composed_layout<"{swizzled}">'
    tile = f"memref<{rows + skipped}x{columns}x{element}, {layout}, #cute<space smem>>"
    barrier = "memref<1xi64, #cute<space smem>>"
    return f"""func.func @k(%m: {map_}, %out: memref<?x{element}>, %r32: i32, %c32: i32)
    attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %skipped = arith.constant {skipped} : index
  %columns = arith.constant {columns} : index
  %size = arith.constant {rows * columns} : index
  %even = arith.constant 0 : i32
  %r = arith.index_cast %r32 : i32 to index
  %c = arith.index_cast %c32 : i32 to index
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %s = memref.alloc() : {tile}
  %bar = memref.alloc() : {barrier}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {barrier}
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes {rows * columns * bits // 8} : {barrier}
    cute_nvgpu.tma.load %m[%r, %c] to %s[%skipped, %c0] mbarrier %bar[%c0]
      : {map_} to {tile}, {barrier}
  }}
  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {barrier}
  scf.for %i = %t to %size step %c128 {{
    %row = arith.divui %i, %columns : index
    %at = arith.addi %row, %skipped : index
    %column = arith.remui %i, %columns : index
    %v = memref.load %s[%at, %column] : {tile}
    memref.store %v, %out[%i] : memref<?x{element}>
  }}
  func.return
}}"""


def run_both(case: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The box through the tile's layout, from the GPU and from the interpreter."""
    element, swizzle, box, skipped, corner = case
    dtype = np.dtype(ELEMENTS[element])
    words = np.arange(1, 40 * 512 + 1).astype(np.uint8).reshape(40, 512)
    tensor = words.view(dtype) if element == "i8" else np.arange(40 * 512 // dtype.itemsize)
    tensor = tensor.astype(dtype).reshape(40, -1)
    map_ = tw.TensorMap(tensor, box=box, swizzle=swizzle, element=element)
    args = [map_, np.zeros(prod(box), dtype), *corner]
    text, launch = kernel(element, swizzle, box, skipped), {"grid": (1,), "block": (128,)}
    on_chip = tw.compile(text, device_arch()).launch(*args, **launch)[1]
    here = tw.interpret(text, args=args, arch=device_arch(), **launch)[1]
    return on_chip.view(np.uint8), here.view(np.uint8)


@needs_gpu("sm_90a")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gpu_equals_interpreter(case: Any):
    on_chip, here = run_both(case)
    np.testing.assert_array_equal(on_chip, here)


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for each in CASES:
        chip, interpreted = run_both(each)
        print(f"equal bytes: {np.array_equal(chip, interpreted)}  {each}")
