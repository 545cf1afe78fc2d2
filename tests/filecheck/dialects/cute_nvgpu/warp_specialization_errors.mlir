// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected inc or dec, got up}}
  cute_nvgpu.setmaxnreg up 40
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected a multiple of 8 from 24 to 256 registers, got 16; nearest legal: 24}}
  cute_nvgpu.setmaxnreg dec 16
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected a multiple of 8 from 24 to 256 registers, got 264; nearest legal: 256}}
  cute_nvgpu.setmaxnreg inc 264
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected a multiple of 8 from 24 to 256 registers, got 100; nearest legal: 96}}
  cute_nvgpu.setmaxnreg inc 100
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'cute_nvgpu.setmaxnreg' expected inc or dec, got up}}
  "cute_nvgpu.setmaxnreg"() <{action = "up", registers = 40 : i64}> : () -> ()
  func.return
}
