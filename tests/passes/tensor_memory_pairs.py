"""Tensor memory that is not there: given back, allocated too small, or without a permit."""

from __future__ import annotations

from hazard_kernels import Pair
from tmem_kernels import CELLS, DEALLOC, RETRIEVE, SLOT, SYNC, WAIT_LOAD, cells

ALLOC = f"cute_nvgpu.tmem.alloc %slot[%c0] columns 256 : {SLOT}"
RELINQUISH = "cute_nvgpu.tmem.relinquish_alloc_permit"
F = "!cute_nvgpu.fragment<4xi32>"
HEAD = f"""
  %slot = memref.alloc() : {SLOT}
  %row = arith.muli %warp, %c32 : index
  %c128 = arith.constant 128 : index
"""
HALF = cells(128)
STORE = f"cute_nvgpu.tmem.store %f, %m[%row, %c128] shape 32x32b : {F}, {CELLS}"
LOAD = f"%g = cute_nvgpu.tmem.load %m[%row, %c128] shape 32x32b : {CELLS} -> {F}"


def lifetime(
    name: str, says: str, *, alloc: str = ALLOC, permit: str = "", free: str = DEALLOC,
    after: str = "", mark: str = "", levels: tuple[str, ...] = ("atom", "ptx"),
) -> Pair:  # fmt: skip
    """Tensor memory is allocated, stored to, loaded, and given back by one warp."""
    body = f"""{HEAD}
  scf.if %is0 {{
    {alloc}
  }}
  {permit}
  {SYNC}
  {RETRIEVE}
  %f = cute_nvgpu.fragment.splat %odd : i32 -> {F}
  {STORE}{mark}
  cute_nvgpu.tmem.wait_store
  {LOAD}
  {WAIT_LOAD}
  {SYNC}
  scf.if %is0 {{
    {free}
  }}
  {after}"""
    return Pair(name, says, body, threads=128, arch="sm_100a", levels=levels)


PAIRS = (
    lifetime("given back twice", "expected tensor memory that is allocated",
        free=f"{DEALLOC} // OTHER\n    {DEALLOC} // WRONG HERE"),
    lifetime("loaded when given back", "expected tensor memory that is allocated",
        free=f"{DEALLOC} // OTHER\n    {LOAD.replace('%g', '%h')} // WRONG HERE\n    "
        f"{WAIT_LOAD} // WRONG"),
    lifetime("loaded by all when given back", "expected tensor memory that is allocated",
        free=f"{DEALLOC} // OTHER", after=f"""{SYNC} // WRONG
  {LOAD.replace('%g', '%h')} // WRONG HERE
  {WAIT_LOAD} // WRONG"""),
    lifetime("half of it is allocated", "expected tensor memory that is allocated", levels=("ptx",),
        mark=" // HERE",
        alloc=f"{ALLOC} // RIGHT\n    {ALLOC.replace('256', '128')} // WRONG OTHER"),
    lifetime("half of it is given back", "expected the 256 columns of",
        alloc=ALLOC.replace(SLOT, f"{SLOT} // OTHER"), free=f"{DEALLOC} // RIGHT\n"
        f"    %low = cute_nvgpu.tmem.retrieve %slot[%c0] : {SLOT} -> {HALF} // WRONG\n"
        f"    cute_nvgpu.tmem.dealloc %low : {HALF} // WRONG HERE"),
    lifetime("all warps give up the permit", "expected the permit to be given up behind all",
        alloc=f"{ALLOC} // OTHER\n    {RELINQUISH} // RIGHT", permit=f"{RELINQUISH} // WRONG HERE"),
    lifetime("another warp gives up the permit", "expected the permit to be given up behind all",
        alloc=f"{ALLOC} // OTHER\n    {RELINQUISH} // RIGHT", permit=f"""
  scf.if %is1 {{
    {RELINQUISH} // WRONG HERE
  }}"""),
)  # fmt: skip
