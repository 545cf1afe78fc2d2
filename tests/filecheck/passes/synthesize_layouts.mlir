// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts | filecheck %s
// RUN: tilewright-opt %s -p cute-nvgpu-synthesize-layouts,cute-nvgpu-synthesize-layouts | filecheck %s

!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>

// An MMA gives all four of its fragments their layouts, and what made them.
// CHECK-LABEL: func.func @mma
// CHECK-SAME:    %s: memref<64x32xbf16, #cute<space smem>>, %c: !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">, %i: index) -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK-NEXT:    cute_nvgpu.ldmatrix {{.*}} -> !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">
// CHECK-NEXT:    %pair = cute_nvgpu.ldmatrix {{.*}} -> !cute_nvgpu.fragment<8xbf16>
// CHECK-NEXT:    cute_nvgpu.fragment.slice %pair[4] : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<4xbf16, "((4,8),(2,2)):((16,1),(8,64))">
// CHECK-NEXT:    cute_nvgpu.sm80.mma {{.*}} -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
func.func @mma(%s: memref<64x32xbf16, #cute<space smem>>, %c: !c, %i: index) -> !c {
  %a = cute_nvgpu.ldmatrix %s[%i, %i] : memref<64x32xbf16, #cute<space smem>> -> !a
  %pair = cute_nvgpu.ldmatrix %s[%i, %i] trans : memref<64x32xbf16, #cute<space smem>> -> !a
  %b = cute_nvgpu.fragment.slice %pair[4] : !a -> !b
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return %d : !c
}

// Through scf.for from the body's MMA to the value before the loop and the one after it.
// CHECK-LABEL: func.func @for
// CHECK:         cute_nvgpu.fragment.splat %zero : f32 -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         scf.for {{.*}} -> (!cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">)
// CHECK:         scf.yield %d : !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         cute_nvgpu.fragment.insert %zero, %sum[3] : f32, !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))"> -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         cute_nvgpu.fragment.extract %changed[0] : !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))"> -> f32
func.func @for(%a: !a, %b: !b, %n: index, %zero: f32) {
  %init = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %sum = scf.for %i = %n to %n step %n iter_args(%c = %init) -> (!c) {
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
    scf.yield %d : !c
  }
  %changed = cute_nvgpu.fragment.insert %zero, %sum[3] : f32, !c -> !c
  %x = cute_nvgpu.fragment.extract %changed[0] : !c -> f32
  func.return
}

// From one branch of scf.if to the other, and through select.
// CHECK-LABEL: func.func @if
// CHECK-SAME:    %other: !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         scf.if %p -> (!cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">)
// CHECK:         scf.yield %other : !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         arith.select %p, %chosen, %third : !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
func.func @if(%a: !a, %b: !b, %c: !c, %other: !c, %third: !c, %p: i1) {
  %chosen = scf.if %p -> (!c) {
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
    scf.yield %d : !c
  } else {
    scf.yield %other : !c
  }
  %selected = arith.select %p, %chosen, %third : !c
  func.return
}

// An scf.if without results, and without an else.
// CHECK-LABEL: func.func @bare_if
func.func @bare_if(%p: i1) {
  scf.if %p {
    cute_nvgpu.bar.warp.sync
  }
  func.return
}

// Through both regions of scf.while.
// CHECK-LABEL: func.func @while
// CHECK:         %init = cute_nvgpu.fragment.splat {{.*}} -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         scf.while ({{.*}}) : (!cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">) -> !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
// CHECK:         scf.yield %d : !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
func.func @while(%a: !a, %b: !b, %zero: f32, %p: i1) {
  %init = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %end = scf.while (%x = %init) : (!c) -> !c {
    scf.condition(%p) %x : !c
  } do {
  ^bb0(%y: !c):
    %d = cute_nvgpu.sm80.mma %a, %b, %y <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
    scf.yield %d : !c
  }
  func.return
}

// Along the branches of cf.
// CHECK-LABEL: func.func @branches
// CHECK:       ^loop(%x: !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">):
// CHECK:       ^end(%y: !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">):
func.func @branches(%a: !a, %b: !b, %c: !c, %p: i1) {
  cf.br ^loop(%c : !c)
^loop(%x: !c):
  %d = cute_nvgpu.sm80.mma %a, %b, %x <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  cf.cond_br %p, ^loop(%d : !c), ^end(%d : !c)
^end(%y: !c):
  func.return
}

// A layout that is given stays as it is spelled, and spreads in that spelling.
// CHECK-LABEL: func.func @spelled
// CHECK:         cute_nvgpu.fragment.splat %zero : f32 -> !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
// CHECK:         scf.for {{.*}} -> (!cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">)
// CHECK:         -> !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
// CHECK:         scf.yield %d : !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
func.func @spelled(%a: !a, %b: !b, %n: index, %zero: f32) {
  %init = cute_nvgpu.fragment.splat %zero : f32 -> !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
  %sum = scf.for %i = %n to %n step %n iter_args(%c = %init) -> (!cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">) {
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">) -> !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
    scf.yield %d : !cute_nvgpu.fragment<4xf32, "((2,2,8),(2,2)):((32,64,1),(16,8))">
  }
  func.return
}

// Backwards through an insert.
// CHECK-LABEL: func.func @inserted
// CHECK:         cute_nvgpu.fragment.insert %x, %c[0] : f32, !cute_nvgpu.fragment<4xf32, "((4,8),(2,2)):((32,1),(16,8))">
func.func @inserted(%a: !a, %b: !b, %c: !c, %x: f32) {
  %e = cute_nvgpu.fragment.insert %x, %c[0] : f32, !c -> !c
  %d = cute_nvgpu.sm80.mma %a, %b, %e <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}

// What no MMA sees stays as it is; a cast keeps what is before it apart from what is after.
// CHECK-LABEL: func.func @unseen(%f: !cute_nvgpu.fragment<4xf32>, %bits: !cute_nvgpu.fragment<16xsi8>
// CHECK:         cute_nvgpu.fragment.cast %bits : !cute_nvgpu.fragment<16xsi8> -> !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">
func.func @unseen(%f: !c, %bits: !cute_nvgpu.fragment<16xsi8>, %b: !b, %c: !c) {
  %a = cute_nvgpu.fragment.cast %bits : !cute_nvgpu.fragment<16xsi8> -> !a
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  func.return
}
