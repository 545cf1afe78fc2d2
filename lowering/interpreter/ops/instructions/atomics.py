"""Atomic operations of both levels, `memref.atomic_rmw` and `atom.acq_rel.gpu`, and fences between
threads."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import memref

from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, SIDE_BY_SIDE, form_of
from tilewright.dialects.cute_nvgpu.lattice.sync import FENCE
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.ptx.atomics import AtomOp
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.arithmetic.typed_words import FLOATS, kept_nan, raw
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.errors import faults_of
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.global_memory import WIDE
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.numerics.flush import flushing
from tilewright.lowering.interpreter.ops.instructions.operands import (
    as_columns,
    is_generic,
    located,
    moved,
    windows,
)
from tilewright.lowering.interpreter.values import Bits, Lanes, spread
from tilewright.source.diagnostic import OpError


def _exchanged(old: Bits, value: Bits) -> Bits:
    return value


def _swapped(old: Bits, value: Bits, new: Bits) -> Bits:
    return np.where(old == value, new, old)


def _incremented(old: Bits, value: Bits) -> Bits:
    return np.where(old >= value, 0, old + 1).astype(old.dtype)


def _decremented(old: Bits, value: Bits) -> Bits:
    return np.where((old == 0) | (old > value), value, old - old.dtype.type(1))


_OPERATIONS: dict[str, Callable[..., Bits]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": _incremented,
    "dec": _decremented,
    "exch": _exchanged,
    "cas": _swapped,
}
_LETTERS = {"u": "uint", "b": "uint", "s": "int", "f": "float"}


def _dtype(type_: str) -> AnyDType:
    if type_ == "b128":
        return WIDE
    return np.dtype(ml_dtypes.bfloat16 if type_ == "bf16" else f"{_LETTERS[type_[0]]}{type_[1:]}")


def word_type(form: str) -> str:
    """The dtype of the words of memory that a form combines, as raw bits."""
    return f"uint{8 * _dtype(form.rpartition('.')[2].removesuffix('x2')).itemsize}"


def combine(form: str, *, shared: bool = True) -> Callable[..., Bits]:
    """The new value, by a form, of the one that is there and others, as raw bits. What adds f32 in
    global memory has no subnormal numbers (PTX ISA 9.7.13, `atom`; `red` side by side: H200), of
    f64 there a NaN stays as it is: the added one, else that in memory; in shared memory the other
    way around (H200)."""
    operation, *_, type_ = form.split(".")
    element = type_.removesuffix("x2")
    compute, dtype = _OPERATIONS[operation], _dtype(element)
    if element in FLOATS and operation in ("min", "max"):
        return scalar(operation, element)
    if (operation, type_) == ("add", "f32") and not shared:
        compute = flushing(compute)

    def combined(old: Bits, *values: Bits) -> Bits:
        operands = (value.view(dtype) for value in values)
        result = compute(old.view(dtype), *operands)
        if element == "f64":
            given = (*values, old) if shared else (old, *values)
            return kept_nan(result.view(old.dtype), given, np.uint64(shared << 51))
        return (raw(result, element) if element in FLOATS else result).view(old.dtype)

    return combined


@accesses(AtomOp, address.AtomicOp, memref.AtomicRMWOp)
def _atom(op: Any, number: int) -> Effect:
    of_shared, generic = memory_operand(op).is_shared, is_generic(op)
    if isinstance(op, memref.AtomicRMWOp):
        form, order, operands = _checked_form(op), "acq_rel.gpu", ([op.value], None, None)
    else:
        form, order = op.form.data, op.semantics.data
        operands = op.values, op.predicate, op.otherwise
    perform = partial(_perform, form=form, number=number, order=AccessOrder.of(order, "atom"))

    def run(
        machine: Machine, gang: Gang, at: Bits, values: list[Bits], chosen: Bits | None,
        otherwise: Bits | None,
    ) -> Bits:  # fmt: skip
        if chosen is None and not generic:
            return perform(machine, gang.lanes, at, values, shared=of_shared)
        result = np.array(spread(values[0] if otherwise is None else otherwise, gang.count))
        for shared, place, part in windows(at, chosen, generic, of_shared):
            threads = np.flatnonzero(spread(np.ones(1, bool) if part is None else part, gang.count))
            if len(threads):
                place, *given = (spread(value, gang.count)[threads] for value in (place, *values))
                with faults_of(threads):
                    result[threads] = perform(
                        machine, gang.lanes[threads], place, given, shared=shared
                    )
        return result

    return run, located, *operands


def _checked_form(op: memref.AtomicRMWOp) -> str:
    form = form_of(op.kind.value.data, str(op.value.type))
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' of kind {op.kind.value.data} on {op.value.type} cannot be "
                      "interpreted; nearest legal: addi of i32")  # fmt: skip
    return form


@accesses(FENCE)
def _fence(op: Any, number: int) -> Effect:
    order = AccessOrder.of(op.semantics.data, "fence")

    def run(machine: Machine, gang: Gang) -> None:
        machine.atomics.fence(gang.lanes, order, number)
        if order.acquires:
            machine.mbarriers.acquire(gang.lanes)

    return run


def _perform(
    machine: Machine, lanes: Lanes, address: Bits, values: Sequence[Bits], form: str, number: int,
    order: AccessOrder, *, shared: bool,
) -> Bits:  # fmt: skip
    count, at = len(lanes), spread(address, len(lanes))
    change = combine(form, shared=shared)
    words = [np.ascontiguousarray(spread(value, count)) for value in values]
    if form.endswith(".b128"):
        whole = [word.view(WIDE)[:, 0] for word in words]
        old = machine.atomics.perform(lanes, at, whole, change, number, order, shared=shared)
        return old[:, None].view(np.uint64)
    if form not in SIDE_BY_SIDE:
        words = [word.astype(word_type(form)) for word in words]
        return machine.atomics.perform(lanes, at, words, change, number, order, shared=shared)
    [sums] = words
    elements = as_columns(sums).view(word_type(form))
    olds = [
        machine.atomics.perform(
            lanes, moved(at, place * elements.itemsize), [np.ascontiguousarray(column)], change,
            number, order, shared=shared,
        )
        for place, column in enumerate(elements.T)
    ]  # fmt: skip
    return np.stack(olds, axis=1).view(sums.dtype).reshape(sums.shape)
