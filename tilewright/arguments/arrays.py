"""Arrays as arguments: their memory, their shape and their strides in elements, on either side.

A dimension of the array is a leaf of the layout that a tensor of the tile level has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from math import prod
from operator import index
from typing import Any

import numpy as np

from tilewright.arguments.dlpack import described, on_cuda
from tilewright.arguments.dtypes import DTYPES, ML_FLOATS
from tilewright.arguments.tensor_map import TensorMap
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.symbolic.scalar import Scalar, fits, width_of
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.lowering.interpreter.array_spans import steps_forwards
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, UInt8Array


@frozen
class ArrayArgument:
    """An array that a kernel gets: on the CPU `flat`, its memory from its first element to its last
    one, or at an `address` of the GPU, where it may be `read_only`. `dtype` is NumPy's name of its
    elements' type."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    width: int
    flat: AnyArray | None = None
    address: int = 0
    read_only: bool = False

    @classmethod
    def of(cls, array: AnyArray) -> ArrayArgument:
        """An array, which may be a view of a larger one.

        Raises ValueError for strides that run backwards or are no whole elements.
        """
        width = array.dtype.itemsize
        strides = tuple(step // width for step in array.strides)
        if not steps_forwards(array):
            raise ValueError(f"an array with strides of whole elements forwards, got {strides}")
        count = 1 + _reach(array.shape, strides) if array.size else 0
        flat = _as_strided(array, (count,), (1,))
        return cls(array.shape, strides, dtype_name(array.dtype), width, flat)

    @classmethod
    def on_gpu(cls, array: Any) -> ArrayArgument | None:
        """An array on the GPU (a torch tensor, `__cuda_array_interface__`, or DLPack), or None.

        Raises ValueError for one that does not say where, or how, its elements lie.
        """
        try:
            return array if isinstance(array, cls) else cls._described(array)
        except ValueError:
            raise
        except Exception as error:  # the array's own methods may raise anything
            why = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"an array that says how its elements lie, got {told(array)} ({why})"
            ) from None

    @classmethod
    def _described(cls, array: Any) -> ArrayArgument | None:
        if getattr(array, "is_cuda", False):
            dtype = str(array.dtype).removeprefix("torch.")
            shape, strides, width = tuple(array.shape), tuple(array.stride()), array.element_size()
            return cls(shape, strides, dtype, width, address=int(array.data_ptr()))
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            return cls._by_dlpack(array) if on_cuda(array) else None
        try:
            dtype = np.dtype(str.strip(interface["typestr"]))
            shape = tuple(map(index, interface["shape"]))
            steps, address = interface.get("strides"), index(interface["data"][0])
            read_only = any(interface["data"][1:])
            pairs = [divmod(step, dtype.itemsize) for step in steps or ()]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                "a __cuda_array_interface__ of extents ('shape'), a dtype ('typestr') and an "
                f"address ('data'), got {interface!r:.200} ({type(error).__name__}: {error})"
            ) from None
        if any(rest for _, rest in pairs) or (steps is not None and len(pairs) != len(shape)):
            raise ValueError(f"strides of whole elements for shape {shape}, got {steps} bytes")
        masked, nowhere = interface.get("mask") is not None, address == 0 and prod(shape) != 0
        if masked or nowhere or min(shape, default=0) < 0:
            raise ValueError(f"sizes from 0 on, no mask and an address, got {interface!r:.200}")
        strides = _dense(shape) if steps is None else tuple(whole for whole, _ in pairs)
        return cls(shape, strides, dtype_name(dtype), dtype.itemsize, None, address, read_only)

    @classmethod
    def _by_dlpack(cls, array: Any) -> ArrayArgument:
        shape, strides, dtype, width, address, read_only = described(array)
        dense = _dense(shape) if strides is None else strides
        return cls(shape, dense, dtype, width, None, address, read_only)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """The addresses on the GPU of its first byte and behind its last one."""
        count = 1 + _reach(self.shape, self.strides) if prod(self.shape) else 0
        return self.address, self.address + count * self.width

    def of_parts(self, tensor: Tensor, text: str) -> ArrayArgument:
        """The array as one of a tensor's elements, less than a byte each: its items, unsigned
        integers, hold several along the dimension in which elements are neighbours.

        Raises ValueError for items that hold none of a parameter's type (`text`).
        """
        bits, steps = tensor.bits, flatten(tensor.modes.stride)
        if not self.dtype.startswith("uint"):
            raise ValueError(
                f"dtype uint8, {8 // bits} elements in each, for {text}, got {self.dtype}"
            )
        per = 8 * self.width // bits
        near = steps.index(1) if 1 in steps else len(steps) - 1
        shape, strides = list(self.shape), [step * per for step in self.strides]
        if near < len(shape):
            strides[near] = 1 if strides[near] == per or shape[near] == 1 else strides[near]
            shape[near] *= per
        return replace(self, shape=tuple(shape), strides=tuple(strides), width=1)

    @property
    def is_dense(self) -> bool:
        """True where the elements lie in row-major order without gaps."""
        pairs = zip(self.shape, self.strides, _dense(self.shape), strict=True)
        return 0 in self.shape or all(n == 1 or step == dense for n, step, dense in pairs)

    @property
    def view(self) -> AnyArray:
        """The array itself."""
        assert self.flat is not None
        return _as_strided(self.flat, self.shape, self.strides)

    def seen(self, content: UInt8Array) -> AnyArray:
        """The array whose memory has become these bytes."""
        assert self.flat is not None
        return _as_strided(content.view(self.flat.dtype), self.shape, self.strides).copy()

    def tensor_map(self, box: TensorBox, axes: Sequence[int]) -> TensorMap:
        """The tensor map of the array whose dimensions are these axes, outermost first.

        Raises TensorMapError where the hardware cannot copy boxes of it.
        """
        return TensorMap(
            self.address if self.flat is None else self.flat,
            box=box.shape,
            swizzle=box.swizzle,
            swizzle_atom=box.swizzle_atom,
            shape=[self.shape[axis] for axis in axes],
            strides=[self.strides[axis] for axis in axes],
            element=box.element.mlir,
        )

    def why_no_elements(self, element: str, text: str) -> str | None:
        """Why the array holds no elements that a parameter's type (`text`) has, or None where it
        does: unsigned integers of the same width are raw bits of any type."""
        legal = DTYPES.get(element, ())
        bits = 8 * max(np.dtype(legal[0]).itemsize if legal else 0, 1)
        raw = [f"uint{bits}", *([f"void{bits}"] if element in ML_FLOATS else [])]
        if self.dtype in (*legal, *raw):
            return None
        wanted = legal[0] if legal else element
        return f"expected dtype {wanted} (or uint{bits}, raw bits) for {text}, got {self.dtype}"

    def why_no_tensor(self, tensor: Tensor) -> str | None:
        """Why the array is none of a kernel's tensor, or None where it is."""
        if (why := tensor.why_no_argument) is not None:
            return why
        layout = tensor.modes
        extents, steps = flatten(layout.shape), flatten(layout.stride)
        if len(extents) != len(self.shape):
            return f"expected {len(extents)} dimensions, got shape {self.shape}"
        whys = starmap(_why_no_leaf, zip(extents, self.shape, strict=True))
        if why := _first(whys):
            return f"expected shape {_text(extents)}, got {self.shape} ({why})"
        whys = starmap(_why_no_step, zip(steps, self.strides, self.shape, strict=True))
        if why := _first(whys):
            return f"expected strides {_text(steps)}, got {self.strides} ({why})"
        return self._why_too_far(extents, steps)

    def _why_too_far(self, extents: Sequence[Scalar], steps: Sequence[Scalar]) -> str | None:
        """Why offsets, computed in the widths of the layout's leaves, leave them; or None."""
        widths = [max(map(width_of, pair)) for pair in zip(extents, steps, strict=True)]
        reaches = [max(n - 1, 0) * step for n, step in zip(self.shape, self.strides, strict=True)]
        whole = (max(widths, default=32), sum(reaches))
        for width, reach in (*zip(widths, reaches, strict=True), whole):
            if not fits(reach, width):
                return (
                    f"expected offsets of {width} bits, got {reach} of shape {self.shape} and "
                    f"strides {self.strides}; nearest legal: strides of ?{{i64}}"
                )
        return None


