"""The `cute` dialect: its ops and types."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from tilewright.dialects.cute.ops.accessors import ACCESSORS
from tilewright.dialects.cute.ops.arithmetic import ARITHMETIC
from tilewright.dialects.cute.ops.constructors import CONSTRUCTORS
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.elements import ELEMENT_OPS
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.ops.layout_algebra import LAYOUT_ALGEBRA
from tilewright.dialects.cute.ops.memory import MEMORY_OPS
from tilewright.dialects.cute.ops.pipeline import PIPELINE_OPS
from tilewright.dialects.cute.ops.scheduler import SCHEDULER_OPS
from tilewright.dialects.cute.ops.size_index import SIZE_INDEX
from tilewright.dialects.cute.ops.tensors import TENSOR_OPS
from tilewright.dialects.cute.ops.tiled import TILED_OPS
from tilewright.dialects.cute.ops.tiling import TILING
from tilewright.dialects.cute.ops.tma import TMA_OPS
from tilewright.dialects.cute.types.algebra import ATTRIBUTES, TYPES
from tilewright.dialects.cute.types.argument import ArgumentAttr
from tilewright.dialects.cute.types.memref import SpaceAttr
from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.dialects.cute.types.tensors import TENSOR_TYPES
from tilewright.dialects.cute.types.tiled import TILED_TYPES
from tilewright.dialects.cute.types.tma import TmaCopyType

ALGEBRA_OPS: tuple[type[Operation], ...] = (
    *CONSTRUCTORS,
    *ACCESSORS,
    *LAYOUT_ALGEBRA,
    *SIZE_INDEX,
    *ARITHMETIC,
    *TILING,
)
"""The ops of NVIDIA's CuTe IR: values of the layout algebra."""

TILE_OPS: tuple[type[Operation], ...] = (
    *TENSOR_OPS,
    *TILED_OPS,
    *MEMORY_OPS,
    *ELEMENT_OPS,
    CopyOp,
    *TMA_OPS,
    GemmOp,
    *PIPELINE_OPS,
    *SCHEDULER_OPS,
)
"""The ops of the tile level: tensors, copies, MMAs, pipelines."""

OPS = (*ALGEBRA_OPS, *TILE_OPS)

CUTE = Dialect(
    "cute",
    list(OPS),
    [
        *TYPES,
        *ATTRIBUTES,
        SpaceAttr,
        ArgumentAttr,
        *TENSOR_TYPES,
        *TILED_TYPES,
        TmaCopyType,
        PipelineType,
    ],
)
