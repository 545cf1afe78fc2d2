"""Tensor maps as arguments of interpreted kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.tensor_map import TensorImage
from tilewright.tensor_map import TensorMap


def bind_tensor_map(
    name: str, type_: Attribute | None, arg: Any, memory: GlobalMemory
) -> NDArray[np.uint64]:
    """The address of an argument's tensor map; its tensor is put into global memory.

    Raises ExecutionError unless it is the tensor map that the parameter's type says.
    """
    spelled = "tensormap" if type_ is None else str(type_)
    if not isinstance(arg, TensorMap):
        raise ExecutionError(
            f"argument '{name}' expected a TensorMap for {spelled}, got {type(arg).__name__}"
        )
    if isinstance(type_, TmaDescriptorType):
        box, found = type_.box, arg.box
        same = (box.shape, box.swizzle, box.element.bytes) == (
            found.shape,
            found.swizzle,
            found.element.bytes,
        )
        if not same:
            raise ExecutionError(
                f"argument '{name}' expected a TensorMap of box {box}, got {found}"
            )
    if arg.array is None:
        raise ExecutionError(f"argument '{name}' expected a TensorMap of a NumPy array")
    content = arg.array.reshape(-1).view(np.uint8)
    buffer = memory.allocate(name, content)
    image = TensorImage(name, buffer.data, arg.shape, arg.strides, arg.box)
    return np.array([memory.add_tensor_map(image)], dtype=np.uint64)
