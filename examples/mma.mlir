!a = !cute_nvgpu.fragment<8xbf16>
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @mma(%x: bf16, %y: bf16, %out: memref<?xf32>) attributes {gpu.kernel} {
  %lane = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0.0 : f32
  %a = cute_nvgpu.fragment.splat %x : bf16 -> !a
  %b = cute_nvgpu.fragment.splat %y : bf16 -> !b
  %c = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  %d0 = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  memref.store %d0, %out[%lane] : memref<?xf32>
  func.return
}
