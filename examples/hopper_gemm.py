"""C = A B' on Hopper, level with cuBLAS: one kernel in tiles, and a model that picks its tile.

    kernel, grid = gemm(m, n, k)                 # which tile, stages: `schedule_of`
    kernel.launch(a, b, c, grid=grid, block=kernel.entry().block)

A (m,k) and B (n,k), K contiguous, bf16 or e4m3; C (m,n), bf16; rows of multiples of 16 bytes, any
extents. As many CTAs as there are multiprocessors, each computing one tile after the other: a warp
copies A and B by TMA into a ring of stages, one or two warpgroups multiply 64 rows each by `wgmma`,
and lay their tile down by `stmatrix`, from where TMA stores it while the next one is loaded. Where
there are few tiles and much of K, each CTA of a cluster takes a part of K, gives the others its
sums of a part of the columns each, through their shared memory, and stores its own.

The warpgroups come first, so that the number of each is a thread's number shifted: ptxas keeps what
follows from it, descriptors, in uniform registers. With the copying warp in front each `wgmma`
waits for a register of a thread to become uniform, 4 % of the time at 4096.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import tilewright as tw

MULTIPROCESSORS, SHARED = 132, 227 << 10
"""Those of an H100 or H200 (SXM), and the shared memory of a CTA."""
ROW = 128
"""The bytes of a stage's rows: one swizzle."""


class MultipliedType(NamedTuple):
    """An element type of A and B: its bytes, K of an instruction, and FLOP of a multiprocessor in a
    microsecond."""

    size: int
    depth: int
    rate: float


OPERANDS = {"bf16": MultipliedType(2, 16, 6.1e6), "f8E4M3FN": MultipliedType(1, 32, 11e6)}


