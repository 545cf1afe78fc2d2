"""`memref` to `ptx`: addresses, loads, stores and atomics in global and shared memory.

A memref in flight is its address and, per dimension, a stride; the layout of a shared-memory tile
may be any CuTe layout, swizzled or not. Global addresses have 64 bits, shared ones 32.
"""

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefType,
    TensorType,
    i8,
)
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.types.memref import (
    SHARED_ALIGN,
    Space,
    alignment,
    footprint,
    is_memref,
    layout_of,
    space_of,
)
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, form_of
from tilewright.dialects.integers import integer_of
from tilewright.dialects.memref_access import (
    argument_strides,
    check_layout,
    check_space,
    element_size,
    mixed,
)
from tilewright.dialects.ptx.atomics import AtomOp
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.identifiers import identifier
from tilewright.dialects.ptx.module_variables import BYTES_ALONE, GlobalAddressOp, GlobalOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.dialects.ptx.scalars import AndOp, DivOp, RemOp, SelpOp, SetpOp, ShlOp, ShrOp, XorOp
from tilewright.lowering.to_ptx.conversion import Conversion, Tile, constant, lowers
from tilewright.lowering.to_ptx.convert_arith import divide, storage_of
from tilewright.lowering.to_ptx.known_bits import addends, lowest, possible_bits
from tilewright.source.diagnostic import OpError


def argument_tile(op: Operation, type_: MemRefType, address: SSAValue) -> Tile:
    """The tile of a kernel argument."""
    strides = argument_strides(op, type_)
    size = element_size(op, type_)
    return Tile(Space.GMEM, address, address, size, strides, layout_of(type_))


def module_variable(op: memref.GlobalOp) -> GlobalOp:
    """The variable of a module that a memref of bytes is. Raises OpError for any other."""
    octets = op.initial_value
    if op.type.element_type != i8 or not isinstance(octets, DenseIntOrFPElementsAttr):
        raise OpError(op, f"'{op.name}' {BYTES_ALONE}, got {op.type}")
    align = 1 if op.alignment is None else op.alignment.value.data
    count = math.prod(octets.get_shape())
    flat = DenseIntOrFPElementsAttr(TensorType(i8, [count]), octets.data)
    variable = GlobalOp(identifier(op.sym_name.data), align, flat)
    variable.location = op.location
    return variable


@lowers
def _module_variable(op: memref.GetGlobalOp, to: Conversion) -> Tile:
    name = identifier(op.name_.string_value())
    assert is_memref(op.memref.type)
    return argument_tile(op, op.memref.type, to.pure(GlobalAddressOp, name))


# Addresses


def locate(
    op: Operation, tile: Tile, indices: Sequence[SSAValue], to: Conversion
) -> tuple[SSAValue, int]:
    """The byte address of an element, as a register plus a constant."""
    shared = tile.space.is_shared
    coordinate = [to.narrow(to[index]) if shared else to[index] for index in indices]
    layout = tile.layout
    if layout is None:
        return _linear(tile, list(zip(coordinate, tile.strides, strict=True)), tile.address, to)
    plain = layout if isinstance(layout, Layout) else layout.outer
    assert isinstance(plain, Layout)
    terms = [
        term
        for mode, index in enumerate(coordinate)
        for term in mode_terms(plain[mode], index, tile.index_type, to)
    ]
    if isinstance(layout, Layout):
        return _linear(tile, terms, tile.address, to)
    return _swizzled(tile, layout, terms, to)


Term = tuple[SSAValue, "int | SSAValue"]


def mode_terms(mode: Layout, index: SSAValue, index_type: str, to: Conversion) -> list[Term]:
    """The index of one mode, split over its submodes: (coordinate, stride) pairs."""
    extents, strides = flatten(mode.shape), flatten(mode.stride)
    type_, kind = ("u32", "b32") if index_type == "u32" else ("u64", "b64")
    terms: list[Term] = []
    for place, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        assert isinstance(extent, int) and isinstance(stride, int)
        last = place == len(extents) - 1
        by = to.const(extent, kind)
        terms.append((index if last else divide(RemOp, index, by, type_, to), stride))
        if not last:
            index = divide(DivOp, index, by, type_, to)
    return terms


