// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.wgmma.wait_group' expected 0 or more pending groups, got -1; nearest legal: 0 (PTX ISA 9.7.15.7.3)}}
  cute_nvgpu.wgmma.wait_group -1
  func.return
}
