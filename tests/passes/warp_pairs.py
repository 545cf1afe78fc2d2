"""What whole warps and warpgroups do together, and barriers that count threads."""

from __future__ import annotations

from hazard_kernels import LINE, SYNC, WARP_SYNC, Pair, load, store

PARTED = "scf.if %half {{\n    {op} // HERE\n  }}"
NEXT = "memref.store %n, %p[%t] : memref<?xi32>"
"""What threads do that have not ended."""
TOGETHER = "expected all threads of a warp"
F = "!cute_nvgpu.fragment<{n}x{type}>"
MMA = (
    "%d = cute_nvgpu.sm80.mma %fa, %fb, %fc <16x8x8, elem_type = (f16, f16, f32)> : "
    "(!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf32>)"
    " -> !cute_nvgpu.fragment<4xf32>"
)
ADD = f"""%line = cute_nvgpu.address %s : {LINE} -> i32
  %four = arith.constant 4 : i32
  %number = arith.index_cast %next : index to i32
  %bytes = arith.muli %number, %four : i32
  %word = arith.addi %line, %bytes : i32
  %old = cute_nvgpu.address.atomic "add.u32" %word + 0, %n : i32, i32 -> i32"""
SUM = (
    '%sum = cute_nvgpu.address.atomic semantics "relaxed.cta" "add.u32" %line + 0, %n : i32, i32 '
    "-> i32"
)
READ = f"{load('v', at='%next')} // HERE\n  memref.store %v, %p[%t] : memref<?xi32>"


def parted(name: str, op: str, *, before: str = "", threads: int = 64) -> Pair:
    """All threads of a warp do something, or half of each alone."""
    body = f"""{before}
  {op} // RIGHT
  scf.if %half {{
    {op} // WRONG HERE
  }}
  {NEXT}"""
    return Pair(f"{name} in half a warp", TOGETHER, body, threads=threads)


PAIRS = (
    parted("elect", "%chosen = cute_nvgpu.elect.sync"),
    parted("a barrier of the warp", WARP_SYNC),
    parted("a barrier", SYNC),
    parted("a named barrier", "cute_nvgpu.bar.sync 1 threads 64"),
    parted("a shuffle", "%other = cute_nvgpu.shfl.sync idx %n, 0 : i32"),
    parted("an MMA", MMA, before="""
  %h = arith.constant 1.0 : f16
  %z = arith.constant 0.0 : f32
  %fa = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<4xf16>
  %fb = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<2xf16>
  %fc = cute_nvgpu.fragment.splat %z : f32 -> !cute_nvgpu.fragment<4xf32>"""),
    parted("a number of registers", "cute_nvgpu.setmaxnreg dec 40", threads=128),
    Pair("a shuffle in rounds that lanes have apart", TOGETHER, """
  %from = arith.divui %lane, %c32 : index // RIGHT
  %from = arith.divui %lane, %c8 : index // WRONG
  scf.for %i = %from to %c2 step %c1 {
    %other = cute_nvgpu.shfl.sync bfly %n, 1 : i32 // HERE
    memref.store %other, %p[%t] : memref<?xi32>
  }
  memref.store %n, %p[%t] : memref<?xi32>"""),
    Pair("atomics that are read", "expected shared memory that other threads", f"""
  {store()}
  {SYNC}
  {ADD} // OTHER
  {SYNC} // RIGHT
  {READ.replace("%next", "%t")}"""),
    Pair("atomics beside a store", "expected shared memory that other threads", f"""
  {store()} // OTHER
  {SYNC} // RIGHT
  {ADD} // HERE
  {SYNC}
  {READ.replace(" // HERE", "")}"""),
    Pair("a sum of all that is looked at", "expected shared memory that other threads", f"""
  %line = cute_nvgpu.address %s : {LINE} -> i32
  scf.if %first {{
    memref.store %even, %s[%c0] : {LINE}
  }}
  {SYNC}
  {SUM} // OTHER
  %v = cute_nvgpu.address.load semantics "relaxed.cta" %line + 0 : i32 -> i32 // RIGHT
  %w = cute_nvgpu.address.load %line + 0 : i32 -> i32 // WRONG HERE"""),
    Pair("barriers of a warp in both branches", TOGETHER, f"""
  scf.if %half {{
    {store()}
    {WARP_SYNC} // HERE
  }} else {{
    {WARP_SYNC} // RIGHT
  }}
  {NEXT}"""),
    Pair("one elects, and another one writes", "expected shared memory that other threads", f"""
  %chosen = cute_nvgpu.elect.sync
  scf.if %chosen {{
    {store(at="%warp")} // OTHER
  }}
  {WARP_SYNC} // RIGHT
  {load("v", at="%warp")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>"""),
    Pair("a named barrier of too few", "expected to arrive behind the barrier's last round", f"""
  {store()}
  cute_nvgpu.bar.sync 1 threads 64 // RIGHT
  cute_nvgpu.bar.sync 1 threads 32 // WRONG HERE
  {load("v", at="%next")}
  memref.store %v, %p[%t] : memref<?xi32>""", threads=64),
    Pair("a named barrier of too many", "expected to go on", f"""
  {store()}
  cute_nvgpu.bar.sync 1 threads 64 // RIGHT
  cute_nvgpu.bar.sync 1 threads 96 // WRONG HERE
  {load("v", at="%next")}
  memref.store %v, %p[%t] : memref<?xi32>"""),
    Pair("who arrives does not wait", "expected shared memory that other threads", f"""
  scf.if %is0 {{
    {store(at="%lane")} // OTHER
    cute_nvgpu.bar.arrive 1 threads 64
  }} else {{
    cute_nvgpu.bar.arrive 1 threads 64 // WRONG
    cute_nvgpu.bar.sync 1 threads 64 // RIGHT
    {load("v", at="%lane")} // HERE
    memref.store %v, %p[%t] : memref<?xi32>
  }}"""),
    Pair("one number for both ways", "expected to arrive behind the barrier's last round", f"""
  scf.for %i = %c0 to %c4 step %c1 {{
    scf.if %is0 {{
      {store(at="%lane")}
      cute_nvgpu.bar.arrive 1 threads 64 // WRONG HERE
      cute_nvgpu.bar.arrive 1 threads 64 // RIGHT
      cute_nvgpu.bar.sync 2 threads 64 // RIGHT
    }} else {{
      cute_nvgpu.bar.sync 1 threads 64
      {load("v", at="%lane")}
      memref.store %v, %p[%t] : memref<?xi32>
      cute_nvgpu.bar.arrive 2 threads 64 // RIGHT
    }}
  }}"""),
    Pair("registers that nobody has given back", "asks for 240 registers", """
  %c128 = arith.constant 128 : index
  %early = arith.cmpi ult, %t, %c128 : index
  scf.if %early {
    cute_nvgpu.setmaxnreg dec 24 // RIGHT
    cute_nvgpu.setmaxnreg dec 160 // WRONG
  } else {
    cute_nvgpu.setmaxnreg inc 240 // HERE
  }""", threads=384),
)  # fmt: skip
