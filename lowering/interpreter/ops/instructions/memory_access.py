"""Loads, stores and reductions of threads, of every level: of words at an element of a memref or at
an address; and accesses to multicast objects: one device has one copy, so that what it combines is
that copy."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.ops import address, fragment_memory, multimem
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx import atomics, data_movement
from tilewright.dialects.ptx import multimem as ptx_multimem
from tilewright.dialects.ptx.instruction import PtxOp, content
from tilewright.dialects.ptx.types import KINDS, RegType
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.machine.atomic_order import WEAKLY, AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import container
from tilewright.lowering.interpreter.ops.base.memref import (
    addressed_bytes,
    change_words,
    exchange,
    keep,
    load_words,
    store_words,
)
from tilewright.lowering.interpreter.ops.instructions.atomics import combine, word_type
from tilewright.lowering.interpreter.ops.instructions.operands import (
    held_in,
    is_generic,
    located,
    side_by_side,
    stored_registers,
    windows,
)
from tilewright.lowering.interpreter.values import (
    CONTAINERS,
    Bits,
    PartlyUndefined,
    Undefined,
    spread,
)

# Registers and the words of memory


def _words_of(op: Any) -> tuple[int, int]:
    """The bytes of a word that a thread accesses, and how many there are."""
    match op:
        case data_movement.LdOp() | data_movement.StOp():
            return op.access_bytes, op.data.type.count.data
        case ptx_multimem.MultimemOp():
            register = op.data.type
            octet = op.form.data.endswith(".b8")
            return 1 if octet else KINDS[register.kind.data] // 8, register.count.data
        case fragment_memory.LoadOp() | fragment_memory.StoreOp():
            element = op.fragment_type.element
            return np.dtype(element.container).itemsize, op.fragment.type.count.data
        case memref.LoadOp() | memref.StoreOp():
            return addressed_bytes(op, op.memref.type), 1
        case _:
            return container(op, op.elements[0].type).itemsize, len(op.elements)


def _loaded(op: Any) -> Callable[[Bits], Any]:
    """The results of a load, of its words."""
    type_ = op.results[0].type
    if isinstance(type_, FragmentType):
        return lambda words: words
    if isinstance(type_, RegType):
        listed, dtype = held_in(op.results[0]), CONTAINERS[type_.kind.data]
        return lambda words: listed(words).astype(dtype, copy=False)
    return lambda words: [column != 0 if type_ == i1 else column for column in words.T]


def _stored(op: Any) -> Sequence[SSAValue]:
    """The values that an op stores or combines."""
    return op.elements if hasattr(op, "elements") else [stored_registers(op)]


def _otherwise(op: Any) -> Sequence[SSAValue]:
    """The values of a load where its predicate does not hold."""
    values = getattr(op, "otherwise", None) or ()
    return [values] if values and isinstance(op, PtxOp) else values


def _order(op: Any, kind: str) -> AccessOrder:
    return AccessOrder.of(op.semantics.data, kind) if hasattr(op, "semantics") else WEAKLY


# Loads, stores and reductions


def _space_of(op: Any) -> str | None:
    """The space that an instruction says its addresses are of, in windows of one memory."""
    space = op.space.data if isinstance(op, data_movement.LdOp | data_movement.StOp) else None
    return space if space in ("global", "const", "local") else None


@accesses(memref.LoadOp, fragment_memory.LoadOp, address.LoadOp, data_movement.LdOp)
def _load(op: Any, number: int) -> Effect:
    (width, count), results = _words_of(op), _loaded(op)
    generic, space = is_generic(op), _space_of(op)
    load = partial(
        load_words, width=width, count=count, number=number,
        shared=memory_operand(op).is_shared, order=_order(op, "ld"),
        read_only=isinstance(op, data_movement.LdOp) and op.is_read_only,
    )  # fmt: skip

    def run(machine: Machine, gang: Gang, at: Bits, chosen: Bits | None, others: list[Bits]) -> Any:
        if space is not None:
            at = machine.memory.in_space(at, chosen, space)
        otherwise = side_by_side(others, gang.count) if others else None
        words = np.zeros((gang.count, count), f"uint{8 * width}") if generic else otherwise
        for shared, place, part in windows(at, chosen, generic, load.keywords["shared"]):
            words = load(machine, gang, place, chosen=part, otherwise=words, shared=shared)
        assert words is not None
        return results(words)

    chosen = getattr(op, "predicate", None)
    return run, located, chosen, _otherwise(op)


@accesses(memref.StoreOp, fragment_memory.StoreOp, address.StoreOp, data_movement.StOp)
def _store(op: Any, number: int) -> Effect:
    width, chosen = _words_of(op)[0], getattr(op, "predicate", None)
    dtype = f"uint{8 * width}"
    generic, space = is_generic(op), _space_of(op)
    store = partial(
        store_words, number=number, shared=memory_operand(op).is_shared,
        order=_order(op, "st"),
    )  # fmt: skip

    def run(
        machine: Machine, gang: Gang, at: Bits, values: list[Bits], chosen: Bits | None
    ) -> None:
        if space is not None:
            at = machine.memory.in_space(at, chosen, space)
        if isinstance(values[0], Undefined):
            values, chosen = _forgotten(machine, gang, at, values[0], chosen, width)
        words = side_by_side(values, gang.count).astype(dtype, copy=False)
        for shared, place, part in windows(at, chosen, generic, store.keywords["shared"]):
            store(machine, gang, place, words, chosen=part, shared=shared)

    place = partial(located, check=chosen is None)
    return run, place, _stored(op), chosen


def _forgotten(
    machine: Machine, gang: Gang, at: Bits, value: Any, chosen: Bits | None, width: int
) -> tuple[list[Bits], Bits]:
    """The words and the threads of a store of a value that is undefined in some: there, words of
    local memory are as if nothing had written them."""
    is_part = type(value) is PartlyUndefined
    missing = value.missing if is_part else np.ones(gang.count, np.bool_)
    others = np.ones(gang.count, np.bool_) if chosen is None else spread(chosen, gang.count)
    if type(value) not in (Undefined, PartlyUndefined) or not machine.memory.forget(
        spread(at, gang.count)[missing & others], width
    ):
        value.fault()
    return [value.value if is_part else np.zeros(1, f"uint{8 * width}")], others & ~missing


@accesses(address.ReduceOp, atomics.RedOp)
def _red(op: Any, number: int) -> Effect:
    order, form = _order(op, "atom"), content(op.form)
    of_shared, dtype = memory_operand(op).is_shared, word_type(form)
    generic, changes = is_generic(op), [combine(form, shared=shared) for shared in (False, True)]

    def run(
        machine: Machine, gang: Gang, at: Bits, values: list[Bits], chosen: Bits | None
    ) -> None:
        words = side_by_side(values, gang.count).view(dtype)
        for shared, place, part in windows(at, chosen, generic, of_shared):
            change = changes[shared]
            change_words(machine, gang, place, words, change, number, part, order, shared)

    return run, located, _stored(op), op.predicate


# Multicast objects


@accesses(
    multimem.MultimemLoadReduceOp, multimem.MultimemStoreOp, multimem.MultimemReduceOp,
    ptx_multimem.MultimemLoadReduceOp, ptx_multimem.MultimemStoreOp, ptx_multimem.MultimemReduceOp,
)  # fmt: skip
def _multimem(op: Any, number: int) -> Effect:
    """The words of a load are what it gives where it is not done."""
    is_ptx = isinstance(op, ptx_multimem.MultimemOp)
    name, _, form = (op.row_form if is_ptx else f"{op.INSTRUCTION}.{op.form}").partition(".")
    access, loads = _access(name, form, number), name == "ld_reduce"
    (width, count), results = _words_of(op), _loaded(op) if loads else None

    def run(machine: Machine, gang: Gang, at: Bits, given: list[Bits], chosen: Bits | None) -> Any:
        words = np.zeros((gang.count, count), f"uint{8 * width}")
        if given:
            words[:] = side_by_side(given, gang.count)
        words = access(machine, gang, at, words, chosen)
        return results(words) if results else None

    given = _otherwise(op) if loads else _stored(op)
    return run, partial(located, name="address"), given, op.predicate


Words = NDArray[np.unsignedinteger]
Access = Callable[[Machine, Gang, Bits, Words, Bits | None], Words]


def _access(name: str, form: str, number: int) -> Access:
    """How threads access words [threads, words] from their addresses on. What is strong happens one
    after the other."""
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
        elif name == "red":
            parts = words.view(word_type(form))
            change_words(machine, gang, address, parts, change, number, chosen, order)
        else:
            change_words(machine, gang, address, words, change, number, chosen, order)
        return words

    return access
