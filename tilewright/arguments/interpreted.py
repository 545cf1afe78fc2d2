"""An interpreted kernel's arguments: values of threads, at each level."""

from typing import Any

import numpy as np
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Operation

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.binding import Binding
from tilewright.arguments.bound import Bound, Mapped, Placed
from tilewright.arguments.parameters import Parameter, own_parameters
from tilewright.dialects.cute.int_tuple import flatten, unflatten
from tilewright.dialects.cute.layout import make_unchecked
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.argument import signature_of
from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.ptx.control_flow import PARAMETER_TYPES
from tilewright.dialects.ptx.scalar_types import scalar_type
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue, sized
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.ops.base.llvm import Struct
from tilewright.lowering.interpreter.ops.base.memref import argument_view
from tilewright.lowering.interpreter.ops.tile.tensor_access import GlobalBase
from tilewright.lowering.interpreter.values import uniform
from tilewright.source.diagnostic import ArgumentError


def interpreted_values(op: Operation, binding: Binding) -> list[Any]:
    """The values of a kernel's own parameters, at the level that the kernel has."""
    parameters = own_parameters(op)
    values = binding.values if signature_of(op) is None else binding.parts(parameters)
    return [_value(op, *pair) for pair in zip(parameters, values, strict=True)]


def _value(op: Operation, parameter: Parameter, value: Bound) -> Any:
    type_ = parameter.type
    match value:
        case int():
            return _number(parameter, value)
        case tuple():
            assert isinstance(type_, LLVMStructType)
            fields = [Parameter("", str(field), field) for field in type_.types.data]
            return Struct(tuple(_value(op, *pair) for pair in zip(fields, value, strict=True)))
        case Placed(array, address) if isinstance(type_, TensorMemRefType):
            return _tensor(type_.tensor, array, address)
        case Placed(array, address) if is_memref(type_):
            return argument_view(op, type_, address, array.width)
        case Placed(address=address) | Mapped(handle=address):
            return np.array([address], dtype=np.uint64)
        case LaneValue():
            return value


def _number(parameter: Parameter, bits: int) -> AnyArray:
    """A scalar as registers hold it: an i8 has 8 bits until it is lowered."""
    if parameter.type is None:
        return uniform(bits, PARAMETER_TYPES[parameter.text])
    scalar = scalar_type(parameter.type)
    if scalar is None:
        raise ArgumentError(f"expected '{parameter.name}' to have a type that registers hold, "
                            f"got {parameter.text}")  # fmt: skip
    return np.array([bits], dtype=np.uint8) if scalar.bits == 8 else uniform(bits, scalar.kind)


def _tensor(tensor: Tensor, array: ArrayArgument, address: int) -> LaneValue:
    """A kernel's tensor at an address of global memory."""
    shape = _filled(tensor.modes.shape, array.shape)
    layout = make_unchecked(shape, _filled(tensor.modes.stride, array.strides))
    zero = LaneInteger(np.zeros(1, dtype=np.uint64))
    base = GlobalBase(address)
    filled = Tensor(tensor.element, tensor.space, tensor.align, layout, base, zero)
    return LaneValue(Typed("memref", filled))


def _filled(leaves: Any, numbers: tuple[int, ...]) -> Any:
    filled = (
        LaneInteger(sized(number, leaf.width)) if isinstance(leaf, Dynamic) else leaf
        for leaf, number in zip(flatten(leaves), numbers, strict=True)
    )
    return unflatten(tuple(filled), leaves)
