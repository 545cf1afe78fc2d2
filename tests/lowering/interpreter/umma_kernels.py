"""Kernels of one CTA, or of a pair, that copy matrices to shared memory and the rest to tensor
memory, multiply them with tcgen05.mma, and copy tensor memory back."""

from __future__ import annotations

from dataclasses import dataclass

from wgmma_kernels import Tile

COLUMNS = 512
CELLS = f'memref<128x{COLUMNS}xi32, !cute.layout<"(128,{COLUMNS}):(65536,1)">, #cute<space tmem>>'
ONE = "!cute_nvgpu.fragment<1xi32>"


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
  %c1 = arith.constant 1 : index
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
  scf.for %i = %c0 to %columns step %c1 {{
    %row = arith.muli %line, %columns : index
    %at = arith.addi %row, %i : index
    %v = memref.load %gt[%at] : memref<?xi32>
    %f = cute_nvgpu.fragment.splat %v : i32 -> {ONE}
    cute_nvgpu.tmem.store %f, %cells[%lane, %i] shape 32x32b : {ONE}, {CELLS}
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
  scf.for %i = %c0 to %columns step %c1 {{
    %row = arith.muli %line, %columns : index
    %at = arith.addi %row, %i : index
    %f = cute_nvgpu.tmem.load %cells[%lane, %i] shape 32x32b : {CELLS} -> {ONE}
    cute_nvgpu.tmem.wait_load
    %v = cute_nvgpu.fragment.extract %f[0] : {ONE} -> i32
    memref.store %v, %out[%at] : memref<?xi32>
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
