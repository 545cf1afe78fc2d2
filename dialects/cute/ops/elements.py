"""Ops on the elements of tensors that one thread has."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute.int_tuple import has_underscore, repeat_like, weakly_congruent
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.ops.operands import (
    COORD_TENSOR,
    ELEMENT,
    MEMREF,
    TENSOR,
    TILE_COORD,
    VECTOR,
)
from tilewright.dialects.cute.ops.operation import REGULAR, CuteOp, cute_op, typed_value
from tilewright.dialects.cute.ops.properties import PATH, path_of, word
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import RuleError, required
from tilewright.dialects.cute.rules.gemm import extents
from tilewright.dialects.cute.rules.tensors import element_at, tensor_with_coords
from tilewright.dialects.cute.symbolic.tuples import is_static, product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import type_of, typed_of
from tilewright.dialects.cute.types.tensors import CoordTensorType, MemRefType
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.traits import PURE, READS, READS_AND_WRITES, WRITES


def tensor_of(type_: Attribute) -> Tensor:
    """The tensor of a memref type. Raises RuleError for another type."""
    if not isinstance(type_, MemRefType):
        raise RuleError(f"expected a !cute.memref, got '{type_}'")
    return type_.tensor


def element_of(type_: Attribute) -> Attribute:
    """The type of a tensor's elements. Raises RuleError for another type."""
    tensor_of(type_)
    assert isinstance(type_, MemRefType)
    return type_.element_type


def vector_of(type_: Attribute) -> Attribute:
    """The vector of all elements of a tensor. Raises RuleError where their count is not
    known."""
    shape = tensor_of(type_).modes.shape
    required(is_static(shape), f"expected a tensor of static shape, got '{type_}'")
    count = product(shape)
    assert isinstance(count, int)
    return VectorType(element_of(type_), [count])


def check_coord(type_: Attribute, coord: Attribute) -> None:
    """Raise RuleError unless a coordinate is one element's."""
    at = typed_of(coord)
    shape = tensor_of(type_).modes.shape
    required(
        at is not None and not has_underscore(at.value) and weakly_congruent(at.value, shape),
        f"expected a coordinate of an element of '{type_}', got '{coord}'",
    )


class ElementsOp(CuteOp, ABC):
    """An op whose types all follow from its tensor's."""

    @classmethod
    def element_types(cls, *args: Any, **kwargs: Any) -> Attribute | None:
        """The type of its result, if it has one, for operands of these types. Raises RuleError or
        LayoutError where the op does not take them."""
        raise NotImplementedError

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        for type_ in operand_types:
            required(
                not isinstance(type_, MemRefType) or type_.tensor.space != "tmem",
                f"expected no tensor in tmem, got '{type_}' (whole warps load it); nearest legal: "
                "cute.copy with tmem_load",
            )
        result = cls.element_types(*operand_types)
        return () if result is None else (result,)

    def verify_types(self) -> None:
        inferred = self.infer(tuple(self.operand_types), self.properties)
        if inferred != tuple(self.result_types):
            raise self.fail(f"a result of '{inferred[0]}', got '{self.result_types[0]}'")


def _check_value(value: Attribute, wanted: Attribute, tensor: Attribute) -> None:
    required(value == wanted, f"expected a value of {wanted} for '{tensor}', got {value}")


@cute_op("cute.memref.load_vec")
class LoadVecOp(ElementsOp):
    """All elements of a tensor, in the order of its coordinates:
    `%v = cute.memref.load_vec(%t) : (T) -> vector<8xf32>`."""

    source = operand_def(MEMREF)
    result = result_def(VECTOR)

    traits = READS

    @classmethod
    def element_types(cls, source: Attribute) -> Attribute:
        return vector_of(source)


@cute_op("cute.memref.load")
class LoadOp(ElementsOp):
    """The element at a coordinate: `%x = cute.memref.load(%t, %coord) : (T, C) -> f32`, of a tensor
    of coordinates a `!cute.coord`."""

    source = operand_def(TENSOR)
    coord = operand_def(TILE_COORD)
    result = result_def(ELEMENT)

    traits = READS

    @classmethod
    def element_types(cls, source: Attribute, coord: Attribute) -> Attribute:
        if isinstance(source, CoordTensorType):
            return type_of(element_at(typed_value(source), typed_value(coord)))
        check_coord(source, coord)
        return element_of(source)


