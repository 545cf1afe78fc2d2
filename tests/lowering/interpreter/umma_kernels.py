"""Kernels of one CTA, or of a pair, that copy matrices to shared memory and the rest to tensor
memory, multiply them with tcgen05.mma, and copy tensor memory back."""

from __future__ import annotations

from dataclasses import dataclass

from wgmma_kernels import Tile

COLUMNS = 512
CELLS = f'memref<128x{COLUMNS}xi32, !cute.layout<"(128,{COLUMNS}):(65536,1)">, #cute<space tmem>>'
FOUR, EIGHT = "!cute_nvgpu.fragment<4xi32>", "!cute_nvgpu.fragment<8xi32>"
"""What one access of memory moves, and one of tensor memory: a step of a loop over the columns."""


@dataclass(frozen=True)
class UmmaKernel:
    """`tensors` are the operands in tensor memory: name, memref type, first lane and column;
    `body` is what thread 0 does with them, with descriptors %ad and %bd and the predicate %more."""

    a: Tile | None
    b: Tile
    a_view: str
    b_view: str
    tensors: tuple[tuple[str, str, int, int], ...]
    body: str
    columns: int
    group: int = 1

    @property
    def pair(self) -> str:
        """What the ops of a pair say."""
        return " cta_group 2" if self.group == 2 else ""

    @property
    def together(self) -> str:
        """The barrier of all that the MMA works for."""
        if self.group == 1:
            return '  "gpu.barrier"() : () -> ()'
        return "  cute_nvgpu.cluster.arrive\n  cute_nvgpu.cluster.wait"

    def text(self) -> str:
        return self._head() + self._fill() + self._multiply() + self._drain()

    def _tiles(self) -> list[Tile]:
        return [tile for tile in (self.a, self.b) if tile is not None]

    def _head(self) -> str:
        arguments = ", ".join(f"%g{tile.name}: memref<?x{tile.element}>" for tile in self._tiles())
        cluster = ", gpu.known_cluster_size = array<i32: 2, 1, 1>" if self.group == 2 else ""
        return f"""
func.func @umma({arguments}, %gt: memref<?xi32>, %out: memref<?xi32>)
    attributes {{gpu.kernel{cluster}}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %columns = arith.constant {self.columns} : index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.muli %warp, %c32 : index
  %leads = arith.cmpi eq, %warp, %c0 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %cta = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %before = arith.muli %cta, %c128 : index
  %line = arith.addi %before, %t : index
  %even = arith.cmpi eq, %cta, %c0 : index
  %issues = arith.andi %first, %even : i1
  %both = arith.constant 3 : i16
  %more = arith.constant true
  %never = arith.constant false
  %slot = memref.alloc() : memref<1xi32, #cute<space smem>>
  %done = memref.alloc() : memref<1xi64, #cute<space smem>>
"""

    def _fill(self) -> str:
        tiles = "".join(tile.alloc() + _fill(tile) for tile in self._tiles())
        return f"""{tiles}
  scf.if %leads {{
    cute_nvgpu.tmem.alloc %slot[%c0] columns {COLUMNS}{self.pair} : memref<1xi32, #cute<space smem>>
    cute_nvgpu.tmem.relinquish_alloc_permit{self.pair}
  }}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %done[%c0] count 1 : memref<1xi64, #cute<space smem>>
    cute_nvgpu.fence.mbarrier_init
  }}
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  %cells = cute_nvgpu.tmem.retrieve %slot[%c0] : memref<1xi32, #cute<space smem>> -> {CELLS}
  scf.for %i = %c0 to %columns step %c8 {{
    %row = arith.muli %line, %columns : index
    %at = arith.addi %row, %i : index
    %next = arith.addi %at, %c4 : index
    %f0 = cute_nvgpu.fragment.load %gt[%at] : memref<?xi32> -> {FOUR}
    %f1 = cute_nvgpu.fragment.load %gt[%next] : memref<?xi32> -> {FOUR}
    %f = cute_nvgpu.fragment.concat %f0, %f1 : {FOUR}, {FOUR} -> {EIGHT}
    cute_nvgpu.tmem.store %f, %cells[%lane, %i] shape 32x32b : {EIGHT}, {CELLS}
  }}
  cute_nvgpu.tmem.wait_store
  cute_nvgpu.tcgen05.fence.before_thread_sync
{self.together}
  cute_nvgpu.tcgen05.fence.after_thread_sync
"""

    def _multiply(self) -> str:
        descriptors = self.b.desc("bd", self.b_view, "%c0", "%c0")
        if self.a is not None:
            descriptors += self.a.desc("ad", self.a_view, "%c0", "%c0")
        slices = "".join(
            f"""
    %{name}l = arith.constant {lane} : index
    %{name}c = arith.constant {column} : index
    %{name} = cute_nvgpu.tmem.slice %cells[%{name}l, %{name}c] : {CELLS} -> {type_}
"""
            for name, type_, lane, column in self.tensors
        )
        multicast = " multicast %both cta_group 2" if self.group == 2 else ""
        return f"""
  scf.if %issues {{
{descriptors}{slices}
{self.body}
    cute_nvgpu.tcgen05.commit %done[%c0]{multicast} : memref<1xi64, #cute<space smem>>
  }}
  %zero = arith.constant 0 : i32
  cute_nvgpu.mbarrier.wait %done[%c0] parity %zero : memref<1xi64, #cute<space smem>>
  cute_nvgpu.tcgen05.fence.after_thread_sync
"""

    def _drain(self) -> str:
        return f"""
  scf.for %i = %c0 to %columns step %c8 {{
    %row = arith.muli %line, %columns : index
    %at = arith.addi %row, %i : index
    %next = arith.addi %at, %c4 : index
    %f = cute_nvgpu.tmem.load %cells[%lane, %i] shape 32x32b : {CELLS} -> {EIGHT}
    cute_nvgpu.tmem.wait_load
    %f0 = cute_nvgpu.fragment.slice %f[0] : {EIGHT} -> {FOUR}
    %f1 = cute_nvgpu.fragment.slice %f[4] : {EIGHT} -> {FOUR}
    cute_nvgpu.fragment.store %f0, %out[%at] : {FOUR}, memref<?xi32>
    cute_nvgpu.fragment.store %f1, %out[%next] : {FOUR}, memref<?xi32>
  }}
  cute_nvgpu.tcgen05.fence.before_thread_sync
{self.together}
  cute_nvgpu.tcgen05.fence.after_thread_sync
  scf.if %leads {{
    cute_nvgpu.tmem.dealloc %cells{self.pair} : {CELLS}
  }}
  func.return
}}
"""


def _fill(tile: Tile) -> str:
    """Copy the CTA's part of the argument: each CTA's after that of the one before."""
    rows, columns = tile.shape
    name = tile.name
    part = f"""  %{name}p = arith.constant {rows * columns} : index
  %{name}b = arith.muli %cta, %{name}p : index
"""
    return part + tile.fill().replace(
        f"%v = memref.load %g{name}[%i]",
        f"%at{name} = arith.addi %i, %{name}b : index\n    %v = memref.load %g{name}[%at{name}]",
    )
