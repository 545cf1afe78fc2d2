"""Loads and stores by tiles of pointers, in the order of the program."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops import conversions
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.lowering.triton.conversion import TritonConversion
from tilewright.passes.cuda_tile.layouts.elements import element_of, tile_type


def load_by_pointers(op: triton.LoadOp, at: TritonConversion) -> SSAValue:
    """The elements that the pointers of an op name."""
    mask, other = at.given(op.mask), at.given(op.other)
    order = ("relaxed", "sys") if op.word("isVolatile") else ("weak", None)
    loaded = load(at, at[op.ptr], mask, in_memory(at, other), *order)
    type_ = at.tile(op.result.type)
    if isinstance(type_.element_type, PointerType):
        return at.add(conversions.IntToPtrOp, [loaded], type_)
    return loaded


def in_memory(at: TritonConversion, value: SSAValue | None) -> SSAValue | None:
    """A value as memory holds it: the addresses that pointers are."""
    if value is None or not isinstance(element_of(value), PointerType):
        return value
    return at.add(conversions.PtrToIntOp, [value], at.addresses(value))


def load(
    at: TritonConversion, pointers: SSAValue, mask: SSAValue | None = None,
    other: SSAValue | None = None, semantics: str = "weak", scope: str | None = None,
) -> SSAValue:  # fmt: skip
    """The elements that pointers name, behind all writes so far."""
    element = element_of(pointers)
    assert isinstance(element, PointerType)
    new = at.insert(LoadPtrTkoOp(
        pointers, tile_type(pointers).with_element(element.pointee_type),
        semantics, memory_scope=scope,
        mask=mask, padding_value=other, token=at.order.written,
    ))  # fmt: skip
    at.order.read.append(new.result_token)
    return new.result


def store_by_pointers(op: triton.StoreOp, at: TritonConversion) -> None:
    """Write the elements that the pointers of an op name."""
    store(at, at[op.ptr], at[op.value], at.given(op.mask))


def store(
    at: TritonConversion, pointers: SSAValue, value: SSAValue, mask: SSAValue | None = None,
    semantics: str = "weak", scope: str | None = None,
) -> None:  # fmt: skip
    """Write elements where pointers name them, behind all accesses so far."""
    token, bits = at.order.before_write(at), in_memory(at, value)
    new = at.insert(StorePtrTkoOp(
        pointers, bits, semantics, memory_scope=scope, mask=mask, token=token
    ))  # fmt: skip
    at.order.after_write(new.result_token)
