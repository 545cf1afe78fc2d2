"""The text of examples/hopper_gemm.py: the kernel of a schedule, in tiles.

The warpgroups come first, so that the number of each is a thread's number shifted: ptxas keeps what
follows from it, descriptors, in uniform registers. With the copying warp in front each `wgmma`
waits for a register of a thread to become uniform, 4 % of the time at 4096.
"""

from hopper_gemm_schedule import OPERANDS, ROW, GemmSchedule
from hopper_gemm_sums import SUMS, barrier, exchanged, streamed_tiles, streamed_work, summed

from tilewright.dialects.cute_nvgpu.lattice.data_movement import EVICT_FIRST, EVICT_NORMAL

FEW = 4
"""Up to how many rows of tiles B leaves the L2 first."""


def text(own: GemmSchedule, element: str = "bf16", *, row_major: bool = False) -> str:
    """The kernel of a schedule, in tiles, for a B whose K is contiguous, or one that is
    `row_major`, (n,k) with strides (1,ld)."""
    size, depth, _ = OPERANDS[element]
    m, n, stages, piece, box = own.m, own.n, own.stages, own.piece, own.box
    height, split, teams, groups = own.height, own.split, own.teams, own.groups
    k, high, team = ROW // size, height // 64 // groups, 128 * groups
    registers, fragment = high * n // 2 // split, f"((2,2,{n // 8}),{high},1):((1,2,4),{n // 2},0)"
    swizzle = f"S<3,{(16 // size).bit_length() - 1},3>"
    side, line, matrix = "k", f"(?{{i64 div={16 // size}}},1)", f"{n},{k}{{}}):({k},1"
    swizzle_b = swizzle
    if row_major:
        wide = 64 if n % 64 == 0 else 32
        side, line, swizzle_b = "mn", "(1,?{i64 div=8})", f"S<{wide // 32 + 1},3,3>"
        matrix = f"({wide},{n // wide}),{k}{{}}):((1,{wide * k}),{wide}"
    pattern, matrices = own.swizzle, 4 if n % 16 == 0 else 2
    boxes, pieces = piece // box, n // piece
    stored = f"({m},({box},{boxes})):({box},(1,{height * box}))"
    threads, thread = own.threads, "%t" if teams == 1 else "%thread"
    cluster = f', "gpu.known_cluster_size" = array<i32: {split}, 1, 1>' if split > 1 else ""

    work = streamed_work() if own.streamed else ""

    def turns(part: str) -> str:
        return part if teams > 1 else ""

    return f"""
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x{n}x{depth}, elem_type = ({element}, {element}, f32), ab_major = (k, {side}), frag_kind = ss>, atom_layout_MNK = "({groups},1,1):(1,0,0)">
!smemA = !cute.memref<{element}, smem, align<1024>, "{swizzle} o 0 o ({height},{k},{stages}):({k},1,{height * k})">
!smemB = !cute.memref<{element}, smem, align<1024>, "{swizzle_b} o 0 o ({matrix.format(f",{stages}")},{n * k})">
!smemC = !cute.memref<bf16, smem, align<1024>, "{pattern}({height},({box},({boxes},{pieces})),{teams}):({box},(1,({height * box},0)),{height * piece})">
!registers = !cute.memref<f32, rmem, "{fragment}">
!rounded = !cute.memref<bf16, rmem, "{fragment}">
!exchange = !cute.memref<f32, smem, align<16>, "((2,2,{n // 8 // split}),1,1,{threads},{split - 1 or 1}):((1,2,{4 * threads}),0,0,4,{threads * registers})">
!pipe = !cute.pipeline<tma, stages = {stages}, producers = 1, consumers = {team // 32}, bytes = {(m + n) * ROW}>

func.func @gemm(%A: !cute.memref<{element}, gmem, align<16>, "(?,?):(?{{i64 div={16 // size}}},1)">,
                %B: !cute.memref<{element}, gmem, align<16>, "(?,?):{line}">,
                %C: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{{i64 div=8}},1)">{SUMS.format(height * n) if own.streamed else ""})
    attributes {{gpu.kernel, "gpu.known_block_size" = array<i32: {threads + 32}, 1, 1>{cluster}}} {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %pieces = arith.constant {pieces} : i32
  %copier = arith.constant {threads} : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %tid : index to i32

  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[{m};{k}]", smem = "{swizzle} o 0 o ({m},{k}):({k},1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[{n};{k}]", smem = "{swizzle_b} o 0 o ({matrix.format("")})"> (%B)
  %tmaC, %mC = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[{m};{piece}]", smem = "{pattern}{stored}"> (%C)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
  %sC = cute.memref.alloc() : !smemC
  {"%exchange = cute.memref.alloc() : !exchange" if split > 1 else ""}
  %pipe = cute.pipeline.create() : !pipe
  {"cute_nvgpu.cluster.arrive" if split > 1 else ""}
  %tilerA = cute.static : !cute.shape<"({m},{k})">
  %upper = cute.static : !cute.coord<"(0,0,_)">
  %copiedA = cute.local_tile(%sA, %tilerA, %upper)
  %tilerB = cute.static : !cute.shape<"({n},{k})">
  %tilerP = cute.static : !cute.shape<"({m},{piece})">
  %shapeC = cute.get_shape(%C)
  %tilerC = cute.static : !cute.shape<"({m},{n})">
  %tiles = cute.ceil_div(%shapeC, %tilerC)
  %some = cute.make_coord(%c0) : (i32) -> !cute.coord<"(?,_)">
  %rowA = cute.local_tile(%mA, %tilerA, %some)
  %steps = cute.size<[2]> (%rowA)
  %all_k = cute.get_scalars(%steps) : !cute.int_tuple<"?">
{_own_tiles(own)}

  %is_copier = arith.cmpi uge, %t, %copier : i32
  scf.if %is_copier {{
    %copies = arith.cmpi eq, %t, %copier : i32
    scf.if %copies {{
      // What few rows of tiles read at about the same time leaves the L2 first.
      %down, %across = cute.get_scalars(%tiles) : !cute.shape<"(?,?)">
      %few = arith.constant {FEW} : i32
      %are_few = arith.cmpi ule, %down, %few : i32
      %evict_first = arith.constant {EVICT_FIRST} : i64
      %evict_normal = arith.constant {EVICT_NORMAL} : i64
      %policy = arith.select %are_few, %evict_first, %evict_normal : i64
      %last = scf.for {"%work" if own.streamed else "%tile"} = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {{
{work}{_COORD}
        %atA = cute.make_coord(%m) : (i32) -> !cute.coord<"(?,_)">
        %atB = cute.make_coord(%n) : (i32) -> !cute.coord<"(?,_)">
        %gA = cute.local_tile(%mA, %tilerA, %atA)
        %gB = cute.local_tile(%mB, %tilerB, %atB)
        scf.for %k = %c0 to %k_tiles step %c1 : i32 {{
          %use = arith.addi %uses, %k : i32
          %stage = cute.pipeline.stage(%pipe, %use)
          %at = arith.addi %begin, %k : i32
          %from = cute.make_coord(%at) : (i32) -> !cute.coord<"(_,_,?)">
          %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
          %fromA = cute.slice(%gA, %from)
          %fromB = cute.slice(%gB, %from)
          %toA = cute.slice(%copiedA, %to)
          %toB = cute.slice(%sB, %to)
          cute.pipeline.producer_acquire(%pipe, %use)
          cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%use]
          cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%use] cache_hint %policy
          cute.pipeline.producer_commit(%pipe, %use)
        }}
        %next = arith.addi %uses, %k_tiles : i32
        scf.yield %next : i32
      }}
    }}
{_met(split)}
  }} else {{
{turns(_own_team(own))}    %stores = arith.cmpi eq, {thread}, %c0 : i32
    %mma = cute.make_tiled_mma : !mma
    %tCsA = cute.tiled.mma.partition A (%mma, %sA, {thread})
    %tCsB = cute.tiled.mma.partition B (%mma, %sB, {thread})
    %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
    %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
    %acc = cute.memref.alloca() : !registers
    %rC = cute.memref.alloca() : !rounded
    %r2s = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, bf16, x{matrices}>> (%mma)
    %fromC = cute.tiled.copy.retile(%r2s, %rC)
    %own_buffer = cute.make_coord({"%team" if teams > 1 else "%c0"}) : (i32) -> !cute.coord<"(_,_,?)">
    %own_sC = cute.slice(%sC, %own_buffer)
    %toC = cute.tiled.copy.partition_D(%r2s, %own_sC, {thread})
    %part = cute.static : !cute.shape<"({piece // 2},{high},1)">
    %first_part = cute.static : !cute.coord<"(0,0,0)">
    %origin = cute.static : !cute.coord<"(0,0)">
    %sP = cute.local_tile(%own_sC, %tilerP, %origin)

{_zeros(own, element)}    %last{turns(":2")} = scf.for {"%work" if own.streamed else "%tile"} = %first to %end step %step iter_args(%uses = %c0{turns(", %turn = %c0")}) -> (i32{turns(", i32")}) : i32 {{
{work}{turns(_OWN_TURN)}      cute.fill(%acc, %zero)
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {{
        %use = arith.addi %uses, %k : i32
        %stage = cute.pipeline.stage(%pipe, %use)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tCrA, %read)
        %b = cute.slice(%tCrB, %read)
        cute.pipeline.consumer_wait(%pipe, %use)
        cute_nvgpu.wgmma.fence
        cute.gemm(%mma, %acc, %a, %b, %acc)
        cute_nvgpu.wgmma.commit_group
        // One group stays in flight: the stage before it has been read.
        cute_nvgpu.wgmma.wait_group 1
        %follows = arith.cmpi ne, %k, %c0 : i32
        scf.if %follows {{
          %before = arith.subi %use, %c1 : i32
          cute.pipeline.consumer_release(%pipe, %before)
        }}
      }}
{turns(_TOLD)}      cute_nvgpu.wgmma.wait_group 0
      %behind = arith.addi %uses, %k_tiles : i32
      %any = arith.cmpi ne, %k_tiles, %c0 : i32
      scf.if %any {{
        %before = arith.subi %behind, %c1 : i32
        cute.pipeline.consumer_release(%pipe, %before)
      }}
{summed(own) if own.streamed else ""}
{exchanged(split, registers) if split > 1 else "      %sums0 = cute.memref.load_vec(%acc)"}
      %narrow = arith.truncf %sums{split - 1} : vector<{registers}xf32> to vector<{registers}xbf16>
      {"%rounded = cute.local_tile(%rC, %part, %first_part)" if split > 1 else ""}
      cute.memref.store_vec(%narrow, {"%rounded" if split > 1 else "%rC"})
{_COORD}
      %columns = arith.muli %n, %pieces : i32
      %column = arith.addi %columns, %rank : i32
{"".join(_stored_piece(own, number) for number in range(pieces // split))}
{"      }" if own.streamed else ""}
{turns(f"      }} else {{{chr(10)}{_TOLD}      }}")}
      %next = arith.addi %uses, %k_tiles : i32
      {turns("%following = arith.subi %c1, %turn : i32")}
      scf.yield %next{turns(", %following")} : i32{turns(", i32")}
    }}
    scf.if %stores {{
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }}
  }}
  func.return
}}
"""  # noqa: E501


