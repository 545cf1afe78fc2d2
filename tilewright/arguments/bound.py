"""Arguments, bound: what a kernel gets of an array, a tensor map, a number, a struct."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.parameters import Parameter
from tilewright.arguments.tensor_map import TensorMap
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.dialects.ptx.control_flow import TENSORMAP, parameter_layout
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue
from tilewright.lowering.interpreter.array_types import UInt8Array
from tilewright.source.diagnostic import ArgumentError


@frozen
class Placed:
    """An array in memory."""

    array: ArrayArgument
    address: int

    @property
    def read_only(self) -> bool:
        """It is on the GPU, and may not be written."""
        return self.array.read_only

    @property
    def content(self) -> bytes:
        """The bytes of an array that a parameter is."""
        assert self.array.flat is not None
        return self.array.flat.tobytes()


@frozen
class Mapped:
    """A tensor map, as its memory made it, and whether its array may not be written."""

    handle: Any
    read_only: bool


Bound = int | Placed | Mapped | LaneValue | tuple[Any, ...]
"""An argument, bound: a number's bits, a value of the algebra, a tuple for a struct."""


def packed(
    parameter: Parameter, parts: Mapping[int, Any], bind: Callable[[Parameter, Any], Bound],
    map_bytes: Callable[[Any], bytes],
) -> UInt8Array:  # fmt: skip
    """The bytes of a parameter, zeros but for its parts, by where each begins; they may not be
    written. Raises ArgumentError for parts that are not apart, or not within."""
    size, end = parameter_layout(parameter.text)[0], 0
    content = np.zeros(size, np.uint8)
    for first, part in sorted(parts.items()):
        own = Parameter(f"{parameter.name}[{first}]", "u64")
        is_map = isinstance(part, TensorMap)
        if isinstance(part, bytes | np.generic):
            octets = np.asarray(part).tobytes()
        else:
            bound = bind(Parameter(own.name, TENSORMAP) if is_map else own, part)
            if not isinstance(bound, Placed | Mapped):
                raise ArgumentError(
                    f"argument '{own.name}' expected a number of NumPy, which has a size, got "
                    f"{told(part)}"
                )
            octets = map_bytes(bound.handle) if isinstance(bound, Mapped) else (
                bound.address.to_bytes(8, "little")
            )  # fmt: skip
        if first < end or first + len(octets) > size or (is_map and first % 64):
            raise ArgumentError(
                f"argument '{own.name}' expected bytes that no other part has, up to {size}, and "
                f"from a multiple of 64 on for a tensor map, got {len(octets)}"
            )
        end = first + len(octets)
        content[first:end] = np.frombuffer(octets, np.uint8)
    content.flags.writeable = False
    return content
