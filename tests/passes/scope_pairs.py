"""Strong accesses to global memory for too few: those of the CTA or the cluster alone; and blocks
that nothing orders, as a flag is not released or acquired, or for too few."""

from __future__ import annotations

from hazard_kernels import CLUSTER_SYNC, WARP_SYNC, Pair

WORD = "  %flags = cute_nvgpu.address %p : memref<?xi32> -> i64\n"
BLOCK = '  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
SAYS = "expected a scope that has all threads in it"
DONE = "expected global memory that others are done with"
FENCE = 'cute_nvgpu.fence "acq_rel.{}"'


def add(scope: str, address: str = "%flags") -> str:
    return (
        f'cute_nvgpu.address.atomic semantics "relaxed.{scope}" "add.u32" {address} + 0, %odd : '
        "i64, i32 -> i32"
    )


def store(order: str) -> str:
    return f'cute_nvgpu.address.store semantics "{order}" %odd to %flags + 0 : i32 to i64'


def load(order: str) -> str:
    return f'cute_nvgpu.address.load semantics "{order}" %flags + 0 : i64 -> i32'


PAIRS = (
    Pair("a counter of a cluster", SAYS, f"""{WORD}
  scf.if %first {{
    %r = {add("cluster")} // RIGHT
    %w = {add("cta")} // WRONG HERE OTHER
  }}""", ctas=2),
    Pair("a counter of a grid", SAYS, f"""{WORD}{BLOCK}
  %here = arith.addi %b, %c1 : index
  %old = memref.load %p[%here] : memref<?xi32>
  scf.if %first {{
    %r = {add("gpu")} // RIGHT
    %w = {add("cta")} // WRONG HERE OTHER
  }}""", blocks=2),
    Pair("a counter of each block", SAYS, f"""{WORD}{BLOCK}
  %number = arith.index_cast %b : index to i64
  %c4_i64 = arith.constant 4 : i64
  %c0_i64 = arith.constant 0 : i64
  %down = arith.muli %number, %c4_i64 : i64 // RIGHT
  %down = arith.muli %number, %c0_i64 : i64 // WRONG
  %own = arith.addi %flags, %down : i64
  scf.if %first {{
    %w = {add("cta", "%own")} // HERE OTHER
  }}""", blocks=2),
    Pair("a flag of one CTA for the other", SAYS, f"""{WORD}
  scf.if %first {{
    scf.if %lead {{
      {store("release.cluster")} // RIGHT
      {store("release.cta")} // WRONG HERE
    }} else {{
      %v = {load("acquire.cluster")} // OTHER
    }}
  }}""", ctas=2),
    Pair("a flag of one block for the other", SAYS, f"""{WORD}{BLOCK}
  %writes = arith.cmpi eq, %b, %c0 : index
  scf.if %first {{
    scf.if %writes {{
      {store("release.gpu")} // OTHER
    }} else {{
      %v = {load("acquire.gpu")} // RIGHT
      %w = {load("acquire.cta")} // WRONG HERE
    }}
  }}""", blocks=2),
    Pair("one behind the barrier of the cluster", SAYS, f"""{WORD}
  scf.if %lead {{
    scf.if %first {{
      {store("relaxed.cta")} // OTHER HERE
    }}
  }}
  {CLUSTER_SYNC.splitlines()[0]} // RIGHT
  {CLUSTER_SYNC.splitlines()[1]} // RIGHT
  scf.if %lead {{
  }} else {{
    scf.if %first {{
      %v = {load("relaxed.cta")}
    }}
  }}""", ctas=2),
    # One block writes, sets a flag, and the other one reads behind it.
    *(Pair(f"a flag between blocks, {name}", DONE, f"""{WORD}{BLOCK}
  %writes = arith.cmpi eq, %b, %c0 : index
  scf.if %first {{
    scf.if %writes {{
      memref.store %odd, %p[%c4] : memref<?xi32> // OTHER
      {sets[0]} // RIGHT
      {sets[1]} // WRONG
      {sets[2]}
    }} else {{
      scf.while () : () -> () {{
        %v = {gets[0]}
        %unset = arith.cmpi ne, %v, %odd : i32
        scf.condition(%unset)
      }} do {{
        scf.yield
      }}
      {gets[1]} // RIGHT
      {gets[2]} // WRONG
      %data = memref.load %p[%c4] : memref<?xi32> // HERE
    }}
  }}""", blocks=2) for name, sets, gets in (
        ("set relaxed", (store("release.gpu"), store("relaxed.gpu"), ""),
         (load("acquire.gpu"), "", "")),
        ("set behind a fence of the CTA", (FENCE.format("gpu"), FENCE.format("cta"),
         store("relaxed.gpu")), (load("acquire.gpu"), "", "")),
        ("read before a fence of the cluster", ("", "", store("release.gpu")),
         (load("relaxed.gpu"), FENCE.format("sys"), FENCE.format("cluster"))),
        ("read without a fence", (FENCE.format("gpu"), FENCE.format("gpu"), store("relaxed.gpu")),
         (load("relaxed.gpu"), FENCE.format("gpu"), "")),
    )),
    # A warp writes for another one, or a CTA of a cluster for the other one.
    *(Pair(f"a flag of scope {scope}, {name}", DONE, f"""{WORD}
  %there = arith.addi %t, %c4 : index
  scf.if {writes} {{
    memref.store %odd, %p[%there] : memref<?xi32> // OTHER
    {WARP_SYNC}
    scf.if %leads {{
      {sets[0]} // RIGHT
      {sets[1]} // WRONG
      {sets[2]}
    }}
  }} else {{
    scf.if %leads {{
      scf.while () : () -> () {{
        %v = {gets[0]}
        %unset = arith.cmpi ne, %v, %odd : i32
        scf.condition(%unset)
      }} do {{
        scf.yield
      }}
      {gets[1]} // RIGHT
      {gets[2]} // WRONG
    }}
    {WARP_SYNC}
    %other = arith.subi %c32, %lane : index
    %from = arith.addi %other, %c4 : index
    %data = memref.load %p[%from] : memref<?xi32> // HERE
  }}""", threads=threads, ctas=ctas)
      for scope, writes, threads, ctas in (("cta", "%is0", 64, 1), ("cluster", "%lead", 32, 2))
      for name, sets, gets in (
        ("set relaxed", (store(f"release.{scope}"), store(f"relaxed.{scope}"), ""),
         (load(f"acquire.{scope}"), "", "")),
        ("set before the fence", (FENCE.format(scope), "", store(f"relaxed.{scope}")),
         (load(f"acquire.{scope}"), "", "")),
        ("read without a fence", ("", "", store(f"release.{scope}")),
         (load(f"relaxed.{scope}"), FENCE.format(scope), "")),
    )),
    # Each block takes a ticket; the last one reads what the others wrote.
    Pair("tickets of a grid", DONE, f"""{WORD}{BLOCK}
  %here = arith.addi %b, %c1 : index
  scf.if %first {{
    memref.store %odd, %p[%here] : memref<?xi32> // OTHER
    cute_nvgpu.fence "acq_rel.gpu" // RIGHT
    cute_nvgpu.fence "acq_rel.cta" // WRONG
    %old = {add("gpu")}
    %last = arith.cmpi eq, %old, %odd : i32
    scf.if %last {{
      cute_nvgpu.fence "acq_rel.gpu"
      %a = memref.load %p[%c1] : memref<?xi32> // HERE
      %z = memref.load %p[%c2] : memref<?xi32>
      %sum = arith.addi %a, %z : i32
      memref.store %sum, %p[%c8] : memref<?xi32>
    }}
  }}""", blocks=2),
    # The last one sets the counter back by a plain store: all atomic operations are before its own.
    *(Pair(f"tickets that are set back by {who}", DONE, f"""{WORD}{BLOCK}
  %here = arith.addi %b, %c1 : index
  %word = memref.alloc() : memref<1xi32, #cute<space smem>>
  scf.if %first {{
    memref.store %odd, %p[%here] : memref<?xi32>
    memref.store %even, %p[%c0] : memref<?xi32> // WRONG OTHER
    %old = {add("gpu")} // HERE
    cute_nvgpu.fence "acq_rel.gpu"
    memref.store %old, %word[%c0] : memref<1xi32, #cute<space smem>>
  }}
  "gpu.barrier"() : () -> ()
  %place = memref.load %word[%c0] : memref<1xi32, #cute<space smem>>
  %last = arith.cmpi eq, %place, %odd : i32
  scf.if %last {{
    scf.if {condition} {{
      memref.store %even, %p[%c0] : memref<?xi32> // RIGHT
    }}
  }}""", blocks=2) for who, condition in (("its thread", "%first"), ("another one", "%is1"))),
)  # fmt: skip
