// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected dimensions that are powers of two, got 3}}
    %x = make_token : tile<3xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected dimensions that are powers of two, got 4x0}}
    %x = make_token : tile<4x0xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected at most 16777216 elements, got 33554432}}
    %x = make_token : tile<33554432xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected elements that are numbers or pointers, got token}}
    %x = make_token : tile<4xtoken>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected static dimensions, got ?}}
    %x = make_token : tile<?xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected elements that are numbers or pointers, got index}}
    %x = make_token : tile<4xindex>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected an even number of f4E2M1FN elements, got 1}}
    %x = make_token : tile<1xf4E2M1FN>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected one pointer to f4E2M1FN, which has half a byte, got 2; nearest legal: a view of them}}
    %x = make_token : tile<2xptr<f4E2M1FN>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.ptr' expected a pointee that is a type of numbers, got ptr<f32>}}
    %x = make_token : ptr<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.ptr' expected a pointee that is a type of numbers, got i4}}
    %x = make_token : ptr<i4>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{Expected ',' and 'strides' of the tensor_view}}
    %x = make_token : tensor_view<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a stride of 1 or more, or ?, got 0}}
    %x = make_token : tensor_view<4xf32, strides=[0]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tensor_view' expected a stride for each of 2 dimensions, got 1}}
    %x = make_token : tensor_view<4x4xf32, strides=[1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tensor_view' expected sizes of 1 or more, got 0}}
    %x = make_token : tensor_view<0xf32, strides=[1]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.partition_view' expected tiles of rank 1 as the tensor_view, got rank 2}}
    %x = make_token : partition_view<tile=(4x4), tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.tile' expected dimensions that are powers of two, got 3}}
    %x = make_token : partition_view<tile=(3), tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.partition_view' expected padding_value zero, got nan (elements are i32, not floating-point numbers)}}
    %x = make_token : partition_view<tile=(4), padding_value = nan, tensor_view<64xi32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{Expected `zero`, `neg_zero`, `nan`, `pos_inf`, or `neg_inf`.}}
    %x = make_token : partition_view<tile=(4), padding_value = one, tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.partition_view' expected dim_map to hold each of 0 to 1 once, got [0, 0]}}
    %x = make_token : partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 0]>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{expected a tensor_view, got f32}}
    %x = make_token : partition_view<tile=(4), f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.strided_view' expected traversal_strides of 1 to 2147483647, got [0]}}
    %x = make_token : strided_view<tile=(4), traversal_strides=[0], tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.strided_view' expected traversal_strides of 1 to 2147483647, got [2147483648]}}
    %x = make_token : strided_view<tile=(4), traversal_strides=[2147483648], tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.strided_view' expected 1 traversal_strides, got 2}}
    %x = make_token : strided_view<tile=(4), traversal_strides=[1,1], tensor_view<64xf32, strides=[1]>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.gather_scatter_view' expected sparse_dim of 0 to 0, got 1}}
    %x = make_token : gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=1>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{type expected: a builtin type or one of ptr, tile, tensor_view, partition_view, strided_view, gather_scatter_view, token, fnv8E5M3FNU}}
    %x = make_token : tiles<4xf32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{Expected `none`, `unicast`, or `multicast`.}}
    %x = make_token : ptr<f32, #cuda_tile.ptr_attr<multi>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.make_token' expected result to be a token, got tile<4xf32>}}
    %x = make_token : tile<4xf32>
    return
  }
}
