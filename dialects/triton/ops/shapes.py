"""Ops that arrange elements. TritonOps.td, shape manipulation."""

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.accepts import integer, list_of
from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import INTEGER_TENSOR, TENSOR, TYPE
from tilewright.dialects.triton.operation import PureOp
from tilewright.dialects.triton.types import element_of, shape_of


class Arrangement(PureOp):
    """The elements of one tensor as those of another."""

    SAME_ELEMENTS = "src result"

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    src = operand_def(TENSOR)
    result = result_def(TENSOR)

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the operand and of the result."""
        return shape_of(self.src.type), shape_of(self.result.type)

    def verify_shape(self, wanted: Sequence[int]) -> None:
        """Raise VerifyException unless the result has a shape."""
        if self.shapes()[1] != tuple(wanted):
            raise self.fail(f"a result of shape {list(wanted)}, got {self.result.type}")


@declared_op("tt.splat")
class SplatOp(Arrangement):
    """A tensor of one value."""

    src = operand_def(TYPE)
    result = result_def(TENSOR)


@declared_op("tt.broadcast")
class BroadcastOp(Arrangement):
    """Dimensions of one element repeated."""

    def verify_types(self) -> None:
        source, result = self.shapes()
        if len(source) != len(result) or any(
            a not in (1, b) for a, b in zip(source, result, strict=True)
        ):
            raise self.fail(f"a result that repeats dimensions of 1, got {source} and {result}")


@declared_op("tt.reshape")
class ReshapeOp(Arrangement):
    """The elements in order as another shape; in any order with `allow_reorder`."""

    assembly_format = (
        "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? "
        "attr-dict `:` type($src) `->` type($result)"
    )

    src = operand_def(TENSOR)
    allow_reorder = opt_prop_def(UnitAttr)
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        source, result = map(prod, self.shapes())
        if source != result:
            raise self.fail(f"a result of {source} elements, got {self.result.type}")


@declared_op("tt.expand_dims")
class ExpandDimsOp(Arrangement):
    """A dimension of one element inserted at `axis`."""

    src = operand_def(TENSOR)
    axis = prop_def(integer(32, least=0))
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        (source, _), axis = self.shapes(), self.number("axis")
        if axis > len(source):
            raise self.fail(f"axis of 0 to {len(source)}, got {axis}")
        self.verify_shape((*source[:axis], 1, *source[axis:]))


@declared_op("tt.trans")
class TransOp(Arrangement):
    """Dimension i of the result is dimension `order[i]`."""

    src = operand_def(TENSOR)
    order = prop_def(list_of(32))
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        source, _ = self.shapes()
        order: Sequence[int] = self.word("order")
        if sorted(order) != list(range(len(source))):
            raise self.fail(f"order to hold each of 0 to {len(source) - 1} once, got {list(order)}")
        self.verify_shape([source[dim] for dim in order])


@declared_op("tt.unsplat")
class UnsplatOp(PureOp):
    """The element of a tensor of one."""

    DERIVED: ClassVar = {"result": ("src", element_of)}

    assembly_format = "$src attr-dict `:` type($src)"

    src = operand_def(TENSOR)
    result = result_def(TYPE)

    def verify_types(self) -> None:
        if prod(shape_of(self.src.type)) != 1:
            raise self.fail(f"a tensor of one element, got {self.src.type}")


class Pair(PureOp):
    """Two tensors of one type as one."""

    SAME_TYPES = "lhs rhs"
    SAME_ELEMENTS = "lhs result"

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)


@declared_op("tt.cat")
class CatOp(Pair):
    """The elements of two tensors, in any order."""


@declared_op("tt.join")
class JoinOp(Pair):
    """Two tensors along a new last dimension."""

    def verify_types(self) -> None:
        wanted = (*shape_of(self.lhs.type), 2)
        if shape_of(self.result.type) != wanted:
            raise self.fail(f"a result of shape {list(wanted)}, got {self.result.type}")


@declared_op("tt.split")
class SplitOp(PureOp):
    """Two tensors, of the last dimension, which has two elements."""

    SAME_TYPES = "outLHS outRHS"
    SAME_ELEMENTS = "src outLHS"

    assembly_format = "$src attr-dict `:` type($src) `->` type($outLHS)"

    src = operand_def(TENSOR)
    outLHS = result_def(TENSOR)
    outRHS = result_def(TENSOR)

    def verify_types(self) -> None:
        if shape_of(self.src.type) != (*shape_of(self.outLHS.type), 2):
            raise self.fail(f"a last dimension of 2, then {self.outLHS.type}, got {self.src.type}")


@declared_op("tt.make_range")
class MakeRangeOp(PureOp):
    """The integers from `start` to before `end`."""

    assembly_format = "attr-dict `:` type($result)"

    start = prop_def(integer(32))
    end = prop_def(integer(32))
    result = result_def(INTEGER_TENSOR)

    def verify_types(self) -> None:
        start, end = self.number("start"), self.number("end")
        if start >= end:
            raise self.fail(f"start of less than end, got {start} and {end}")
        if str(self.result.type) != f"tensor<{end - start}xi32>":
            raise self.fail(f"a result of tensor<{end - start}xi32>, got {self.result.type}")


@declared_op("tt.gather")
class GatherOp(PureOp):
    """The elements that indices name along `axis`: `tt.gather %x[%i] {axis = 0 : i32} : ...`."""

    SAME_ELEMENTS = "src result"
    SAME_SHAPES = "indices result"

    assembly_format = "$src `[` $indices `]` attr-dict `:` functional-type(operands, $result)"

    src = operand_def(TENSOR)
    indices = operand_def(INTEGER_TENSOR)
    axis = prop_def(integer(32, least=0))
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        source, indices = shape_of(self.src.type), shape_of(self.indices.type)
        axis = self.number("axis")
        if len(source) != len(indices) or axis >= len(source):
            raise self.fail(f"indices of rank {len(source)} and an axis below, got {axis}")
        for dim, (most, count) in enumerate(zip(source, indices, strict=True)):
            if dim != axis and count > most:
                raise self.fail(f"indices of at most {most} in dimension {dim}, got {count}")
