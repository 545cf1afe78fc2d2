"""Pointers to blocks of tensors: descriptors with the offsets of the block, which are checked where
an access says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops.integer import AddIOp
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.descriptors import TensorDescriptor, padding_of, places
from tilewright.lowering.triton.memory import load, load_by_pointers, store, store_by_pointers
from tilewright.passes.cuda_tile.layouts.elements import shape_of


@converts(triton.MakeTensorPtrOp)
def _make(op: Any, at: TritonConversion) -> Sequence[TensorDescriptor]:
    block = op.result.type.pointee_type.get_shape()
    shape, strides, offsets = (at.all(row) for row in (op.shape, op.strides, op.offsets))
    return [TensorDescriptor(at[op.base], shape, strides, block, nan=False, offsets=offsets)]


@converts(triton.AdvanceOp)
def _advance(op: Any, at: TritonConversion) -> Sequence[TensorDescriptor]:
    block: TensorDescriptor = at[op.ptr]
    pairs = zip(block.offsets, at.all(op.offsets), strict=True)
    return [replace(block, offsets=[at.add(AddIOp, [*pair]) for pair in pairs])]


@converts
def _load(op: triton.LoadOp, at: TritonConversion) -> SSAValue:
    block = at[op.ptr]
    if not isinstance(block, TensorDescriptor):
        return load_by_pointers(op, at)
    pointers, inside = places(at, block, block.offsets, op.word("boundaryCheck"))
    padding, kind = None, op.word("padding")
    if inside is not None and kind is not None:
        element = padding_of(at, kind == "nan", at.tile(op.result.type).element_type)
        padding = at.spread(element, shape_of(pointers))
    return load(at, pointers, inside, padding)


@converts
def _store(op: triton.StoreOp, at: TritonConversion) -> None:
    block = at[op.ptr]
    if not isinstance(block, TensorDescriptor):
        return store_by_pointers(op, at)
    pointers, inside = places(at, block, block.offsets, op.word("boundaryCheck"))
    store(at, pointers, at[op.value], inside)
    return None
