// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: func.func @barriers
// CHECK-NEXT:    cute_nvgpu.bar.sync 0 threads 32
// CHECK-NEXT:    cute_nvgpu.bar.sync 15 threads 1024 {name = "x"}
// CHECK-NEXT:    cute_nvgpu.bar.arrive 1 threads 64
// CHECK-NEXT:    cute_nvgpu.bar.warp.sync
// CHECK-NEXT:    cute_nvgpu.griddepcontrol.wait
// CHECK-NEXT:    cute_nvgpu.griddepcontrol.launch_dependents
// CHECK-NEXT:    cute_nvgpu.fence.proxy.alias
// CHECK-NEXT:    cute_nvgpu.fence.proxy.acquire
// CHECK-NEXT:    cute_nvgpu.fence "acq_rel.cluster"
func.func @barriers() {
  cute_nvgpu.bar.sync 0 threads 32
  cute_nvgpu.bar.sync 15 threads 1024 {name = "x"}
  cute_nvgpu.bar.arrive 1 threads 64
  cute_nvgpu.bar.warp.sync
  cute_nvgpu.griddepcontrol.wait
  cute_nvgpu.griddepcontrol.launch_dependents
  cute_nvgpu.fence.proxy.alias
  cute_nvgpu.fence.proxy.acquire
  cute_nvgpu.fence "acq_rel.cluster"
  func.return
}
