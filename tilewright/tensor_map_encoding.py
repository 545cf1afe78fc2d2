"""Tensor maps as the CUDA driver encodes them."""

from __future__ import annotations

from typing import Any

from tilewright.tensor_map import TensorMap


def encode(driver: Any, call: Any, tensor_map: TensorMap, address: int) -> Any:
    """The driver's `CUtensorMap` of a tensor at an address of the GPU.

    `driver` is `cuda.bindings.driver` and `call` what calls a function of it by name. Dimensions
    stand innermost first there, and the innermost stride is left out.
    """
    box = tensor_map.box
    shape, extents = tensor_map.shape[::-1], box.shape[::-1]
    # Of one dimension there is no stride to give, but an array of them there must be.
    strides = tensor_map.strides[:-1][::-1] or tensor_map.strides
    swizzle = f"SWIZZLE_{box.swizzle}B" if box.swizzle else "SWIZZLE_NONE"
    return call(
        "cuTensorMapEncodeTiled",
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{box.element.driver}"),
        box.rank,
        address,
        [driver.cuuint64_t(each) for each in shape],
        [driver.cuuint64_t(each) for each in strides],
        [driver.cuuint32_t(each) for each in extents],
        [driver.cuuint32_t(1)] * box.rank,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_{swizzle}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
