"""Memory through tiles of pointers, tokens, atomics. Tile IR specification, memory and atomics.

Nothing but tokens orders these operations: each may take one and gives one.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import (
    I1_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_POINTER,
    TILE,
    TOKEN,
    integer,
    number_of,
)
from tilewright.dialects.cuda_tile.enums import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryScope,
)
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_3, V13_4

ORDERING = number_of(MemoryOrderingSemantics)
SCOPE = number_of(MemoryScope)


@tile_op(0x71, V13_3)
class AllocaOp(CudaTileOp):
    """Memory of its own: `alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>`."""

    name = "cuda_tile.alloca"
    TEXT: ClassVar[str] = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $global_^)? "
        "attr-dict `:` type($result)"
    )

    num_elem = prop_def(integer(64, least=0))
    alignment = prop_def(integer(64, least=0))
    global_ = opt_prop_def(UnitAttr, prop_name="global")
    result = result_def(SCALAR_POINTER)

    traits = traits_def(MemoryWriteEffect())


@tile_op(0x44)
class MakeTokenOp(CudaTileOp):
    """A token that nothing comes before: `make_token : token`."""

    name = "cuda_tile.make_token"
    TEXT: ClassVar[str] = "attr-dict `:` type($result)"

    result = result_def(TOKEN)

    traits = traits_def(Pure())


@tile_op(0x3C)
class JoinTokensOp(CudaTileOp):
    """A token behind several: `join_tokens %a, %b : token`."""

    name = "cuda_tile.join_tokens"
    TEXT: ClassVar[str] = "$tokens attr-dict `:` type($result)"

    tokens = var_operand_def(TOKEN)
    result = result_def(TOKEN)

    traits = traits_def(Pure())


@tile_op(0x3D)
class LoadPtrTkoOp(CudaTileOp):
    """A tile from the memory that a tile of pointers names.

    `%x, %t = load_ptr_tko weak %p, %mask, %padding token=%t0 : tile<4xptr<f32>>, tile<4xi1>,
    tile<4xf32> -> tile<4xf32>, token`
    """

    name = "cuda_tile.load_ptr_tko"
    TEXT: ClassVar[str] = (
        "word($memory_ordering_semantics) (word($memory_scope)^)? $source (`,` $mask^)? "
        "(`,` $padding_value^)? (`token` `=` $token^)? "
        "(`optimization_hints` `=` $optimization_hints^)? attr-dict `:` type($source) "
        "(`,` type($mask)^)? (`,` type($padding_value)^)? `->` type($result) `,` "
        "type($result_token)"
    )
    SAME_SHAPES: ClassVar = (("source", "result", "mask"),)
    SAME_TYPES: ClassVar = (("result", "padding_value"),)

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    source = operand_def(POINTER_TILE)
    mask = opt_operand_def(I1_TILE)
    padding_value = opt_operand_def(NUMBER_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())


@tile_op(0x65)
class StorePtrTkoOp(CudaTileOp):
    """A tile to the memory that a tile of pointers names.

    `%t = store_ptr_tko weak %p, %x, %mask token=%t0 : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> ->
    token`
    """

    name = "cuda_tile.store_ptr_tko"
    TEXT: ClassVar[str] = (
        "word($memory_ordering_semantics) (word($memory_scope)^)? $destination `,` $value "
        "(`,` $mask^)? (`token` `=` $token^)? (`optimization_hints` `=` $optimization_hints^)? "
        "attr-dict `:` type($destination) `,` type($value) (`,` type($mask)^)? `->` "
        "type($result_token)"
    )
    SAME_SHAPES: ClassVar = (("destination", "value", "mask"),)

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    destination = operand_def(POINTER_TILE)
    value = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())


@tile_op(0x07)
class AtomicCASTkoOp(CudaTileOp):
    """Where memory holds `cmp` it gets `val`; the result is what it held.

    `%old, %t = atomic_cas_tko relaxed device %p, %c, %v : tile<4xptr<i32>>, tile<4xi32> ->
    tile<4xi32>, token`
    """

    name = "cuda_tile.atomic_cas_tko"
    TEXT: ClassVar[str] = (
        "word($memory_ordering_semantics) word($memory_scope) $pointers `,` $cmp `,` $val "
        "(`,` $mask^)? (`token` `=` $token^)? attr-dict `:` type($pointers) `,` type($val) "
        "(`,` type($mask)^)? `->` type($result) `,` type($result_token)"
    )
    SAME_TYPES: ClassVar = (("cmp", "val", "result"),)
    SAME_SHAPES: ClassVar = (("pointers", "val", "mask"),)

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    pointers = operand_def(POINTER_TILE)
    cmp = operand_def(TILE)
    val = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@tile_op(0x08)
class AtomicRMWTkoOp(CudaTileOp):
    """Memory gets `mode` of what it holds and `arg`; the result is what it held.

    `%old, %t = atomic_rmw_tko relaxed device %p, add, %x : tile<4xptr<i32>>, tile<4xi32> ->
    tile<4xi32>, token`
    """

    name = "cuda_tile.atomic_rmw_tko"
    TEXT: ClassVar[str] = (
        "word($memory_ordering_semantics) word($memory_scope) $pointers `,` word($mode) `,` $arg "
        "(`,` $mask^)? (`token` `=` $token^)? attr-dict `:` type($pointers) `,` type($arg) "
        "(`,` type($mask)^)? `->` type($result) `,` type($result_token)"
    )
    SAME_TYPES: ClassVar = (("arg", "result"),)
    SAME_SHAPES: ClassVar = (("pointers", "arg", "mask"),)

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    pointers = operand_def(POINTER_TILE)
    mode = prop_def(number_of(AtomicRMWMode))
    arg = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


class GridDependency(CudaTileOp):
    """`%t = $op token=%t0 : token`. Since 13.4, its text ours."""

    TEXT: ClassVar[str] = "(`token` `=` $token^)? attr-dict `:` type($result_token)"

    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@tile_op(0x77, V13_4)
class GdcLaunchDependentsTkoOp(GridDependency):
    """The grids that depend on this one may start."""

    name = "cuda_tile.gdc_launch_dependents_tko"


@tile_op(0x78, V13_4)
class GdcWaitTkoOp(GridDependency):
    """Wait for the grids that this one depends on, and for their memory."""

    name = "cuda_tile.gdc_wait_tko"


@tile_op(0x7A, V13_4)
class MemoryFenceAliasTkoOp(CudaTileOp):
    """Accesses by one address come before those of the same memory by another:
    `%t = memory_fence_alias_tko %t0 : token`. Since 13.4, its text ours."""

    name = "cuda_tile.memory_fence_alias_tko"
    TEXT: ClassVar[str] = "$token attr-dict `:` type($result_token)"

    token = operand_def(TOKEN)
    result_token = result_def(TOKEN)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
