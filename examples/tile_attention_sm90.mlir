// O[z] = softmax(Q[z] K[z]' scale) V[z] on the tensor cores of sm_90a, at the tile level: TMA, wgmma,
// warps of their own for the copies. The weights never leave the registers.
//
//   Q (S,64,Z), K and V (T,64,Z), O (S,64,Z), depth contiguous, bf16, strides in multiples of 16
//   bytes; any extents, T > 0. %scale has the factor log2(e) in it; where %causal is not 0, a query
//   sees the keys up to its own number
//
// Three warpgroups: the first one copies, the others have 64 queries each, against 128 keys at a
// time. The greatest score of a row so far, and the sum of its exponentials, change with each block
// of keys; what was added up shrinks with them.
//
//   grid = (ceil(S / 128), Z, 1), block = (384, 1, 1)

!qk = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!pv = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = rs>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smemQ = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!smem = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,2):(64,1,8192)">
!tensor = !cute.memref<bf16, gmem, align<16>, "(?,64,?):(?{i64 div=8},1,?{i64 div=8})">
!scores = !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">
!weights = !cute.memref<bf16, rmem, "((2,2,2),1,8):((1,2,4),0,8)">
!sums = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!rows = !cute.memref<f32, rmem, "((2,2,16),1,1):((0,1,0),0,0)">
!first = !cute.pipeline<tma, stages = 1, producers = 1, consumers = 8, bytes = 16384>
!pipe = !cute.pipeline<tma, stages = 2, producers = 1, consumers = 8, bytes = 32768>

