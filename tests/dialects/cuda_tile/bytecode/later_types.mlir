cuda_tile.module @kernels attributes {producer = "a test"} {
  global private constant @c <f16: 0.5> : tile<1xf16>
  entry @later(%p: tile<ptr<f32>>, %b0: tile<i8>, %e: tile<f8E8M0FNU>) {
    %b1 = reshape %b0 : tile<i8> -> tile<1xi8>
    %b = broadcast %b1 : tile<1xi8> -> tile<16xi8>
    %g = get_global @c : tile<ptr<f16>>
    %f4 = unpack %b : tile<16xi8> -> tile<32xf4E2M1FN>
    %i4 = unpack %b : tile<16xi8> -> tile<32xi4>
    %w = exti %i4 signed : tile<32xi4> -> tile<32xi32>
    %x = exti %b signed : tile<16xi8> -> tile<16xi32>
    %y = negi %x overflow<no_signed_wrap> : tile<16xi32>
    %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    %v = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %sv = make_strided_view %v : strided_view<tile=(4x4), traversal_strides=[2,3], tensor_view<64x64xf32, strides=[64,1]>>
    %gv = make_gather_scatter_view %v : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    %t = print_tko "%d", %x : tile<16xi32> -> token
    return
  }
}
