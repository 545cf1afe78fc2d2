"""Tensor descriptors: tiles of pointers, masked where they leave the tensor.

A descriptor that is a parameter is the pointer to its tensor, and whether NaN is outside of it; the
shape and the strides are the parameters behind it, as Triton flattens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness, i32, i64
from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.attributes import DivByAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.lowering.triton.atomics import update
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.facts import assumed
from tilewright.lowering.triton.memory import load, store
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import SIGNED


@dataclass(frozen=True)
class TensorDescriptor:
    """A tensor in memory, and the block that is accessed at a time. Outside of it are zeros, or,
    where `nan` is true, NaN."""

    base: SSAValue
    shape: Sequence[SSAValue]
    strides: Sequence[SSAValue]
    block: tuple[int, ...]
    nan: SSAValue | bool
    unsigned: bool = False


def flat(values: Sequence[Any]) -> list[SSAValue]:
    """Values as loops and branches pass them on: of a descriptor its numbers."""
    return [part for value in values for part in (
        (value.base, *value.shape, *value.strides) if isinstance(value, TensorDescriptor)
        else (value,)
    )]  # fmt: skip


def rebuilt(like: Sequence[Any], parts: Iterable[SSAValue]) -> list[Any]:
    """Values that were passed on, descriptors as those that went in."""
    rest, values = iter(parts), list[Any]()
    for value in like:
        if isinstance(value, TensorDescriptor):
            base, rank = next(rest), len(value.shape)
            shape, strides = ([next(rest) for _ in range(rank)] for _ in range(2))
            values.append(replace(value, base=base, shape=shape, strides=strides))
        else:
            values.append(next(rest))
    return values


def described(
    at: TritonConversion, type_: Any, base: SSAValue, shape: Sequence[SSAValue],
    strides: Sequence[SSAValue], nan: SSAValue | bool,
) -> TensorDescriptor:  # fmt: skip
    """The descriptor of a type, with what Triton demands of one: its address and its strides are
    multiples of 16 bytes, but for the last stride, which is 1."""
    block = type_.block_type
    element: Any = block.element_type
    base = assumed(at, base, DivByAttr.get(CHUNK))
    whole = DivByAttr.get(CHUNK // pointee_bytes(base))
    *outer, last = strides
    strides = [*(assumed(at, stride, whole) for stride in outer), at.constant(1, last.type)]
    signedness = getattr(element, "signedness", None)
    unsigned = signedness is not None and signedness.data is Signedness.UNSIGNED
    return TensorDescriptor(base, shape, strides, block.get_shape(), nan, unsigned)


def parameter(at: TritonConversion, argument: BlockArgument, nan: SSAValue) -> TensorDescriptor:
    """The descriptor that is a parameter, with those behind it."""
    type_: Any = argument.type
    rank, first = len(type_.block_type.get_shape()), argument.index + 1
    numbers = at.all(argument.owner.args[first : first + 2 * rank])
    return described(at, type_, at[argument], numbers[:rank], numbers[rank:], nan)


@converts(triton.MakeTensorDescOp)
def _make(op: Any, at: TritonConversion) -> Sequence[TensorDescriptor]:
    nan = op.word("padding") == "nan"
    return [described(at, op.result.type, at[op.base], at.all(op.shape), at.all(op.strides), nan)]


def _places(
    at: TritonConversion, tensor: TensorDescriptor, indices: Sequence[SSAValue]
) -> tuple[SSAValue, SSAValue]:
    """The pointers to a block that begins at indices, and which of them are in the tensor. An
    index that is a row names each place along its dimension by itself."""
    pointers, inside = at.spread(tensor.base, tensor.block), None
    for axis, index in enumerate(indices):
        extent = shape_of(index)[0] if shape_of(index) else tensor.block[axis]
        block = (*tensor.block[:axis], extent, *tensor.block[axis + 1 :])
        if not shape_of(index):
            row = at.spread(index, (extent,))
            index = at.add(integer.AddIOp, [row, at.iota(extent, i32)])
        limit = at.spread(tensor.shape[axis], (extent,))
        zero = at.constant(0, TileType.get((extent,), i32))
        within = at.add(integer.AndIOp, [
            at.compare(ComparisonPredicate.GREATER_THAN_OR_EQUAL, index, zero, SIGNED),
            at.compare(ComparisonPredicate.LESS_THAN, index, limit, SIGNED),
        ])  # fmt: skip
        stride = at.spread(tensor.strides[axis], (extent,))
        offset = at.add(integer.MulIOp, [at.resized(index, i64, SIGNED), stride])
        mask = at.spread(within, block, axis)
        inside = mask if inside is None else at.add(integer.AndIOp, [inside, mask])
        pointers = at.add(core.OffsetOp, [pointers, at.spread(offset, block, axis)])
    assert inside is not None
    return pointers, inside


@converts(triton.DescriptorLoadOp)
def _load(op: Any, at: TritonConversion) -> SSAValue:
    return _loaded(at, at[op.desc], at.all(op.indices), at.tile(op.result.type))


def _loaded(
    at: TritonConversion, tensor: TensorDescriptor, indices: Sequence[SSAValue], type_: TileType
) -> SSAValue:
    pointers, inside = _places(at, tensor, indices)
    element = type_.element_type
    padding = at.constant(0, element)
    if tensor.nan is not False and not isinstance(element, IntegerType):
        nan = at.constant(float("nan"), element)
        padding = nan if tensor.nan is True else at.add(
            core.SelectOp, [tensor.nan, nan, padding], padding.type)  # fmt: skip
    loaded = load(at, pointers, inside, at.spread(padding, shape_of(pointers)))
    return at.reshape(loaded, type_.shape)


@converts(triton.DescriptorStoreOp)
def _store(op: Any, at: TritonConversion) -> None:
    pointers, inside = _places(at, at[op.desc], at.all(op.indices))
    store(at, pointers, at.reshape(at[op.src], shape_of(pointers)), inside)


@converts(triton.DescriptorReduceOp)
def _reduce(op: Any, at: TritonConversion) -> None:
    tensor: TensorDescriptor = at[op.desc]
    pointers, inside = _places(at, tensor, at.all(op.indices))
    value, kind = at.reshape(at[op.src], shape_of(pointers)), op.word("kind")
    if kind == "add" and not isinstance(element_of(value), IntegerType):
        kind = "addf"
    if kind in ("min", "max") and tensor.unsigned:
        kind = f"u{kind}"
    update(at, pointers, kind, value, inside)


@converts(triton.DescriptorGatherOp)
def _gather(op: Any, at: TritonConversion) -> SSAValue:
    indices, type_ = at.all([op.x_offsets, op.y_offset]), at.tile(op.result.type)
    return _loaded(at, _rows(at[op.desc], type_.shape), indices, type_)


@converts(triton.DescriptorScatterOp)
def _scatter(op: Any, at: TritonConversion) -> None:
    value = at[op.src]
    tensor = _rows(at[op.desc], shape_of(value))
    pointers, inside = _places(at, tensor, at.all([op.x_offsets, op.y_offset]))
    store(at, pointers, value, inside)


def _rows(tensor: TensorDescriptor, block: tuple[int, ...]) -> TensorDescriptor:
    """A descriptor of rows that are named one by one."""
    return replace(tensor, block=block)
