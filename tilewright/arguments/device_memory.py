"""Memory of a GPU that arguments lie in, and tensor maps as the CUDA driver encodes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import string_at
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, OF_A_ROW, TENSOR_MAP_BYTES
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import UInt8Array


@entity
class DeviceMemory:
    """Copies of arguments on the GPU, freed where its `with` block ends.

    `driver` is `cuda.bindings.driver`, and `call` what calls a function of it by name.
    """

    _driver: Any
    _call: Callable[..., Any]
    _buffers: list[tuple[Any, int]] = factory(list)

    def __enter__(self) -> DeviceMemory:
        return self

    def __exit__(self, *_: object) -> None:
        for pointer, _size in self._buffers:
            self._driver.cuMemFree(pointer)

    def place(self, name: str, content: UInt8Array) -> int:
        """The address of a copy of these bytes."""
        content = np.ascontiguousarray(content)
        pointer = self._call("cuMemAlloc", max(content.size, 1))
        self._buffers.append((pointer, content.size))
        self._call("cuMemcpyHtoD", pointer, content.ctypes.data, content.size)
        return int(pointer)

    def contents(self) -> Iterator[UInt8Array]:
        """The content of each place now, in order."""
        for pointer, size in self._buffers:
            content = np.empty(size, dtype=np.uint8)
            self._call("cuMemcpyDtoH", content.ctypes.data, pointer, size)
            yield content

    @staticmethod
    def map_bytes(handle: Any) -> bytes:
        """The bytes of the driver's `CUtensorMap`, of which the first eight are the address."""
        return string_at(handle.getPtr(), TENSOR_MAP_BYTES)

    def add_tensor_map(
        self,
        name: str,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        box: TensorBox,
    ) -> Any:
        """The driver's `CUtensorMap` of a tensor at an address; strides in bytes.

        Dimensions stand innermost first there, and the innermost stride is left out.
        """
        driver = self._driver
        rank, layout = box.rank, f"{strides[-2]}B" if box.interleaved else "NONE"
        # Of one dimension there is no stride to give, but an array of them there must be.
        outer = strides[: rank - 1][::-1] or strides
        outside = "NAN_REQUEST_ZERO_FMA" if box.nan else "NONE"
        swizzle = f"SWIZZLE_{box.swizzle}B" if box.swizzle else "SWIZZLE_NONE"
        if box.swizzle_atom != CHUNK:
            swizzle += f"_ATOM_{box.swizzle_atom}B"
        boxes = list[Any]([[driver.cuuint32_t(extent) for extent in box.shape[:rank][::-1]]])
        steps = [1] * box.dimensions
        if (pixels := box.im2col) is not None:
            steps[box.space] = pixels.steps
            boxes = [[*pixels.lower[::-1]], [*pixels.upper[::-1]], *box.shape[::-1]]
        encode = "cuTensorMapEncodeTiled" if pixels is None else "cuTensorMapEncodeIm2col"
        modes = list[Any]()
        if pixels is not None and pixels.mode in OF_A_ROW:
            encode, boxes[:2] = f"{encode}Wide", [pixels.lower[-1], pixels.upper[-1]]
            modes.append(driver.CUtensorMapIm2ColWideMode(OF_A_ROW.index(pixels.mode)))
        return self._call(
            encode,
            getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{box.element.driver}"),
            rank,
            address,
            [driver.cuuint64_t(extent) for extent in shape[:rank][::-1]],
            [driver.cuuint64_t(stride) for stride in outer],
            *boxes,
            [driver.cuuint32_t(step) for step in steps[:rank][::-1]],
            getattr(driver.CUtensorMapInterleave, f"CU_TENSOR_MAP_INTERLEAVE_{layout}"),
            *modes,
            getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_{swizzle}"),
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            getattr(driver.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{outside}"),
        )
