"""Clusters of CTAs, at both levels."""

from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice import cluster as rows
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.cute_nvgpu.ops.cluster import MapOp
from tilewright.dialects.ptx.cluster import MapaOp
from tilewright.dialects.ptx.instruction import content
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    Step,
    effect,
    effects,
    executes,
    runs,
)
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.base.arith import gives
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.operands import located
from tilewright.lowering.interpreter.values import Bits, spread


@executes(rows.CLUSTER_RANK)
def _rank(machine: Machine, gang: Gang) -> Bits:
    return machine.special("cluster_ctarank")[gang.lanes]


def arrive(machine: Machine, gang: Gang) -> None:
    """The step of `barrier.cluster.arrive.aligned`."""
    gang.warps("barrier.cluster.arrive")
    _arrive_apart(machine, gang)


def _arrive_apart(machine: Machine, gang: Gang) -> None:
    machine.cluster_barrier.arrive(gang.lanes)


@effects(rows.CLUSTER_ARRIVE, rows.CLUSTER_ARRIVE_RELAXED)
def _arrive(op: Operation) -> Effect:
    """A relaxed arrival is taken for one that releases: no race is found there."""
    return _arrive_apart if getattr(op, "apart", None) else arrive


@runs(rows.CLUSTER_WAIT)
def wait(op: Operation, builder: Builder) -> None:
    """Wait until all threads of the cluster have arrived."""

    def begin(machine: Machine, gang: Gang) -> Wait:
        if not getattr(op, "apart", None):
            gang.warps("barrier.cluster.wait")
        return machine.cluster_barrier.wait(op, gang.lanes)

    builder.suspend(op, begin)


def remote(address: Bits, rank: Bits) -> Bits:
    """An address of another CTA's shared memory: its rank, from 1, above the place."""
    above = rank.astype(np.uint64) + np.uint64(1)
    place = address.astype(np.uint64) & np.uint64((1 << RANK_SHIFT) - 1)
    return place | above << np.uint64(RANK_SHIFT)


@gives(MapaOp)
def _mapa(address: Bits, rank: Bits) -> Bits:
    return remote(address, rank).astype(np.uint32)


@effects(rows.MAPA_LEADER)
def _leader(op: Any) -> Effect:
    mask = np.uint32(content(op.mask) & 0xFFFFFFFF)

    def run(machine: Machine, gang: Gang, address: Bits) -> Bits:
        even = rank_of(machine, gang, address) & ~np.uint32(1)
        return remote(address & mask, even).astype(np.uint32)

    return run, op.address


@effects(rows.GETCTARANK)
def _getctarank(op: Any) -> Effect:
    return rank_of, op.address


def rank_of(machine: Machine, gang: Gang, address: Bits) -> Bits:
    """The rank of the CTA that an address of shared memory is of; one without a rank is the CTA's
    own."""
    above = address >> np.uint32(RANK_SHIFT)
    own = machine.special("cluster_ctarank")[gang.lanes]
    return np.where(above == 0, own, above - np.uint32(1))


@executes(MapOp)
def _map(machine: Machine, gang: Gang, view: View, rank: Bits) -> View:
    base, address = (remote(place, rank) for place in (view.base, view.address))
    return replace(view, space=Space.DSMEM, base=base, address=address)


@runs(rows.MBARRIER_ARRIVE_CLUSTER, rows.MBARRIER_EXPECT_TX_CLUSTER)
def _mbarrier_arrive(op: Any, builder: Builder) -> Step:
    """An address of PTX has the rank of its CTA in it."""
    reads, count = op.reads is not None, content(getattr(op, "count", None))
    counts = (1, count) if op.row is rows.MBARRIER_EXPECT_TX_CLUSTER else (count or 1,)
    builder.passes_reads = True

    def run(machine: Machine, gang: Gang, address: Bits, rank: Bits | None) -> None:
        if rank is not None:
            address = remote(address, rank)
        machine.mbarriers.arrive(gang.lanes, spread(address, gang.count), *counts, reads=reads)

    return effect(op, builder, (run, located, getattr(op, "rank", None)))
