"""Vectors of elements: `arith` and `math` on each of them."""

from functools import partial
from math import prod

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.dialects.math import FmaOp
from xdsl.utils.hints import isa

from tilewright.dialects.vectors import shape_of, window_of
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.vectors import VectorValue


@lowers
def _constant(op: arith.ConstantOp, kernel: KernelLowering) -> None:
    if not isa(op.result.type, VectorType):
        kernel.keep(op)
        return
    value = op.value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    made = [
        kernel.emitter.once(("constant", element), partial(arith.ConstantOp, element))
        for element in value.iter_attrs()
    ]
    count = prod(shape_of(op.result.type))
    kernel[op.result] = VectorValue(tuple(made * count if len(made) == 1 else made))


@lowers
def _broadcast(op: vector.BroadcastOp, kernel: KernelLowering) -> None:
    count = prod(shape_of(op.vector.type))
    elements = (
        kernel.vector(op.source).elements if shape_of(op.source.type) else (kernel[op.source],)
    )
    kernel[op.vector] = VectorValue(elements * (count // len(elements)))


@lowers
def _extract(op: vector.ExtractOp, kernel: KernelLowering) -> None:
    elements = kernel.vector(op.vector).elements[window_of(op, op.vector.type, op.result.type)]
    kernel[op.result] = VectorValue(elements) if shape_of(op.result.type) else elements[0]


@lowers
def _insert(op: vector.InsertOp, kernel: KernelLowering) -> None:
    window = window_of(op, op.dest.type, op.source.type)
    elements = list(kernel.vector(op.dest).elements)
    elements[window] = (
        kernel.vector(op.source).elements if shape_of(op.source.type) else (kernel[op.source],)
    )
    kernel[op.result] = VectorValue(tuple(elements))


@lowers
def _fma(op: vector.FMAOp, kernel: KernelLowering) -> None:
    columns = [kernel.vector(operand).elements for operand in (op.lhs, op.rhs, op.acc)]
    made = [kernel.emitter.emit(FmaOp(*operands)) for operands in zip(*columns, strict=True)]
    kernel[op.res] = VectorValue(tuple(made))