def _linear(
    tile: Tile, terms: Sequence[Term], base: SSAValue, to: Conversion
) -> tuple[SSAValue, int]:
    """base + sum(coordinate * stride) in bytes; what is constant is kept apart."""
    known, address = 0, base
    for coordinate, stride in terms:
        if isinstance(stride, int):
            scale = stride * tile.element_bytes
            rest, at = without_constant(coordinate, tile, to)
            known += at * scale
            if rest is not None and scale:
                address = to.plus(to.times(rest, scale, tile.index_type), address, tile.index_type)
        else:
            elements = to.multiply_add(coordinate, stride, to.const(0, "b64"), tile.index_type)
            scaled = to.times(elements, tile.element_bytes, tile.index_type)
            address = to.plus(scaled, address, tile.index_type)
    return address, known


def _swizzled(
    tile: Tile, layout: ComposedLayout, terms: Sequence[Term], to: Conversion
) -> tuple[SSAValue, int]:
    """base + bytes(swizzle(offset + linear)).

    A term whose stride is a multiple of the swizzle's period leaves the swizzled bits alone and
    is added after it, so that what selects a stage of a buffer costs one addition.
    """
    swizzle, outer = layout.inner, layout.offset
    assert isinstance(swizzle, Swizzle) and isinstance(outer, int)
    period = swizzle.size()
    inner, free, more = _by_period(terms, period, tile, to)
    linear, known = _linear(tile, inner, to.const(0, tile.address_kind), to)
    above, within = divmod(known // tile.element_bytes + outer + more, period)
    turned = _turned(swizzle, linear, within * tile.element_bytes, tile, to)
    address, at = _linear(tile, free, tile.address, to)
    at += above * period * tile.element_bytes
    if (constant_part := constant(turned)) is not None:
        return address, at + constant_part
    return to.plus(turned, address, tile.index_type), at


def _by_period(
    terms: Sequence[Term], period: int, tile: Tile, to: Conversion
) -> tuple[list[Term], list[Term], int]:
    """The terms that the swizzle sees, those that are multiples of its period, and a constant: the
    registers that a coordinate is a sum of are told apart."""
    inner: list[Term] = []
    free: list[Term] = []
    known = 0
    for coordinate, stride in terms:
        assert isinstance(stride, int)
        registers, constant_part = addends(coordinate)
        known += constant_part * stride
        bits = [possible_bits(register, to.known_bits) for register in registers]
        parts = [lowest(mask) * stride % period == 0 for mask in bits]
        if all(parts) or not any(parts):
            rest, _ = without_constant(coordinate, tile, to)
            if rest is not None:
                (free if all(parts) else inner).append((rest, stride))
            continue
        for register, is_free in zip(registers, parts, strict=True):
            (free if is_free else inner).append((register, stride))
    return inner, free, known


def without_constant(
    coordinate: SSAValue, tile: Tile, to: Conversion
) -> tuple[SSAValue | None, int]:
    """A coordinate as a register and a constant, so that addresses that differ by a constant share
    the rest."""
    registers, known = addends(coordinate)
    if not known and registers:
        return coordinate, 0
    total: SSAValue | None = None
    for register in registers:
        total = register if total is None else to.plus(total, register, tile.index_type)
    return total, known


def _turned(swizzle: Swizzle, linear: SSAValue, known: int, tile: Tile, to: Conversion) -> SSAValue:
    """The swizzle of a sum of bytes: where the two have no bit in common it is an exclusive or, and
    each is swizzled by itself."""
    kind = tile.address_kind
    if constant(linear) is not None or possible_bits(linear, to.known_bits) & known:
        whole = to.plus(linear, to.const(known, kind), tile.index_type)
        return _apply(swizzle, whole, tile, to)
    turned = _apply(swizzle, linear, tile, to)
    if not known:
        return turned
    beside = swizzle.apply(known // tile.element_bytes) * tile.element_bytes
    return to.scalar(XorOp, kind, turned, to.const(beside, kind))


def _apply(swizzle: Swizzle, offset: SSAValue, tile: Tile, to: Conversion) -> SSAValue:
    """offset ^ ((offset & mask) >> shift), on a byte offset."""
    scale, kind = tile.element_bytes, tile.address_kind
    base = swizzle.base + scale.bit_length() - 1
    mask = ((1 << swizzle.bits) - 1) << (base + max(0, swizzle.shift))
    if (known := constant(offset)) is not None:
        return to.const(swizzle.apply(known // scale) * scale, kind)
    high = to.scalar(AndOp, kind, offset, to.const(mask, kind))
    amount = to.const(abs(swizzle.shift), "b32")
    moved = (
        to.scalar(ShrOp, f"u{kind[1:]}", high, amount)
        if swizzle.shift > 0
        else to.scalar(ShlOp, kind, high, amount)
    )
    return to.scalar(XorOp, kind, offset, moved)


# Allocations and views


@lowers(memref.AllocOp, memref.AllocaOp)
def _allocate(op: memref.AllocOp, to: Conversion) -> Tile:
    type_ = op.memref.type
    if space_of(type_.memory_space) is not Space.SMEM:
        raise OpError(
            op,
            f"'{op.name}' expected a memref in shared memory, got {type_}; nearest legal: "
            "#cute<space smem>",
        )
    align = integer_of(op.alignment, SHARED_ALIGN)
    return allocate(op, type_, align, to)


def allocate(op: Operation, type_: MemRefType, align: int, to: Conversion) -> Tile:
    """A new tile of the kernel's shared memory."""
    check_layout(op, type_)
    layout = layout_of(type_)
    if layout is None:
        raise OpError(op, f"'{op.name}' expected a static shape and layout, got {type_}")
    size = element_size(op, type_)
    offset = to.shared.take(footprint(layout) * size, alignment(align, layout, size))
    address = to.pure(SharedAddressOp, offset)
    return Tile(Space.SMEM, address, address, size, (), layout)


@lowers
def _reinterpret(op: memref.ReinterpretCastOp, to: Conversion) -> Tile:
    check_space(op, op.source.type)
    check_layout(op, op.result.type)
    source = to.tile(op.source)
    offsets = mixed(op.static_offsets.get_values(), map(to.__getitem__, op.offsets))
    strides = mixed(op.static_strides.get_values(), map(to.__getitem__, op.strides))
    address = source.base
    for offset in offsets:
        if isinstance(offset, int):
            offset = to.const(offset, "b64")
        if source.space.is_shared:
            offset = to.narrow(offset)
        scaled = to.times(offset, source.element_bytes, source.index_type)
        address = to.plus(scaled, address, source.index_type)
    layout = None if op.sizes or op.strides else layout_of(op.result.type)
    if source.space.is_shared and layout is None:
        raise OpError(op, f"'{op.name}' of shared memory expected static sizes and strides")
    return Tile(source.space, source.base, address, source.element_bytes, strides, layout)


# Loads and stores


def _place(op: Any, to: Conversion) -> tuple[str, SSAValue, int]:
    """The space, the address and the offset of an element."""
    check_space(op, op.memref.type)
    tile = to.tile(op.memref)
    return tile.ptx_space, *locate(op, tile, op.indices, to)


@lowers
def _load(op: memref.LoadOp, to: Conversion) -> SSAValue:
    storage, (space, address, offset) = storage_of(op, op.res.type), _place(op, to)
    value = to.emit(LdOp(space, storage.access, address, offset))
    if storage.kind == "pred":
        value = to.scalar(SetpOp, "ne.u16", value, to.const(0, "b16"))
    return value


@lowers
def _store(op: memref.StoreOp, to: Conversion) -> None:
    storage, (space, address, offset) = storage_of(op, op.value.type), _place(op, to)
    value = to[op.value]
    if storage.kind == "pred":
        value = to.scalar(SelpOp, "b16", to.const(1, "b16"), to.const(0, "b16"), value)
    to.add(StOp(space, storage.access, address, value, offset))


@lowers
def _atomic(op: memref.AtomicRMWOp, to: Conversion) -> SSAValue:
    form = form_of(op.kind.value.data, str(op.value.type))
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' expected {LEGAL}, got kind {op.kind.value.data} of "
                      f"{op.value.type}")  # fmt: skip
    space, address, offset = _place(op, to)
    return to.emit(AtomOp(space, form, address, [to[op.value]], offset))


LEGAL = "addf (0) of f32 or f64, or addi (1), assign (2), maxs (4), maxu (5), mins (7), minu (8), \
ori (11), andi (12) or xori (15) of i32 or i64"
