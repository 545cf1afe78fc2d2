"""`memref`: typed views of memory, their bounds checked index by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cute import ComposedLayout, Layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.memref import (
    SHARED_ALIGN,
    Space,
    alignment,
    footprint,
    layout_of,
    space_of,
)
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import REACH
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import integer_of
from tilewright.dialects.memref_access import (
    argument_strides,
    check_layout,
    check_space,
    element_size,
    mixed,
)
from tilewright.lowering.interpreter.builder import Builder, Effect, Step, effect, effects, runs
from tilewright.lowering.interpreter.errors import Fault, faults_of, first_of
from tilewright.lowering.interpreter.machine.atomic_order import WEAKLY, AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.lane_record import LaneRecord
from tilewright.lowering.interpreter.values import Bits, Lanes, spread
from tilewright.source.diagnostic import OpError

Extent = int | Bits
"""A size or stride: known before, or one value a thread."""


@frozen
class View(LaneRecord):
    """A memref at run time: `address` of its first element in bytes, one a thread (or one for
    all); `sizes` and `strides` in elements (a size of None is not known), or a `layout`.

    `base` is the address of its buffer: `memref.reinterpret_cast` counts offsets from there.
    """

    space: Space
    base: Bits
    address: Bits
    width: int
    sizes: tuple[Extent | None, ...]
    strides: tuple[Extent, ...]
    layout: AnyLayout | None

    def locate(self, indices: Sequence[Bits], *, check: bool = True) -> Bits:
        """The byte address of an element in every thread. Raises Fault out of bounds."""
        signed = [index.view(np.int64) for index in indices]
        if check:
            for dimension, (index, size) in enumerate(zip(signed, self.sizes, strict=True)):
                if size is not None:
                    check_index(dimension, index, size)
        offset = self._offset(signed)
        return (self.address.astype(np.int64) + offset * self.width).astype(np.uint64)

    def _offset(self, indices: Sequence[Any]) -> Any:
        if self.layout is None:
            total: Any = np.zeros(1, dtype=np.int64)
            for index, stride in zip(indices, self.strides, strict=True):
                step = stride if isinstance(stride, int) else stride.view(np.int64)
                total = total + index * step
            return total
        return _at(self.layout, indices)


def _at(layout: AnyLayout, indices: Sequence[Any]) -> Any:
    """The layout's value at arrays of coordinates, one array a mode."""
    if isinstance(layout, ComposedLayout):
        inner = layout.inner
        assert not isinstance(inner, Layout)
        return inner.apply(layout.offset + _at(layout.outer, indices))
    return sum(layout[mode](index) for mode, index in enumerate(indices))


def check_index(dimension: int, index: Any, size: Extent) -> None:
    """Raise Fault for an index that is not below its extent."""
    limit = size if isinstance(size, int) else size.view(np.int64)
    outside = (index < 0) | (index >= limit)
    if (lane := first_of(outside)) is not None:
        extent = limit if isinstance(limit, int) else int(spread(limit, len(outside))[lane])
        raise Fault(
            f"out of bounds: index {int(spread(index, len(outside))[lane])} of extent {extent} in "
            f"dimension {dimension}",
            lane,
        )


def argument_view(op: Operation, type_: MemRefType, address: int, width: int) -> View:
    """The view of a kernel argument. Raises OpError where it can be none."""
    strides, layout = argument_strides(op, type_), layout_of(type_)
    sizes = tuple(None if size == DYNAMIC_INDEX else size for size in type_.get_shape())
    base = np.array([address], dtype=np.uint64)
    return View(Space.GMEM, base, base, width, sizes, strides, layout)


def addressed_bytes(op: Operation, type_: Attribute) -> int:
    """The bytes of an element that threads address. Raises OpError where they can not."""
    check_space(op, type_)
    return element_size(op, type_)


