"""A kernel that prints at every step, and calls a device function: what it prints is known; and one
that prints numbers of every type, of memory of the heap too. As a script: run them on the GPU of
this machine, the first by `python printing_kernel.py N`."""

import sys
from typing import Any

import numpy as np

import tilewright as tw

KERNEL = """
func.func @f(%n: i32, %x: f16, %s: !cute.shape<"(?,4)">) -> i32 {
  cute.print(%s) : !cute.shape<"(?,4)">
  gpu.printf "n %d x %g\\0A", %n, %x : i32, f16
  func.return %n : i32
}
func.func @k(%n: i32, %x: f16, %c: i8, %out: memref<?xi32>) attributes {gpu.kernel} {
  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %i : index to i32
  %s = cute.make_shape(%t) : (i32) -> !cute.shape<"(?,4)">
  %d = cute.make_stride(%t) : (i32) -> !cute.stride<"(1,?)">
  %m = func.call @f(%n, %x, %s) : (i32, f16, !cute.shape<"(?,4)">) -> i32
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?)">)
      -> !cute.layout<"(?,4):(1,?)">
  cute.print(%l) : !cute.layout<"(?,4):(1,?)">
  %b = arith.cmpi slt, %t, %m : i32
  gpu.printf "%hhd %c %llx %d 100%%\\0A", %c, %c, %i, %b : i8, i8, index, i1
  cf.assert %b, "t < n, 100%"
  memref.store %m, %out[%i] : memref<?xi32>
  func.return
}"""
PRINTED = """(0,4)
(1,4)
n {n} x 0.5
n {n} x 0.5
(0,4):(1,0)
(1,4):(1,1)
65 A 0 1 100%
65 A 1 {fits} 100%
"""
FAILED = "block: [0,0,0], thread: [1,0,0] Assertion `t < n, 100%` failed.\n"

FORMATS = (
    ("%d %i|%5d|%-5d|%05d|%+d|% d|%.3d", "n"), ("%u %x %X %o %#x %#o", "n"), ("%d %hd %u", "h"),
    ("%d %hhd %c", "c"), ("%lld %ld %llu %llx %20lld", "m"), ("%d", "b"), ("%f %.2f %e %8.3f", "x"),
    ("%g %.3g %G %10.2e|%-10.1f|%+f", "d"), ("%a %A %12a %E %F %lf", "x"), ("%f %a %g", "y"),
)  # fmt: skip
TYPES = {
    "n": "i32", "h": "i16", "c": "i8", "m": "i64", "b": "i1", "x": "f32", "d": "f64", "y": "f16"
}  # fmt: skip
NUMBERS = [-7, -3, 65, (1 << 63) - 1, 1, 0.1, -2.25e30, 1.5]


def of_every_type() -> str:
    """A kernel of any grid that prints its arguments by every format, and numbers of the heap."""
    lines = list[str]()
    for text, name in FORMATS:
        values = [name] * text.count("%")
        types = ", ".join(TYPES[one] for one in values)
        names = ", ".join(f"%{one}" for one in values)
        lines.append(f'gpu.printf "%d: {text}\\0A", %g, {names} : i32, {types}')
    body = "\n  ".join(lines)
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in TYPES.items())
    return f"""func.func @k({parameters}) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %j = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %n32 = arith.constant 32 : index
  %rows = arith.muli %j, %n32 : index
  %at = arith.addi %rows, %i : index
  %g = arith.index_cast %at : index to i32
  %p = cute_nvgpu.address.allocate 48
  cute_nvgpu.address.store %g to %p + 44 : i32 to i64
  {body}
  %q = cute_nvgpu.address.load %p + 44 : i64 -> i32
  gpu.printf "%d: of the heap %d\\0A", %g, %q : i32, i32
  cute_nvgpu.address.free %p
  func.return
}}"""


OF_EVERY_TYPE: dict[str, Any] = {"grid": (3,), "block": (2,)}

if __name__ == "__main__":
    if sys.argv[1:]:
        kernel, out = tw.compile(KERNEL, "sm_90a"), np.zeros(2, np.int32)
        kernel.launch(int(sys.argv[1]), 0.5, 65, out, grid=(1,), block=(2,))
    else:
        tw.compile(of_every_type(), "sm_90a").launch(*NUMBERS, **OF_EVERY_TYPE)
