// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected no memory scope where weak is, got device}}
    %r, %t = load_ptr_tko weak device %p : tile<ptr<f32>> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected a memory scope where relaxed is, got none}}
    %r, %t = load_ptr_tko relaxed %p : tile<ptr<f32>> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected memory ordering weak, relaxed or acquire, got release; nearest legal: acquire}}
    %r, %t = load_ptr_tko release device %p : tile<ptr<f32>> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected pointers to i32 as result has them, got tile<ptr<f32>>}}
    %r, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<i32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected source to be a tile of pointers, got tile<f32>}}
    %r, %t = load_ptr_tko weak %x : tile<f32> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    %n = constant <i32: 1> : tile<4x8xi32>
    // expected-error @+1 {{'cuda_tile.load_ptr_tko' expected result and padding_value of one type, got tile<f32> and tile<4x8xi32>}}
    %r, %t = load_ptr_tko weak %p, %n : tile<ptr<f32>>, tile<4x8xi32> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.store_ptr_tko' expected memory ordering weak, relaxed or release, got acquire; nearest legal: release}}
    %t = store_ptr_tko acquire device %p, %x : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%i: tile<i32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.store_ptr_tko' expected pointers to i32 as value has them, got tile<ptr<f32>>}}
    %t = store_ptr_tko weak %p, %i : tile<ptr<f32>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected memory_ordering_semantics that is one of weak, relaxed, acquire, release, acq_rel, got strong; nearest legal: release}}
    %t = store_ptr_tko strong %p, %x : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' expected elements i32 or i64 where mode is add, got f32}}
    %r, %t = atomic_rmw_tko relaxed device %p, add, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' expected memory ordering relaxed, acquire, release or acq_rel, got weak; nearest legal: acq_rel}}
    %r, %t = atomic_rmw_tko weak device %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%x: tile<f32>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{expected memory_scope that is one of tl_blk, device, sys, got gpu; nearest legal: tl_blk}}
    %r, %t = atomic_rmw_tko relaxed gpu %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%h: tile<f16>, %p: tile<ptr<f32>>) {
    // expected-error @+1 {{'cuda_tile.atomic_cas_tko' expected pointers to f16 as val has them, got tile<ptr<f32>>}}
    %r, %t = atomic_cas_tko relaxed device %p, %h, %h : tile<ptr<f32>>, tile<f16> -> tile<f16>, token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    %t = make_token : token
    // expected-error @+1 {{'cuda_tile.join_tokens' expected 2 tokens or more, got 1}}
    %j = join_tokens %t : token
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.alloca' expected an alignment that is a power of two of 4 or more, as f32 needs, got 3}}
    %a = alloca num_elem = 4, alignment = 3 : tile<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.alloca' expected an alignment that is a power of two of 4 or more, as f32 needs, got 2}}
    %a = alloca num_elem = 4, alignment = 2 : tile<ptr<f32>>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    // expected-error @+1 {{Expected ','}}
    %r = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>
    return
  }
}

// -----

cuda_tile.module @m {
  entry @f() {
    // expected-error @+1 {{'cuda_tile.get_global' expected a global @missing, got none}}
    %g = get_global @missing : tile<ptr<f32>>
    return
  }
}
