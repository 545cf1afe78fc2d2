"""The parts of a module: kernels and globals. Tile IR specification, core."""

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import (
    FlatSymbolRefAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import opt_prop_def, prop_def, region_def, result_def, traits_def
from xdsl.irdl.declarative_assembly_format import ParsingState
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable

from tilewright.dialects.accepts import ARRAY, STRING, instance_of, integer
from tilewright.dialects.ancestors import symbol
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr, SymbolVisibilityAttr
from tilewright.dialects.cuda_tile.constraints import SCALAR_POINTER
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.hints import verify_hints
from tilewright.dialects.cuda_tile.ops.bodies import (
    parse_arguments,
    parse_body,
    print_arguments,
    print_body,
    verify_defined_before,
)
from tilewright.dialects.cuda_tile.ops.control_flow import (
    FUNCTIONS,
    ReturnOp,
    listed,
    print_attributes,
    verified_block,
)
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, PureOp, tile_op
from tilewright.dialects.cuda_tile.scopes import verify_function_scope, verify_globals_unscoped
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, print_types, shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cuda_tile.versions import V13_3, V13_5
from tilewright.dialects.declared_format import made, put_entries
from tilewright.source.diagnostic import InnerOpError, named

ELEMENTS = instance_of("the elements of a tile", ElementsAttr)
SIGNATURE = ("sym_name", "function_type", "arg_attrs", "res_attrs")
"""The properties that a signature says."""


def parse_signature(parser: Parser, state: ParsingState) -> list[Parser.Argument]:
    """`@f(%x: tile<f32>) -> tile<f32>`"""
    state.properties["sym_name"] = parser.parse_symbol_name()
    arguments = parse_arguments(parser)
    results: list[Attribute] = []
    if parser.parse_optional_punctuation("->"):
        several = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_type(parser)
        )
        results = [parse_type(parser)] if several is None else several
    state.properties["function_type"] = FunctionType.from_lists(
        [argument.type for argument in arguments], results
    )
    return arguments


def print_signature(printer: Printer, op: CudaTileOp) -> None:
    """`@f(%x: tile<f32>) -> tile<f32>`"""
    name, type_ = op.properties["sym_name"], op.properties["function_type"]
    assert isinstance(name, StringAttr) and isinstance(type_, FunctionType)
    printer.print_string(" ")
    printer.print_symbol_name(name.data)
    print_arguments(printer, op.regions[0].block.args)
    if results := type_.outputs.data:
        printer.print_string(" -> ")
        if len(results) == 1:
            print_type(printer, results[0])
        else:
            with printer.in_parens():
                print_types(printer, results)


def verify_in_module(op: CudaTileOp) -> None:
    """Raise VerifyException where a part of a module is in another op."""
    around = op.parent_op()
    if around is not None and not around.has_trait(SymbolTable):
        raise op.fail(f"a module around it, got {named(around)}")


def verify_signature(op: CudaTileOp) -> None:
    """Raise VerifyException where the block of a function has not its parameters."""
    type_ = op.properties["function_type"]
    assert isinstance(type_, FunctionType)
    wanted: Sequence[Attribute] = type_.inputs.data
    types = list(verified_block(op, op.regions[0]).arg_types)
    if types != list(wanted):
        raise op.fail(f"parameters ({listed(wanted)}) as its type says, got ({listed(types)})")
    verify_defined_before(op.regions[0], set())


@tile_op("cuda_tile.module", 0x4B, producer=V13_3)
class ModuleOp(CudaTileOp):
    """`module @kernels { ... }`: kernels and globals."""

    sym_name = prop_def(SymbolNameConstraint())
    producer = opt_prop_def(STRING)
    body = region_def()

    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())

    assembly_format = "$sym_name attr-dict-with-keyword custom<Body>($body)"

    def verify_in_place(self) -> None:
        if len(self.body.blocks) > 1 or any(block.args for block in self.body.blocks):
            raise self.fail("a body of at most 1 block without arguments, got another")
        self._verify_names()
        verify_globals_unscoped(self)

    def _verify_names(self) -> None:
        met: dict[Attribute, Operation] = {}
        for block in self.body.blocks:
            for op in block.ops:
                name = op.properties.get("sym_name")
                if not isinstance(name, StringAttr):
                    continue
                if name in met:
                    raise InnerOpError(
                        op,
                        f"'{op.name}' expected a name of its own, got @{name.data}, as "
                        f"{named(met[name])} has it",
                    )
                met[name] = op


