"""Clusters of CTAs. PTX ISA, barrier.cluster, mapa and %cluster_ctarank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.cute_nvgpu.lattice.cluster import (
    CLUSTER_ARRIVE,
    CLUSTER_RANK,
    CLUSTER_WAIT,
    MAPA,
    MBARRIER_ARRIVE_CLUSTER,
)
from tilewright.dialects.fields import NUMBER
from tilewright.dialects.ptx.instruction import Given, RowOp
from tilewright.dialects.ptx.types import reg


@irdl_op_definition
class RankOp(RowOp):
    """`mov.u32 d, %cluster_ctarank`."""

    name = "ptx.cluster_ctarank"
    ROW: ClassVar = CLUSTER_RANK

    result = result_def(reg("b32"))

    traits = traits_def(Pure())

    assembly_format = "attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"d": self.result, "%cluster_ctarank": "%cluster_ctarank"}


@irdl_op_definition
class ArriveOp(RowOp):
    """`barrier.cluster.arrive.aligned`."""

    name = "ptx.barrier.cluster.arrive"
    ROW: ClassVar = CLUSTER_ARRIVE

    assembly_format = "attr-dict"


@irdl_op_definition
class WaitOp(RowOp):
    """`barrier.cluster.wait.aligned`."""

    name = "ptx.barrier.cluster.wait"
    ROW: ClassVar = CLUSTER_WAIT

    assembly_format = "attr-dict"


@irdl_op_definition
class MapaOp(RowOp):
    """`mapa.shared::cluster.u32 d, a, rank`: the same place in another CTA's shared memory.

    ```mlir
    %0 = ptx.mapa %address, %rank
    ```
    """

    name = "ptx.mapa"
    ROW: ClassVar = MAPA

    address = operand_def(reg("b32"))
    rank = operand_def(reg("b32"))
    result = result_def(reg("b32"))

    traits = traits_def(Pure())

    assembly_format = "$address `,` $rank attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"d": self.result, "a": self.address, "b": self.rank}


@irdl_op_definition
class MbarrierArriveOp(RowOp):
    """`mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]`.

    ```mlir
    ptx.mbarrier.arrive.cluster %remote, 8
    ```
    """

    name = "ptx.mbarrier.arrive.cluster"
    ROW: ClassVar = MBARRIER_ARRIVE_CLUSTER

    address = operand_def(reg("b32"))
    offset = prop_def(NUMBER)

    assembly_format = "$address `,` $offset attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"state": "_", "addr": (self.address, self.offset.value.data)}
