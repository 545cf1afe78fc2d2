"""Addresses in memory, and memory of the heap."""

from functools import partial

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.data_movement import PREFETCH
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.interpreter.builder import Effect, effects, executes, nothing
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes, container
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.share import refuse
from tilewright.lowering.interpreter.values import Bits, spread


@computes
def _address(op: address.AddressOp) -> Compute:
    dtype = container(op, op.result.type)

    def compute(view: View) -> Bits:
        return view.address.astype(dtype)

    return compute


@effects
def _allocate(op: address.AllocateOp) -> Effect:
    return partial(allocate, sizes=np.array([op.size.value.data]))


def allocate(machine: Machine, gang: Gang, sizes: Bits) -> Bits:
    """The addresses of so many bytes of the heap for each thread."""
    if machine.launch.share is not None:
        refuse("memory of the heap")
    lanes = gang.lanes.tolist()
    places = [
        machine.memory.place(f"the heap of thread {lane}", np.zeros(int(size), np.uint8))
        for lane, size in zip(lanes, spread(sizes, gang.count).tolist(), strict=True)
    ]
    return np.array(places, dtype=np.uint64)


# Freed memory stays where it is: nothing else gets its addresses.
executes(address.FreeOp)(nothing)
# Nothing but time depends on a cache, and an address that is none of memory is no error.
executes(PREFETCH)(nothing)
