"""Clusters of `cute_nvgpu` to `ptx`."""

from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops import cluster
from tilewright.dialects.ptx import cluster as ptx
from tilewright.lowering.to_ptx.conversion import Conversion, Tile, lowers
from tilewright.lowering.to_ptx.convert_memref import locate


@lowers
def _rank(op: cluster.RankOp, to: Conversion) -> SSAValue:
    return to.pure(ptx.RankOp)


@lowers
def _map(op: cluster.MapOp, to: Conversion) -> Tile:
    tile, rank = to.tile(op.memory), to[op.rank]
    base, address = (in_cluster(place, rank, to) for place in (tile.base, tile.address))
    return replace(tile, space=Space.DSMEM, base=base, address=address)


def in_cluster(address: SSAValue, rank: SSAValue, to: Conversion) -> SSAValue:
    """The same address in the shared memory of a CTA of the cluster."""
    return to.pure(ptx.MapaOp, address, rank)


@lowers
def _mbarrier_arrive(op: cluster.MbarrierArriveOp, to: Conversion) -> None:
    address, offset = locate(op, to.tile(op.barrier), op.indices, to)
    to.add(ptx.MbarrierArriveOp(in_cluster(address, to[op.rank], to), offset, reads=op.reads))
