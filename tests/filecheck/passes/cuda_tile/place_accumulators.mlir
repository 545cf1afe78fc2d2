// RUN: tilewright-opt %s -p 'cuda-tile-place-accumulators{arch=sm_100a}' | filecheck %s
// RUN: tilewright-opt %s -p 'cuda-tile-place-accumulators{arch=sm_90a}' | filecheck %s --check-prefix=HOPPER

// A product adds in the columns of what it adds to; A of 16 bits that nobody loads has columns of its own.

cuda_tile.module @m {
  entry @k() {
    %x = constant <f16: 1.0> : tile<128x64xf16>
    %y = constant <f16: 1.0> : tile<64x128xf16>
    %z = constant <f32: 1.0> : tile<128x128xf32>
    %a = mmaf %x, %y, %z : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %b = mmaf %x, %y, %a : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %c = mmaf %x, %y, %z : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %d = addf %b, %c : tile<128x128xf32>
    return
  }
}

// CHECK: %a = mmaf %x, %y, %z {cute.accumulators = 0 : i32, cute.operand_columns = 128 : i32}
// CHECK: %b = mmaf %x, %y, %a {cute.accumulators = 0 : i32, cute.operand_columns = 128 : i32}
// CHECK: %c = mmaf %x, %y, %z {cute.accumulators = 160 : i32, cute.operand_columns = 288 : i32}

// HOPPER-NOT: cute.accumulators
