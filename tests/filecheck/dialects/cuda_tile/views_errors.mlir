// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected shape of dimension 1 to be 32 as the tensor_view has it, got 64}}
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x32xf32, strides=[64,1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected shape of 2 dimensions as the tensor_view, got 1}}
    %t = make_tensor_view %p, shape = [64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected shape of dimension 0 to be 64 as the tensor_view has it, got an operand}}
    %t = make_tensor_view %p, shape = [%i, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected a tensor_view, got tile<f32>}}
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{operand is used with type !cuda_tile.tile<ptr<f16>>, but has been previously used or defined with type !cuda_tile.tile<ptr<f32>>}}
    %t = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf16, strides=[1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected 2 indices as the view has, got 1}}
    %r, %u = load_view_tko weak %v[%i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected tile to be tile<4x8xf32> as the view has it, got tile<4x4xf32>}}
    %r, %u = load_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x4xf32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %q: tile<i64>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected index 1 to be tile<i32> as index 0, got tile<i64>}}
    %r, %u = load_view_tko weak %v[%i, %q] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> tile<4x8xf32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected 2 inbounds as indices, got 1}}
    %r, %u = load_view_tko weak %v[%i, %i] inbounds = [true] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %n = constant <i32: 1> : tile<4x8xi32>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.store_view_tko' expected tile to be tile<4x8xf32> as the view has it, got tile<4x8xi32>}}
    %u = store_view_tko weak %n, %v[%i, %i] : tile<4x8xi32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %f = constant <f32: 1.0> : tile<4x8xf32>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' expected elements i32 or i64 where mode is add, got f32}}
    %u = atomic_red_view_tko relaxed device %v[%i, %i], add, %f : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' expected a view of multicast memory, got none}}
    %r, %u = multimem_load_reduce_view_tko relaxed sys %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x8xf32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{Operation has 2 results, but was given 1 to bind.}}
    %r = get_index_space_shape %v : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{expected a tensor_view, got tile<f32>}}
    %r = get_tensor_shape %x : tile<f32> -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error @+1 {{expected a partition_view, got tile<f32>}}
    %w = make_partition_view %t : tile<f32>
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<i16, #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
    %x = constant <i16: 1> : tile<4x8xi16>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<i16, #cuda_tile.ptr_attr<multicast>>> -> tensor_view<64x64xi16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xi16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>
    // expected-error @+1 {{'cuda_tile.multimem_store_view_tko' expected elements i32, i64, f16, bf16, f32 or f64, got i16}}
    %u = multimem_store_view_tko weak %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xi16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xi16>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f16, #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
    %x = constant <f16: 1.0> : tile<4x8xf16>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<f16, #cuda_tile.ptr_attr<multicast>>> -> tensor_view<64x64xf16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>
    // expected-error @+1 {{'cuda_tile.multimem_reduce_view_tko' expected elements i32 or i64 where reduction is max, got f16}}
    %u = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<max>} : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf16>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
    %x = constant <f32: 1.0> : tile<4x8xf32>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>> -> tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>
    // expected-error @+1 {{'cuda_tile.multimem_reduce_view_tko' expected memory ordering relaxed or release, got acq_rel; nearest legal: release}}
    %u = multimem_reduce_view_tko acq_rel sys %v, %x[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x8xf32>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f4E2M1FN>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [16, 2], strides = [1, 1] : tensor_view<16x2xf4E2M1FN, strides=[1,1]>
    %v = make_partition_view %t : partition_view<tile=(4x2), tensor_view<16x2xf4E2M1FN, strides=[1,1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected one stride of 1, along which two f4E2M1FN are a byte, got strides [1, 1]}}
    %x, %u = load_view_tko weak %v[%i, %i] : partition_view<tile=(4x2), tensor_view<16x2xf4E2M1FN, strides=[1,1]>>, tile<i32> -> tile<4x2xf4E2M1FN>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f4E2M1FN>>, %i: tile<i32>) {
    %x = constant <f4E2M1FN: 0.0> : tile<4x2xf4E2M1FN>
    %r = iota : tile<2xi32>
    %t = make_tensor_view %p, shape = [16, 2], strides = [2, 1] : tensor_view<16x2xf4E2M1FN, strides=[2,1]>
    %v = make_gather_scatter_view %t : gather_scatter_view<tile=(4x2), tensor_view<16x2xf4E2M1FN, strides=[2,1]>, sparse_dim=1>
    // expected-error @+1 {{'cuda_tile.store_view_tko' expected sparse_dim to be no dimension of stride 1, along which two f4E2M1FN are a byte, got 1}}
    %u = store_view_tko weak %x, %v[%i, %r] : tile<4x2xf4E2M1FN>, gather_scatter_view<tile=(4x2), tensor_view<16x2xf4E2M1FN, strides=[2,1]>, sparse_dim=1>, tile<i32>, tile<2xi32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f4E2M1FN>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [16], strides = [1] : tensor_view<16xf4E2M1FN, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(4), padding_value = nan, tensor_view<16xf4E2M1FN, strides=[1]>>
    // expected-error @+1 {{'cuda_tile.load_view_tko' expected padding_value zero or neg_zero, got nan (an f4E2M1FN is neither infinite nor NaN)}}
    %x, %u = load_view_tko weak %v[%i] : partition_view<tile=(4), padding_value = nan, tensor_view<16xf4E2M1FN, strides=[1]>>, tile<i32> -> tile<4xf4E2M1FN>, token
    return
  }
}
