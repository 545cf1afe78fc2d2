// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @warps
// CHECK-NEXT:    %leader = cute_nvgpu.elect.sync
// CHECK-NEXT:    cute_nvgpu.setmaxnreg dec 24
// CHECK-NEXT:    cute_nvgpu.setmaxnreg inc 256 {name = "x"}
func.func @warps() {
  %leader = cute_nvgpu.elect.sync
  cute_nvgpu.setmaxnreg dec 24
  cute_nvgpu.setmaxnreg inc 256 {name = "x"}
  func.return
}
