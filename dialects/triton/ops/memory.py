"""Pointers, and what loads, stores and updates memory by them. TritonOps.td.

%x = tt.load %p, %mask, %other cacheModifier = ca : tensor<128x!tt.ptr<f32>>
"""

from typing import Any, ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, TensorType, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tilewright.dialects.accepts import integer, list_of
from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import (
    ATOMIC,
    BLOCK_POINTER,
    BOOL,
    CACHE,
    CACHE_POLICY,
    EVICTION,
    I32,
    I64,
    INTEGER,
    ONE_POINTER,
    PADDING,
    POINTER,
    SCOPE,
    SEMANTICS,
    TYPE,
)
from tilewright.dialects.triton.operation import PureOp, TritonOp
from tilewright.dialects.triton.types import (
    PointerType,
    element_of,
    mask_of,
    pointee_of,
    pointers_to,
)

NORMAL = EVICTION.attribute_of("evict_normal")
UNCACHED = CACHE.attribute_of("none")
UNCHECKED = DenseArrayBase.from_list(i32, [])
MODIFIERS = (
    "(`cacheModifier` `=` custom<Word>($cache)^)? (`evictionPolicy` `=` custom<Word>($evict)^)? "
)


def mask_of_pointee(type_: Attribute) -> Attribute:
    """The mask for what is loaded by pointers."""
    return mask_of(pointee_of(type_))


@declared_op("tt.addptr")
class AddPtrOp(PureOp):
    """Pointers moved by so many elements: `tt.addptr %p, %i : !tt.ptr<f32>, i32`."""

    SAME_TYPES = "ptr result"
    SAME_SHAPES = "ptr offset"

    assembly_format = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)"

    ptr = operand_def(POINTER)
    offset = operand_def(INTEGER)
    result = result_def(POINTER)


@declared_op("tt.advance")
class AdvanceOp(PureOp):
    """A pointer to a block moved by so many elements in each dimension."""

    SAME_TYPES = "ptr result"

    assembly_format = "$ptr `,` `[` $offsets `]` attr-dict `:` custom<BareType>(type($result))"

    ptr = operand_def(BLOCK_POINTER)
    offsets = var_operand_def(I32)
    result = result_def(BLOCK_POINTER)


def _base_of(type_: Any) -> Attribute:
    return PointerType(element_of(type_.pointee_type), type_.address_space)


@declared_op("tt.make_tensor_ptr")
class MakeTensorPtrOp(PureOp):
    """A pointer to a block at `offsets` of a tensor in memory."""

    DERIVED: ClassVar = {"base": ("result", _base_of)}

    assembly_format = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict "
        "`:` custom<BareType>(type($result))"
    )

    base = operand_def(ONE_POINTER)
    shape = var_operand_def(I64)
    strides = var_operand_def(I64)
    offsets = var_operand_def(I32)
    order = prop_def(list_of(32))
    result = result_def(BLOCK_POINTER)

    def verify_types(self) -> None:
        pointer: Any = self.result.type
        rank = len(pointer.pointee_type.get_shape())
        given = [len(self.shape), len(self.strides), len(self.offsets)]
        if given != [rank] * 3:
            raise self.fail(f"shape, strides and offsets of {rank} numbers, got {given}")


@declared_op("tt.load")
class LoadOp(TritonOp):
    """The contents of memory at each pointer, `other` where the mask is false; or a block."""

    DERIVED: ClassVar = {
        "result": ("ptr", pointee_of),
        "mask": ("ptr", mask_of_pointee),
        "other": ("ptr", pointee_of),
    }

    assembly_format = f"$ptr (`,` $mask^)? (`,` $other^)? {MODIFIERS} attr-dict `:` type($ptr)"

    ptr = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    other = opt_operand_def(TYPE)
    boundaryCheck = opt_prop_def(list_of(32), UNCHECKED)
    padding = opt_prop_def(PADDING)
    cache = opt_prop_def(CACHE, UNCACHED)
    evict = opt_prop_def(EVICTION, NORMAL)
    cachePolicy = opt_prop_def(CACHE_POLICY)
    isVolatile = opt_prop_def(integer(1), BoolAttr.from_bool(False))
    result = result_def(TYPE)

    def verify_types(self) -> None:
        verify_boundary(self)


