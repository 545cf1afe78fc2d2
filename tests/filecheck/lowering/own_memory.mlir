// RUN: tilewright-opt %s | tilewright-opt | filecheck %s --check-prefix TILE
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix TEXT
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_80

// Memory that no argument is: variables of the module, and the device's heap.

// TILE: "memref.global"
// TILE: cute_nvgpu.address.allocate 64
// TILE: cute_nvgpu.address.free
// CHECK:       ptx.global @numbers align 16 dense<[1, 2, 3, 4]> : tensor<4xi8>
// CHECK:       ptx.global @zeros align 16 dense<0> : tensor<8xi8>
// CHECK-LABEL: ptx.entry @own
// CHECK:         %[[NUMBERS:.*]] = ptx.global_address "numbers"
// CHECK:         ptx.ld "global" "b32" %[[NUMBERS]], 0
// CHECK:         %[[HEAP:.*]] = ptx.call @malloc(%{{.*}}) : (!ptx.reg<b64>) -> !ptx.reg<b64>
// CHECK:         ptx.st "global" "b32" %[[HEAP]], 0
// CHECK:         ptx.call @free(%[[HEAP]]) : (!ptx.reg<b64>) -> ()
// TEXT:        .global .align 16 .b8 numbers[4] = {
// TEXT-NEXT:   1, 2, 3, 4};
// TEXT:        .global .align 16 .b8 zeros[8];
// TEXT:        .extern .func free(.param .b64 free_0);
// TEXT:        .extern .func (.param .b64 malloc_result0) malloc(.param .b64 malloc_0);
// TEXT:        call (malloc_result0), malloc, (malloc_given0);
// TEXT:        call free, (free_given0);
"memref.global"() <{sym_name = "numbers", sym_visibility = "private", type = memref<4xi8>,
    initial_value = dense<[1, 2, 3, 4]> : tensor<4xi8>, constant, alignment = 16 : i64}> : () -> ()
"memref.global"() <{sym_name = "zeros", sym_visibility = "private", type = memref<8xi8>,
    initial_value = dense<0> : tensor<8xi8>, alignment = 16 : i64}> : () -> ()
func.func @own() attributes {gpu.kernel} {
  %numbers = memref.get_global @numbers : memref<4xi8>
  %zeros = memref.get_global @zeros : memref<8xi8>
  %p = cute_nvgpu.address %numbers : memref<4xi8> -> i64
  %z = cute_nvgpu.address %zeros : memref<8xi8> -> i64
  %x = cute_nvgpu.address.load %p + 0 : i64 -> i32
  cute_nvgpu.address.store %x to %z + 0 : i32 to i64
  %heap = cute_nvgpu.address.allocate 64
  cute_nvgpu.address.store %x to %heap + 0 : i32 to i64
  cute_nvgpu.address.free %heap
  func.return
}
