"""Accesses to multicast objects: one device has one copy, so that what it combines is that copy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.ops import multimem
from tilewright.dialects.ptx import multimem as ptx
from tilewright.dialects.ptx.registers import KINDS
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import container
from tilewright.lowering.interpreter.ops.base.memref import (
    change_words,
    exchange,
    keep,
    load_words,
    store_words,
)
from tilewright.lowering.interpreter.ops.instructions.atomics import combine
from tilewright.lowering.interpreter.ops.instructions.ptx import as_columns, moved
from tilewright.lowering.interpreter.values import Bits

Words = NDArray[np.unsignedinteger]
Access = Callable[[Machine, Gang, Bits, Words, Bits | None], Words]


def _access(name: str, form: str, number: int) -> Access:
    """How threads access words [threads, words] from their addresses on; those of a load are what
    it gives where it is not done. What is strong happens one after the other."""
    words = form.partition("global.")[2].split(".")
    loads = name == "ld_reduce"
    kind = {"ld_reduce": "ld", "st": "st"}.get(name, "atom")
    order = AccessOrder.of(form.partition(".global")[0], kind)
    change = (
        combine(f"{words[0]}.{words[-1]}", shared=False) if name == "red"
        else keep if loads else exchange
    )  # fmt: skip

    def access(
        machine: Machine, gang: Gang, address: Bits, words: Words, chosen: Bits | None
    ) -> Words:
        if loads and not order.strong:
            return load_words(
                machine, gang, address, width=words.itemsize, count=words.shape[1], number=number,
                shared=False, chosen=chosen, otherwise=words,
            )  # fmt: skip
        if not order.strong:
            store_words(machine, gang, address, words, number=number, shared=False, chosen=chosen)
        else:
            change_words(machine, gang, address, words, change, number, chosen, order)
        return words

    return access


@runs(multimem.MultimemLoadReduceOp, multimem.MultimemStoreOp, multimem.MultimemReduceOp)
def _elements(op: multimem.MultimemAccess, builder: Builder) -> Step:
    loads = isinstance(op, multimem.MultimemLoadReduceOp)
    access = _access(op.INSTRUCTION, op.form, builder.number(op))
    offset, count = op.offset.value.data, len(op.types)
    dtype = np.dtype(f"uint{8 * container(op, op.types[0]).itemsize}")

    def run(
        machine: Machine, gang: Gang, at: Bits, given: list[Bits], kept: Bits | None
    ) -> list[Bits]:
        words = np.zeros((gang.count, count), dtype)
        for i, column in enumerate(given):
            words[:, i] = column
        return list(access(machine, gang, moved(at, offset), words, kept).T)

    given = op.otherwise if loads else op.elements
    return effect(op, builder, run, op.address, given, op.predicate)


@runs(ptx.MultimemLoadReduceOp, ptx.MultimemStoreOp, ptx.MultimemReduceOp)
def _registers(op: ptx.MultimemAccess, builder: Builder) -> Step:
    name, _, form = op.row_form.partition(".")
    access, offset = _access(name, form, builder.number(op)), op.offset.value.data
    type_ = op.data.type
    assert isinstance(type_, RegType)
    shape, dtype = type_.count.data, np.dtype(f"uint{KINDS[type_.kind.data]}")

    def run(machine: Machine, gang: Gang, at: Bits, given: Bits | None, kept: Bits | None) -> Any:
        words = np.zeros((gang.count, shape), dtype)
        if given is not None:
            words[:] = as_columns(given)
        words = access(machine, gang, moved(at, offset), words, kept)
        return words if shape > 1 else words[:, 0]

    given = op.otherwise if isinstance(op, ptx.MultimemLoadReduceOp) else op.value
    return effect(op, builder, run, op.address, given, op.predicate)