func.func @attention(%Q: !tensor, %K: !tensor, %V: !tensor, %O: !tensor, %scale: f32, %causal: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32
  %masked = arith.cmpi ne, %causal, %c0 : i32

  // The CTA's queries, and blocks of 128 keys and values.
  %tmaQ, %mQ = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%Q)
  %tmaK, %mK = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%K)
  %tmaV, %mV = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%V)
  %batch = cute.make_coord(%by) : (i32) -> !cute.coord<"(_,_,?)">
  %oneQ = cute.slice(%mQ, %batch)
  %oneK = cute.slice(%mK, %batch)
  %oneV = cute.slice(%mV, %batch)
  %oneO = cute.slice(%O, %batch)
  %tiler = cute.static : !cute.shape<"(128,64)">
  %own = cute.make_coord(%bx) : (i32) -> !cute.coord<"(?,0)">
  %every = cute.static : !cute.coord<"(_,0)">
  %gQ = cute.local_tile(%oneQ, %tiler, %own)
  %gK = cute.local_tile(%oneK, %tiler, %every)
  %gV = cute.local_tile(%oneV, %tiler, %every)
  %gO = cute.local_tile(%oneO, %tiler, %own)
  %sQ = cute.memref.alloc() : !smemQ
  %sK = cute.memref.alloc() : !smem
  %sV = cute.memref.alloc() : !smem
  %first = cute.pipeline.create() : !first
  %pipe = cute.pipeline.create() : !pipe

  // A causal block of queries needs the blocks of keys up to its own.
  %blocks_tuple = cute.size<[2]> (%gK)
  %blocks = cute.get_scalars(%blocks_tuple) : !cute.int_tuple<"?">
  %upto = arith.addi %bx, %c1 : i32
  %fewer = arith.minsi %blocks, %upto : i32
  %count = arith.select %masked, %fewer, %blocks : i32

  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {
    cute_nvgpu.setmaxnreg dec 40
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {
      cute.pipeline.producer_acquire(%first, %c0)
      cute.copy(%tmaQ, %gQ, %sQ) pipeline %first[%c0]
      cute.pipeline.producer_commit(%first, %c0)
      scf.for %k = %c0 to %count step %c1 : i32 {
        %stage = cute.pipeline.stage(%pipe, %k)
        %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
        %fromK = cute.slice(%gK, %from)
        %fromV = cute.slice(%gV, %from)
        %toK = cute.slice(%sK, %to)
        %toV = cute.slice(%sV, %to)
        cute.pipeline.producer_acquire(%pipe, %k)
        cute.copy(%tmaK, %fromK, %toK) pipeline %pipe[%k]
        cute.copy(%tmaV, %fromV, %toV) pipeline %pipe[%k]
        cute.pipeline.producer_commit(%pipe, %k)
      }
    }
  } else {
    cute_nvgpu.setmaxnreg inc 232
    %thread = arith.subi %t, %c128 : i32
    %qk = cute.make_tiled_mma : !qk
    %pv = cute.make_tiled_mma : !pv
    %tSsQ = cute.tiled.mma.partition A (%qk, %sQ, %thread)
    %tSsK = cute.tiled.mma.partition B (%qk, %sK, %thread)
    %tSrQ = cute.mma.make_fragment A (%qk, %tSsQ)
    %tSrK = cute.mma.make_fragment B (%qk, %tSsK)
    // Of values, (depth, key): depth runs on in memory.
    %turned = cute.static : !cute.composed_layout<"S<3,3,3> o 0 o (64,128,2):(1,64,8192)">
    %sVt = cute.make_view(%sV, %turned)
    %tOsV = cute.tiled.mma.partition B (%pv, %sVt, %thread)
    %tOrV = cute.mma.make_fragment B (%pv, %tOsV)

    // A thread has two rows: a number for each of them is the same for all of its columns.
    %scores = cute.memref.alloca() : !scores
    %weights = cute.memref.alloca() : !weights
    %out = cute.memref.alloca() : !sums
    %top = cute.memref.alloca() : !rows
    %total = cute.memref.alloca() : !rows
    %of_row = cute.memref.alloca() : !rows
    %shrunk = cute.memref.alloca() : !rows
    %narrow = cute.static : !cute.layout<"((2,2,8),1,1):((0,1,0),0,0)">
    %shrunk_out = cute.make_view(%shrunk, %narrow)
    %total_out = cute.make_view(%total, %narrow)
    cute.fill(%out, %zero)
    cute.fill(%top, %least)
    cute.fill(%total, %zero)

    // (query, key) of the scores.
    %queries_tuple = cute.size<[0]> (%Q)
    %queries = cute.get_scalars(%queries_tuple) : !cute.int_tuple<"?">
    %keys_tuple = cute.size<[0]> (%K)
    %keys = cute.get_scalars(%keys_tuple) : !cute.int_tuple<"?">
    %extents = cute.make_shape(%queries, %keys) : (i32, i32) -> !cute.shape<"(?,?)">
    %places = cute.make_identity_tensor(%extents)
    %block = cute.static : !cute.shape<"(128,128)">
    %row = cute.make_coord(%bx) : (i32) -> !cute.coord<"(?,_)">
    %cS = cute.local_tile(%places, %block, %row)
    %tScS = cute.tiled.mma.partition C (%qk, %cS, %thread)
    %scales = vector.broadcast %scale : f32 to vector<64xf32>
    %ends = vector.broadcast %keys : i32 to vector<64xi32>
    %ones = vector.broadcast %c1 : i32 to vector<64xi32>
    %never = vector.broadcast %least : f32 to vector<64xf32>

    cute.pipeline.consumer_wait(%first, %c0)
    scf.for %k = %c0 to %count step %c1 : i32 {
      %stage = cute.pipeline.stage(%pipe, %k)
      %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
      %keys_now = cute.slice(%tSrK, %read)
      %values_now = cute.slice(%tOrV, %read)
      cute.pipeline.consumer_wait(%pipe, %k)
      cute.fill(%scores, %zero)
      cute_nvgpu.wgmma.fence
      cute.gemm(%qk, %scores, %tSrQ, %keys_now, %scores)
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0

      // What lies beyond the last key, or is later than the query, does not count.
      %now = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
      %at = cute.slice(%tScS, %now)
      %key = cute.coords<[1]> (%at)
      %query = cute.coords<[0]> (%at)
      %later = arith.addi %query, %ones : vector<64xi32>
      %least_of_both = arith.minsi %later, %ends : vector<64xi32>
      %bound = arith.select %masked, %least_of_both, %ends : vector<64xi32>
      %seen = arith.cmpi slt, %key, %bound : vector<64xi32>
      %raw = cute.memref.load_vec(%scores)
      %scaled = arith.mulf %raw, %scales : vector<64xf32>
      %counted = arith.select %seen, %scaled, %never : vector<64xi1>, vector<64xf32>
      cute.memref.store_vec(%counted, %scores)

      // exp2(score - top), and what is there already shrinks to the new top.
      cute.reduce<max, [1, 2]> (%scores, %of_row)
      %before = cute.memref.load_vec(%top)
      %here = cute.memref.load_vec(%of_row)
      %higher = arith.maximumf %before, %here : vector<64xf32>
      cute.memref.store_vec(%higher, %top)
      %apart = arith.subf %before, %higher : vector<64xf32>
      %shrinks = math.exp2 %apart fastmath<afn> : vector<64xf32>
      cute.memref.store_vec(%shrinks, %shrunk)
      %below = arith.subf %counted, %higher : vector<64xf32>
      %powers = math.exp2 %below fastmath<afn> : vector<64xf32>
      cute.memref.store_vec(%powers, %scores)
      cute.reduce<add, [1, 2]> (%scores, %of_row)
      %old = cute.memref.load_vec(%total)
      %more = cute.memref.load_vec(%of_row)
      %kept = arith.mulf %old, %shrinks : vector<64xf32>
      %new = arith.addf %kept, %more : vector<64xf32>
      cute.memref.store_vec(%new, %total)
      %sums = cute.memref.load_vec(%out)
      %factors = cute.memref.load_vec(%shrunk_out)
      %smaller = arith.mulf %sums, %factors : vector<32xf32>
      cute.memref.store_vec(%smaller, %out)
      %rounded = arith.truncf %powers : vector<64xf32> to vector<64xbf16>
      cute.memref.store_vec(%rounded, %weights)

      cute_nvgpu.wgmma.fence
      cute.gemm(%pv, %out, %weights, %values_now, %out)
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      cute.pipeline.consumer_release(%pipe, %k)
    }
    cute.pipeline.consumer_release(%first, %c0)

    %shapeO = cute.get_shape(%oneO)
    %mcO = cute.make_identity_tensor(%shapeO)
    %cO = cute.local_tile(%mcO, %tiler, %own)
    %tOgO = cute.tiled.mma.partition C (%pv, %gO, %thread)
    %tOcO = cute.tiled.mma.partition C (%pv, %cO, %thread)
    %rO = cute.make_fragment_like(%tOgO)
    %sums = cute.memref.load_vec(%out)
    %totals = cute.memref.load_vec(%total_out)
    %shares = arith.divf %sums, %totals : vector<32xf32>
    %rounded = arith.truncf %shares : vector<32xf32> to vector<32xbf16>
    cute.memref.store_vec(%rounded, %rO)
    cute.copy(%rO, %tOgO) bounds(%tOcO, %shapeO)
  }
  func.return
}
