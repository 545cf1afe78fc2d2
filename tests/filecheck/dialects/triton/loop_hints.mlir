// RUN: tilewright-opt %s | tilewright-opt | filecheck %s
// RUN: tilewright-opt %s -p convert-triton-to-cuda-tile | filecheck %s --check-prefix=TILE

#loop_licm = #llvm.loop_licm<disable = true, versioningDisable = true>
#loop_annotation = #llvm.loop_annotation<licm = #loop_licm>
module {
  tt.func public @f(%n: i32, %p: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // CHECK: scf.for
    // TILE: for %
    scf.for %i = %zero to %n step %one : i32 {
      tt.store %p, %i : !tt.ptr<i32>
      // CHECK: llvm.loop_annotation = #llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>
    } {llvm.loop_annotation = #loop_annotation}
    tt.return
  }
}
