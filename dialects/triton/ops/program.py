"""A program's place in the grid, histograms, prints and assertions. TritonOps.td."""

from typing import ClassVar

from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def, var_operand_def

from tilewright.dialects.accepts import STRING, integer, list_of
from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import AXIS, BARRIER, BOOL, I32, INTEGER_TENSOR, TYPE
from tilewright.dialects.triton.operation import PureOp, TritonOp
from tilewright.dialects.triton.types import mask_of


class GridNumber(PureOp):
    """A number of the grid along an axis: `tt.get_program_id x : i32`."""

    assembly_format = "custom<Word>($axis) attr-dict `:` type($result)"

    axis = prop_def(AXIS)
    result = result_def(I32)


@declared_op("tt.get_program_id")
class GetProgramIdOp(GridNumber):
    """The place of the program."""


@declared_op("tt.get_num_programs")
class GetNumProgramsOp(GridNumber):
    """The number of programs."""


@declared_op("tt.histogram")
class HistogramOp(PureOp):
    """How often each number from 0 on is there."""

    DERIVED: ClassVar = {"mask": ("src", mask_of)}

    assembly_format = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)"

    src = operand_def(INTEGER_TENSOR)
    mask = opt_operand_def(BOOL)
    result = result_def(INTEGER_TENSOR)


@declared_op("tt.print")
class PrintOp(TritonOp):
    """Print a prefix and values, integers as signed or not, in hexadecimal if `hex`."""

    assembly_format = "$prefix attr-dict (`:` $args^ `:` type($args))?"

    prefix = prop_def(STRING)
    hex = prop_def(integer(1))
    args = var_operand_def(TYPE)
    isSigned = prop_def(list_of(32))


@declared_op("ttg.barrier")
class BarrierOp(TritonOp):
    """All of the program have come here: Triton's own of `gpu.barrier`, since 3.7."""

    assembly_format = "custom<Word>($addrSpace) attr-dict"

    addrSpace = prop_def(BARRIER)


@declared_op("tt.assert")
class AssertOp(TritonOp):
    """Stop with a message unless all is true."""

    assembly_format = "$condition `,` $message attr-dict `:` type($condition)"

    condition = operand_def(BOOL)
    message = prop_def(STRING)