def _zeros(own: GemmSchedule, element: str) -> str:
    """Zeros in the rows of A's stages that no copy writes."""
    if own.m == own.height:
        return ""
    size = OPERANDS[element].size
    run, k = 16 // size, ROW // size
    return f"""\
    %nothing = arith.constant 0.0 : {element}
    %clear = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<universal, {element}, 128>, layout_tv = "((8,16),{run}):(({16 * run},1),16)", tiler_mn = "[16;{k}]">
    %zeros = cute.memref.alloca() : !cute.memref<{element}, rmem, "(({run},1),1,{own.stages}):((1,0),0,0)">
    %rows = cute.tiled.copy.partition_D(%clear, %sA, %t)
    %copied = arith.constant {own.m // 16} : i32
    %all = arith.constant {own.height // 16} : i32
    cute.fill(%zeros, %nothing)
    scf.for %i = %copied to %all step %c1 : i32 {{
      %below = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?,_,_)">
      %cleared = cute.slice(%rows, %below)
      cute.copy(%clear, %zeros, %cleared)
    }}
    cute_nvgpu.fence.proxy.async in "shared::cta"
    cute_nvgpu.bar.sync 1 threads {own.threads}
"""  # noqa: E501


def _own_tiles(own: GemmSchedule) -> str:
    """The tiles of this CTA; or the one of its cluster, which meets once, and its own steps of K,
    from `begin` on."""
    if own.streamed:
        return streamed_tiles()
    if own.split == 1:
        return """\
  %first, %end, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
  %rank = arith.constant 0 : i32
  %begin = arith.constant 0 : i32
  %k_tiles = arith.addi %all_k, %begin : i32"""
    return f"""\
  %rank = cute_nvgpu.cluster.rank
  %cta, %count, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
  %split = arith.constant {own.split} : i32
  %first = arith.divui %cta, %split : i32
  %past = arith.addi %first, %c1 : i32
  %end = arith.minsi %past, %count : i32
  %part_k = arith.ceildivui %all_k, %split : i32
  %begin = arith.muli %rank, %part_k : i32
  %left = arith.subi %all_k, %begin : i32
  %some_k = arith.minsi %part_k, %left : i32
  %k_tiles = arith.maxsi %some_k, %c0 : i32"""


