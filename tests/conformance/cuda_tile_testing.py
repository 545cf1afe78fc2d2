"""The ops, types and versions that NVIDIA's lit files for CUDA Tile IR use and no release has.

testing$func @f(%x: tile<4xf32>) -> tile<f32> { ... }     a function of any types
testing$bytecode_test_evolution, testing$bytecode_test_new_attribute
                                     what bytecode 250.1 adds to that of 250.0
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Dialect
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import ParsingState
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface

from tilewright.dialects.accepts import ARRAY, integer
from tilewright.dialects.cuda_tile.bytecode import container
from tilewright.dialects.cuda_tile.constraints import TILE, TOKEN
from tilewright.dialects.cuda_tile.dialect import CUDA_TILE
from tilewright.dialects.cuda_tile.ops import OP_OF_CODE
from tilewright.dialects.cuda_tile.ops.bodies import parse_body, print_body
from tilewright.dialects.cuda_tile.ops.control_flow import FUNCTIONS, ReturnOp, print_attributes
from tilewright.dialects.cuda_tile.ops.module import (
    SIGNATURE,
    parse_signature,
    print_signature,
    verify_signature,
)
from tilewright.dialects.cuda_tile.ops.operation import OPS, CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.scopes import verify_function_scope
from tilewright.dialects.cuda_tile.versions import VERSIONS, Version
from tilewright.dialects.declared_format import made, put_entries


@tile_op("cuda_tile.testing$func", 0x3001, Version(250, 0))
class FuncOp(CudaTileOp):
    """A function: `testing$func @f(%x: tile<4xf32>) -> tile<f32> { ... }`."""

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ARRAY)
    res_attrs = opt_prop_def(ARRAY)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        begin, state = parser.pos, ParsingState(cls)
        state.regions = [[parse_body(parser, parse_signature(parser, state), ReturnOp)]]
        put_entries(parser.parse_optional_attr_dict(), cls, state)
        return made(parser, begin, state)

    def print(self, printer: Printer) -> None:
        print_signature(printer, self)
        print_body(printer, self.body)
        print_attributes(printer, self, SIGNATURE)

    def verify_in_place(self) -> None:
        verify_signature(self)
        verify_function_scope(self)


FUNCTIONS.append(FuncOp)


@tile_op(
    "cuda_tile.testing$bytecode_test_new_attribute",
    0x3000,
    Version(250, 0),
    new_flag=Version(250, 1),
    new_param=Version(250, 1),
)
class NewAttributeOp(CudaTileOp):
    """`testing$bytecode_test_new_attribute new_flag {new_param = 7 : i32}`."""

    assembly_format = "(`new_flag` $new_flag^)? (`new_param` `=` $new_param^)? attr-dict"

    new_flag = opt_prop_def(UnitAttr)
    new_param = opt_prop_def(integer(32), IntegerAttr(42, 32))


@tile_op(
    "cuda_tile.testing$bytecode_test_evolution",
    0x3002,
    Version(250, 0),
    new_attr=Version(250, 1),
    optional_token=Version(250, 1),
    result_token=Version(250, 1),
)
class EvolutionOp(CudaTileOp):
    """`testing$bytecode_test_evolution(%x : tile<2xf32>) token = %t : token -> token`."""

    assembly_format = (
        "`(` $inputs `:` type($inputs) `)` (`new_attr` `=` $new_attr^)? "
        "(`token` `=` $optional_token^ `:` type($optional_token))? `->` type($result_token) "
        "attr-dict"
    )

    inputs = var_operand_def(TILE)
    new_attr = opt_prop_def(integer(32))
    optional_token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list(self.inputs.types, printer.print_attribute)
        printer.print_string(")")
        if self.new_attr is not None:
            printer.print_string(f" new_attr = {self.new_attr.value.data}")  # pyright: ignore
        if self.optional_token is not None:
            printer.print_string(" token = ")
            printer.print_ssa_value(self.optional_token)
            printer.print_string(" : token")
        printer.print_string(" -> token")
        print_attributes(printer, self, ("new_attr", "operandSegmentSizes"))


container.VERSIONS = (*VERSIONS, Version(250, 0), Version(250, 1))
OP_OF_CODE.update({op.opcode: op for op in OPS})

TESTING = Dialect("cuda_tile", list(OPS), list(CUDA_TILE.attributes))
"""`cuda_tile` with what tests use."""
