"""Views: tensors in global memory, cut into tiles. Tile IR specification, views."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import (
    INT_TILE,
    SCALAR_INT,
    SCALAR_POINTER,
    TENSOR_VIEW,
    TILE,
    TILE_VIEW,
    TOKEN,
    Accepts,
    list_of,
    number_of,
)
from tilewright.dialects.cuda_tile.enums import AtomicRMWMode, MultimemReductionKind
from tilewright.dialects.cuda_tile.ops.memory import ORDERING, SCOPE
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
)
from tilewright.dialects.cuda_tile.versions import V13_3, V13_4, V13_5


@tile_op(0x43)
class MakeTensorViewOp(CudaTileOp):
    """A tensor from an address: `make_tensor_view %p, shape = [%n, 64], strides = [64, 1] :
    tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>`."""

    name = "cuda_tile.make_tensor_view"

    base = operand_def(SCALAR_POINTER)
    dynamic_shape = var_operand_def(SCALAR_INT)
    dynamic_strides = var_operand_def(SCALAR_INT)
    result = result_def(TENSOR_VIEW)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())


class MakeView(CudaTileOp):
    """`$op %tensor : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>`."""

    TEXT: ClassVar[str] = "$tensor_view attr-dict `:` type($result)"

    tensor_view = operand_def(TENSOR_VIEW)

    traits = traits_def(Pure())


@tile_op(0x42)
class MakePartitionViewOp(MakeView):
    """A grid of tiles."""

    name = "cuda_tile.make_partition_view"

    result = result_def(
        Accepts("a partition_view", lambda type_: isinstance(type_, PartitionViewType))
    )


@tile_op(0x74, V13_3)
class MakeStridedViewOp(MakeView):
    """Tiles with gaps, or overlapping."""

    name = "cuda_tile.make_strided_view"

    result = result_def(Accepts("a strided_view", lambda type_: isinstance(type_, StridedViewType)))


@tile_op(0x73, V13_3)
class MakeGatherScatterViewOp(MakeView):
    """Tiles of rows that are named one by one."""

    name = "cuda_tile.make_gather_scatter_view"

    result = result_def(
        Accepts("a gather_scatter_view", lambda type_: isinstance(type_, GatherScatterViewType))
    )


@tile_op(0x2D)
class GetIndexSpaceShapeOp(CudaTileOp):
    """How many tiles a view has: `%m, %n = get_index_space_shape %view : partition_view<...> ->
    tile<i32>`."""

    name = "cuda_tile.get_index_space_shape"

    src = operand_def(TILE_VIEW)
    result = var_result_def(SCALAR_INT)

    traits = traits_def(Pure())


@tile_op(0x2F)
class GetTensorShapeOp(CudaTileOp):
    """The sizes of a tensor: `%m, %n = get_tensor_shape %tensor : tensor_view<...> -> tile<i32>`."""

    name = "cuda_tile.get_tensor_shape"

    src = operand_def(TENSOR_VIEW)
    result = var_result_def(SCALAR_INT)

    traits = traits_def(Pure())


INBOUNDS = list_of(1)


@tile_op(0x3E, inbounds=V13_4)
class LoadViewTkoOp(CudaTileOp):
    """A tile of a view: `%x, %t = load_view_tko weak %view[%i, %j] token = %t0 :
    partition_view<...>, tile<i32> -> tile<4x8xf32>, token`. `inbounds` says along which dimensions
    the tile lies within the tensor."""

    name = "cuda_tile.load_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(INBOUNDS)
    tile = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())


@tile_op(0x66, inbounds=V13_4)
class StoreViewTkoOp(CudaTileOp):
    """A tile to a view: `%t = store_view_tko weak %x, %view[%i, %j] : tile<4x8xf32>,
    partition_view<...>, tile<i32> -> token`."""

    name = "cuda_tile.store_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    tile = operand_def(TILE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(INBOUNDS)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())


@tile_op(0x75, V13_3, inbounds=V13_5)
class AtomicRedViewTkoOp(CudaTileOp):
    """A tile of a view gets `mode` of what it holds and `value`: `%t = atomic_red_view_tko relaxed
    device %view[%i], add, %x : tile<4xi32>, partition_view<...>, tile<i32> -> token`."""

    name = "cuda_tile.atomic_red_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    mode = prop_def(number_of(AtomicRMWMode))
    value = operand_def(TILE)
    token = opt_operand_def(TOKEN)
    inbounds = opt_prop_def(INBOUNDS)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


REDUCTION = number_of(MultimemReductionKind)


@tile_op(0x7B, V13_5)
class MultimemLoadReduceViewTkoOp(CudaTileOp):
    """A tile of a view of a multicast object, reduced over its copies. Since 13.5, its text ours."""

    name = "cuda_tile.multimem_load_reduce_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    reduction = prop_def(REDUCTION)
    inbounds = opt_prop_def(INBOUNDS)
    reduced_values = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())


@tile_op(0x7C, V13_5)
class MultimemReduceViewTkoOp(CudaTileOp):
    """All copies of a tile of a multicast object get `reduction` of what they hold and a tile.
    Since 13.5, its text ours."""

    name = "cuda_tile.multimem_reduce_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    tile = operand_def(TILE)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    reduction = prop_def(REDUCTION)
    inbounds = opt_prop_def(INBOUNDS)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@tile_op(0x7D, V13_5)
class MultimemStoreViewTkoOp(CudaTileOp):
    """All copies of a tile of a multicast object get a tile. Since 13.5, its text ours."""

    name = "cuda_tile.multimem_store_view_tko"

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    tile = operand_def(TILE)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    inbounds = opt_prop_def(INBOUNDS)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())
