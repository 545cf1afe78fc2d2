// O[z] = softmax(Q[z] K[z]' scale) V[z] on the tensor cores of Blackwell, at the tile level: scores,
// weights and sums in tensor memory.
//
//   Q (S,64,Z), K and V (T,64,Z), O (S,64,Z), depth contiguous, bf16, strides in multiples of 16
//   bytes; any extents, T > 0. %scale has the factor log2(e) in it; where %causal is not 0, a query
//   sees the keys up to its own number
//
// Six warps: one thread of warp 4 copies, one of warp 5 multiplies, and warps 0 to 3 have a row of
// 128 queries a thread: they take its scores out of tensor memory and put its weights there, from
// where the second MMA reads its A. The greatest score so far, and the sum of the exponentials,
// change with each block of 128 keys; what was added up shrinks with them.
//
//   grid = (ceil(S / 128), Z, 1), block = (192, 1, 1)

!qk = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>>
!pv = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x64x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ts>>
!smemQ = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64):(64,1)">
!smem = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,2):(64,1,8192)">
!tensor = !cute.memref<bf16, gmem, align<16>, "(?,64,?):(?{i64 div=8},1,?{i64 div=8})">
!tmemS = !cute.memref<f32, tmem, "(128,128):(65536,1)">
!tmemP = !cute.memref<bf16, tmem, "(128,128):(131072,1)">
!tmemO = !cute.memref<f32, tmem, "(128,64):(65536,1)">
!take = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x128>, layout_tv = "((32,4),128):((1,32),128)", tiler_mn = "[128;128]">
!give = !cute.tiled_copy<#cute_nvgpu.copy<tmem_store, bf16, 32x32b, x32>, layout_tv = "((32,4),64):((1,32),128)", tiler_mn = "[128;64]">
!load = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x64>, layout_tv = "((32,4),64):((1,32),128)", tiler_mn = "[128;64]">
!store = !cute.tiled_copy<#cute_nvgpu.copy<tmem_store, f32, 32x32b, x64>, layout_tv = "((32,4),64):((1,32),128)", tiler_mn = "[128;64]">
!row = !cute.memref<f32, rmem, "((128,1),1,1):((0,0),0,0)">
!first = !cute.pipeline<tma_umma, stages = 1, producers = 1, bytes = 16384>
!pipe = !cute.pipeline<tma_umma, stages = 2, producers = 1, bytes = 32768>
!scores = !cute.pipeline<umma_async, stages = 1, consumers = 4>

