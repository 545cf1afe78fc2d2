"""Ops on the elements of tensors that one thread has."""

from abc import ABC
from collections.abc import Callable
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, VectorType, i32
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    has_underscore,
    repeat_like,
    weakly_congruent,
)
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.ops.operands import (
    COORD_TENSOR,
    MEMREF,
    TENSOR,
    TILE_COORD,
    AcceptsElements,
)
from tilewright.dialects.cute.ops.operation import CuteOp, Syntax, cute_op
from tilewright.dialects.cute.ops.properties import ModePrefix, PrefixOp, path, path_of, word
from tilewright.dialects.cute.rules import RuleError
from tilewright.dialects.cute.rules.gemm import extents
from tilewright.dialects.cute.rules.tensors import element_at, tensor_with_coords
from tilewright.dialects.cute.symbolic.tuples import is_static, product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import type_of, typed_of
from tilewright.dialects.cute.types.tensors import CoordTensorType, MemRefType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest

ELEMENT = AcceptsElements("an element", ())
VECTOR = AcceptsElements("a vector", (VectorType,))


def tensor_of(type_: Attribute) -> Tensor:
    """The tensor of a memref type. Raises VerifyException for another type."""
    if not isinstance(type_, MemRefType):
        raise VerifyException(f"expected a !cute.memref, got '{type_}'")
    return type_.tensor


def element_of(type_: Attribute) -> Attribute:
    """The type of a tensor's elements. Raises VerifyException for another type."""
    tensor_of(type_)
    assert isinstance(type_, MemRefType)
    return type_.element_type


def vector_of(type_: Attribute) -> Attribute:
    """The vector of all elements of a tensor. Raises VerifyException where their count is not
    known."""
    shape = tensor_of(type_).modes.shape
    if not is_static(shape):
        raise VerifyException(f"expected a tensor of static shape, got '{type_}'")
    count = product(shape)
    assert isinstance(count, int)
    return VectorType(element_of(type_), [count])


def check_coord(type_: Attribute, coord: Attribute) -> None:
    """Raise VerifyException unless a coordinate is one element's."""
    at = typed_of(coord)
    shape = tensor_of(type_).modes.shape
    if at is None or has_underscore(at.value) or not weakly_congruent(at.value, shape):
        raise VerifyException(f"expected a coordinate of an element of '{type_}', got '{coord}'")


class ElementsOp(CuteOp, ABC):
    """An op whose types all follow from its tensor's: TYPES gives those of results and of operands
    behind it."""

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        """The types of the results. Raises VerifyException for operands that the op does not
        take."""
        raise NotImplementedError

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        for type_ in operand_types:
            if isinstance(type_, MemRefType) and type_.tensor.space == "tmem":
                return (
                    f"expected no tensor in tmem, got '{type_}' (whole warps load it); nearest "
                    "legal: cute.copy with tmem_load"
                )
        try:
            return cls.types(operand_types)
        except (VerifyException, LayoutError) as error:
            return str(error)

    def verify_(self) -> None:
        super().verify_()
        inferred = self.infer(tuple(operand.type for operand in self.operands), self.properties)
        if isinstance(inferred, str):
            raise VerifyException(f"'{self.name}' {inferred}")
        if inferred != tuple(self.result_types):
            raise self.fail(f"a result of '{inferred[0]}', got '{self.result_types[0]}'")


def _wanted(what: str, wanted: Attribute, got: Attribute, tensor: Attribute) -> None:
    if wanted != got:
        raise VerifyException(f"expected {what} of {wanted} for '{tensor}', got {got}")


