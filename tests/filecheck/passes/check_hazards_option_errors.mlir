// RUN: not tilewright-opt %s -p 'cute-nvgpu-check-hazards{unproven=maybe}' 2>&1 | filecheck %s

// CHECK: cute-nvgpu-check-hazards expected unproven = warn, error, ignore, got maybe
func.func @k() {
  func.return
}
