"""Arrays as the tensors of kernels: their memory, their shape and their strides in elements.

A dimension of the array is a leaf of the tensor's layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.int_tuple import flatten, unflatten
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, fits
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue, sized
from tilewright.lowering.interpreter.ops.tile.tensor_access import GlobalBase
from tilewright.tensor_map import TensorMap


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """An array that a kernel gets: on the CPU `flat`, its memory from its first element to its last
    one, or at an `address` of the GPU."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    flat: NDArray[Any] | None = None
    address: int = 0

    @classmethod
    def of(cls, array: NDArray[Any]) -> TensorArgument:
        """An array, which may be a view of a larger one.

        Raises ValueError for strides that run backwards or are no whole elements.
        """
        width = array.dtype.itemsize
        strides = tuple(each // width for each in array.strides)
        if any(each % width for each in array.strides) or any(each < 0 for each in strides):
            raise ValueError(f"an array with strides of whole elements forwards, got {strides}")
        span = 1 + sum((n - 1) * d for n, d in zip(array.shape, strides, strict=True))
        count = span if array.size else 0
        flat = _as_strided(array, (count,), (1,))
        return cls(array.shape, strides, flat)

    @classmethod
    def on_device(cls, array: Any) -> TensorArgument | None:
        """An array on the GPU (a torch tensor, or `__cuda_array_interface__`), or None."""
        if hasattr(array, "data_ptr"):
            return cls(tuple(array.shape), tuple(array.stride()), address=array.data_ptr())
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            return None
        shape, width = tuple(interface["shape"]), int(interface["typestr"][2:])
        dense = [prod(shape[axis + 1 :]) * width for axis in range(len(shape))]
        strides = tuple(each // width for each in interface.get("strides") or dense)
        return cls(shape, strides, address=int(interface["data"][0]))

    def seen(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """The array whose memory has become `data`."""
        assert self.flat is not None
        return _as_strided(data.view(self.flat.dtype), self.shape, self.strides).copy()

    def tensor_map(self, box: TensorBox, axes: Sequence[int]) -> TensorMap:
        """The tensor map of the array whose dimensions are these axes, outermost first.

        Raises TensorMapError where the hardware cannot copy boxes of it.
        """
        return TensorMap(
            self.address if self.flat is None else self.flat,
            box=box.shape,
            swizzle=box.swizzle,
            shape=[self.shape[axis] for axis in axes],
            strides=[self.strides[axis] for axis in axes],
            element=box.element.mlir,
        )

    def why_not(self, tensor: Tensor) -> str | None:
        """Why the array is none of a kernel's tensor, or None where it is."""
        layout = tensor.layout
        if tensor.space != "gmem" or not isinstance(layout, Layout):
            return f"expected a plain layout in gmem, got {tensor}"
        extents, steps = flatten(layout.shape), flatten(layout.stride)
        if len(extents) != len(self.shape):
            return f"expected {len(extents)} dimensions, got shape {self.shape}"
        for what, leaves, found in (
            ("shape", extents, self.shape),
            ("strides", steps, self.strides),
        ):
            for axis, (leaf, given) in enumerate(zip(leaves, found, strict=True)):
                if what == "strides" and self.shape[axis] == 1:
                    continue
                if (why := _why_no_leaf(leaf, given)) is not None:
                    return f"expected {what} {_text(leaves)}, got {found} (dimension {axis}: {why})"
        return None

    def value(self, tensor: Tensor, address: int) -> LaneValue:
        """The value of a kernel's tensor at an address of global memory."""
        shape, stride = (
            _filled(leaves, found)
            for leaves, found in (
                (tensor.modes.shape, self.shape),
                (tensor.modes.stride, self.strides),
            )
        )
        layout = make_unchecked(shape, stride)
        zero = LaneInteger(np.zeros(1, dtype=np.uint64))
        held = Tensor(tensor.element, tensor.space, tensor.align, layout, GlobalBase(address), zero)
        return LaneValue(Typed("memref", held))


def _as_strided(
    array: NDArray[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> NDArray[Any]:
    """The memory of an array through another shape and strides in elements."""
    width = array.dtype.itemsize
    # NumPy knows no strided arrays of some of ml_dtypes' types.
    raw = array.view(f"V{width}") if array.dtype.isbuiltin == 2 else array
    steps = tuple(each * width for each in strides)
    return np.lib.stride_tricks.as_strided(raw, shape, steps).view(array.dtype)


def _why_no_leaf(leaf: Scalar, given: int) -> str | None:
    if isinstance(leaf, int):
        return None if leaf == given else f"not {leaf}"
    if not fits(given, leaf.width):
        return f"more than {leaf.width} bits"
    if given % leaf.divisor:
        return f"no multiple of {leaf.divisor}"
    return None


def _filled(leaves: Any, found: tuple[int, ...]) -> Any:
    filled = (
        LaneInteger(sized(given, leaf.width)) if isinstance(leaf, Dynamic) else leaf
        for leaf, given in zip(flatten(leaves), found, strict=True)
    )
    return unflatten(tuple(filled), leaves)


def _text(leaves: tuple[Scalar, ...]) -> str:
    return f"({', '.join(map(str, leaves))})"