@cute_op("cute.coords")
class CoordsOp(ElementsOp):
    """The elements of a tensor of coordinates along a dimension, in order:
    `%k = cute.coords<[1]> (%t) : (T) -> vector<8xi32>`."""

    mode = prop_def(PATH)
    source = operand_def(COORD_TENSOR)
    result = result_def(VECTOR)

    traits = PURE

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        source, mode = typed_value(operand_types[0]), path_of(properties.get("mode"))
        return (VectorType(i32, [tensor_with_coords(source, mode).modes.size()]),)


class WriteOp(ElementsOp, ABC):
    """An op that writes elements and has no result."""

    SYNTAX = Syntax.INFERRED


@cute_op("cute.memref.store_vec")
class StoreVecOp(WriteOp):
    """A vector to all elements of a tensor: `cute.memref.store_vec(%v, %t) : vector<8xf32>, T`.
    They are written in the order of their coordinates."""

    value = operand_def(VECTOR)
    destination = operand_def(MEMREF)

    traits = WRITES

    @classmethod
    def element_types(cls, value: Attribute, tensor: Attribute) -> None:
        _check_value(value, vector_of(tensor), tensor)


@cute_op("cute.memref.store")
class StoreOp(WriteOp):
    """One element: `cute.memref.store(%x, %t, %coord) : f32, T, C`."""

    value = operand_def(ELEMENT)
    destination = operand_def(MEMREF)
    coord = operand_def(TILE_COORD)

    traits = WRITES

    @classmethod
    def element_types(cls, value: Attribute, tensor: Attribute, coord: Attribute) -> None:
        _check_value(value, element_of(tensor), tensor)
        check_coord(tensor, coord)


@cute_op("cute.fill")
class FillOp(WriteOp):
    """One value to all elements: `cute.fill(%t, %x) : T, f32`."""

    destination = operand_def(MEMREF)
    value = operand_def(ELEMENT)

    traits = WRITES

    @classmethod
    def element_types(cls, tensor: Attribute, value: Attribute) -> None:
        vector_of(tensor)
        _check_value(value, element_of(tensor), tensor)


REDUCTIONS = ("add", "max", "min")


@irdl_custom_directive
class Lanes(CustomDirective):
    """`, [1, 2]`, none where text leaves them out."""

    lanes: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        is_there = parser.parse_optional_punctuation(",") is not None
        self.lanes.set(state, PATH.parse(parser) if is_there else PATH.attribute_of(()))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        printer.print_string(", ")
        PATH.print(printer, op.lanes)


@cute_op("cute.reduce")
class ReduceOp(WriteOp):
    """The elements that fall together, combined, over the lanes of a warp as well.

    `cute.reduce<add, [1, 2]> (%source, %destination)`: the destination has the source's modes, of
    stride 0 where elements are to be combined; each of its elements becomes their sum, in the order
    of their coordinates, and then that over the lanes whose numbers differ in the bits 1 and 2.
    """

    custom_directives: ClassVar = (Lanes, *CuteOp.custom_directives)
    assembly_format = f"`<` $kind custom<Lanes>($lanes) `>` {REGULAR}"

    kind = prop_def(word(REDUCTIONS, "a reduction", ", ".join(REDUCTIONS)))
    lanes = prop_def(PATH)
    source = operand_def(MEMREF)
    destination = operand_def(MEMREF)

    traits = READS_AND_WRITES

    @classmethod
    def element_types(cls, source: Attribute, destination: Attribute) -> None:
        tensor, sums = tensor_of(source), tensor_of(destination)
        given = f"'{source}', '{destination}'"
        required(tensor.space == sums.space == "rmem", f"expected tensors in rmem, got {given}")
        required(tensor.element == sums.element, f"expected elements of one type, got {given}")
        if extents(tensor.modes) != extents(sums.modes):
            zeros = Layout(tensor.modes.shape, repeat_like(tensor.modes.shape, 0))
            raise RuleError(
                f"expected tensors of one shape, the destination's strides 0 along what is "
                f"combined, got {given}; nearest legal: a destination of {zeros}, which combines "
                "all"
            )

    def verify_types(self) -> None:
        super().verify_types()
        for mask in path_of(self.lanes):
            if mask not in (1, 2, 4, 8, 16):
                nearest = closest(mask, (1, 2, 4, 8, 16))
                raise self.fail(
                    f"bits of a lane's number, 1, 2, 4, 8 or 16, got {mask}; nearest legal: "
                    f"{nearest}"
                )
