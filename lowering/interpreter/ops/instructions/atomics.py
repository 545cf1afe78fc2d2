"""Atomic operations of both levels: `memref.atomic_rmw` and `atom.acq_rel.gpu`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import memref

from tilewright.diagnostic import OpError
from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, form_of
from tilewright.dialects.ptx.atomics import AtomOp
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.instructions.ptx import moved
from tilewright.lowering.interpreter.values import Bits, spread

_OPERATIONS: dict[str, Callable[[Bits, Bits], Bits]] = {
    "add": lambda old, value: old + value,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
}
_LETTERS = {"u": "uint", "b": "uint", "s": "int", "f": "float"}


def combine(form: str) -> Callable[[Bits, Bits], Bits]:
    """The new value, by a form, of the one that is there and another, as raw bits."""
    operation, _, type_ = form.partition(".")
    compute, dtype = _OPERATIONS[operation], np.dtype(f"{_LETTERS[type_[0]]}{type_[1:]}")

    def combined(old: Bits, value: Bits) -> Bits:
        with np.errstate(all="ignore"):
            return compute(old.view(dtype), value.view(dtype)).view(old.dtype)

    return combined


@runs(memref.AtomicRMWOp)
def _atomic_rmw(op: memref.AtomicRMWOp, builder: Builder) -> Step:
    form = form_of(op.kind.value.data, str(op.value.type))
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' of kind {op.kind.value.data} on {op.value.type} cannot be "
                      "interpreted; nearest legal: addi of i32")  # fmt: skip
    where, indices = builder.slot(op.memref), builder.slots(op.indices)
    source, dest, number = builder.slot(op.value), builder.slot(op.result), builder.number(op)

    def step(machine: Machine, gang: Gang) -> None:
        view = gang.regs[where]
        address = view.locate([gang.regs[slot] for slot in indices])
        shared = view.space is Space.SMEM
        gang.regs[dest] = _perform(machine, gang, address, gang.regs[source], form, shared, number)

    return step


@runs(AtomOp)
def _atom(op: AtomOp, builder: Builder) -> Step:
    where, source, dest = builder.slots((op.address, op.value, op.result))
    form, number, offset = op.form.data, builder.number(op), op.offset.value.data
    shared = op.space.data == "shared"

    def step(machine: Machine, gang: Gang) -> None:
        address = moved(gang.regs[where], offset)
        gang.regs[dest] = _perform(machine, gang, address, gang.regs[source], form, shared, number)

    return step


def _perform(
    machine: Machine, gang: Gang, address: Bits, value: Bits, form: str, shared: bool, number: int
) -> Bits:
    width = int(form.partition(".")[2][1:]) // 8
    words = np.ascontiguousarray(spread(value, gang.count)).astype(f"uint{8 * width}")
    return machine.atomics.perform(
        gang.lanes, spread(address, gang.count), words, combine(form), number, shared=shared
    )
