"""Strong accesses to global memory for too few: those of the CTA or the cluster alone."""

from __future__ import annotations

from hazard_kernels import CLUSTER_SYNC, Pair

WORD = "  %flags = cute_nvgpu.address %p : memref<?xi32> -> i64\n"
BLOCK = '  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
SAYS = "expected a scope that has all threads in it"


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
)  # fmt: skip
