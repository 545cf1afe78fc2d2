"""Tensor descriptors: tiles of pointers, masked where they leave the tensor.

A descriptor that is a parameter is the pointer to its tensor, and whether NaN is outside of it; the
shape and the strides are the parameters behind it, as Triton flattens it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import BoolAttr, IntegerType, Signedness, i64
from xdsl.ir import Attribute, BlockArgument, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.attributes import DivByAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.frozen import frozen
from tilewright.lowering.triton.atomics import update
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.facts import assumed
from tilewright.lowering.triton.memory import load, store
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import SIGNED

_TRUE = BoolAttr.from_bool(True)
WHOLE = "tt.whole_shapes"
"""The attribute of a module, true where the sizes of descriptors that are parameters are multiples
of 16: launches are asked."""


@frozen
class TensorDescriptor:
    """A tensor in memory, and the block that is accessed at a time. Outside of it are zeros, or,
    where `nan` is true, NaN. A block pointer has the `offsets` of its block."""

    base: SSAValue
    shape: Sequence[SSAValue]
    strides: Sequence[SSAValue]
    block: tuple[int, ...]
    nan: SSAValue | bool
    unsigned: bool = False
    offsets: Sequence[SSAValue] = ()


def flat(values: Sequence[Any]) -> list[SSAValue]:
    """Values as loops and branches pass them on: of a descriptor its numbers."""
    return [part for value in values for part in (
        (value.base, *value.shape, *value.strides, *value.offsets)
        if isinstance(value, TensorDescriptor) else (value,)
    )]  # fmt: skip


def rebuilt(like: Sequence[Any], parts: Iterable[SSAValue]) -> list[Any]:
    """Values that were passed on, descriptors as those that went in."""
    rest, values = iter(parts), list[Any]()
    for value in like:
        if isinstance(value, TensorDescriptor):
            base, numbers = next(rest), (value.shape, value.strides, value.offsets)
            shape, strides, offsets = ([next(rest) for _ in row] for row in numbers)
            values.append(replace(value, base=base, shape=shape, strides=strides, offsets=offsets))
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


def whole_sizes(function: triton.FuncOp) -> set[int]:
    """The numbers of the parameters that are sizes of descriptors, multiples of 16."""
    module, types = function.parent_op(), [x.type for x in function.body.blocks[0].args]
    if module is None or module.attributes.get(WHOLE) != _TRUE:
        return set()
    return {
        i + 1 + axis
        for i, type_ in enumerate(types)
        if isinstance(type_, triton.TensorDescType)
        for axis in range(len(type_.block_type.get_shape()))  # type: ignore[attr-defined]
    }


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


def places(
    at: TritonConversion, tensor: TensorDescriptor, indices: Sequence[SSAValue],
    checked: Collection[int] | None = None,
) -> tuple[SSAValue, SSAValue | None]:  # fmt: skip
    """The pointers to a block that begins at indices, and which of them are in the tensor, along
    all dimensions or those that are `checked`. An index that is a row names each place along its
    dimension by itself."""
    pointers, inside = at.spread(tensor.base, tensor.block), None
    for axis, index in enumerate(indices):
        extent = shape_of(index)[0] if shape_of(index) else tensor.block[axis]
        block = (*tensor.block[:axis], extent, *tensor.block[axis + 1 :])
        if not shape_of(index):
            element = element_of(tensor.shape[axis])
            row = at.spread(at.resized(index, element, SIGNED), (extent,))
            index = at.add(integer.AddIOp, [row, at.iota(extent, element)])
        stride = at.spread(tensor.strides[axis], (extent,))
        offset = at.add(integer.MulIOp, [at.resized(index, i64, SIGNED), stride])
        if checked is None or axis in checked:
            mask = at.spread(_within(at, index, tensor.shape[axis]), block, axis)
            inside = mask if inside is None else at.add(integer.AndIOp, [inside, mask])
        pointers = at.add(core.OffsetOp, [pointers, at.spread(offset, block, axis)])
    return pointers, inside


def _within(at: TritonConversion, index: SSAValue, extent: SSAValue) -> SSAValue:
    """Which indices of a row are from 0 on, and below an extent."""
    zero, limit = at.constant(0, index.type), at.spread(extent, shape_of(index))
    return at.add(integer.AndIOp, [
        at.compare(ComparisonPredicate.GREATER_THAN_OR_EQUAL, index, zero, SIGNED),
        at.compare(ComparisonPredicate.LESS_THAN, index, limit, SIGNED),
    ])  # fmt: skip


@converts(triton.DescriptorLoadOp)
def _load(op: Any, at: TritonConversion) -> SSAValue:
    return _loaded(at, at[op.desc], at.all(op.indices), at.tile(op.result.type))


def _loaded(
    at: TritonConversion, tensor: TensorDescriptor, indices: Sequence[SSAValue], type_: TileType
) -> SSAValue:
    pointers, inside = places(at, tensor, indices)
    padding = at.spread(padding_of(at, tensor.nan, type_.element_type), shape_of(pointers))
    return at.reshape(load(at, pointers, inside, padding), type_.shape)


def padding_of(at: TritonConversion, nan: SSAValue | bool, element: Attribute) -> SSAValue:
    """The element outside of a tensor: zero, or NaN where that is true and there is one."""
    padding = at.constant(0, element)
    if nan is False or isinstance(element, IntegerType):
        return padding
    number = at.constant(float("nan"), element)
    if nan is True:
        return number
    return at.select(nan, number, padding)


@converts(triton.DescriptorStoreOp)
def _store(op: Any, at: TritonConversion) -> None:
    pointers, inside = places(at, at[op.desc], at.all(op.indices))
    store(at, pointers, at.reshape(at[op.src], shape_of(pointers)), inside)


@converts(triton.DescriptorReduceOp)
def _reduce(op: Any, at: TritonConversion) -> None:
    tensor: TensorDescriptor = at[op.desc]
    pointers, inside = places(at, tensor, at.all(op.indices))
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
    pointers, inside = places(at, tensor, at.all([op.x_offsets, op.y_offset]))
    store(at, pointers, value, inside)


def _rows(tensor: TensorDescriptor, block: tuple[int, ...]) -> TensorDescriptor:
    """A descriptor of rows that are named one by one."""
    return replace(tensor, block=block)