@dataclass(frozen=True)
class GemmSchedule:
    """A CTA's tile of C, m by n; how many stages there are, by how many columns C is stored, and
    how many CTAs of a cluster have a part of K each."""

    m: int
    n: int
    stages: int
    piece: int
    split: int = 1

    def __str__(self) -> str:
        return f"{self.m}x{self.n}" + (f"/{self.split}" if self.split > 1 else "")

    @property
    def height(self) -> int:
        """The rows that are multiplied: whole instructions, zeros below the tile's."""
        return -(-self.m // 64) * 64

    @property
    def most_ctas(self) -> int:
        """How many CTAs run at once: of clusters those that fit into groups of 14 to 18
        multiprocessors."""
        return MULTIPROCESSORS if self.split <= 2 else 112

    def tiles(self, m: int, n: int) -> int:
        """The tiles of a problem."""
        return -(-m // self.m) * -(-n // self.n)

    @property
    def box(self) -> int:
        """The columns of a box of C: a swizzle wide; or an odd number of runs of 16 bytes, so that
        eight rows lie in different banks as they are."""
        return next(box for box in (64, 32, 56, 40, 24, 8) if self.piece % box == 0)

    @property
    def swizzle(self) -> str:
        """The swizzle of a box of C."""
        return f"S<{self.box.bit_length() - 4},3,3> o 0 o " if self.box % 32 == 0 else ""


def schedule(m: int, n: int, split: int = 1) -> GemmSchedule:
    """The schedule of a tile: C through shared memory at once unless that takes too many stages,
    which have the rest of it."""
    piece = n // split if m * n <= 128 * 192 else n // 2
    height = -(-m // 64) * 64
    exchanged = 4 * m * n if split > 1 else 0
    left = SHARED - 2048 - 2 * height * piece - exchanged
    return GemmSchedule(m, n, min(left // ((height + n) * ROW), 16), piece, split)


TILES = tuple(
    schedule(*tile)
    for tile in (
        (128, 256), (128, 192), (128, 168), (128, 160), (128, 128), (64, 128), (128, 64), (64, 64),
        (64, 32), (16, 32), (64, 64, 4), (64, 128, 8),
    )
)  # fmt: skip


def microseconds(own: GemmSchedule, m: int, n: int, k: int, element: str = "bf16") -> float:
    """The time that a schedule takes, by what was measured on an H100: the launch, the first copies
    and the last store, of tiles by their size; sums through shared memory of a cluster; 0.7 us from
    a tile to the next; and for each step of K what the tensor cores take, or what copies do, 88
    bytes a nanosecond for each multiprocessor. Meanwhile A and B come from memory, and what was in
    the L2 cache goes there."""
    operand = OPERANDS[element]
    step = max(2 * own.height * own.n * ROW / operand.size / operand.rate,
               (own.m + own.n) * ROW / 88e3)  # fmt: skip
    tiles, steps = own.tiles(m, n), -(-k * operand.size // (ROW * own.split))
    work = -(-tiles * own.split // own.most_ctas) * (steps * step + 0.7)
    memory = ((m + n) * k * operand.size + 2 * m * n) / 2.1e6
    first_and_last = 4.3 + own.height * own.n * 1e-4 + (3 if own.split > 1 else 0)
    return first_and_last + max(work, memory) + min(work, memory) / 10


def schedule_of(m: int, n: int, k: int, element: str = "bf16") -> GemmSchedule:
    """The schedule that the model finds fastest."""
    return min(TILES, key=lambda own: microseconds(own, m, n, k, element))


def grid_of(own: GemmSchedule, m: int, n: int) -> tuple[int]:
    """The grid of a schedule for a problem: a CTA for each tile, at most the multiprocessors; or a
    cluster for each."""
    tiles = own.tiles(m, n)
    return (min(tiles, own.most_ctas) if own.split == 1 else tiles * own.split,)


def gemm(m: int, n: int, k: int, element: str = "bf16") -> tuple[tw.Kernel, tuple[int]]:
    """The kernel for a problem, and its grid."""
    own = schedule_of(m, n, k, element)
    return compiled(own, element), grid_of(own, m, n)


@cache
def compiled(own: GemmSchedule, element: str = "bf16") -> tw.Kernel:
    """The kernel of a schedule."""
    return tw.compile(text(own, element), "sm_90a")


def text(own: GemmSchedule, element: str = "bf16") -> str:
    """The kernel of a schedule, in tiles."""
    size, depth, _ = OPERANDS[element]
    m, n, stages, piece, box = own.m, own.n, own.stages, own.piece, own.box
    height, split = own.height, own.split
    k, groups, registers = ROW // size, height // 64, n // 2 // split
    swizzle = f"S<3,{5 - size},3>"
    pattern, matrices = own.swizzle, 4 if n % 16 == 0 else 2
    boxes, pieces = piece // box, n // piece
    stored = f"({m},({box},{boxes})):({box},(1,{height * box}))"
    threads = 128 * groups
    cluster = f', "gpu.known_cluster_size" = array<i32: {split}, 1, 1>' if split > 1 else ""
    return f"""
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x{n}x{depth}, elem_type = ({element}, {element}, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "({groups},1,1):(1,0,0)">
!smemA = !cute.memref<{element}, smem, align<1024>, "{swizzle} o 0 o ({height},{k},{stages}):({k},1,{height * k})">
!smemB = !cute.memref<{element}, smem, align<1024>, "{swizzle} o 0 o ({n},{k},{stages}):({k},1,{n * k})">
!smemC = !cute.memref<bf16, smem, align<1024>, "{pattern}({height},({box},({boxes},{pieces}))):({box},(1,({height * box},0)))">
!registers = !cute.memref<f32, rmem, "((2,2,{n // 8}),1,1):((1,2,4),0,0)">
!rounded = !cute.memref<bf16, rmem, "((2,2,{n // 8}),1,1):((1,2,4),0,0)">
!exchange = !cute.memref<f32, smem, align<16>, "((2,2,{n // 8 // split}),1,1,{threads},{split}):((1,2,{4 * threads}),0,0,4,{threads * registers})">
!pipe = !cute.pipeline<tma, stages = {stages}, producers = 1, consumers = {4 * groups}, bytes = {(m + n) * ROW}>

func.func @gemm(%A: !cute.memref<{element}, gmem, align<16>, "(?,?):(?{{i64 div={16 // size}}},1)">,
                %B: !cute.memref<{element}, gmem, align<16>, "(?,?):(?{{i64 div={16 // size}}},1)">,
                %C: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{{i64 div=8}},1)">)
    attributes {{gpu.kernel, "gpu.known_block_size" = array<i32: {threads + 32}, 1, 1>{cluster}}} {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %pieces = arith.constant {pieces} : i32
  %copier = arith.constant {threads} : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %tid : index to i32

  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[{m};{k}]", smem = "{swizzle} o 0 o ({m},{k}):({k},1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[{n};{k}]", smem = "{swizzle} o 0 o ({n},{k}):({k},1)"> (%B)
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
  %tilerC = cute.static : !cute.shape<"({m},{n})">
  %tilerP = cute.static : !cute.shape<"({m},{piece})">
  %shapeC = cute.get_shape(%C)
  %tiles = cute.ceil_div(%shapeC, %tilerC)
  %some = cute.make_coord(%c0) : (i32) -> !cute.coord<"(?,_)">
  %rowA = cute.local_tile(%mA, %tilerA, %some)
  %steps = cute.size<[2]> (%rowA)
  %all_k = cute.get_scalars(%steps) : !cute.int_tuple<"?">
{_own_part(split)}

  %is_copier = arith.cmpi uge, %t, %copier : i32
  scf.if %is_copier {{
    %copies = arith.cmpi eq, %t, %copier : i32
    scf.if %copies {{
      %last = scf.for %tile = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {{
        %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
        %m, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">
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
          cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%use]
          cute.pipeline.producer_commit(%pipe, %use)
        }}
        %next = arith.addi %uses, %k_tiles : i32
        scf.yield %next : i32
      }}
    }}
{_met(split)}
  }} else {{
    %stores = arith.cmpi eq, %t, %c0 : i32
    %mma = cute.make_tiled_mma : !mma
    %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
    %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
    %acc = cute.memref.alloca() : !registers
    %rC = cute.memref.alloca() : !rounded
    %r2s = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, bf16, x{matrices}>> (%mma)
    %fromC = cute.tiled.copy.retile(%r2s, %rC)
    %toC = cute.tiled.copy.partition_D(%r2s, %sC, %t)
    %part = cute.static : !cute.shape<"({piece // 2},1,1)">
    %first_part = cute.static : !cute.coord<"(0,0,0)">
    %origin = cute.static : !cute.coord<"(0,0)">
    %sP = cute.local_tile(%sC, %tilerP, %origin)

{_zeros(own, element)}    %last = scf.for %tile = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {{
      cute.fill(%acc, %zero)
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
      cute_nvgpu.wgmma.wait_group 0
      %next = arith.addi %uses, %k_tiles : i32
      %any = arith.cmpi ne, %k_tiles, %c0 : i32
      scf.if %any {{
        %before = arith.subi %next, %c1 : i32
        cute.pipeline.consumer_release(%pipe, %before)
      }}
{_exchanged(split, registers) if split > 1 else "      %sums0 = cute.memref.load_vec(%acc)"}
      %narrow = arith.truncf %sums{split - 1} : vector<{registers}xf32> to vector<{registers}xbf16>
      {"%rounded = cute.local_tile(%rC, %part, %first_part)" if split > 1 else ""}
      cute.memref.store_vec(%narrow, {"%rounded" if split > 1 else "%rC"})
      %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
      %m, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">
      %columns = arith.muli %n, %pieces : i32
      %column = arith.addi %columns, %rank : i32
{"".join(_stored_piece(number, pieces, threads) for number in range(pieces // split))}
      scf.yield %next : i32
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
    cute_nvgpu.bar.sync 1 threads {2 * own.height}
"""  # noqa: E501


def _own_part(split: int) -> str:
    """The tiles of this CTA; or of its cluster, and its own steps of K, from `begin` on."""
    if split == 1:
        return """\
  %first, %end, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
  %rank = arith.constant 0 : i32
  %begin = arith.constant 0 : i32
  %k_tiles = arith.addi %all_k, %begin : i32"""
    return f"""\
  %rank = cute_nvgpu.cluster.rank
  %cta, %end, %ctas = cute.tile_scheduler.bounds<persistent> (%tiles)
  %split = arith.constant {split} : i32
  %first = arith.divui %cta, %split : i32
  %step = arith.divui %ctas, %split : i32
  %part_k = arith.ceildivui %all_k, %split : i32
  %begin = arith.muli %rank, %part_k : i32
  %left = arith.subi %all_k, %begin : i32
  %some_k = arith.minsi %part_k, %left : i32
  %k_tiles = arith.maxsi %some_k, %c0 : i32"""


def _exchanged(split: int, registers: int) -> str:
    """Each CTA of a cluster gives each, itself too, its sums of the columns that are that one's,
    which adds them in the order of the CTAs."""
    at = '(i32, i32) -> !cute.coord<"(_,_,_,?,?)">'
    given = [
        f"""\
      %cta{rank} = arith.constant {rank} : i32
      %there{rank} = cute.map_shared(%exchange, %cta{rank})
      %place{rank} = cute.slice(%there{rank}, %mine)
      %whose{rank} = cute.static : !cute.coord<"({rank},0,0)">
      %given{rank} = cute.local_tile(%acc, %part, %whose{rank})
      cute.copy(%given{rank}, %place{rank})
"""
        for rank in range(split)
    ]
    taken = [
        f"""\
      %source{rank} = cute.make_coord(%t, %cta{rank}) : {at}
      %slot{rank} = cute.slice(%exchange, %source{rank})
      {"%taken" if rank else "%sums"}{rank} = cute.memref.load_vec(%slot{rank})
"""
        for rank in range(split)
    ]
    for rank in range(1, split):
        sums = f"%sums{rank} = arith.addf %sums{rank - 1}, %taken{rank}"
        taken.append(f"      {sums} : vector<{registers}xf32>\n")
    return f"""\
      %mine = cute.make_coord(%t, %rank) : {at}
      cute_nvgpu.cluster.wait
{"".join(given)}
      cute_nvgpu.cluster.arrive
      cute_nvgpu.cluster.wait
{"".join(taken)}"""


def _met(split: int) -> str:
    """The copying warp takes part in the barriers of the cluster."""
    if split == 1:
        return ""
    return """\
    cute_nvgpu.bar.warp.sync
    cute_nvgpu.cluster.wait
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait"""


def _stored_piece(number: int, pieces: int, threads: int) -> str:
    """The columns of a piece laid down, when those before have left, and stored."""
    own = f"""\
      %which{number} = cute.static : !cute.coord<"({number},0,0)">
      %from{number} = cute.local_tile(%fromC, %part, %which{number})
      %to{number} = cute.local_tile(%toC, %part, %which{number})
      cute.copy(%r2s, %from{number}, %to{number})
"""
    return f"""\
      scf.if %stores {{
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }}
      cute_nvgpu.bar.sync 1 threads {threads}
{own if pieces > 1 else "      cute.copy(%r2s, %fromC, %toC)"}
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 1 threads {threads}
      scf.if %stores {{
        %number = arith.constant {number} : i32
        %right = arith.addi %column, %number : i32
        %place = cute.make_coord(%m, %right) : (i32, i32) -> !cute.coord<"(?,?)">
        %gC = cute.local_tile(%mC, %tilerP, %place)
        cute.copy(%tmaC, %sP, %gC)
        cute_nvgpu.cp.async.bulk.commit_group
      }}
"""
