"""Atomic operations of both levels, `memref.atomic_rmw` and `atom.acq_rel.gpu`, and fences between
threads."""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import memref

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, form_of
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.ops.sync import FenceOp
from tilewright.dialects.ptx.atomics import AtomOp, RedOp
from tilewright.dialects.ptx.synchronization import FenceOp as PtxFenceOp
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.errors import faults_of
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.numerics.flush import flushing
from tilewright.lowering.interpreter.ops.base.memref import View, change_words
from tilewright.lowering.interpreter.ops.instructions.ptx import as_columns, moved
from tilewright.lowering.interpreter.values import Bits, Lanes, spread
from tilewright.source.diagnostic import OpError


def _added(old: Bits, value: Bits) -> Bits:
    return old + value


def _exchanged(old: Bits, value: Bits) -> Bits:
    return value


def _swapped(old: Bits, value: Bits, new: Bits) -> Bits:
    return np.where(old == value, new, old)


_OPERATIONS: dict[str, Callable[..., Bits]] = {
    "add": _added,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchanged,
    "cas": _swapped,
}
_LETTERS = {"u": "uint", "b": "uint", "s": "int", "f": "float"}


def _dtype(type_: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if type_ == "bf16" else f"{_LETTERS[type_[0]]}{type_[1:]}")


def combine(form: str, *, shared: bool = True) -> Callable[..., Bits]:
    """The new value, by a form, of the one that is there and others, as raw bits. What adds f32 in
    global memory has no subnormal numbers (PTX ISA 9.7.13, `atom`; `red` side by side: H200)."""
    operation, *_, type_ = form.split(".")
    compute, dtype = _OPERATIONS[operation], _dtype(type_.removesuffix("x2"))
    if (operation, type_) == ("add", "f32") and not shared:
        compute = flushing(compute)

    def combined(old: Bits, *values: Bits) -> Bits:
        with np.errstate(all="ignore"):
            operands = (value.view(dtype) for value in values)
            return compute(old.view(dtype), *operands).view(old.dtype)

    return combined


@runs(memref.AtomicRMWOp)
def _atomic_rmw(op: memref.AtomicRMWOp, builder: Builder) -> Step:
    form = form_of(op.kind.value.data, str(op.value.type))
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' of kind {op.kind.value.data} on {op.value.type} cannot be "
                      "interpreted; nearest legal: addi of i32")  # fmt: skip
    number, order = builder.number(op), AccessOrder.of("acq_rel.gpu", "atom")

    def run(machine: Machine, gang: Gang, value: Bits, view: View, *indices: Bits) -> Bits:
        address, shared = view.locate(indices), view.space is Space.SMEM
        return _perform(machine, gang.lanes, address, [value], form, shared, number, order)

    return effect(op, builder, run)


@runs(AtomOp, address.AtomicOp)
def _atom(op: AtomOp | address.AtomicOp, builder: Builder) -> Step:
    form, number, offset = op.form.data, builder.number(op), op.offset.value.data
    order = AccessOrder.of(op.semantics.data, "atom")
    shared = op.is_shared if isinstance(op, address.AtomicOp) else op.space.data == "shared"

    def run(
        machine: Machine, gang: Gang, at: Bits, values: list[Bits], chosen: Bits | None,
        otherwise: Bits | None,
    ) -> Bits:  # fmt: skip
        at = moved(at, offset)
        if chosen is None:
            return _perform(machine, gang.lanes, at, values, form, shared, number, order)
        threads = np.flatnonzero(spread(chosen, gang.count))
        result = np.array(spread(values[0] if otherwise is None else otherwise, gang.count))
        if len(threads):
            at, *values = (spread(value, gang.count)[threads] for value in (at, *values))
            with faults_of(threads):
                result[threads] = _perform(
                    machine, gang.lanes[threads], at, values, form, shared, number, order
                )
        return result

    return effect(op, builder, run, op.address, op.values, op.predicate, op.otherwise)


@runs(address.ReduceOp, RedOp)
def _red(op: address.ReduceOp | RedOp, builder: Builder) -> Step:
    number, offset = builder.number(op), op.offset.value.data
    order, at_once = AccessOrder.of(op.semantics.data, "atom"), isinstance(op, RedOp)
    form = op.form.data if isinstance(op, RedOp) else op.form
    shared = op.space.data == "shared" if isinstance(op, RedOp) else op.is_shared
    type_ = form.rpartition(".")[2].removesuffix("x2")
    change, dtype = combine(form, shared=shared), f"uint{8 * _dtype(type_).itemsize}"

    def run(machine: Machine, gang: Gang, at: Bits, given: list[Bits], chosen: Bits | None) -> None:
        columns = [as_columns(given[0])] if at_once else [value[..., None] for value in given]
        rows = [np.broadcast_to(column, (gang.count, column.shape[-1])) for column in columns]
        words = np.ascontiguousarray(np.concatenate(rows, axis=1)).view(dtype)
        change_words(machine, gang, moved(at, offset), words, change, number, chosen, order, shared)

    given = [op.value] if isinstance(op, RedOp) else op.elements
    return effect(op, builder, run, op.address, given, op.predicate)


@runs(FenceOp, PtxFenceOp)
def _fence(op: FenceOp | PtxFenceOp, builder: Builder) -> Step:
    order, number = AccessOrder.of(op.semantics.data, "fence"), builder.number(op)
    return effect(
        op, builder, lambda machine, gang: machine.atomics.fence(gang.lanes, order, number)
    )


def _perform(
    machine: Machine, lanes: Lanes, address: Bits, values: Sequence[Bits], form: str, shared: bool,
    number: int, order: AccessOrder,
) -> Bits:  # fmt: skip
    dtype, count = f"uint{8 * _dtype(form.rpartition('.')[2]).itemsize}", len(lanes)
    words = [np.ascontiguousarray(spread(value, count)).astype(dtype) for value in values]
    return machine.atomics.perform(
        lanes,
        spread(address, count),
        words,
        combine(form, shared=shared),
        number,
        order,
        shared=shared,
    )
