"""`cute_nvgpu.address`: memory by its address; of `ldmatrix` in `matrix_copy`, as of `ptx`."""

from functools import partial

import numpy as np

from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.ptx import calls, data_movement
from tilewright.lowering.interpreter.builder import Builder, Step, effect, nothing, runs
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import container, pure
from tilewright.lowering.interpreter.ops.base.memref import View, load_words, store_words
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import copy_async
from tilewright.lowering.interpreter.ops.instructions.ptx import moved
from tilewright.lowering.interpreter.share import refuse
from tilewright.lowering.interpreter.values import Bits, spread


@runs(address.AddressOp)
def _address(op: address.AddressOp, builder: Builder) -> Step:
    dtype = container(op, op.result.type)

    def compute(view: View) -> Bits:
        return view.address.astype(dtype)

    return pure(op, builder, compute)


@runs(address.AllocateOp, calls.MallocOp)
def _allocate(op: address.AllocateOp | calls.MallocOp, builder: Builder) -> Step:
    size = op.size.value.data

    def run(machine: Machine, gang: Gang) -> Bits:
        if machine.launch.share is not None:
            refuse("memory of the heap")
        places = [
            machine.memory.place(f"the heap of thread {lane}", np.zeros(size, np.uint8))
            for lane in gang.lanes.tolist()
        ]
        return np.array(places, dtype=np.uint64)

    return effect(op, builder, run)


@runs(address.FreeOp, calls.FreeOp)
def _free(op: address.FreeOp | calls.FreeOp, builder: Builder) -> Step:
    """Freed memory stays where it is: nothing else gets its addresses."""
    return nothing


@runs(address.PrefetchOp, data_movement.PrefetchOp)
def _prefetch(op: address.PrefetchOp | data_movement.PrefetchOp, builder: Builder) -> Step:
    """Nothing but time depends on a cache; an address is to be one of memory all the same."""

    def run(machine: Machine, gang: Gang, at: Bits) -> list[Bits]:
        machine.memory.load(at, 1)
        return []

    return effect(op, builder, run)


@runs(address.LoadOp)
def _load(op: address.LoadOp, builder: Builder) -> Step:
    dtype, offset = container(op, op.elements[0].type), op.offset.value.data
    word = f"uint{8 * dtype.itemsize}"
    load = partial(
        load_words, width=dtype.itemsize, count=len(op.elements), number=builder.number(op),
        shared=op.is_shared, order=AccessOrder.of(op.semantics.data, "ld"),
    )  # fmt: skip

    def run(
        machine: Machine, gang: Gang, at: Bits, chosen: Bits | None = None, *others: Bits
    ) -> list[Bits]:
        columns = [spread(other, gang.count) for other in others]
        otherwise = np.stack(columns, axis=1).astype(word) if columns else None
        words = load(machine, gang, moved(at, offset), chosen=chosen, otherwise=otherwise)
        return [column != 0 if dtype.kind == "b" else column for column in words.T]

    return effect(op, builder, run)


@runs(address.StoreOp)
def _store(op: address.StoreOp, builder: Builder) -> Step:
    count, offset = len(op.elements), op.offset.value.data
    dtype = np.dtype(f"uint{8 * container(op, op.elements[0].type).itemsize}")
    store = partial(
        store_words, number=builder.number(op), shared=op.is_shared,
        order=AccessOrder.of(op.semantics.data, "st"),
    )  # fmt: skip

    def run(machine: Machine, gang: Gang, at: Bits, *rest: Bits) -> None:
        columns = [spread(value, gang.count).astype(dtype) for value in rest[:count]]
        chosen = rest[count] if len(rest) > count else None
        store(machine, gang, moved(at, offset), np.stack(columns, axis=1), chosen=chosen)

    return effect(op, builder, run)


@runs(address.CpAsyncOp)
def _cp_async(op: address.CpAsyncOp, builder: Builder) -> Step:
    size, number = op.size.value.data, builder.number(op)
    below, above = op.offset.value.data, op.source_offset.value.data

    def run(machine: Machine, gang: Gang, dest: Bits, source: Bits, fill: Bits | None) -> None:
        copy_async(machine, gang, moved(dest, below), moved(source, above), size, fill, number)

    return effect(op, builder, run, op.dest, op.source, op.fill)
