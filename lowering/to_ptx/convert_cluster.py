"""Clusters of `cute_nvgpu` to `ptx`."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.ops import cluster
from tilewright.dialects.ptx import cluster as ptx
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_memref import locate


@lowers(cluster.RankOp)
def _rank(op: cluster.RankOp, to: Conversion) -> None:
    to[op.result] = to.pure((ptx.RankOp,), (), ptx.RankOp)


@lowers(cluster.MbarrierArriveOp)
def _mbarrier_arrive(op: cluster.MbarrierArriveOp, to: Conversion) -> None:
    address, offset = locate(op, to.tile(op.barrier), op.indices, to)
    rank = to[op.rank]
    remote = to.pure(
        (ptx.MapaOp, address, rank), (address, rank), lambda: ptx.MapaOp(address, rank)
    )
    to.add(ptx.MbarrierArriveOp(remote, offset, reads=op.reads))
