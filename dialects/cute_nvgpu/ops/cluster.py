"""Clusters of CTAs: a kernel's attribute `gpu.known_cluster_size` says how many there are."""

from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def, var_operand_def

from tilewright.dialects.cute.types.memref import Space, SpaceAttr, is_memref
from tilewright.dialects.cute_nvgpu.lattice import cluster as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.cute_nvgpu.ops.mbarrier import verify_mbarrier
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_memref
from tilewright.dialects.fields import fields_op
from tilewright.dialects.traits import PURE


@fields_op("cute_nvgpu.cluster.rank", rows.CLUSTER_RANK)
class RankOp(NvgpuOp):
    """The number of the CTA in its cluster, x fastest.

    ```mlir
    %rank = cute_nvgpu.cluster.rank
    ```

    The CTAs of a pair differ in its lowest bit. PTX ISA, %cluster_ctarank.
    """

    result = result_def(i32)

    traits = PURE


@fields_op("cute_nvgpu.cluster.arrive", rows.CLUSTER_ARRIVE)
class ArriveOp(NvgpuOp):
    """Arrive at the barrier of the cluster, without waiting. What the threads did before is before
    what those do who wait. All threads of a warp execute it together. PTX ISA, barrier.cluster."""


@fields_op("cute_nvgpu.cluster.wait", rows.CLUSTER_WAIT)
class WaitOp(NvgpuOp):
    """Wait until all threads of the cluster have arrived at its barrier. Whoever waits has arrived
    before. PTX ISA, barrier.cluster."""


@fields_op("cute_nvgpu.cluster.map", rows.MAPA)
class MapOp(NvgpuOp):
    """The same place in the shared memory of a CTA of the cluster, which has to have begun and may
    not leave before.

    ```mlir
    %there = cute_nvgpu.cluster.map %m rank %r : memref<64xf32, #cute<space smem>> -> memref<64xf32, #cute<space dsmem>>
    ```

    Threads load from it and store to it. PTX ISA, mapa.
    """  # noqa: E501

    memory = operand_def(MemRefType)
    rank = operand_def(i32)
    result = result_def(MemRefType)

    traits = PURE

    assembly_format = "$memory `rank` $rank"

    def __init__(self, memory: SSAValue, rank: SSAValue):
        assert is_memref(memory.type)
        super().__init__(memory, rank, _there(memory.type))

    def verify_(self) -> None:
        type_ = self.memory.type
        assert is_memref(type_)
        verify_memref("memory", type_, len(type_.shape), Space.SMEM)
        if self.result.type != (there := _there(type_)):
            raise self.fail(f"{there}, got {self.result.type}")


def _there(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    space = SpaceAttr(Space.DSMEM)
    return MemRefType(type_.element_type, type_.shape, type_.layout, space)


@fields_op("cute_nvgpu.cluster.mbarrier_arrive", rows.MBARRIER_ARRIVE_CLUSTER)
class MbarrierArriveOp(NvgpuOp):
    """Arrive once at the mbarrier that another CTA of the cluster has at the same place.

    ```mlir
    cute_nvgpu.cluster.mbarrier_arrive %empty[%stage] rank %leader : memref<4xi64, 3>
    ```

    What the thread did before is before what those do who wait for the phase. With `reads` that is
    what it has read alone: the scope is its own CTA, and threads of others need not see what was
    written. A release to the cluster stops the thread until the GPU sees all that it wrote. PTX
    ISA, mapa and mbarrier.arrive.
    """

    barrier = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    rank = operand_def(i32)
    reads = opt_prop_def(UnitAttr)

    assembly_format = "$barrier `[` $indices `]` `rank` $rank"

    def verify_(self) -> None:
        verify_mbarrier(self.barrier.type, len(self.indices))