def dtype_name(dtype: AnyDType) -> str:
    """NumPy's name of a dtype, its byte order too where that is not the machine's."""
    return dtype.name if dtype.isnative else str(dtype)


def _first(whys: Any) -> str | None:
    """The first dimension that does not fit, with the reason."""
    return next((f"dimension {axis}: {why}" for axis, why in enumerate(whys) if why), None)


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """The offset of the last element."""
    return sum(max(n - 1, 0) * step for n, step in zip(shape, strides, strict=True))


def _as_strided(array: AnyArray, shape: tuple[int, ...], strides: tuple[int, ...]) -> AnyArray:
    """The memory of an array through another shape and strides in elements."""
    width = array.dtype.itemsize
    # NumPy knows no strided arrays of some of ml_dtypes' types.
    raw = array.view(f"V{width}") if array.dtype.isbuiltin == 2 else array
    steps = tuple(step * width for step in strides)
    return np.lib.stride_tricks.as_strided(raw, shape, steps).view(array.dtype)


def _why_no_leaf(leaf: Scalar, given: int) -> str | None:
    if isinstance(leaf, int):
        return None if leaf == given else f"not {leaf}"
    if not fits(given, leaf.width):
        return f"more than {leaf.width} bits"
    if given % leaf.divisor:
        return f"no multiple of {leaf.divisor}"
    return None


def _why_no_step(leaf: Scalar, given: int, extent: int) -> str | None:
    """The same of a stride; that of an extent of 1 is anything that its leaf can hold."""
    if extent != 1:
        return _why_no_leaf(leaf, given)
    width = width_of(leaf)
    return None if fits(given, width) else f"more than {width} bits"


def _text(leaves: tuple[Scalar, ...]) -> str:
    return f"({', '.join(map(str, leaves))})"