NEGATIVE = "tt.negative"
"""The attribute of a module, and of its entries, of the places of parameters that are negative:
each entry that was a function of Triton's has it."""


@tile_op("cuda_tile.entry", 0x16, arg_attrs=V13_5)
class EntryOp(CudaTileOp):
    """A kernel: `entry @f(%x: tile<ptr<f32>>, %n: tile<i32>) { ... }`."""

    sym_name = prop_def(STRING)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ARRAY)
    res_attrs = opt_prop_def(ARRAY)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        begin, state = parser.pos, ParsingState(cls)
        arguments = parse_signature(parser, state)
        if parser.parse_optional_keyword("optimization_hints"):
            parser.parse_punctuation("=")
            hints = OptimizationHintsAttr.parse_parameters(parser)
            state.properties["optimization_hints"] = OptimizationHintsAttr.new(hints)
        state.regions = [[parse_body(parser, arguments, ReturnOp)]]
        put_entries(parser.parse_optional_attr_dict(), cls, state)
        return made(parser, begin, state)

    def print(self, printer: Printer) -> None:
        print_signature(printer, self)
        if self.optimization_hints is not None and self.optimization_hints.value.data:
            printer.print_string(" optimization_hints=")
            self.optimization_hints.print_parameters(printer)
        print_body(printer, self.body)
        print_attributes(printer, self, (*SIGNATURE, "optimization_hints"))

    def verify_types(self) -> None:
        if results := self.function_type.outputs.data:
            raise self.fail(f"no results, got {listed(results)}")
        for type_ in self.function_type.inputs.data:
            if not isinstance(type_, TileType) or type_.rank:
                raise self.fail(f"parameters that are scalar tiles, got {shown(type_)}")

    def verify_in_place(self) -> None:
        verify_in_module(self)
        verify_signature(self)
        verify_function_scope(self)
        verify_hints(self)


@tile_op("cuda_tile.global", 0x31, constant=V13_3, symbol_visibility=V13_3)
class GlobalOp(CudaTileOp):
    """`global constant @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>`."""

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(ELEMENTS)
    alignment = opt_prop_def(integer(64, 0), IntegerAttr(0, 64))
    constant = opt_prop_def(UnitAttr)
    symbol_visibility = opt_prop_def(
        SymbolVisibilityAttr, SymbolVisibilityAttr(SymbolVisibility.PUBLIC)
    )

    traits = traits_def(SymbolOpInterface())

    assembly_format = (
        "(custom<Word>($symbol_visibility)^)? (`constant` $constant^)? $sym_name "
        "(`alignment` `=` $alignment^)? attr-dict custom<TileElements>($value)"
    )

    def verify_types(self) -> None:
        type_: Any = self.value.type  # pyright: ignore
        if type_.rank != 1:  # pyright: ignore
            raise self.fail(f"elements of rank 1, got {shown(type_)}")  # pyright: ignore

    def verify_in_place(self) -> None:
        verify_in_module(self)


@tile_op("cuda_tile.get_global", 0x2C)
class GetGlobalOp(PureOp):
    """The address of a global: `get_global @g : tile<ptr<f32>>`."""

    assembly_format = "$name"

    name_ = prop_def(FlatSymbolRefAttr, prop_name="name")
    result = result_def(SCALAR_POINTER)

    def verify_in_place(self) -> None:
        name = self.name_.string_value()
        variable = symbol(self, name)
        if not isinstance(variable, GlobalOp):
            raise self.fail(f"a global @{name}, got {named(variable)}")
        element: Any = variable.value.type.element_type  # pyright: ignore
        if self.result.type.element_type.pointee_type != element:  # pyright: ignore
            raise self.fail(
                f"a pointer to {shown(element)} as @{name} has elements, "  # pyright: ignore
                f"got {shown(self.result.type)}"
            )


FUNCTIONS.append(EntryOp)
