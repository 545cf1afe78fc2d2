"""A tile whose K several CTAs share: which steps are whose, and their sums added, for
examples/hopper_gemm.py."""

from hopper_gemm_schedule import GemmSchedule

SUMS = """,
    %sums: !cute.memref<f32, gmem, align<16>, "(?,{0}):({0},1)">, %flags: memref<?xi32>"""


def streamed_tiles() -> str:
    """Where the tiles are no whole number of rounds, as many as are over are streamed: their steps
    of K, tile after tile, are shared out evenly, to this CTA those from `share_from` to `share_to`;
    then come its whole tiles. CTAs count from the last one down: whoever waits for another one's
    sums waits for one that began earlier."""
    return """\
  %block, %all_tiles, %ctas = cute.tile_scheduler.bounds<persistent> (%tiles)
  %rank = arith.constant 0 : i32
  %first = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %last_cta = arith.subi %ctas, %c1 : i32
  %cta = arith.subi %last_cta, %block : i32
  %whole_rounds = arith.divui %all_tiles, %ctas : i32
  %streamed = arith.remui %all_tiles, %ctas : i32
  %all_steps = arith.muli %streamed, %all_k : i32
  %some_share = arith.ceildivui %all_steps, %ctas : i32
  %share = arith.maxui %some_share, %c1 : i32
  %share_begin = arith.muli %cta, %share : i32
  %share_from = arith.minui %share_begin, %all_steps : i32
  %share_end = arith.addi %share_from, %share : i32
  %share_to = arith.minui %share_end, %all_steps : i32
  %first_tile = arith.divui %share_from, %all_k : i32
  %behind_last = arith.ceildivui %share_to, %all_k : i32
  %parts = arith.subi %behind_last, %first_tile : i32
  %end = arith.addi %parts, %whole_rounds : i32"""


def streamed_work() -> str:
    """Which tile it is, and this CTA's steps of its K."""
    return """\
  %is_part = arith.cmpi ult, %work, %parts : i32
  %part_tile = arith.addi %first_tile, %work : i32
  %round = arith.subi %work, %parts : i32
  %before_round = arith.muli %round, %ctas : i32
  %in_round = arith.addi %before_round, %cta : i32
  %whole_tile = arith.addi %in_round, %streamed : i32
  %tile = arith.select %is_part, %part_tile, %whole_tile : i32
  %tile_begin = arith.muli %tile, %all_k : i32
  %after_begin = arith.subi %share_from, %tile_begin : i32
  %begin_in = arith.maxsi %after_begin, %c0 : i32
  %begin = arith.select %is_part, %begin_in, %c0 : i32
  %before_end = arith.subi %share_to, %tile_begin : i32
  %end_in = arith.minsi %before_end, %all_k : i32
  %until = arith.select %is_part, %end_in, %all_k : i32
  %k_tiles = arith.subi %until, %begin : i32
"""


def barrier(own: GemmSchedule) -> str:
    """The warpgroups of a team meet."""
    sync = [f"cute_nvgpu.bar.sync {number + 1} threads {own.threads // own.teams}"
            for number in range(own.teams)]  # fmt: skip
    return (
        sync[0] if own.teams == 1 else f"scf.if %is_first_team {{ {sync[0]} }} else {{ {sync[1]} }}"
    )


