"""What kernels are given: arrays, tensor maps and numbers, as each level takes them.

A kernel that was lowered from the tile level takes the arguments of that level: each of its own
parameters says (`cute.from`) which part of which of them it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cute.int_tuple import flatten, is_tuple
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.types.argument import FROM, ArgumentAttr, signature_of, sources_of
from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute.values import read_typed
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox, TensorMapError
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.ptx.control_flow import PARAMETER_TYPES, TENSORMAP, EntryOp
from tilewright.dialects.ptx.scalar_types import ScalarType, scalar_type
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue, bound
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.lowering.interpreter.machine.global_memory import Allocation, GlobalMemory
from tilewright.lowering.interpreter.machine.tensor_map import TensorImage
from tilewright.lowering.interpreter.ops.base.llvm import Struct
from tilewright.lowering.interpreter.ops.base.memref import argument_view
from tilewright.lowering.interpreter.values import is_array, uniform
from tilewright.numpy_dtypes import DTYPES, ML_FLOATS
from tilewright.tensor_argument import TensorArgument
from tilewright.tensor_map import TensorMap
from tilewright.tensor_map_argument import bind_tensor_map

__all__ = ["KernelParameter", "Parameter", "bind", "kernel_parameters", "lowered", "results"]


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter of a kernel: its name and type as text; `element` is the element type of a memref
    or tensor map, `box` the box of a tensor map, `inner` the dimension of a `!cute.memref` whose
    stride is known to be 1."""

    name: str
    type_text: str
    element: str | None
    box: TensorBox | None = None
    inner: int | None = None

    def arranged(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array, its elements contiguous along the dimension that the parameter asks for."""
        if self.inner is None or not 0 <= self.inner < array.ndim:
            return array
        last = np.ascontiguousarray(np.moveaxis(array, self.inner, -1))
        return np.moveaxis(last, -1, self.inner)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as the kernel has it: `type` is None at the `ptx` level, `source` says which part
    of an argument of the tile level it is."""

    name: str
    text: str
    type: Attribute | None
    source: ArgumentAttr | None = None

    @property
    def public(self) -> KernelParameter:
        """What callers know of it."""
        if isinstance(self.type, TmaDescriptorType):
            box = self.type.box
            return KernelParameter(self.name, self.text, box.element.mlir, box)
        if isinstance(self.type, TensorMemRefType):
            tensor = self.type.tensor
            strides = flatten(tensor.modes.stride)
            inner = strides.index(1) if 1 in strides else None
            return KernelParameter(self.name, self.text, tensor.element, inner=inner)
        element = str(self.type.element_type) if is_memref(self.type) else None
        return KernelParameter(self.name, self.text, element)


def kernel_parameters(op: Operation) -> list[Parameter]:
    """What a kernel's callers give it: its parameters, or those that it had at the tile level."""
    own, signature = _own_parameters(op), signature_of(op)
    if signature is None:
        return own
    return [
        Parameter(_name(own, index), str(type_), type_) for index, type_ in enumerate(signature)
    ]


def _name(parameters: Sequence[Parameter], index: int) -> str:
    """The name of an argument of the tile level: the one of its first part."""
    parts = [each for each in parameters if each.source and each.source.index.data == index]
    return parts[0].name if parts else f"arg{index}"


def _own_parameters(op: Operation) -> list[Parameter]:
    arguments = op.regions[0].blocks[0].args
    sources = sources_of(op)
    if isinstance(op, EntryOp):
        pairs = zip(op.parameter_names, op.parameters, sources, strict=True)
        return [Parameter(name.data, type_.data, None, source) for name, type_, source in pairs]
    return [
        Parameter(each.name_hint or f"arg{i}", str(each.type), each.type, source)
        for i, (each, source) in enumerate(zip(arguments, sources, strict=True))
    ]


# Binding


def bind(op: Operation, args: Sequence[Any], memory: GlobalMemory) -> list[Any]:
    """The values of a kernel's parameters; arrays are put into global memory.

    Raises ExecutionError for arguments that do not fit.
    """
    parameters = kernel_parameters(op)
    if len(args) != len(parameters):
        names = ", ".join(f"{each.name}: {each.text}" for each in parameters)
        raise ExecutionError(f"expected {len(parameters)} arguments ({names}), got {len(args)}")
    given = zip(parameters, args, strict=True)
    if signature_of(op) is None:
        return [_bind_one(op, each, arg, memory) for each, arg in given]
    bound_tensors = [_bound_tensor(each, arg, memory) for each, arg in given]
    values = [
        _scalar(each, arg) if tensor is None else tensor
        for each, arg, tensor in zip(parameters, args, bound_tensors, strict=True)
    ]
    return [_part(op, each, values) for each in _own_parameters(op)]


@dataclass(frozen=True, slots=True)
class _BoundTensor:
    """A tensor of the tile level in global memory."""

    argument: TensorArgument
    buffer: Allocation
    memory: GlobalMemory


def _bound_tensor(parameter: Parameter, arg: Any, memory: GlobalMemory) -> _BoundTensor | None:
    if not isinstance(parameter.type, TensorMemRefType):
        return None
    argument = _tensor_argument(parameter, parameter.type.tensor, arg)
    assert argument.flat is not None
    buffer = memory.allocate(parameter.name, argument.flat.view(np.uint8))
    return _BoundTensor(argument, buffer, memory)


def _tensor_argument(parameter: Parameter, tensor: Tensor, arg: Any) -> TensorArgument:
    where = f"argument '{parameter.name}'"
    if not is_array(arg):
        raise ExecutionError(
            f"{where} expected an array for {parameter.text}, got {type(arg).__name__}"
        )
    _check_dtype(parameter, tensor.element, arg)
    try:
        found = TensorArgument.of(arg)
    except ValueError as error:
        raise ExecutionError(f"{where} expected {error}") from None
    if (why := found.why_not(tensor)) is not None:
        raise ExecutionError(f"{where} {why} for {parameter.text}")
    return found


def _part(op: Operation, parameter: Parameter, values: Sequence[Any]) -> Any:
    """The value of a parameter that is a part of an argument of the tile level."""
    source = parameter.source
    if source is None or source.index.data >= len(values):
        raise ExecutionError(
            f"parameter '{parameter.name}' expected {FROM} with one of {len(values)} arguments, "
            f"got {source}"
        )
    value, modes = values[source.index.data], [each.data for each in source.modes]
    if not isinstance(value, _BoundTensor):
        return value if parameter.type is not None else lowered(value)
    argument, buffer = value.argument, value.buffer
    match source.part.data:
        case "shape":
            return _scalar(parameter, argument.shape[modes[0]])
        case "stride":
            return _scalar(parameter, argument.strides[modes[0]])
        case "tensor_map":
            return _tensor_map(parameter, source, value, modes)
        case _ if is_memref(parameter.type):
            assert argument.flat is not None
            width = argument.flat.dtype.itemsize
            return argument_view(op, parameter.type, buffer.base, width)
        case _:
            return np.array([buffer.base], dtype=np.uint64)


def _tensor_map(
    parameter: Parameter, source: ArgumentAttr, tensor: _BoundTensor, modes: Sequence[int]
) -> NDArray[np.uint64]:
    assert isinstance(source.type, TmaDescriptorType)
    try:
        found = tensor.argument.tensor_map(source.type.box, modes)
    except TensorMapError as error:
        raise ExecutionError(f"argument '{parameter.name}' {error}") from None
    image = TensorImage(parameter.name, tensor.buffer.data, found.shape, found.strides, found.box)
    return np.array([tensor.memory.add_tensor_map(image)], dtype=np.uint64)


def _bind_one(op: Operation, parameter: Parameter, arg: Any, memory: GlobalMemory) -> Any:
    if isinstance(parameter.type, LLVMStructType):
        return _bind_struct(parameter, parameter.type, arg)
    if isinstance(parameter.type, TmaDescriptorType) or parameter.text == TENSORMAP:
        return bind_tensor_map(parameter.name, parameter.type, arg, memory)
    if isinstance(arg, TensorMap):
        raise ExecutionError(
            f"argument '{parameter.name}' expected {parameter.text}, got a tensor map"
        )
    if isinstance(parameter.type, TensorMemRefType):
        tensor = parameter.type.tensor
        found = _bound_tensor(parameter, arg, memory)
        assert found is not None
        return found.argument.value(tensor, found.buffer.base)
    if is_array(arg):
        return _bind_array(op, parameter, np.asarray(arg, order="C"), memory)
    if isinstance(parameter.type, CuteType):
        return _bind_cute(parameter, parameter.type, arg)
    if is_memref(parameter.type):
        raise ExecutionError(
            f"argument '{parameter.name}' expected an array for {parameter.text}, "
            f"got {type(arg).__name__}"
        )
    return _scalar(parameter, arg)


def _bind_array(
    op: Operation, parameter: Parameter, array: NDArray[Any], memory: GlobalMemory
) -> Any:
    if is_memref(parameter.type):
        _check_dtype(parameter, str(parameter.type.element_type), array)
        _check_shape(parameter, parameter.type, array)
    elif parameter.type is not None or parameter.text != "u64":
        raise ExecutionError(
            f"argument '{parameter.name}' expected a number for {parameter.text}, got an array"
        )
    base = memory.allocate(parameter.name, array.reshape(-1).view(np.uint8)).base
    if is_memref(parameter.type):
        return argument_view(op, parameter.type, base, array.dtype.itemsize)
    return np.array([base], dtype=np.uint64)


def _bind_struct(parameter: Parameter, type_: LLVMStructType, arg: Any) -> Struct:
    """A struct from a tuple of its fields."""
    types = type_.types.data
    if not is_tuple(arg) or len(arg) != len(types):
        raise ExecutionError(
            f"argument '{parameter.name}' expected a tuple of {len(types)} for {type_}, got {arg!r}"
        )
    parts = [Parameter(f"{parameter.name}[{i}]", str(t), t) for i, t in enumerate(types)]
    return Struct(tuple(map(_bind_field, parts, arg)))


def _bind_field(field: Parameter, arg: Any) -> Any:
    if isinstance(field.type, LLVMStructType):
        return _bind_struct(field, field.type, arg)
    return _scalar(field, arg)


def _bind_cute(parameter: Parameter, type_: CuteType, arg: Any) -> LaneValue:
    try:
        value = read_typed(type_.kind(), arg).value if isinstance(arg, str) else arg
        return bound(type_.typed, value)
    except ValueError as error:
        raise ExecutionError(
            f"argument '{parameter.name}' expected a value of {parameter.text}, {error}"
        ) from None


# Arrays


def _check_dtype(parameter: Parameter, element: str, array: NDArray[Any]) -> None:
    legal = [np.dtype(each) for each in DTYPES.get(element, ())]
    width = legal[0].itemsize if legal else 0
    raw = [f"uint{8 * max(width, 1)}", *([f"V{width}"] if element in ML_FLOATS else [])]
    if array.dtype not in (*legal, *map(np.dtype, raw)):
        raise ExecutionError(
            f"argument '{parameter.name}' expected dtype {legal[0] if legal else element} "
            f"(or uint{8 * width}, raw bits) for {parameter.text}, got {array.dtype}"
        )


def _check_shape(parameter: Parameter, type_: MemRefType[Attribute], array: NDArray[Any]) -> None:
    shape = type_.get_shape()
    # memref<?xT> is a bare pointer: any array of T may stand behind it.
    if shape != (DYNAMIC_INDEX,) and (
        array.ndim != len(shape)
        or any(want not in (DYNAMIC_INDEX, have)
               for want, have in zip(shape, array.shape, strict=True))
    ):  # fmt: skip
        raise ExecutionError(
            f"argument '{parameter.name}' expected shape "
            f"{tuple('?' if each == DYNAMIC_INDEX else each for each in shape)} for "
            f"{parameter.text}, got {array.shape}"
        )


def results(args: Sequence[Any], memory: GlobalMemory) -> list[NDArray[Any]]:
    """The arrays among the arguments, as they are after the run."""
    held = [each.array if isinstance(each, TensorMap) else each for each in args]
    arrays = [each for each in held if is_array(each)]
    return [_seen(array, buffer) for array, buffer in zip(arrays, memory.allocations, strict=True)]


def _seen(array: NDArray[Any], buffer: Allocation) -> NDArray[Any]:
    data = buffer.data[: buffer.size]
    if data.size == array.nbytes and array.flags.c_contiguous:
        return data.view(array.dtype).reshape(array.shape).copy()
    return TensorArgument.of(array).seen(data)


# Numbers


def _scalar(parameter: Parameter, arg: Any) -> Any:
    held, is_float = _scalar_type(parameter)
    try:
        if is_float:
            return _float_value(parameter.text, float(arg))
        value = int(arg)
        if value != arg:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ExecutionError(
            f"argument '{parameter.name}' expected a number for {parameter.text}, got {arg!r}"
        ) from None
    if not -(1 << (held.bits - 1)) <= value < 1 << held.bits:
        raise ExecutionError(
            f"argument '{parameter.name}' expected {held.bits} bits for {parameter.text}, "
            f"got {value}"
        )
    if held.bits == 8 and parameter.type is not None:
        return np.array([value & 0xFF], dtype=np.uint8)
    return uniform(value, held.kind)


def _scalar_type(parameter: Parameter) -> tuple[ScalarType, bool]:
    if parameter.type is None:
        kind = PARAMETER_TYPES[parameter.text]
        bits = int(parameter.text[1:])
        return ScalarType(bits, kind, kind, parameter.text), parameter.text[0] == "f"
    held = scalar_type(parameter.type)
    if held is None:
        raise ExecutionError(f"argument '{parameter.name}' of {parameter.text} cannot be passed")
    return held, parameter.text in ("f16", "bf16", "f32", "f64")


def _float_value(type_: str, value: float) -> NDArray[Any]:
    dtype = np.dtype(DTYPES[type_][0])
    with np.errstate(over="ignore"):
        return np.array([value]).astype(dtype).view(f"uint{8 * dtype.itemsize}")


def lowered(value: Any) -> Any:
    """What the `ptx` level gets: a memref's address, an i8 in 16 bits, a predicate in 16."""
    if hasattr(value, "address"):
        return value.address
    if value.dtype in (np.uint8, np.bool_):
        return value.astype(np.uint16)
    return value
