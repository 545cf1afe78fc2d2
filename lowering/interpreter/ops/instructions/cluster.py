"""Clusters of CTAs, at both levels."""

from dataclasses import replace

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.cute_nvgpu.ops import cluster as atom
from tilewright.dialects.ptx import cluster as ptx
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.machine.barriers import BarrierWait
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import pure
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.tensor_memory import located
from tilewright.lowering.interpreter.values import Bits, spread


@runs(atom.RankOp, ptx.RankOp)
def _rank(op: atom.RankOp | ptx.RankOp, builder: Builder) -> Step:
    return effect(op, builder, lambda machine, gang: machine.special("cluster_ctarank")[gang.lanes])


def arrive(machine: Machine, gang: Gang) -> None:
    """The step of `barrier.cluster.arrive`."""
    gang.warps("barrier.cluster.arrive")
    machine.cluster_barrier.arrive(gang.lanes)


@runs(atom.ArriveOp, ptx.ArriveOp)
def _arrive(op: Operation, builder: Builder) -> Step:
    return arrive


@runs(atom.WaitOp, ptx.WaitOp)
def wait(op: Operation, builder: Builder) -> None:
    """Wait until all threads of the cluster have arrived."""

    def begin(machine: Machine, gang: Gang) -> BarrierWait:
        gang.warps("barrier.cluster.wait")
        return machine.cluster_barrier.wait(op, gang.lanes)

    builder.suspend(op, begin)


def remote(address: Bits, rank: Bits) -> Bits:
    """An address of another CTA's shared memory: its rank, from 1, above the place."""
    above = rank.astype(np.uint64) + np.uint64(1)
    return address.astype(np.uint64) | above << np.uint64(RANK_SHIFT)


@runs(ptx.MapaOp)
def _mapa(op: ptx.MapaOp, builder: Builder) -> Step:
    def compute(address: Bits, rank: Bits) -> Bits:
        return remote(address, rank).astype(np.uint32)

    return pure(op, builder, compute)


@runs(atom.MapOp)
def _map(op: atom.MapOp, builder: Builder) -> Step:
    def run(machine: Machine, gang: Gang, view: View, rank: Bits) -> View:
        base, address = (remote(place, rank) for place in (view.base, view.address))
        return replace(view, space=Space.DSMEM, base=base, address=address)

    return effect(op, builder, run)


@runs(atom.MbarrierArriveOp, ptx.MbarrierArriveOp)
def _mbarrier_arrive(op: atom.MbarrierArriveOp | ptx.MbarrierArriveOp, builder: Builder) -> Step:
    locate, reads = located(builder, op, op.operands[0]), op.reads is not None
    rank = builder.slot(op.rank) if isinstance(op, atom.MbarrierArriveOp) else None
    builder.passes_reads |= reads

    def step(machine: Machine, gang: Gang) -> None:
        address = locate(gang)
        if rank is not None:
            address = remote(address, gang.regs[rank])
        machine.mbarriers.arrive(gang.lanes, spread(address, gang.count), 1, reads=reads)

    return step