def place_in_shared(
    op: Operation, builder: Builder, layout: AnyLayout, width: int, align: int
) -> int:
    """The first byte of a new allocation in the kernel's shared memory. Raises OpError where no
    address reaches all of it."""
    align = alignment(align, layout, width)
    offset = -(-builder.shared_bytes // align) * align
    builder.shared_bytes = end = offset + footprint(layout) * width
    if end > REACH:
        raise OpError(op, f"'{op.name}' expected at most {REACH} bytes of shared memory, got {end}")
    return offset


@runs(memref.AllocOp, memref.AllocaOp)
def _allocate(op: memref.AllocOp, builder: Builder) -> Step:
    type_ = op.memref.type
    check_layout(op, type_)
    layout = layout_of(type_)
    if space_of(type_.memory_space) is not Space.SMEM or layout is None:
        raise OpError(op, f"'{op.name}' expected a static memref in shared memory, got {type_}")
    width = element_size(op, type_)
    asked = integer_of(op.alignment, SHARED_ALIGN)
    base = np.array([place_in_shared(op, builder, layout, width, asked)], dtype=np.uint64)
    view = View(Space.SMEM, base, base, width, type_.get_shape(), (), layout)
    return effect(op, builder, lambda machine, gang: view)


@effects
def _reinterpret(op: memref.ReinterpretCastOp) -> Effect:
    check_space(op, op.source.type)
    check_layout(op, op.result.type)
    layout = layout_of(op.result.type) if not (op.sizes or op.strides) else None
    static = [
        numbers.get_values() for numbers in (op.static_offsets, op.static_sizes, op.static_strides)
    ]

    def run(machine: Machine, gang: Gang, view: View, *dynamic: list[Bits]) -> View:
        offsets, sizes, strides = map(mixed, static, dynamic)
        address = view.base
        for offset in offsets:
            moved = offset if isinstance(offset, int) else offset.view(np.int64)
            address = (address.astype(np.int64) + moved * view.width).astype(np.uint64)
        return View(view.space, view.base, address, view.width, sizes, strides, layout)

    return run, op.source, op.offsets, op.sizes, op.strides


# Loads and stores


def load_words(
    machine: Machine, gang: Gang, address: Bits, *, width: int, count: int, number: int,
    shared: bool, order: AccessOrder = WEAKLY, chosen: Bits | None = None,
    otherwise: Bits | None = None, read_only: bool = False,
) -> Bits:  # fmt: skip
    """`count` words of `width` bytes at each thread's address, [threads or 1, count], and those of
    `otherwise` in threads that are not `chosen`; those with an order happen one after the other."""
    if order.strong:
        words = np.zeros((gang.count, count), f"uint{8 * width}")
        if otherwise is not None:
            words[:] = otherwise
        change_words(machine, gang, address, words, keep, number, chosen, order, shared)
        return words

    def load(lanes: Lanes, address: Bits) -> Bits:
        if shared:
            octets = machine.shared.load(lanes, address, width * count, number)
            return octets.view(f"uint{8 * width}")
        words = machine.accesses.load(lanes, address, width, count, number, read_only=read_only)
        return words.reshape(-1, count)

    if chosen is None or otherwise is None:
        return load(gang.lanes, address)
    words = np.array(spread(otherwise, gang.count))
    if len(threads := np.flatnonzero(spread(chosen, gang.count))):
        with faults_of(threads):
            words[threads] = load(gang.lanes[threads], spread(address, gang.count)[threads])
    return words


def store_words(
    machine: Machine, gang: Gang, address: Bits, words: Bits, *, number: int, shared: bool,
    order: AccessOrder = WEAKLY, chosen: Bits | None = None,
) -> None:  # fmt: skip
    """Store [threads, words] at the threads' addresses, in the `chosen` threads alone; those with
    an order one after the other."""
    address = spread(address, gang.count)
    if order.strong:
        change_words(machine, gang, address, words, exchange, number, chosen, order, shared)
        return

    def store(lanes: Lanes, address: Bits, words: Bits) -> None:
        if shared:
            machine.shared.store(lanes, address, words.view(np.uint8), number)
        else:
            machine.accesses.store(lanes, address, words, words.itemsize, words.shape[1], number)

    if chosen is None:
        store(gang.lanes, address, words)
    elif len(threads := np.flatnonzero(spread(chosen, gang.count))):
        with faults_of(threads):
            store(gang.lanes[threads], address[threads], np.ascontiguousarray(words[threads]))


def keep(old: Bits, _: Bits) -> Bits:
    """The word of memory as it was, for loads."""
    return old


def exchange(_: Bits, value: Bits) -> Bits:
    """Another word, for stores."""
    return value


def change_words(
    machine: Machine, gang: Gang, address: Bits, words: Bits, change: Callable[..., Bits],
    number: int, chosen: Bits | None, order: AccessOrder, shared: bool = False,
) -> None:  # fmt: skip
    """Let words of memory be changed by `words`, [threads, words], one after the other, in
    the `chosen` threads alone; `words` become those that were there."""
    everyone = np.ones(gang.count, bool) if chosen is None else spread(chosen, gang.count)
    if not len(threads := np.flatnonzero(everyone)):
        return
    at = spread(address, gang.count)[threads].astype(np.int64)
    with faults_of(threads):
        for i in range(words.shape[1]):
            places = (at + i * words.itemsize).astype(address.dtype)
            values = [np.ascontiguousarray(words[threads, i])]
            words[threads, i] = machine.atomics.perform(
                gang.lanes[threads], places, values, change, number, order, shared=shared
            )


@effects
def _module_variable(op: memref.GetGlobalOp) -> Effect:
    name, type_, width = op.name_.string_value(), op.memref.type, element_size(op, op.memref.type)
    return lambda machine, _: argument_view(op, type_, machine.memory.variables[name], width)
