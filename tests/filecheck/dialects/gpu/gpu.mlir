// RUN: tilewright-opt %s | filecheck %s
// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// CHECK:       gpu.module @kernels attributes {version = 1 : i32} {
// CHECK-NEXT:    gpu.func @kernel(%n: i32, %x: f32) kernel attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
// CHECK-NEXT:      gpu.printf "%d %% %f\0A", %n, %x : i32, f32
// CHECK-NEXT:      gpu.printf "done"
// CHECK-NEXT:      gpu.return
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.func @device(%n: i32) -> (i32, i32) {
// CHECK-NEXT:      gpu.return %n, %n : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.func @one() -> (i32) {
// CHECK:           gpu.return %c : i32
// GENERIC:     "gpu.module"() <{sym_name = "kernels"}> ({
// GENERIC:     "gpu.printf"(%{{.+}}, %{{.+}}) <{format = "%d %% %f\0A"}> : (i32, f32) -> ()
// GENERIC:     "gpu.launch"({{.+}}) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}>
gpu.module @kernels attributes {version = 1 : i32} {
  gpu.func @kernel(%n: i32, %x: f32) kernel attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
    gpu.printf "%d %% %f\0A", %n, %x : i32, f32
    gpu.printf "done"
    gpu.return
  }
  gpu.func @device(%n: i32) -> (i32, i32) {
    gpu.return %n, %n : i32, i32
  }
  gpu.func @one() -> i32 {
    %c = arith.constant 1 : i32
    gpu.return %c : i32
  }
}

// CHECK:       gpu.module @empty {
// CHECK-NEXT:  }
gpu.module @empty {
}

// CHECK:       gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
// CHECK-NEXT:    gpu.printf "%lld of %lld\0A", %tx, %sx : index, index
// CHECK-NEXT:    gpu.terminator
// CHECK-NEXT:  } {name = "l"}
func.func @launching(%n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    gpu.printf "%lld of %lld\0A", %tx, %sx : index, index
    gpu.terminator
  } {name = "l"}
  func.return
}
