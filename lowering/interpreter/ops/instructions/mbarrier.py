"""`mbarrier`, `elect.sync` and `setmaxnreg` of both levels."""

from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice import mbarrier as rows
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.mbarrier import AskOp, CountedArrivalOp, CountedOp
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    Step,
    accesses,
    effect,
    effects,
    executes,
    runs,
)
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.mbarrier import Mbarriers
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.instructions.operands import located
from tilewright.lowering.interpreter.ops.instructions.wgmma import warpgroups
from tilewright.lowering.interpreter.values import Bits, Lanes, spread


@accesses(rows.MBARRIER_INIT)
def _init(op: Any, number: int) -> Effect:
    count = op.count.value.data

    def run(machine: Machine, gang: Gang, address: Bits) -> None:
        machine.mbarriers.make(gang.lanes, address, count, number)

    return run, located


@effects(rows.MBARRIER_INVAL)
def _inval(op: Any) -> Effect:
    def run(machine: Machine, gang: Gang, address: Bits) -> None:
        machine.mbarriers.end(gang.lanes, address)

    return run, located


@effects(rows.MBARRIER_ARRIVE, rows.MBARRIER_ARRIVE_EXPECT_TX)
def _arrive(op: Any) -> Effect:
    """An arrival, so many, or one that expects so many bytes; its state is its phase."""
    count, stated = content(op.count), bool(op.results)
    counts = (1, count) if op.row is rows.MBARRIER_ARRIVE_EXPECT_TX else (count or 1,)

    def run(machine: Machine, gang: Gang, address: Bits) -> Bits | None:
        states = machine.mbarriers.states(gang.lanes, address) if stated else None
        machine.mbarriers.arrive(gang.lanes, address, *counts)
        return states

    return run, located


@runs(CountedOp, CountedArrivalOp)
def _count(op: Any, builder: Builder) -> Step:
    what, *words = op.form.data.split(".")
    number = builder.number(op)
    builder.passes_reads |= "shared::cluster" in words

    def do(mbarriers: Mbarriers, lanes: Lanes, address: Bits, count: int) -> None:
        if what == "init":
            mbarriers.make(lanes, address, count, number)
            return
        if what in ("expect_tx", "complete_tx"):
            mbarriers.expect(lanes, address, count if what == "expect_tx" else -count)
            return
        arrivals = (1, count) if "expect_tx" in words else (count,)
        if "noComplete" in words:
            mbarriers.keep_open(lanes, address, count)
        if what == "arrive_drop":
            mbarriers.drop(lanes, address, arrivals[0])
        mbarriers.arrive(lanes, address, *arrivals, relaxed="relaxed" in words)

    def run(machine: Machine, gang: Gang, address: Bits, count: Bits | None) -> Bits | None:
        counts = spread(np.ones(1, np.uint32) if count is None else count, gang.count)
        lanes, places = gang.lanes, spread(address, gang.count)
        stated = bool(op.results)
        states = machine.mbarriers.states(lanes, places, counts.tolist()) if stated else None
        for times in np.unique(counts).tolist():
            some = counts == times
            do(machine.mbarriers, lanes[some], places[some], times)
        return states

    return effect(op, builder, (run, located, op.count))


@executes(rows.MBARRIER_PENDING_COUNT)
def _pending_count(machine: Machine, gang: Gang, state: Bits) -> Bits:
    return (state >> np.uint64(32)).astype(np.uint32)


@effects(rows.CP_ASYNC_ARRIVE)
def _arrive_behind_copies(op: Any) -> Effect:
    """The copies complete at once; what an arrival adds to those that a phase waits for, it is."""
    is_awaited = op.noinc is not None

    def run(machine: Machine, gang: Gang, address: Bits) -> None:
        for threads, when in machine.mbarriers.under_way(gang.lanes, address):
            machine.copies.wait(gang.lanes[threads], -1, when)
        if is_awaited:
            machine.mbarriers.arrive(gang.lanes, address, 1)

    return run, located


@runs(rows.MBARRIER_TRY_WAIT)
def _wait(op: Any, builder: Builder) -> None:
    locate, parity = located(op, builder), builder.slot(op.parity)

    def begin(machine: Machine, gang: Gang) -> Wait:
        address, given = locate(gang.regs), gang.regs[parity]
        return machine.mbarriers.wait(gang.lanes, address, given, op, cluster=bool(op.cluster))

    builder.suspend(op, begin)


@effects(AskOp)
def _ask(op: Any) -> Effect:
    """Threads whose phase is complete, which know what was done in it: of a relaxed look, behind a
    fence. The tries of a loop are as many as it takes."""
    words = op.form.data.split(".")
    far, relaxed, of_parity = (word in words for word in ("cluster", "relaxed", "parity"))

    def run(machine: Machine, gang: Gang, address: Bits, phase: Bits) -> Bits:
        parity = phase if of_parity else phase & np.uint64(1)
        wait = machine.mbarriers.wait(gang.lanes, address, parity, op, cluster=far)
        ready = wait.ready()
        seen, lanes = wait.take(np.flatnonzero(ready)), gang.lanes[ready]
        if relaxed:
            machine.mbarriers.watch(lanes, *seen.keys)
        else:
            seen.resume(lanes)
        return ready

    return run, located, op.phase


@executes(rows.FENCE_MBARRIER_INIT)
def _fence(machine: Machine, gang: Gang) -> None:
    machine.mbarriers.fence(gang.lanes)


# Warps


@runs(rows.SETMAXNREG)
def _setmaxnreg(op: Any, builder: Builder) -> Step | None:
    count = op.registers.value.data

    def release(machine: Machine, gang: Gang) -> None:
        warpgroups(machine, gang, "setmaxnreg")
        machine.register_pool.release(gang.lanes, count)

    def request(machine: Machine, gang: Gang) -> Wait:
        warpgroups(machine, gang, "setmaxnreg")
        return machine.register_pool.request(op, gang.lanes, count)

    if op.action.data == "dec":
        return release
    builder.suspend(op, request)
    return None
