"""`arith.cmpi`, `cmpf` and `select` on vectors and tensors, as MLIR has them: masks by element.

    %keep = arith.cmpi sle, %key, %query : vector<8xi32>            // vector<8xi1>
    %masked = arith.select %keep, %scores, %low : vector<8xi1>, vector<8xf32>

xDSL 0.74 has a single i1 for whole vectors and tensors.
"""

from collections.abc import Callable
from typing import Any

from xdsl.dialects.arith import CmpfOp, CmpiOp, SelectOp
from xdsl.dialects.arith import boolLike as BOOL_LIKE
from xdsl.dialects.builtin import TensorType, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import OperandDef, ResultDef
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa


def mask_of(type_: Attribute) -> Attribute:
    """The type of a comparison's result."""
    if isinstance(type_, TensorType):
        return TensorType(i1, type_.shape, type_.encoding)
    return VectorType(i1, type_.get_shape()) if isa(type_, VectorType) else i1


def _masking(build: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, operand1: Any, operand2: Any, *others: Any, **named: Any) -> None:
        build(self, operand1, operand2, *others, **named)
        self.result._type = mask_of(SSAValue.get(operand1).type)

    return init


def _parse_select(cls: type[SelectOp], parser: Parser) -> SelectOp:
    """`%c, %a, %b : f32`, or with a mask `%c, %a, %b : vector<8xi1>, vector<8xf32>`."""
    unresolved = [parser.parse_unresolved_operand()]
    for _ in range(2):
        parser.parse_punctuation(",")
        unresolved.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    condition, type_ = i1, parser.parse_type()
    if parser.parse_optional_punctuation(","):
        condition, type_ = type_, parser.parse_type()
    operands = parser.resolve_operands(unresolved, [condition, type_, type_], parser.pos)
    op = cls(*operands)
    op.attributes.update(attributes)
    return op


def _print_select(self: SelectOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_list(self.operands, printer.print_operand)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    if self.cond.type != i1:
        printer.print_attribute(self.cond.type)
        printer.print_string(", ")
    printer.print_attribute(self.result.type)


_SELECT = SelectOp.get_irdl_definition()
_RESULT = [("result", ResultDef(BOOL_LIKE))]
ASSIGNMENTS: list[tuple[Any, str, Any]] = [
    *((op.get_irdl_definition(), "results", _RESULT) for op in (CmpiOp, CmpfOp)),
    *((op, "__init__", _masking(op.__init__)) for op in (CmpiOp, CmpfOp)),
    (_SELECT, "operands", [("cond", OperandDef(BOOL_LIKE)), *_SELECT.operands[1:]]),
    (SelectOp, "parse", classmethod(_parse_select)),
    (SelectOp, "print", _print_select),
]
