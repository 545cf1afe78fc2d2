"""Reductions, scans and maps by a region. TritonOps.td.

"tt.reduce"(%x) <{axis = 0 : i32}> ({
^bb0(%a: f32, %b: f32):
  %s = arith.addf %a, %b : f32
  tt.reduce.return %s : f32
}) : (tensor<128xf32>) -> f32
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import prop_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from tilewright.dialects.accepts import ANY, integer
from tilewright.dialects.declared import declared_op
from tilewright.dialects.illegal import listed
from tilewright.dialects.triton.constraints import TENSOR, TYPE
from tilewright.dialects.triton.operation import GenericOp, TritonOp
from tilewright.dialects.triton.types import element_of, shape_of, with_element
from tilewright.source.diagnostic import InnerOpError, named


class RegionReturn(TritonOp):
    """The results of a region: `tt.reduce.return %s : f32`."""

    traits = traits_def(Pure(), IsTerminator())

    assembly_format = "attr-dict ($result^ `:` type($result))?"

    result = var_operand_def(ANY)


@declared_op("tt.reduce.return")
class ReduceReturnOp(RegionReturn):
    """The results of a combination."""


@declared_op("tt.scan.return")
class ScanReturnOp(RegionReturn):
    """The results of a combination."""


@declared_op("tt.map_elementwise.return")
class MapElementwiseReturnOp(RegionReturn):
    """The results for so many elements."""


class ByRegion(GenericOp):
    """An op of tensors of one shape by a region on their elements, which ENDS end."""

    ENDS: ClassVar[type[Operation]]

    traits = traits_def(RecursiveMemoryEffect())

    def verify_region(
        self, region: Region, arguments: Sequence[Attribute], results: Sequence[Attribute]
    ) -> None:
        """Raise VerifyException unless the region takes and gives values of some types."""
        given = list(region.blocks[0].arg_types) if region.blocks else []
        if given != list(arguments):
            raise self.fail(f"a region of ({listed(arguments)}), got ({listed(given)})")
        for block in region.blocks:
            end = block.last_op
            if isinstance(end, self.ENDS):
                types = list(end.operand_types)
                if types != list(results):
                    raise InnerOpError(
                        end, f"'{end.name}' expected ({listed(results)}), got ({listed(types)})"
                    )
            elif end is None or not end.has_trait(IsTerminator) or not end.successors:
                got = "nothing" if end is None else named(end)
                raise self.fail(f"its region to end in {self.ENDS.name}, got {got}")


class Combination(ByRegion):
    """Tensors combined along `axis`, element by element with those before."""

    def result_of(self, type_: TensorType[Attribute], axis: int) -> Attribute:
        """The result for a tensor."""
        raise NotImplementedError

    def verify_types(self) -> None:
        axis, types = self.number("axis"), self.operand_types
        shapes = {shape_of(type_) for type_ in types}
        if len(shapes) != 1:
            raise self.fail(f"tensors of one shape, got ({listed(types)})")
        if axis >= len(*shapes):
            raise self.fail(f"an axis of {types[0]}, got {axis}")
        wanted = [self.result_of(type_, axis) for type_ in types]  # pyright: ignore
        if list(self.result_types) != wanted:
            raise self.fail(f"results ({listed(wanted)}), got ({listed(self.result_types)})")

    def verify_in_place(self) -> None:
        elements = [element_of(type_) for type_ in self.operand_types]
        self.verify_region(self.regions[0], [*elements, *elements], elements)


@declared_op("tt.reduce")
class ReduceOp(Combination):
    """One element for all along `axis`."""

    ENDS = ReduceReturnOp

    srcs = var_operand_def(TENSOR)
    axis = prop_def(integer(32, least=0))
    result = var_result_def(TYPE)
    combineOp = region_def()

    def result_of(self, type_: TensorType[Attribute], axis: int) -> Attribute:
        shape = shape_of(type_)
        rest = (*shape[:axis], *shape[axis + 1 :])
        return TensorType(type_.element_type, rest) if rest else type_.element_type


@declared_op("tt.scan")
class ScanOp(Combination):
    """All up to each element along `axis`, from the end on if `reverse`."""

    ENDS = ScanReturnOp

    srcs = var_operand_def(TENSOR)
    axis = prop_def(integer(32, least=0))
    reverse = prop_def(integer(1))
    result = var_result_def(TENSOR)
    combineOp = region_def()

    def result_of(self, type_: TensorType[Attribute], axis: int) -> Attribute:
        return type_


@declared_op("tt.map_elementwise")
class MapElementwiseOp(ByRegion):
    """A region of scalars for each `pack` elements, which are arguments beside each other."""

    ENDS = MapElementwiseReturnOp

    srcs = var_operand_def(TENSOR)
    pack = prop_def(integer(32, least=1))
    result = var_result_def(TENSOR)
    scalarOp = region_def()

    def verify_types(self) -> None:
        pack = self.number("pack")
        if pack & (pack - 1):
            raise self.fail(f"pack to be a power of two, got {pack}")
        types = (*self.operand_types, *self.result_types)
        if not self.operands or {*types} != {with_element(types[0], element_of(t)) for t in types}:
            raise self.fail(f"tensors of one shape, got ({listed(types)})")

    def verify_in_place(self) -> None:
        pack = self.number("pack")
        arguments, results = (
            [element_of(type_) for type_ in types for _ in range(pack)]
            for types in (self.operand_types, self.result_types)
        )
        self.verify_region(self.scalarOp, arguments, results)