_COORD = """\
        %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
        %m, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">"""


def _own_team(own: GemmSchedule) -> str:
    """Which team a thread is of, and its number there."""
    return f"""\
    %team_size = arith.constant {own.threads // own.teams} : i32
    %team = arith.divui %t, %team_size : i32
    %thread = arith.remui %t, %team_size : i32
    %is_first_team = arith.cmpi eq, %team, %c0 : i32
"""


_OWN_TURN = """\
      %is_own = arith.cmpi eq, %turn, %team : i32
      scf.if %is_own {
"""


_TOLD = """\
      // The stages of the other team's tile come behind these: no parity names one of these then.
      cute_nvgpu.bar.sync 3 threads 256
"""


def _met(split: int) -> str:
    """The copying warp takes part in the barriers of the cluster."""
    if split == 1:
        return ""
    return """\
    cute_nvgpu.bar.warp.sync
    cute_nvgpu.cluster.wait
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait"""


def _stored_piece(own: GemmSchedule, number: int) -> str:
    """The columns of a piece laid down, when those before have left, and stored."""
    part = f"""\
      %which{number} = cute.static : !cute.coord<"({number},0,0)">
      %from{number} = cute.local_tile(%fromC, %part, %which{number})
      %to{number} = cute.local_tile(%toC, %part, %which{number})
      cute.copy(%r2s, %from{number}, %to{number})
"""
    return f"""\
      scf.if %stores {{
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }}
      {barrier(own)}
{part if own.piece < own.n else "      cute.copy(%r2s, %fromC, %toC)"}
      cute_nvgpu.fence.proxy.async in "shared::cta"
      {barrier(own)}
      scf.if %stores {{
        %number = arith.constant {number} : i32
        %right = arith.addi %column, %number : i32
        %place = cute.make_coord(%m, %right) : (i32, i32) -> !cute.coord<"(?,?)">
        %gC = cute.local_tile(%mC, %tilerP, %place)
        cute.copy(%tmaC, %sP, %gC)
        cute_nvgpu.cp.async.bulk.commit_group
      }}
"""