@declared_op("tt.store")
class StoreOp(TritonOp):
    """Write a value to each pointer where the mask is true, or a block."""

    DERIVED: ClassVar = {"value": ("ptr", pointee_of), "mask": ("ptr", mask_of_pointee)}

    assembly_format = f"$ptr `,` $value (`,` $mask^)? {MODIFIERS} attr-dict `:` type($ptr)"

    ptr = operand_def(POINTER)
    value = operand_def(TYPE)
    mask = opt_operand_def(BOOL)
    boundaryCheck = opt_prop_def(list_of(32), UNCHECKED)
    cache = opt_prop_def(CACHE, UNCACHED)
    evict = opt_prop_def(EVICTION, NORMAL)
    cachePolicy = opt_prop_def(CACHE_POLICY)

    def verify_types(self) -> None:
        verify_boundary(self)


def verify_boundary(op: LoadOp | StoreOp) -> None:
    """Raise VerifyException where a dimension is checked that the block has not."""
    checked = op.word("boundaryCheck")
    pointee: Any = pointee_of(op.ptr.type)
    rank = len(pointee.get_shape()) if isinstance(pointee, TensorType) else 0
    if any(not 0 <= dim < rank for dim in checked):
        raise op.fail(f"boundaryCheck of dimensions of {op.ptr.type}, got {list(checked)}")


@declared_op("tt.atomic_rmw")
class AtomicRMWOp(TritonOp):
    """Update memory at each pointer, all at once, and give what was there."""

    DERIVED: ClassVar = {
        "ptr": ("val", pointers_to),
        "mask": ("val", mask_of),
    }
    SAME_TYPES = "val result"

    assembly_format = (
        "custom<Word>($atomic_rmw_op) `,` custom<Word>($sem) `,` custom<Word>($scope) `,` "
        "$ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)"
    )

    atomic_rmw_op = prop_def(ATOMIC)
    ptr = operand_def(POINTER)
    val = operand_def(TYPE)
    mask = opt_operand_def(BOOL)
    sem = prop_def(SEMANTICS)
    scope = prop_def(SCOPE)
    result = result_def(TYPE)


@declared_op("tt.atomic_cas")
class AtomicCASOp(TritonOp):
    """Write `val` where memory holds `cmp`, all at once, and give what was there."""

    DERIVED: ClassVar = {"ptr": ("val", pointers_to)}
    SAME_TYPES = "cmp val result"

    assembly_format = (
        "custom<Word>($sem) `,` custom<Word>($scope) `,` $ptr `,` $cmp `,` $val attr-dict `:` "
        "functional-type(operands, $result)"
    )

    ptr = operand_def(POINTER)
    cmp = operand_def(TYPE)
    val = operand_def(TYPE)
    sem = prop_def(SEMANTICS)
    scope = prop_def(SCOPE)
    result = result_def(TYPE)


class AtomicAccess(TritonOp):
    """One access to each pointer, all at once. Since Triton 3.9."""

    ptr = operand_def(POINTER)
    sem = prop_def(SEMANTICS)
    scope = prop_def(SCOPE)


@declared_op("tt.atomic_load")
class AtomicLoadOp(AtomicAccess):
    """The contents of memory at each pointer where the mask is true."""

    DERIVED: ClassVar = {"result": ("ptr", pointee_of), "mask": ("ptr", mask_of_pointee)}

    assembly_format = (
        "custom<Word>($sem) `,` custom<Word>($scope) `,` $ptr (`,` $mask^)? attr-dict `:` "
        "functional-type(operands, $result)"
    )

    ptr = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    result = result_def(TYPE)


@declared_op("tt.atomic_store")
class AtomicStoreOp(AtomicAccess):
    """Write a value to each pointer where the mask is true."""

    DERIVED: ClassVar = {"val": ("ptr", pointee_of), "mask": ("ptr", mask_of_pointee)}

    assembly_format = (
        "custom<Word>($sem) `,` custom<Word>($scope) `,` $ptr `,` $val (`,` $mask^)? attr-dict "
        "`:` type($ptr)"
    )

    ptr = operand_def(POINTER)
    val = operand_def(TYPE)
    mask = opt_operand_def(BOOL)


@declared_op("tt.atomic_poll")
class AtomicPollOp(AtomicAccess):
    """Wait until memory holds a value, for so many nanoseconds at most; true if it does."""

    assembly_format = (
        "custom<Word>($sem) `,` custom<Word>($scope) `,` $ptr `,` $expected "
        "(`timeout` $timeout^)? attr-dict `:` type($ptr) `,` type($expected) `->` type($result)"
    )

    ptr = operand_def(POINTER)
    expected = operand_def(INTEGER)
    timeout = opt_operand_def(I64)
    result = result_def(BOOL)