def summed(own: GemmSchedule) -> str:
    """A CTA that begins within a tile gives its sums away through memory; the one that began the
    tile adds those of the CTAs that went on, in their order, and stores it."""
    size, parts = own.threads, max(own.n // 64, 1)
    layout = f'"((2,2,{own.n // 8}),1,1,{size}):((1,2,{4 * size}),0,0,4)"'
    part = "\n".join(f"""\
          %at{number} = cute.static : !cute.coord<"({number},0,0)">
          %own{number} = cute.local_tile(%acc, %added, %at{number})
          %more{number} = cute.local_tile(%theirs, %added, %at{number})
          %x{number} = cute.memref.load_vec(%own{number})
          %y{number} = cute.memref.load_vec(%more{number})
          %z{number} = arith.addf %x{number}, %y{number} : vector<{own.n // parts // 2}xf32>
          cute.memref.store_vec(%z{number}, %own{number})"""
        for number in range(parts))  # fmt: skip
    return f"""\
      %added = cute.static : !cute.shape<"({own.n // parts // 2},1,1)">
      %places = cute.static : !cute.layout<{layout}>
      %flag0 = cute_nvgpu.address %flags : memref<?xi32> -> i64
      %four = arith.constant 4 : i64
      %goes_on = arith.cmpi ne, %begin, %c0 : i32
      scf.if %goes_on {{
        %row = cute.make_coord(%cta) : (i32) -> !cute.coord<"(?,_)">
        %line = cute.slice(%sums, %row)
        %given_all = cute.make_view(%line, %places)
        %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(_,_,_,?)">
        %given = cute.slice(%given_all, %at)
        cute.copy(%acc, %given)
        {barrier(own)}
        scf.if %stores {{
          %cta64 = arith.extui %cta : i32 to i64
          %offset = arith.muli %cta64, %four : i64
          %flag = arith.addi %flag0, %offset : i64
          cute_nvgpu.address.store semantics "release.gpu" %c1 to %flag + 0 : i32 to i64
        }}
      }} else {{
        %tile_end = arith.addi %tile_begin, %all_k : i32
        %shares = arith.ceildivui %tile_end, %share : i32
        %after = arith.addi %cta, %c1 : i32
        %behind_ctas = arith.select %is_part, %shares, %after : i32
        scf.for %other = %after to %behind_ctas step %c1 : i32 {{
          scf.if %stores {{
            %other64 = arith.extui %other : i32 to i64
            %offset = arith.muli %other64, %four : i64
            %flag = arith.addi %flag0, %offset : i64
            scf.while () : () -> () {{
              %given = cute_nvgpu.address.load semantics "acquire.gpu" %flag + 0 : i64 -> i32
              %not_yet = arith.cmpi eq, %given, %c0 : i32
              scf.condition(%not_yet)
            }} do {{
              scf.yield
            }}
            cute_nvgpu.address.store semantics "relaxed.gpu" %c0 to %flag + 0 : i32 to i64
          }}
          cute_nvgpu.bar.warp.sync
          {barrier(own)}
          %row = cute.make_coord(%other) : (i32) -> !cute.coord<"(?,_)">
          %line = cute.slice(%sums, %row)
          %theirs_all = cute.make_view(%line, %places)
          %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(_,_,_,?)">
          %theirs = cute.slice(%theirs_all, %at)
{part}
        }}"""


def exchanged(split: int, registers: int) -> str:
    """Each CTA of a cluster gives each other one its sums of the columns that are that one's, in
    its own place there, the last CTA in the taker's, and adds those of its own columns in the order
    of the CTAs."""
    at, last, given, taken = '(i32, i32) -> !cute.coord<"(_,_,_,?,?)">', split - 1, "", ""
    for rank in range(split):
        given += f"""\
      %cta{rank} = arith.constant {rank} : i32
      %other{rank} = arith.cmpi ne, %rank, %cta{rank} : i32
      %whose{rank} = cute.static : !cute.coord<"({rank},0,0)">
      %part{rank} = cute.local_tile(%acc, %part, %whose{rank})
      scf.if %other{rank} {{
        %there = cute.map_shared(%exchange, %cta{rank})
        %slot = arith.select %is_last, %cta{rank}, %rank : i32
        %mine = cute.make_coord(%t, %slot) : {at}
        %place = cute.slice(%there, %mine)
        cute.copy(%part{rank}, %place)
      }}
"""
        taken += f"""\
      scf.if %other{rank} {{
        %theirs = cute.make_coord(%t, {"%rank" if rank == last else f"%cta{rank}"}) : {at}
        %place = cute.slice(%exchange, %theirs)
        cute.copy(%place, %part{rank})
      }}
      {"%taken" if rank else "%sums"}{rank} = cute.memref.load_vec(%part{rank})
"""
        if rank:
            sums = f"%sums{rank} = arith.addf %sums{rank - 1}, %taken{rank}"
            taken += f"      {sums} : vector<{registers}xf32>\n"
    return f"""\
      %last_cta = arith.constant {last} : i32
      %is_last = arith.cmpi eq, %rank, %last_cta : i32
      cute_nvgpu.cluster.wait
{given}
      cute_nvgpu.cluster.arrive
      cute_nvgpu.cluster.wait
{taken}"""
