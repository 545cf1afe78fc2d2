"""Kernels on tensor memory: what allocates, sees and gives back 256 columns around a body."""

from __future__ import annotations

from collections.abc import Callable

SMEM = "#cute<space smem>"
SLOT = f"memref<1xi32, {SMEM}>"
BARRIERS = f"memref<2xi64, {SMEM}>"


def cells(columns: int = 256, element: str = "i32") -> str:
    """The memref of a whole allocation."""
    layout = f'!cute.layout<"(128,{columns}):(65536,1)">'
    return f"memref<128x{columns}x{element}, {layout}, #cute<space tmem>>"


def cells_of_shapes(half: int) -> dict[str, Callable[[int, int], tuple[int, int]]]:
    """(lane, column) of thread t and register r in each shape; the second half of 16x32bx2 begins
    at a column. PTX ISA, tcgen05.ld."""
    return {
        "32x32b": lambda t, r: (t, r),
        "16x64b": lambda t, r: ((t >> 2) + 8 * (t & 1), 2 * r + (t >> 1 & 1)),
        "16x128b": lambda t, r: ((t >> 2) + 8 * (r & 1), (t & 3) + 4 * (r >> 1)),
        "16x256b": lambda t, r: ((t >> 2) + 8 * (r >> 1 & 1), 2 * (t & 3) + (r & 1) + 8 * (r >> 2)),
        "16x32bx2": lambda t, r: (t & 15, r + (half if t >= 16 else 0)),
    }


CELLS = cells()
BARRIER = '"gpu.barrier"() : () -> ()'
BEFORE = "cute_nvgpu.tcgen05.fence.before_thread_sync"
AFTER = "cute_nvgpu.tcgen05.fence.after_thread_sync"
SYNC = f"{BEFORE}\n  {BARRIER}\n  {AFTER}"
ALLOC = f"cute_nvgpu.tmem.alloc %slot[%c0] columns 256 : {SLOT}"
DEALLOC = f"cute_nvgpu.tmem.dealloc %m : {CELLS}"
RETRIEVE = f"%m = cute_nvgpu.tmem.retrieve %slot[%c0] : {SLOT} -> {CELLS}"
WAIT_LOAD = "cute_nvgpu.tmem.wait_load"
WAIT_STORE = "cute_nvgpu.tmem.wait_store"
CONSTANTS = "\n".join(
    f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 8, 16, 31, 32, 64, 96, 128)
)
# Every warp has the 32 lanes from %row on.
HEAD = f"""{CONSTANTS}
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %w = arith.divui %t, %c32 : index
  %w4 = arith.andi %w, %c3 : index
  %row = arith.muli %w4, %c32 : index
  %leads = arith.cmpi eq, %w, %c0 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %low = arith.cmpi ult, %t, %c32 : index
  %even = arith.constant 0 : i32
  %slot = memref.alloc() : {SLOT}
  %b = memref.alloc() : {BARRIERS}
"""


def bare(body: str, arguments: str = "%p: memref<?xi32>") -> str:
    """A kernel of the body and nothing else."""
    return (
        f"func.func @k({arguments}) attributes {{gpu.kernel}} {{\n{HEAD}{body}\n  func.return\n}}"
    )


def held(body: str, arguments: str = "%p: memref<?xi32>", last: str = SYNC) -> str:
    """The body between what makes %m and what gives it back; two mbarriers %b of count 1."""
    return bare(
        f"""
  scf.if %leads {{
    {ALLOC}
    cute_nvgpu.tmem.relinquish_alloc_permit
  }}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {BARRIERS}
    cute_nvgpu.mbarrier.init %b[%c1] count 1 : {BARRIERS}
    cute_nvgpu.fence.mbarrier_init
  }}
  {SYNC}
  {RETRIEVE}
{body}
  {last}
  scf.if %leads {{
    {DEALLOC}
  }}""",
        arguments,
    )


def wait(barrier: int = 0) -> str:
    return f"cute_nvgpu.mbarrier.wait %b[%c{barrier}] parity %even : {BARRIERS}"


def commit(barrier: int = 0) -> str:
    return f"cute_nvgpu.tcgen05.commit %b[%c{barrier}] : {BARRIERS}"
