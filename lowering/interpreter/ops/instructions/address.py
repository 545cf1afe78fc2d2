"""`cute_nvgpu.address`: memory by its address; of `ldmatrix` in `matrix_copy`, as of `ptx`."""

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.data_movement import WEAK
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.ptx import calls, data_movement
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import container
from tilewright.lowering.interpreter.ops.base.memref import (
    change_words,
    exchange,
    keep,
    load_chosen,
    load_words,
    store_words,
)
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import copy_async
from tilewright.lowering.interpreter.ops.instructions.ptx import moved
from tilewright.lowering.interpreter.share import refuse
from tilewright.lowering.interpreter.values import spread


@runs(address.AddressOp)
def _address(op: address.AddressOp, builder: Builder) -> Step:
    source, dest = builder.slot(op.memref), builder.slot(op.result)
    dtype = container(op, op.result.type)

    def step(machine: Machine, gang: Gang) -> None:
        gang.regs[dest] = gang.regs[source].address.astype(dtype)

    return step


@runs(address.AllocateOp, calls.MallocOp)
def _allocate(op: address.AllocateOp | calls.MallocOp, builder: Builder) -> Step:
    dest, size = builder.slot(op.result), op.size.value.data

    def step(machine: Machine, gang: Gang) -> None:
        if machine.launch.share is not None:
            refuse("memory of the heap")
        places = [
            machine.memory.place(f"the heap of thread {lane}", np.zeros(size, np.uint8))
            for lane in gang.lanes.tolist()
        ]
        gang.regs[dest] = np.array(places, dtype=np.uint64)

    return step


@runs(address.FreeOp, calls.FreeOp)
def _free(op: address.FreeOp | calls.FreeOp, builder: Builder) -> Step:
    def step(machine: Machine, gang: Gang) -> None:
        """Freed memory stays where it is: nothing else gets its addresses."""

    return step


@runs(address.PrefetchOp, data_movement.PrefetchOp)
def _prefetch(op: address.PrefetchOp | data_movement.PrefetchOp, builder: Builder) -> Step:
    where = builder.slot(op.address)

    def step(machine: Machine, gang: Gang) -> None:
        # Nothing but time depends on a cache; an address is to be one of memory all the same.
        machine.memory.load(gang.regs[where], 1)

    return step


@runs(address.LoadOp)
def _load(op: address.LoadOp, builder: Builder) -> Step:
    where, number, shared = builder.slot(op.address), builder.number(op), op.is_shared
    dests, otherwise = builder.slots(op.elements), builder.slots(op.otherwise)
    chosen = None if op.predicate is None else builder.slot(op.predicate)
    dtype, count = container(op, op.elements[0].type), len(op.elements)
    offset, width = op.offset.value.data, dtype.itemsize
    strong = op.semantics.data != WEAK

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        at = moved(regs[where], offset)
        if strong:
            words = np.zeros((gang.count, count), f"uint{8 * width}")
            for i, slot in enumerate(otherwise):
                words[:, i] = regs[slot]
            kept = None if chosen is None else regs[chosen]
            change_words(machine, gang, at, words, keep, number, kept)
        elif chosen is None:
            words = load_words(machine, gang.lanes, at, width, count, number, shared=shared)
        else:
            others = [spread(regs[slot], gang.count) for slot in otherwise]
            words = np.stack(others, axis=1).astype(f"uint{8 * width}")
            load_chosen(machine, gang, at, regs[chosen], words, width, number, shared)
        for i, dest in enumerate(dests):
            regs[dest] = words[:, i] != 0 if dtype.kind == "b" else words[:, i]

    return step


@runs(address.StoreOp)
def _store(op: address.StoreOp, builder: Builder) -> Step:
    where, number, shared = builder.slot(op.address), builder.number(op), op.is_shared
    sources, offset = builder.slots(op.elements), op.offset.value.data
    chosen = None if op.predicate is None else builder.slot(op.predicate)
    dtype = np.dtype(f"uint{8 * container(op, op.elements[0].type).itemsize}")
    strong = op.semantics.data != WEAK

    def step(machine: Machine, gang: Gang) -> None:
        regs, count = gang.regs, gang.count
        at = spread(moved(regs[where], offset), count)
        words = np.stack([spread(regs[slot], count).astype(dtype) for slot in sources], axis=1)
        kept = None if chosen is None else regs[chosen]
        if strong:
            change_words(machine, gang, at, words, exchange, number, kept)
        else:
            store_words(machine, gang, at, words, number, shared=shared, chosen=kept)

    return step


@runs(address.CpAsyncOp)
def _cp_async(op: address.CpAsyncOp, builder: Builder) -> Step:
    dest, source, number = builder.slot(op.dest), builder.slot(op.source), builder.number(op)
    fill = None if op.fill is None else builder.slot(op.fill)
    size, below, above = op.size.value.data, op.offset.value.data, op.source_offset.value.data

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        at, to = moved(regs[source], above), moved(regs[dest], below)
        copy_async(machine, gang, to, at, size, None if fill is None else regs[fill], number)

    return step
