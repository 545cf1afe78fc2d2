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

// Tiles along N in groups of eight, as a block's number is told apart: all that is no negative
// number is divided, and compared, as such.

cuda_tile.module @n {
  entry @groups(%p: tile<ptr<i32>>, %size: tile<i32>) {
    %n = assume bounded<0, ?>, %size : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %c128 = constant <i32: 128> : tile<i32>
    %c8 = constant <i32: 8> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %tiles = divi %n, %c128 signed rounding<positive_inf> : tile<i32>
    %group = muli %c8, %tiles : tile<i32>
    %rest = remi %x, %group signed : tile<i32>
    %less = cmpi less_than %rest, %zero, signed : tile<i32> -> tile<i1>
    %sum = addi %rest, %group : tile<i32>
    %number = select %less, %sum, %rest : tile<i1>, tile<i32>
    %t = store_ptr_tko weak %p, %number : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: .entry groups
// CHECK-NOT: {{[ \t]}}div.
// CHECK: shr.u32 %r{{[0-9]+}}, [[N:%r[0-9]+]], 7;
// CHECK-NEXT: and.b32 [[LOST:%r[0-9]+]], [[N]], 127;
// CHECK-NEXT: min.u32 %r{{[0-9]+}}, [[LOST]], 1;
// CHECK: rem.u32
// CHECK-NOT: setp.lt
// CHECK: st.global
