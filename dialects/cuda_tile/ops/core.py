"""What a module is made of, and tiles as a whole. Tile IR specification, core and miscellaneous."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import FlatSymbolRefAttr, FunctionType, IntegerAttr, StringAttr, UnitAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolTable,
)

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    OptimizationHintsAttr,
    SymbolVisibilityAttr,
)
from tilewright.dialects.cuda_tile.constraints import (
    ANY,
    ANY_NUMBER_TILE,
    ARRAY,
    I1_TILE,
    I8_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_I32,
    SCALAR_POINTER,
    TILE,
    TOKEN,
    instance_of,
    integer,
    list_of,
)
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_2, V13_3, V13_4, V13_5

ELEMENTS = instance_of(ElementsAttr, "the elements of a tile")


@tile_op(0x4B, producer=V13_3)
class ModuleOp(CudaTileOp):
    """`module @kernels { ... }`: kernels and globals."""

    name = "cuda_tile.module"

    sym_name = prop_def(StringAttr)
    producer = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())


@tile_op(0x16, arg_attrs=V13_5)
class EntryOp(CudaTileOp):
    """A kernel: `entry @f(%x: tile<ptr<f32>>, %n: tile<i32>) { ... }`."""

    name = "cuda_tile.entry"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ARRAY)
    res_attrs = opt_prop_def(ARRAY)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())


@tile_op(0x31, constant=V13_3, symbol_visibility=V13_3)
class GlobalOp(CudaTileOp):
    """`global constant @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>`."""

    name = "cuda_tile.global"

    sym_name = prop_def(StringAttr)
    value = prop_def(ELEMENTS)
    alignment = opt_prop_def(integer(64), IntegerAttr(0, 64))
    constant = opt_prop_def(UnitAttr)
    symbol_visibility = opt_prop_def(
        SymbolVisibilityAttr, SymbolVisibilityAttr(SymbolVisibility.PUBLIC)
    )

    traits = traits_def(SymbolOpInterface())


@tile_op(0x2C)
class GetGlobalOp(CudaTileOp):
    """The address of a global: `get_global @g : tile<ptr<f32>>`."""

    name = "cuda_tile.get_global"
    TEXT: ClassVar[str] = "$name_ attr-dict `:` type($result)"

    name_ = prop_def(FlatSymbolRefAttr, prop_name="name")
    result = result_def(SCALAR_POINTER)

    traits = traits_def(Pure())


@tile_op(0x06)
class AssumeOp(CudaTileOp):
    """A value of which something is known: `assume div_by<16>, %p : tile<ptr<f32>>`."""

    name = "cuda_tile.assume"
    TEXT: ClassVar[str] = "predicate($predicate) `,` $value attr-dict `:` type($value)"
    SAME_TYPES: ClassVar = (("value", "result"),)

    value = operand_def(ANY)
    predicate = prop_def(
        instance_of(AssumePredicateAttr, "div_by<...>, same_elements<...> or bounded<...>")
    )
    result = result_def(ANY)


@tile_op(0x0B)
class BroadcastOp(CudaTileOp):
    """Dimensions of 1 repeated: `broadcast %x : tile<1x4xf32> -> tile<8x4xf32>`."""

    name = "cuda_tile.broadcast"
    TEXT: ClassVar[str] = "$source attr-dict `:` type($source) `->` type($result)"
    SAME_ELEMENTS: ClassVar = (("source", "result"),)
    SAME_RANKS: ClassVar = (("source", "result"),)

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x0C)
class CatOp(CudaTileOp):
    """Two tiles as one: `cat %x, %y dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>`."""

    name = "cuda_tile.cat"
    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs `dim` `=` $dim attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
    )
    SAME_ELEMENTS: ClassVar = (("lhs", "rhs", "result"),)
    SAME_RANKS: ClassVar = (("lhs", "rhs", "result"),)

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(integer(64))
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x10)
class ConstantOp(CudaTileOp):
    """`constant <f32: [1.0, 2.0]> : tile<2xf32>`; one number stands for all."""

    name = "cuda_tile.constant"

    value = prop_def(ELEMENTS)
    result = result_def(NUMBER_TILE)

    traits = traits_def(Pure())


@tile_op(0x26)
class ExtractOp(CudaTileOp):
    """A tile of a tile, in units of its own shape: `extract %x[%i, %j] : tile<4x8xf32> ->
    tile<2x2xf32>`."""

    name = "cuda_tile.extract"
    TEXT: ClassVar[str] = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"
    SAME_ELEMENTS: ClassVar = (("source", "result"),)
    SAME_RANKS: ClassVar = (("source", "result"),)

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x76, V13_4)
class InsertOp(CudaTileOp):
    """A tile with a part replaced, in units of the part's shape: `insert %x, %y[%i, %j] :
    tile<2x2xf32>, tile<4x8xf32>`. Since 13.4, its text ours."""

    name = "cuda_tile.insert"
    TEXT: ClassVar[str] = (
        "$source `,` $destination `[` $indices `]` attr-dict `:` type($source) `,` "
        "type($destination)"
    )
    SAME_TYPES: ClassVar = (("destination", "result"),)
    SAME_ELEMENTS: ClassVar = (("source", "destination"),)
    SAME_RANKS: ClassVar = (("source", "destination"),)

    source = operand_def(TILE)
    destination = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x30)
class GetTileBlockIdOp(CudaTileOp):
    """Which block this is: `%x, %y, %z = get_tile_block_id : tile<i32>`."""

    name = "cuda_tile.get_tile_block_id"
    TEXT: ClassVar[str] = "attr-dict `:` type($block_id_x)"
    SAME_TYPES: ClassVar = (("block_id_x", "block_id_y", "block_id_z"),)

    block_id_x = result_def(SCALAR_I32)
    block_id_y = result_def(SCALAR_I32)
    block_id_z = result_def(SCALAR_I32)

    traits = traits_def(Pure())


@tile_op(0x2E)
class GetNumTileBlocksOp(CudaTileOp):
    """How many blocks there are: `%x, %y, %z = get_num_tile_blocks : tile<i32>`."""

    name = "cuda_tile.get_num_tile_blocks"
    TEXT: ClassVar[str] = "attr-dict `:` type($grid_size_x)"
    SAME_TYPES: ClassVar = (("grid_size_x", "grid_size_y", "grid_size_z"),)

    grid_size_x = result_def(SCALAR_I32)
    grid_size_y = result_def(SCALAR_I32)
    grid_size_z = result_def(SCALAR_I32)

    traits = traits_def(Pure())


@tile_op(0x3A)
class IotaOp(CudaTileOp):
    """0, 1, 2 and so on: `iota : tile<4xi32>`."""

    name = "cuda_tile.iota"
    TEXT: ClassVar[str] = "attr-dict `:` type($result)"

    result = result_def(INT_TILE)

    traits = traits_def(Pure())


@tile_op(0x51)
class OffsetOp(CudaTileOp):
    """Pointers moved by so many numbers: `offset %p, %n : tile<4xptr<f32>>, tile<4xi32> ->
    tile<4xptr<f32>>`."""

    name = "cuda_tile.offset"
    TEXT: ClassVar[str] = (
        "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset) `->` type($result)"
    )
    SAME_TYPES: ClassVar = (("ptr", "result"),)
    SAME_SHAPES: ClassVar = (("ptr", "offset"),)

    ptr = operand_def(POINTER_TILE)
    offset = operand_def(INT_TILE)
    result = result_def(POINTER_TILE)

    traits = traits_def(Pure())


@tile_op(0x6F, V13_3)
class PackOp(CudaTileOp):
    """The bytes of a tile: `pack %x : tile<8xf4E2M1FN> -> tile<4xi8>`."""

    name = "cuda_tile.pack"
    TEXT: ClassVar[str] = "$source attr-dict `:` type($source) `->` type($result)"
    SAME_RANKS: ClassVar = (("source", "result"),)

    source = operand_def(ANY_NUMBER_TILE)
    result = result_def(I8_TILE)

    traits = traits_def(Pure())


@tile_op(0x70, V13_3)
class UnpackOp(CudaTileOp):
    """The numbers of bytes: `unpack %x : tile<4xi8> -> tile<8xf4E2M1FN>`."""

    name = "cuda_tile.unpack"
    TEXT: ClassVar[str] = "$source attr-dict `:` type($source) `->` type($result)"
    SAME_RANKS: ClassVar = (("source", "result"),)

    source = operand_def(I8_TILE)
    result = result_def(ANY_NUMBER_TILE)

    traits = traits_def(Pure())


@tile_op(0x53)
class PermuteOp(CudaTileOp):
    """Dimensions in another order: `permute %x [1, 0] : tile<4x8xf32> -> tile<8x4xf32>`."""

    name = "cuda_tile.permute"
    TEXT: ClassVar[str] = "$source $permutation attr-dict `:` type($source) `->` type($result)"
    SAME_ELEMENTS: ClassVar = (("source", "result"),)
    SAME_RANKS: ClassVar = (("source", "result"),)

    source = operand_def(TILE)
    permutation = prop_def(list_of(32))
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x55, token=V13_2, result_token=V13_2)
class PrintTkoOp(CudaTileOp):
    """Print as C's printf does: `%t = print_tko "%d", %x : tile<4xi32> -> token`."""

    name = "cuda_tile.print_tko"
    TEXT: ClassVar[str] = (
        "$str_ (`,` $args^)? (`token` `=` $token^)? attr-dict (`:` type($args)^)? `->` "
        "type($result_token)"
    )

    str_ = prop_def(StringAttr, prop_name="str")
    args = var_operand_def(TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())


@tile_op(0x58)
class ReduceOp(CudaTileOp):
    """A dimension reduced by a function of two values: `reduce %x dim=0 identities=[0.0 : f32] :
    tile<4xf32> -> tile<f32> (%a: tile<f32>, %b: tile<f32>) { ... }`."""

    name = "cuda_tile.reduce"

    arguments = var_operand_def(TILE)
    dim = prop_def(integer(32, least=0))
    identities = prop_def(ARRAY)
    res = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@tile_op(0x5B)
class ReshapeOp(CudaTileOp):
    """The same elements in another shape: `reshape %x : tile<4x2xf32> -> tile<8xf32>`."""

    name = "cuda_tile.reshape"
    TEXT: ClassVar[str] = "$source attr-dict `:` type($source) `->` type($result)"
    SAME_ELEMENTS: ClassVar = (("source", "result"),)

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())


@tile_op(0x5E)
class ScanOp(CudaTileOp):
    """Prefixes along a dimension, combined by a function of two values: `scan %x dim=0
    reverse=false identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (...) { ... }`."""

    name = "cuda_tile.scan"

    arguments = var_operand_def(TILE)
    dim = prop_def(integer(32, least=0))
    reverse = prop_def(integer(1))
    identities = prop_def(ARRAY)
    res = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@tile_op(0x5F)
class SelectOp(CudaTileOp):
    """One tile where a condition holds, else the other: `select %c, %x, %y : tile<4xi1>,
    tile<4xf32>`."""

    name = "cuda_tile.select"
    TEXT: ClassVar[str] = (
        "$cond `,` $val_if_true `,` $val_if_false attr-dict `:` type($cond) `,` type($result)"
    )
    SAME_TYPES: ClassVar = (("val_if_true", "val_if_false", "result"),)
    SAME_SHAPES: ClassVar = (("cond", "result"),)

    cond = operand_def(I1_TILE)
    val_if_true = operand_def(TILE)
    val_if_false = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())
