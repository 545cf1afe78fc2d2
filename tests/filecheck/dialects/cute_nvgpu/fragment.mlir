// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

!pair = !cute_nvgpu.fragment<2xf32>
!quad = !cute_nvgpu.fragment<4xbf16>

// CHECK-LABEL: func.func @ops
// CHECK-NEXT:    %splat = cute_nvgpu.fragment.splat %x {name = "x"} : f32 -> !cute_nvgpu.fragment<2xf32>
// CHECK-NEXT:    %built = cute_nvgpu.fragment.from_elements %x, %y : f32, f32 -> !cute_nvgpu.fragment<2xf32>
// CHECK-NEXT:    %first, %element = cute_nvgpu.fragment.extract %built[0] : !cute_nvgpu.fragment<2xf32> -> f32, f32
// CHECK-NEXT:    %changed = cute_nvgpu.fragment.insert %element, %splat[0] : f32, !cute_nvgpu.fragment<2xf32> -> !cute_nvgpu.fragment<2xf32>
// CHECK-NEXT:    %half = cute_nvgpu.fragment.slice %quad[2] : !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<2xbf16>
// CHECK-NEXT:    %bytes = cute_nvgpu.fragment.cast %quad : !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<8xsi8>
// CHECK-NEXT:    %laid = cute_nvgpu.fragment.cast %quad : !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">
func.func @ops(%x: f32, %y: f32, %quad: !quad) {
  %splat = cute_nvgpu.fragment.splat %x {name = "x"} : f32 -> !pair
  %built = cute_nvgpu.fragment.from_elements %x, %y : f32, f32 -> !pair
  %first, %element = cute_nvgpu.fragment.extract %built[0] : !pair -> f32, f32
  %changed = cute_nvgpu.fragment.insert %element, %splat[0] : f32, !pair -> !pair
  %half = cute_nvgpu.fragment.slice %quad[2] : !quad -> !cute_nvgpu.fragment<2xbf16>
  %bytes = cute_nvgpu.fragment.cast %quad : !quad -> !cute_nvgpu.fragment<8xsi8>
  %laid = cute_nvgpu.fragment.cast %quad : !quad -> !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">
  func.return
}

// Every element type, in its smallest fragment.
// CHECK-LABEL: func.func @types
// CHECK-SAME:    !cute_nvgpu.fragment<2xf16>
// CHECK-SAME:    !cute_nvgpu.fragment<2xbf16>
// CHECK-SAME:    !cute_nvgpu.fragment<1xtf32>
// CHECK-SAME:    !cute_nvgpu.fragment<1xf32>
// CHECK-SAME:    !cute_nvgpu.fragment<1xf64>
// CHECK-SAME:    !cute_nvgpu.fragment<4xsi8>
// CHECK-SAME:    !cute_nvgpu.fragment<4xui8>
// CHECK-SAME:    !cute_nvgpu.fragment<1xi32>
// CHECK-SAME:    !cute_nvgpu.fragment<1xi32, "32:1">
func.func @types(%0: !cute_nvgpu.fragment<2xf16>, %1: !cute_nvgpu.fragment<2xbf16>, %2: !cute_nvgpu.fragment<1xtf32>,
                 %3: !cute_nvgpu.fragment<1xf32>, %4: !cute_nvgpu.fragment<1xf64>, %5: !cute_nvgpu.fragment<4xsi8>,
                 %6: !cute_nvgpu.fragment<4xui8>, %7: !cute_nvgpu.fragment<1xi32>, %8: !cute_nvgpu.fragment<1xi32, " 32 : 1 ">) {
  func.return
}
