// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | filecheck %s --check-prefix PTX
// RUN: tilewright-opt %s -p convert-cute-nvgpu-to-ptx -t ptx | %ptxas sm_90a

// CHECK-LABEL: func.func @ordering
// CHECK-NEXT:    cute_nvgpu.fence.proxy.async
// CHECK-NEXT:    cute_nvgpu.wgmma.fence {name = "x"}
// CHECK-NEXT:    cute_nvgpu.wgmma.commit_group
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 1
// CHECK-NEXT:    cute_nvgpu.wgmma.wait_group 0 {name = "x"}
// PTX:      fence.proxy.async;
// PTX:      wgmma.fence.sync.aligned;
// PTX:      wgmma.commit_group.sync.aligned;
// PTX:      wgmma.wait_group.sync.aligned 1;
// PTX:      wgmma.wait_group.sync.aligned 0;
func.func @ordering() attributes {gpu.kernel} {
  cute_nvgpu.fence.proxy.async
  cute_nvgpu.wgmma.fence {name = "x"}
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 1
  cute_nvgpu.wgmma.wait_group 0 {name = "x"}
  func.return
}
