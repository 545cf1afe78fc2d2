"""Branches, loops, and what ends their blocks. Tile IR specification, control flow."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, MemoryWriteEffect, Pure, RecursiveMemoryEffect

from tilewright.dialects.cuda_tile.constraints import ANY, I1_TILE, SCALAR_I1, SCALAR_INT, VALUE
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_2


@tile_op(0x05)
class AssertOp(CudaTileOp):
    """The kernel ends with a message where an element is false: `assert %c, "no" : tile<4xi1>`."""

    name = "cuda_tile.assert"
    TEXT: ClassVar[str] = "$condition `,` $message attr-dict `:` type($condition)"

    condition = operand_def(I1_TILE)
    message = prop_def(StringAttr)

    traits = traits_def(MemoryWriteEffect())


class Terminator(CudaTileOp):
    """`$op %x, %y : tile<f32>, tile<i32>`, or `$op` alone."""

    TEXT: ClassVar[str] = "attr-dict ($arguments^ `:` type($arguments))?"

    arguments = var_operand_def(VALUE)


@tile_op(0x0A)
class BreakOp(Terminator):
    """Leave the innermost `loop`, with its results."""

    name = "cuda_tile.break"

    traits = traits_def(IsTerminator())


@tile_op(0x11)
class ContinueOp(Terminator):
    """Go on with the next turn of the innermost `for` or `loop`, with what it carries."""

    name = "cuda_tile.continue"

    traits = traits_def(IsTerminator())


@tile_op(0x5C)
class ReturnOp(Terminator):
    """Leave the kernel."""

    name = "cuda_tile.return"

    traits = traits_def(IsTerminator())


@tile_op(0x6D)
class YieldOp(Terminator):
    """The values of a branch of `if`, or of one step of `reduce` or `scan`."""

    name = "cuda_tile.yield"

    traits = traits_def(IsTerminator(), Pure())


@tile_op(0x29, unsigned_cmp=V13_2)
class ForOp(CudaTileOp):
    """`%r = for %i in (%a to %b, step %s) : tile<i32> iter_values(%x = %x0) -> (tile<f32>) {...}`,
    `for unsigned` where the bounds are unsigned."""

    name = "cuda_tile.for"

    lower_bound = operand_def(SCALAR_INT)
    upper_bound = operand_def(SCALAR_INT)
    step = operand_def(SCALAR_INT)
    init_values = var_operand_def(ANY)
    unsigned_cmp = opt_prop_def(UnitAttr, prop_name="unsignedCmp")
    result_values = var_result_def(ANY)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@tile_op(0x41)
class LoopOp(CudaTileOp):
    """`%r = loop iter_values(%x = %x0) : tile<i32> -> tile<f32> {...}`: until `break`."""

    name = "cuda_tile.loop"

    init_values = var_operand_def(ANY)
    result_values = var_result_def(ANY)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@tile_op(0x32)
class IfOp(CudaTileOp):
    """`%r = if %c -> (tile<f32>) { yield %x : tile<f32> } else { yield %y : tile<f32> }`."""

    name = "cuda_tile.if"

    condition = operand_def(SCALAR_I1)
    res = var_result_def(ANY)
    then_region = region_def("single_block")
    else_region = region_def()

    traits = traits_def(RecursiveMemoryEffect())
