"""Functions, calls and returns. TritonOps.td.

tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  tt.return
}
"""

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface

from tilewright.dialects.accepts import ANY, STRING
from tilewright.dialects.ancestors import symbol
from tilewright.dialects.declared import declared_op
from tilewright.dialects.illegal import listed
from tilewright.dialects.triton.operation import TritonOp
from tilewright.source.diagnostic import named

_SIGNATURE = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


@declared_op("tt.func")
class FuncOp(TritonOp):
    """A function; a public one is a kernel, a private one is called."""

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(STRING)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, results, body, others, arguments, of_results = parse_func_op_like(
            parser, reserved_attr_names=_SIGNATURE
        )
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(inputs, results),
            "sym_visibility": visibility,
            "arg_attrs": arguments,
            "res_attrs": of_results,
        }
        return cls.create(
            properties={key: value for key, value in properties.items() if value is not None},
            attributes={} if others is None else dict(others.data),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        if isinstance(self.sym_visibility, StringAttr):
            printer.print_string(f" {self.sym_visibility.data}")
        name, type_ = self.properties["sym_name"], self.properties["function_type"]
        assert isinstance(name, StringAttr) and isinstance(type_, FunctionType)
        print_func_op_like(
            printer, name, type_, self.body, self.attributes, arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs, reserved_attr_names=_SIGNATURE, print_empty_outputs=False,
        )  # fmt: skip

    def verify_in_place(self) -> None:
        if not all(block.ops for block in self.body.blocks):
            raise self.fail("blocks that end in terminators, got an empty one")
        inputs = self.function_type.inputs.data
        if self.body.blocks and self.body.blocks[0].arg_types != inputs:
            given = listed(self.body.blocks[0].arg_types)
            raise self.fail(f"arguments ({listed(inputs)}) as its type says, got ({given})")


@declared_op("tt.call")
class CallOp(TritonOp):
    """The results of a function: `tt.call @f(%x) : (i32) -> i32`."""

    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    callee = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(ANY)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    result = var_result_def(ANY)

    def verify_in_place(self) -> None:
        callee: Any = self.callee
        name = callee.string_value()
        function = symbol(self, name)
        if not isinstance(function, FuncOp):
            raise self.fail(f"a tt.func @{name}, got {named(function)}")
        type_ = function.function_type
        for what, wanted, given in (
            ("operands", type_.inputs, self.operand_types),
            ("results", type_.outputs, self.result_types),
        ):
            _verify_types(self, what, wanted.data, given, f"@{name}")


def _verify_types(
    op: TritonOp, what: str, wanted: Sequence[Attribute], given: Sequence[Attribute], whose: str
) -> None:
    if list(wanted) != list(given):
        raise op.fail(f"{what} ({listed(wanted)}) as {whose} has, got ({listed(given)})")


@declared_op("tt.return")
class ReturnOp(TritonOp):
    """The end of a function, with its results."""

    assembly_format = "attr-dict ($srcs^ `:` type($srcs))?"

    traits = traits_def(Pure(), IsTerminator())

    srcs = var_operand_def(ANY)

    def verify_in_place(self) -> None:
        function = self.parent_op()
        if not isinstance(function, FuncOp):
            raise self.fail(f"a tt.func around it, got {named(function)}")
        results = function.function_type.outputs.data
        _verify_types(self, "operands", results, self.operand_types, "its function")
