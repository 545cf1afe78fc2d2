"""Operands of instructions, of both levels: places in memory, and registers as words."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.data_movement import GENERIC
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx.instruction import PtxOp, content
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.arithmetic.elements import elements_of, words_of
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.global_memory import SHARED_WINDOW
from tilewright.lowering.interpreter.machine.machine import Gang
from tilewright.lowering.interpreter.values import Bits, spread

Locate = Callable[[list[Any]], Bits]
"""An address of tensor or shared memory in each thread, from the registers of a gang."""


def located(op: Any, builder: Builder, name: str = "", *, check: bool = True) -> Locate:
    """The address of what an op names, or its operand of a name: of an element of a memref, within
    it unless that is not checked, or in a register plus a constant."""
    memory, indices, offset = memory_operand(op, name)
    source = builder.slot(memory)
    if indices is None:
        return lambda regs: moved(regs[source], offset)
    slots, options = builder.slots(indices), {} if check else {"check": False}
    return lambda regs: regs[source].locate([regs[slot] for slot in slots], **options)


def moved(address: Bits, offset: int) -> Bits:
    """Addresses plus a constant offset in bytes."""
    return address if offset == 0 else (address.astype(np.int64) + offset).astype(address.dtype)


def is_generic(op: Any) -> bool:
    """True where an address says itself which memory it is of."""
    return isinstance(op, PtxOp) and content(getattr(op, "space", None)) == GENERIC


def windows(
    address: Bits, chosen: Bits | None, generic: bool, shared: bool
) -> Iterator[tuple[bool, Bits, Bits | None]]:
    """The memories that threads access: whether it is shared, their addresses there, and which
    threads do, None being all."""
    if not generic:
        yield shared, address, chosen
        return
    within = address >> np.uint64(32) == SHARED_WINDOW >> 32
    every = np.True_ if chosen is None else chosen
    if not within.all():
        yield False, address, ~within & every
    if within.any():
        yield True, (address & np.uint64(0xFFFFFFFF)).astype(np.uint32), within & every


def every(gang: Gang, value: Bits) -> list[int]:
    """The value in every thread of the gang."""
    return spread(value, gang.count).tolist()


def as_columns(value: Bits) -> Bits:
    """A register or a list as [threads, registers]."""
    return value if value.ndim == 2 else value[:, None]


def side_by_side(values: Sequence[Bits], count: int) -> Bits:
    """The registers of `count` threads, or their lists, one behind the other: [threads,
    registers]."""
    columns = [spread(as_columns(value), count) for value in values]
    together = np.concatenate(columns, axis=1)
    # What the second engine traces lies nowhere.
    if not hasattr(together, "flags"):
        return together
    return together.astype(together.dtype, order="C", copy=False)


def words_in(value: SSAValue) -> Callable[[Bits], Bits]:
    """The words of a fragment or a register list: [threads, registers]."""
    if isinstance(value.type, FragmentType):
        return partial(words_of, element=value.type.element)
    return as_columns


def held_in(value: SSAValue) -> Callable[[Bits], Bits]:
    """The inverse of `words_in`: a single register has no columns."""
    if isinstance(value.type, FragmentType):
        return partial(elements_of, element=value.type.element)
    return lambda words: words[:, 0] if words.shape[1] == 1 else words


def stored_registers(op: Any) -> SSAValue:
    """The fragment, or the registers, that an op stores."""
    return getattr(op, "value" if hasattr(op, "value") else "fragment")