@cute_op("cute.memref.load_vec", (MEMREF,), (VECTOR,))
class LoadVecOp(ElementsOp):
    """All elements of a tensor, in the order of its coordinates:
    `%v = cute.memref.load_vec(%t) : (T) -> vector<8xf32>`."""

    source = operand_def()
    result = result_def()

    traits = traits_def(MemoryReadEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        return (vector_of(operand_types[0]),)


@cute_op("cute.memref.load", (TENSOR, TILE_COORD), (ELEMENT,))
class LoadOp(ElementsOp):
    """The element at a coordinate: `%x = cute.memref.load(%t, %coord) : (T, C) -> f32`, of a tensor
    of coordinates a `!cute.coord`."""

    source = operand_def()
    coord = operand_def()
    result = result_def()

    traits = traits_def(MemoryReadEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        if isinstance(operand_types[0], CoordTensorType):
            return _rule(lambda: type_of(element_at(*map(_typed, operand_types))))
        check_coord(*operand_types)
        return (element_of(operand_types[0]),)


def _typed(type_: Attribute) -> Typed:
    """The value that an operand's type says. Raises VerifyException where it is none."""
    if (typed := typed_of(type_)) is None:
        raise VerifyException(f"expected a CuTe value, got '{type_}'")
    return typed


def _rule(infer: Callable[[], Attribute]) -> tuple[Attribute, ...]:
    """The type of a result. Raises VerifyException where a rule has none."""
    try:
        return (infer(),)
    except RuleError as error:
        raise VerifyException(str(error)) from None


@cute_op("cute.coords", (COORD_TENSOR,), (VECTOR,))
class CoordsOp(ModePrefix, ElementsOp):
    """The elements of a tensor of coordinates along a dimension, in order:
    `%k = cute.coords<[1]> (%t) : (T) -> vector<8xi32>`."""

    IS_OPTIONAL: ClassVar = False

    mode = prop_def(DenseArrayBase)
    source = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        try:
            source, mode = _typed(operand_types[0]), path_of(properties.get("mode"))
            count = tensor_with_coords(source, mode).modes.size()
        except (RuleError, LayoutError, VerifyException) as error:
            return str(error)
        return (VectorType(i32, [count]),)


class WriteOp(ElementsOp, ABC):
    """An op that writes elements and has no result."""

    SYNTAX: ClassVar = Syntax.INFERRED
    RESULTS: ClassVar = ()


@cute_op("cute.memref.store_vec", operands=(VECTOR, MEMREF))
class StoreVecOp(WriteOp):
    """A vector to all elements of a tensor: `cute.memref.store_vec(%v, %t) : vector<8xf32>, T`.
    They are written in the order of their coordinates."""

    value = operand_def()
    destination = operand_def()

    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        value, tensor = operand_types
        _wanted("a value", vector_of(tensor), value, tensor)
        return ()


@cute_op("cute.memref.store", operands=(ELEMENT, MEMREF, TILE_COORD))
class StoreOp(WriteOp):
    """One element: `cute.memref.store(%x, %t, %coord) : f32, T, C`."""

    value = operand_def()
    destination = operand_def()
    coord = operand_def()

    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        value, tensor, coord = operand_types
        _wanted("a value", element_of(tensor), value, tensor)
        check_coord(tensor, coord)
        return ()


@cute_op("cute.fill", operands=(MEMREF, ELEMENT))
class FillOp(WriteOp):
    """One value to all elements: `cute.fill(%t, %x) : T, f32`."""

    destination = operand_def()
    value = operand_def()

    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        tensor, value = operand_types
        vector_of(tensor)
        _wanted("a value", element_of(tensor), value, tensor)
        return ()


REDUCTIONS = ("add", "max", "min")


@cute_op("cute.reduce", operands=(MEMREF, MEMREF))
class ReduceOp(PrefixOp, WriteOp):
    """The elements that fall together, combined, over the lanes of a warp as well.

    `cute.reduce<add, [1, 2]> (%source, %destination)`: the destination has the source's modes, of
    stride 0 where elements are to be combined; each of its elements becomes their sum, in the order
    of their coordinates, and then that over the lanes whose numbers differ in the bits 1 and 2.
    """

    PARTS: ClassVar = (
        word("kind", REDUCTIONS, "a reduction", ", ".join(REDUCTIONS)),
        path("lanes", DenseArrayBase.from_list(i32, ())),
    )

    kind = prop_def(StringAttr)
    lanes = prop_def(DenseArrayBase)
    source = operand_def()
    destination = operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        source, destination = map(tensor_of, operand_types)
        given = ", ".join(f"'{type_}'" for type_ in operand_types)
        if not source.space == destination.space == "rmem":
            raise VerifyException(f"expected tensors in rmem, got {given}")
        if source.element != destination.element:
            raise VerifyException(f"expected elements of one type, got {given}")
        if extents(source.modes) != extents(destination.modes):
            zeros = Layout(source.modes.shape, repeat_like(source.modes.shape, 0))
            raise VerifyException(
                f"expected tensors of one shape, the destination's strides 0 along what is "
                f"combined, got {given}; nearest legal: a destination of {zeros}, which combines "
                "all"
            )
        return ()

    def verify_(self) -> None:
        super().verify_()
        for mask in path_of(self.lanes):
            if mask not in (1, 2, 4, 8, 16):
                nearest = closest(mask, (1, 2, 4, 8, 16))
                raise self.fail(
                    f"bits of a lane's number, 1, 2, 4, 8 or 16, got {mask}; nearest legal: "
                    f"{nearest}"
                )