func.func @attention(%Q: !tensor, %K: !tensor, %V: !tensor, %O: !tensor, %scale: f32, %causal: i32)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 192, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32
  %warp = arith.divui %t, %c32 : i32
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
  %tS = cute.memref.alloc() : !tmemS
  %tP = cute.memref.alloc() : !tmemP
  %tO = cute.memref.alloc() : !tmemO
  %first = cute.pipeline.create() : !first
  %pipe = cute.pipeline.create() : !pipe
  %scores = cute.pipeline.create() : !scores

  // A causal block of queries needs the blocks of keys up to its own.
  %blocks_tuple = cute.size<[2]> (%gK)
  %blocks = cute.get_scalars(%blocks_tuple) : !cute.int_tuple<"?">
  %upto = arith.addi %bx, %c1 : i32
  %fewer = arith.minsi %blocks, %upto : i32
  %count = arith.select %masked, %fewer, %blocks : i32

  %copies = arith.cmpi eq, %warp, %c4 : i32
  scf.if %copies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
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
  }

  // The scores of a block, and, when its weights are there, what they add to the sums: the release
  // of the scores says so.
  %multiplies = arith.cmpi eq, %warp, %c5 : i32
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %qk = cute.make_tiled_mma : !qk
      %pv = cute.make_tiled_mma : !pv
      %tSsQ = cute.tiled.mma.partition A (%qk, %sQ, %c0)
      %tSsK = cute.tiled.mma.partition B (%qk, %sK, %c0)
      %tStS = cute.tiled.mma.partition C (%qk, %tS, %c0)
      %tSrQ = cute.mma.make_fragment A (%qk, %tSsQ)
      %tSrK = cute.mma.make_fragment B (%qk, %tSsK)
      %tSrS = cute.mma.make_fragment C (%qk, %tStS)
      // Of values, (depth, key): depth runs on in memory.
      %turned = cute.static : !cute.composed_layout<"S<3,3,3> o 0 o (64,128,2):(1,64,8192)">
      %sVt = cute.make_view(%sV, %turned)
      %tOtP = cute.tiled.mma.partition A (%pv, %tP, %c0)
      %tOsV = cute.tiled.mma.partition B (%pv, %sVt, %c0)
      %tOtO = cute.tiled.mma.partition C (%pv, %tO, %c0)
      %tOrP = cute.mma.make_fragment A (%pv, %tOtP)
      %tOrV = cute.mma.make_fragment B (%pv, %tOsV)
      %tOrO = cute.mma.make_fragment C (%pv, %tOtO)
      %fresh = arith.constant false
      cute.pipeline.consumer_wait(%first, %c0)
      cute.pipeline.producer_acquire(%scores, %c0)
      scf.for %k = %c0 to %count step %c1 : i32 {
        %stage = cute.pipeline.stage(%pipe, %k)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %keys = cute.slice(%tSrK, %read)
        %values = cute.slice(%tOrV, %read)
        %adds = arith.cmpi ne, %k, %c0 : i32
        %next = arith.addi %k, %c1 : i32
        cute.pipeline.consumer_wait(%pipe, %k)
        cute.gemm(%qk, %tSrS, %tSrQ, %keys, %tSrS) accumulate %fresh
        cute.pipeline.producer_commit(%scores, %k)
        cute.pipeline.producer_acquire(%scores, %next)
        cute.gemm(%pv, %tOrO, %tOrP, %values, %tOrO) accumulate %adds
        cute.pipeline.consumer_release(%pipe, %k)
      }
      cute.pipeline.consumer_release(%first, %c0)
      cute.pipeline.producer_commit(%scores, %count)
    }
  }

  %weighs = arith.cmpi ult, %warp, %c4 : i32
  scf.if %weighs {
    %take = cute.make_tiled_copy : !take
    %give = cute.make_tiled_copy : !give
    %load = cute.make_tiled_copy : !load
    %store = cute.make_tiled_copy : !store

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
    %tScS = cute.tiled.copy.partition_D(%take, %cS, %t)
    %shapeO = cute.get_shape(%oneO)
    %mcO = cute.make_identity_tensor(%shapeO)
    %cO = cute.local_tile(%mcO, %tiler, %own)
    %tOgO = cute.tiled.copy.partition_D(%load, %gO, %t)
    %tOcO = cute.tiled.copy.partition_D(%load, %cO, %t)
    %fromS = cute.tiled.copy.partition_S(%take, %tS, %t)
    %toP = cute.tiled.copy.partition_D(%give, %tP, %t)
    %fromO = cute.tiled.copy.partition_S(%load, %tO, %t)
    %toO = cute.tiled.copy.partition_D(%store, %tO, %t)
    %none = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,_,?)">
    %like = cute.slice(%tScS, %none)
    %held = cute.make_fragment_like<f32> (%like)
    %weights = cute.memref.alloca() : !cute.memref<bf16, rmem, "((64,1),1,2):((1,0),0,64)">
    %sums = cute.make_fragment_like<f32> (%tOgO)
    %result = cute.make_fragment_like(%tOgO)
    %top = cute.memref.alloca() : !row
    %total = cute.memref.alloca() : !row
    %of_row = cute.memref.alloca() : !row
    %shrunk = cute.memref.alloca() : !row
    %narrow = cute.static : !cute.layout<"((64,1),1,1):((0,0),0,0)">
    %shrunk_out = cute.make_view(%shrunk, %narrow)
    %total_out = cute.make_view(%total, %narrow)
    cute.fill(%top, %least)
    cute.fill(%total, %zero)
    %scales = vector.broadcast %scale : f32 to vector<128xf32>
    %ends = vector.broadcast %keys : i32 to vector<128xi32>
    %ones = vector.broadcast %c1 : i32 to vector<128xi32>
    %never = vector.broadcast %least : f32 to vector<128xf32>
    scf.for %k = %c0 to %count step %c1 : i32 {
      cute.pipeline.consumer_wait(%scores, %k)
      cute.copy(%take, %fromS, %held)

      // What lies beyond the last key, or is later than the query, does not count.
      %now = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
      %at = cute.slice(%tScS, %now)
      %key = cute.coords<[1]> (%at)
      %query = cute.coords<[0]> (%at)
      %later = arith.addi %query, %ones : vector<128xi32>
      %least_of_both = arith.minsi %later, %ends : vector<128xi32>
      %bound = arith.select %masked, %least_of_both, %ends : vector<128xi32>
      %seen = arith.cmpi slt, %key, %bound : vector<128xi32>
      %raw = cute.memref.load_vec(%held)
      %scaled = arith.mulf %raw, %scales : vector<128xf32>
      %counted = arith.select %seen, %scaled, %never : vector<128xi1>, vector<128xf32>
      cute.memref.store_vec(%counted, %held)

      // exp2(score - top), and what is there already shrinks to the new top.
      cute.reduce<max, []> (%held, %of_row)
      %before = cute.memref.load_vec(%top)
      %here = cute.memref.load_vec(%of_row)
      %higher = arith.maximumf %before, %here : vector<128xf32>
      cute.memref.store_vec(%higher, %top)
      %apart = arith.subf %before, %higher : vector<128xf32>
      %shrinks = math.exp2 %apart fastmath<afn> : vector<128xf32>
      cute.memref.store_vec(%shrinks, %shrunk)
      %below = arith.subf %counted, %higher : vector<128xf32>
      %powers = math.exp2 %below fastmath<afn> : vector<128xf32>
      cute.memref.store_vec(%powers, %held)
      cute.reduce<add, []> (%held, %of_row)
      %old = cute.memref.load_vec(%total)
      %more = cute.memref.load_vec(%of_row)
      %kept = arith.mulf %old, %shrinks : vector<128xf32>
      %new = arith.addf %kept, %more : vector<128xf32>
      cute.memref.store_vec(%new, %total)
      %rounded = arith.truncf %powers : vector<128xf32> to vector<128xbf16>
      cute.memref.store_vec(%rounded, %weights)
      cute.copy(%give, %weights, %toP)

      // The MMA that wrote the sums is complete, as the scores after it are.
      %follows = arith.cmpi ne, %k, %c0 : i32
      scf.if %follows {
        cute.copy(%load, %fromO, %sums)
        %added = cute.memref.load_vec(%sums)
        %factors = cute.memref.load_vec(%shrunk_out)
        %smaller = arith.mulf %added, %factors : vector<64xf32>
        cute.memref.store_vec(%smaller, %sums)
        cute.copy(%store, %sums, %toO)
      }
      cute.pipeline.consumer_release(%scores, %k)
    }

    cute.pipeline.consumer_wait(%scores, %count)
    cute.copy(%load, %fromO, %sums)
    %added = cute.memref.load_vec(%sums)
    %totals = cute.memref.load_vec(%total_out)
    %shares = arith.divf %added, %totals : vector<64xf32>
    %rounded = arith.truncf %shares : vector<64xf32> to vector<64xbf16>
    cute.memref.store_vec(%rounded, %result)
    cute.copy(%result, %tOgO) bounds(%tOcO, %shapeO)
    cute.pipeline.consumer_release(%scores, %count)
  }
  cute.memref.dealloc(%tS)
  cute.memref.dealloc(%tP)
  cute.memref.dealloc(%tO)
  func.return
}
