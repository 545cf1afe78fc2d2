"""Tensor maps: what a kernel that copies with TMA is given beside pointers and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal, cast

from tilewright.arguments.options import TensorMapArgumentError, checked
from tilewright.dialects.cute_nvgpu.descriptors import tensor_box
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import (
    TensorBox,
    TensorMapError,
    tensor_element,
)
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, MAX_EXTENT, MAX_STRIDE
from tilewright.lowering.interpreter.array_types import AnyArray, is_array

__all__ = ["Im2col", "TensorMap", "TensorMapError"]

_NUMPY_ELEMENTS = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
    **{f"uint{bits}": f"i{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    "uint8": "ui8",
}


class Im2col(tensor_box.PixelBox):
    """The pixels that a copy of images may begin at, in DHW space, outermost first: from `lower` on
    to as far from the last one as `upper` says, each so many `strides` (1) behind the one before.
    Of the modes `im2col::w` and `im2col::w::128` those of W alone count. PTX ISA 5.5.4, 5.5.5.
    Raises TensorMapError for what the hardware does not copy.
    """

    @checked(TensorMapArgumentError)
    def __init__(
        self, lower: Sequence[int], upper: Sequence[int], strides: Sequence[int] = (),
        mode: Literal["im2col", "im2col::w", "im2col::w::128"] = "im2col",
    ):  # fmt: skip
        super().__init__(tuple(lower), tuple(upper), tuple(strides), mode)


class TensorMap:
    """A tensor in global memory, and the box of it that each TMA copy moves.

        a = tw.TensorMap(array, box=(128, 64), swizzle=128)
        b = tw.TensorMap(pointer, box=(64, 64), swizzle=128, shape=(k, n), element="bf16")

    `tensor` is a C-contiguous NumPy array, an array on the GPU (`__cuda_array_interface__`), or an
    address there. `shape` and `strides` (in elements) are the tensor's, outermost first: by default
    the array's own, and dense ones for an address; the last stride is 1. `element` is MLIR's name
    of the element type: by default that of the array. The box's last dimension is contiguous in
    shared memory, in rows of `swizzle` bytes, of which it keeps `swizzle_atom` together (32, of 128
    on Blackwell); out of bounds the tensor is zeros, or NaN where `nan` says so. Raises
    TensorMapError for what the hardware cannot copy.

        c = tw.TensorMap(images, box=(64, 32), im2col=tw.Im2col(lower=(-1, -1), upper=(-1, -1)))

    With `im2col` each copy moves so many pixels and channels of a tensor of images, NHWC: the
    corners are those of the driver's `cuTensorMapEncodeIm2col`, outermost first.

        d = tw.TensorMap(channels, box=(1, 1, 8, 16, 8), interleaved=True)

    An `interleaved` one is of slices of 16 or 32 bytes, of f16 or bf16 N, C/8, H, W, 8: the last
    dimension of the tensor and of the box, which has no coordinate.
    """

    @checked(TensorMapArgumentError)
    def __init__(
        self,
        tensor: Any,
        *,
        box: Sequence[int],
        swizzle: int = 0,
        swizzle_atom: int = CHUNK,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        element: str | None = None,
        nan: bool = False,
        im2col: Im2col | None = None,
        interleaved: bool = False,
    ):
        self.tensor: Any = tensor
        if element is None:
            element = _element_of(tensor)
        self.box = TensorBox(
            tuple(box), tensor_element(element), swizzle, swizzle_atom, nan, im2col, interleaved
        )
        self.shape = _shape_of(tensor) if shape is None else tuple(shape)
        steps = _strides_of(tensor, self.shape) if strides is None else strides
        self.strides = tuple(step * self.box.element.bytes for step in steps)
        """In bytes."""
        self._check()

    @property
    def array(self) -> AnyArray | None:
        """The NumPy array, or None where the tensor is on the GPU."""
        return self.tensor if is_array(self.tensor) else None

    def _check(self) -> None:
        if not len(self.shape) == len(self.strides) == self.box.dimensions:
            raise TensorMapError(
                f"expected a tensor of {self.box.dimensions} dimensions for box {self.box}, got "
                f"shape {self.shape} and {len(self.strides)} strides"
            )
        for extent in self.shape:
            if not 1 <= extent <= MAX_EXTENT:
                raise TensorMapError(f"expected extents of 1 to 2^32, got {extent}")
        if (pixels := self.box.im2col) is not None:
            for lower, upper, extent in zip(
                pixels.lower, pixels.upper, self.shape[self.box.space], strict=True
            ):
                if lower >= extent + upper:
                    raise TensorMapError(
                        f"expected corners with pixels between them, got {lower} and {upper} of "
                        f"{extent}"
                    )
        width, unit = self.box.element.bytes, CHUNK
        if self.strides[-1] != width:
            raise TensorMapError(
                f"expected a last stride of 1 element, got {self.strides[-1] // width}"
            )
        if self.box.interleaved:
            unit = self.box.shape[-1] * width
            self._check_slices()
        for stride in self.strides[:-1]:
            if stride % unit or not 0 <= stride < MAX_STRIDE:
                nearest = max(-(-stride // unit), 0) * unit // width
                raise TensorMapError(
                    f"expected strides of whole {unit} bytes, got {stride // width} elements "
                    f"({stride} bytes); nearest legal: {nearest} elements"
                )
        if (array := self.array) is not None:
            self._check_array(array)
        elif isinstance(self.tensor, int) and self.tensor % unit:
            raise TensorMapError(f"expected an address of whole {unit} bytes, got {self.tensor:#x}")
        elif not isinstance(self.tensor, int) and not is_on_gpu(self.tensor):
            got = type(self.tensor).__name__
            raise TensorMapError(f"expected an array or an address, got {got}")

    def _check_slices(self) -> None:
        *_, extent, slice_ = self.box.shape
        if self.shape[-1] != slice_ or self.strides[-2] != slice_ * self.strides[-1]:
            raise TensorMapError(
                f"expected slices of {slice_} elements, one behind the other, as of the box "
                f"{self.box}, got shape {self.shape} and strides of {self.strides} bytes"
            )
        chunk = CHUNK // self.box.element.bytes
        if self.box.im2col is None and extent % chunk:
            raise TensorMapError(
                f"expected a multiple of {chunk} slices along the innermost dimension, as the "
                f"driver asks of {self.box.element.mlir}, got {extent}; nearest legal: "
                f"{max(round(extent / chunk), 1) * chunk}"
            )

    def _check_array(self, array: AnyArray) -> None:
        if not array.flags.c_contiguous:
            raise TensorMapError(
                "expected a C-contiguous array; nearest legal: the whole array, with shape= and "
                "strides="
            )
        if array.dtype.itemsize != self.box.element.bytes:
            raise TensorMapError(f"expected an array of {self.box.element.mlir}, got {array.dtype}")
        spanned = sum(
            (extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True)
        )
        if spanned + self.box.element.bytes > array.nbytes:
            raise TensorMapError(
                f"expected an array of {spanned + self.box.element.bytes} bytes or more for shape "
                f"{self.shape}, got {array.nbytes}"
            )


def is_on_gpu(value: Any) -> bool:
    """A torch tensor on the GPU, or what says so by `__cuda_array_interface__`."""
    return getattr(value, "is_cuda", False) or hasattr(value, "__cuda_array_interface__")


def _element_of(tensor: Any) -> str:
    dtype = getattr(tensor, "dtype", None)
    name = getattr(dtype, "name", str(dtype).removeprefix("torch."))
    element = _NUMPY_ELEMENTS.get(name)
    if element is None:
        raise TensorMapError(f"expected element= for a tensor of {name}")
    return element


def _shape_of(tensor: Any) -> tuple[int, ...]:
    shape = getattr(tensor, "shape", None)
    if not isinstance(shape, tuple):
        raise TensorMapError("expected shape= for an address")
    return cast("tuple[int, ...]", shape)


def _strides_of(tensor: Any, shape: tuple[int, ...]) -> Sequence[int]:
    """The strides in elements: of an array its own, even where `shape` is less of it."""
    if is_array(tensor):
        return [step // tensor.dtype.itemsize for step in tensor.strides]
    own = getattr(tensor, "stride", None)
    if callable(own):
        return cast("Sequence[int]", own())
    return [prod(shape[place + 1 :]) for place in range(len(shape))]
