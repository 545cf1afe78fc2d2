"""What a kernel that was lowered from the tile level is launched with: the parts of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.cute.types.argument import FROM, ArgumentAttr
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.lowering.interpreter.values import is_array
from tilewright.numpy_dtypes import DTYPES
from tilewright.tensor_argument import TensorArgument
from tilewright.tensor_map import TensorMap

if TYPE_CHECKING:
    from tilewright.compiler import Entry

Copy = Callable[[TensorArgument], int]
"""Puts the memory of an array on the GPU; its address there."""

Encode = Callable[[TensorMap, int], Any]
"""The driver's form of a tensor map of what is at an address."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A tensor on the GPU."""

    tensor: TensorArgument
    address: int


class ArgumentError(ValueError):
    """An argument that is none of the kernel's."""


def parameter_values(entry: Entry, args: Sequence[Any], copy: Copy, encode: Encode) -> list[Any]:
    """The value of each parameter. Raises ArgumentError for arguments that do not fit."""
    if len(args) != len(entry.signature):
        types = ", ".join(map(str, entry.signature))
        raise ArgumentError(f"expected {len(entry.signature)} arguments ({types}), got {len(args)}")
    given = [
        _given(index, arg, type_, copy)
        for index, (arg, type_) in enumerate(zip(args, entry.signature, strict=True))
    ]
    return [
        _part(name, source, given, encode)
        for (name, _), source in zip(entry.parameters, entry.sources, strict=True)
    ]


def _given(index: int, arg: Any, type_: Attribute, copy: Copy) -> _Placed | int | float:
    """A tensor on the GPU, or a scalar as its parameter holds it."""
    if not isinstance(type_, MemRefType):
        return _number(index, arg, str(type_))
    try:
        found = TensorArgument.of(arg) if is_array(arg) else _on_device(arg, type_)
    except ValueError as error:
        raise ArgumentError(f"argument {index} expected {error}") from None
    tensor = type_.tensor
    if (why := found.why_not(tensor)) is not None:
        raise ArgumentError(f"argument {index} {why} for {type_}")
    address = found.address if found.flat is None else copy(found)
    if address % tensor.align:
        raise ArgumentError(
            f"argument {index} expected an address of whole {tensor.align} bytes for {type_}, "
            f"got {address:#x}"
        )
    return _Placed(found, address)


def _on_device(arg: Any, type_: MemRefType) -> TensorArgument:
    found = TensorArgument.on_device(arg)
    if found is None:
        raise ValueError(f"an array for {type_}, got {type(arg).__name__}")
    return found


def _number(index: int, arg: Any, type_: str) -> int | float:
    """A scalar as its parameter holds it: halves as their bits."""
    try:
        if type_ in ("f16", "bf16"):
            return int(np.array(float(arg)).astype(DTYPES[type_][0]).view(np.uint16))
        if type_.startswith("f"):
            return float(arg)
        bits = 64 if type_ == "index" else int(type_.lstrip("i"))
        return int(arg) % (1 << bits)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"argument {index} expected a number for {type_}, got {arg!r}"
        ) from None


def _part(
    name: str, source: ArgumentAttr | None, given: Sequence[_Placed | int | float], encode: Encode
) -> Any:
    if source is None or source.index.data >= len(given):
        raise ArgumentError(f"parameter '{name}' expected {FROM} with an argument, got {source}")
    value, modes = given[source.index.data], [each.data for each in source.modes]
    if not isinstance(value, _Placed):
        return value
    tensor, address = value.tensor, value.address
    match source.part.data:
        case "shape":
            return tensor.shape[modes[0]]
        case "stride":
            return tensor.strides[modes[0]]
        case "tensor_map":
            assert isinstance(source.type, TmaDescriptorType)
            return encode(tensor.tensor_map(source.type.box, modes), address)
        case _:
            return address
