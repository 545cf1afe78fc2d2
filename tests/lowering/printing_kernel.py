"""A kernel that prints at every step, and calls a device function: what it prints is known. As a
script: run it on the GPU of this machine, `python printing_kernel.py N`."""

import sys

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

if __name__ == "__main__":
    kernel, out = tw.compile(KERNEL, "sm_90a"), np.zeros(2, np.int32)
    kernel.launch(int(sys.argv[1]), 0.5, 65, out, grid=(1,), block=(2,))
