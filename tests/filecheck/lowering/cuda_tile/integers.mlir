// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | filecheck %s
// RUN: tilewright-opt %s -p convert-cuda-tile-to-cute-nvgpu,convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// Both halves of products of 32 bits, as Philox's rounds have them, are one instruction, whichever
// factor is the first; a half alone is its own.

cuda_tile.module @m {
  entry @halves(%p: tile<ptr<i32>>, %n: tile<i32>) {
    %a = iota : tile<128xi32>
    %0 = reshape %n : tile<i32> -> tile<1xi32>
    %b = broadcast %0 : tile<1xi32> -> tile<128xi32>
    %low = muli %a, %b : tile<128xi32>
    %high = mulhii %b, %a : tile<128xi32>
    %both = xori %low, %high : tile<128xi32>
    %upper = mulhii %a, %both : tile<128xi32>
    %1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %2 = broadcast %1 : tile<1xptr<i32>> -> tile<128xptr<i32>>
    %3 = offset %2, %a : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
    %t = store_ptr_tko weak %3, %upper : tile<128xptr<i32>>, tile<128xi32> -> token
    return
  }
}

// CHECK-NOT: mul.lo
// CHECK: mul.wide.u32 [[WIDE:%rd[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}};
// CHECK-NEXT: shr.u64 [[UPPER:%rd[0-9]+]], [[WIDE]], 32;
// CHECK-NEXT: cvt.u32.u64 [[LOW:%r[0-9]+]], [[WIDE]];
// CHECK-NEXT: cvt.u32.u64 [[HIGH:%r[0-9]+]], [[UPPER]];
// CHECK-NOT: mul.lo
// CHECK: xor.b32 %r{{[0-9]+}}, [[LOW]], [[HIGH]];
// CHECK: mul.hi.u32
// CHECK-NOT: mul.lo
