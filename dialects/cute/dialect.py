"""The `cute` dialect: its ops and types."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of, ops_of
from tilewright.dialects.cute.ops import (
    accessors,
    arithmetic,
    constructors,
    convert,
    copy,
    elements,
    gemm,
    layout_algebra,
    memory,
    pipeline,
    scheduler,
    size_index,
    tensors,
    tiled,
    tiling,
    tma,
)
from tilewright.dialects.cute.types import algebra, argument, memref
from tilewright.dialects.cute.types import pipeline as pipelines
from tilewright.dialects.cute.types import tensors as tensor_types
from tilewright.dialects.cute.types import tiled as tiled_types
from tilewright.dialects.cute.types import tma as tma_types

ALGEBRA_OPS = ops_of(constructors, accessors, layout_algebra, size_index, arithmetic, tiling)
"""The ops of NVIDIA's CuTe IR: values of the layout algebra."""

TILE_OPS = ops_of(tensors, tiled, memory, elements, convert, copy, tma, gemm, pipeline, scheduler)
"""The ops of the tile level: tensors, copies, MMAs, pipelines."""

OPS = (*ALGEBRA_OPS, *TILE_OPS)

CUTE = Dialect(
    "cute",
    list(OPS),
    attributes_of(algebra, memref, argument, tensor_types, tiled_types, tma_types, pipelines),
)
