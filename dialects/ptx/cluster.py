"""Clusters of CTAs. PTX ISA, barrier.cluster, mapa and %cluster_ctarank."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice import cluster as rows
from tilewright.dialects.cute_nvgpu.lattice.scalar import registers_of
from tilewright.dialects.cute_nvgpu.ops import cluster as atom
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import FormOp, OffsetOp, PureOp, RowOp, twin
from tilewright.dialects.ptx.types import B32, RegType, reg


class _OfClusterOp(PureOp, RowOp):
    """A rank or an address of the cluster."""

    result = result_def(B32)


@fields_op("ptx.cluster_ctarank", rows.CLUSTER_RANK)
class RankOp(_OfClusterOp):
    """`mov.u32 d, %cluster_ctarank`."""


class _ClusterBarrierOp(RowOp):
    """The barrier of the cluster, `aligned` or for threads of a warp `apart` from each other."""

    apart = opt_prop_def(UnitAttr)

    @property
    def mnemonic(self) -> str:
        return f"{self.name.removeprefix('ptx.')}{'' if self.apart else '.aligned'}"


ArriveOp = twin(atom.ArriveOp, "barrier.cluster.arrive", _ClusterBarrierOp)
WaitOp = twin(atom.WaitOp, "barrier.cluster.wait", _ClusterBarrierOp)


@fields_op("ptx.barrier.cluster.arrive.relaxed", rows.CLUSTER_ARRIVE_RELAXED)
class RelaxedArriveOp(_ClusterBarrierOp):
    """`barrier.cluster.arrive.relaxed.aligned`: an arrival that orders no memory."""


@fields_op("ptx.mapa", rows.MAPA)
class MapaOp(_OfClusterOp):
    """`mapa.shared::cluster.u32 d, a, rank`: the same place in another CTA's shared memory.

    ```mlir
    %0 = ptx.mapa %address, %rank
    ```
    """

    address = operand_def(B32)
    rank = operand_def(B32)


@fields_op("ptx.mapa.leader", rows.MAPA_LEADER)
class MapaLeaderOp(_OfClusterOp):
    """`and.b32 d, a, 0xFEFFFFFF`: the same place in the CTA of the pair whose rank is even, as
    CUTLASS has it (`Sm100MmaPeerBitMask`), and clear low bits where the mask has such.

    ```mlir
    %0 = ptx.mapa.leader %address, -16777217
    ```
    """

    address = operand_def(B32)
    mask = prop_def(NUMBER)


@fields_op("ptx.getctarank", rows.GETCTARANK)
class GetctarankOp(_OfClusterOp):
    """`getctarank.shared::cluster.u32 d, a`: the rank of the CTA whose shared memory it is."""

    address = operand_def(B32)


class _RemoteArrivalOp(OffsetOp, RowOp):
    """An arrival at an mbarrier of any CTA of the cluster, behind `reads` alone or what it wrote
    too."""

    address = operand_def(B32)
    reads = opt_prop_def(UnitAttr)

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonics[self.reads is not None]


@fields_op("ptx.mbarrier.arrive.cluster", rows.MBARRIER_ARRIVE_CLUSTER)
class MbarrierArriveOp(_RemoteArrivalOp):
    """`mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]{, count}`, behind reads alone
    `mbarrier.arrive.shared::cluster.b64`.

    ```mlir
    ptx.mbarrier.arrive.cluster %remote, 8 reads
    ```
    """

    count = opt_prop_def(NUMBER)


@fields_op("ptx.mbarrier.arrive.expect_tx.cluster", rows.MBARRIER_EXPECT_TX_CLUSTER)
class MbarrierExpectTxOp(_RemoteArrivalOp):
    """`mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [a], bytes`.

    ```mlir
    ptx.mbarrier.arrive.expect_tx.cluster %remote, 8 bytes 128
    ```
    """

    count = prop_def(NUMBER)

    assembly_format = "$address `,` $offset `bytes` $count (`reads` $reads^)?"


@fields_op("ptx.cp.async.bulk.cluster", rows.BULK_SEND, rows.BULK_SEND_REDUCE)
class BulkSendOp(FormOp):
    """`cp.async.bulk.shared::cluster.shared::cta... [dst], [src], size, [mbar]`, or `cp.reduce`.

    ```mlir
    ptx.cp.async.bulk.cluster "async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
      %far, %source, %size, %mbar
    ```
    """

    dest = operand_def(B32)
    source = operand_def(B32)
    size = operand_def(B32)
    barrier = operand_def(B32)

    assembly_format = "$form $dest `,` $source `,` $size `,` $barrier"


class _SendingOp(FormOp):
    """Registers that go to the shared memory of a CTA of the cluster on their own."""

    address = operand_def(B32)
    value = operand_def(RegType)
    barrier = operand_def(B32)

    assembly_format = "$form $address `,` $value `,` $barrier"

    def verify_(self) -> None:
        super().verify_()
        self.expect(self.value, reg(*registers_of(self.form.data)))


@fields_op("ptx.st.async", *rows.ST_ASYNC)
class StAsyncOp(_SendingOp):
    """`st.async.shared::cluster.mbarrier::complete_tx::bytes{.vN}.TYPE [a], b, [mbar]`.

    ```mlir
    ptx.st.async "async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32" %far, %pair, %mbar
      : !ptx.reg<b32 x 2>
    ```
    """


@fields_op("ptx.red.async", *rows.RED_ASYNC)
class RedAsyncOp(_SendingOp):
    """`red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.FORM [a], b, [mbar]`:
    a word there is combined with a register."""
