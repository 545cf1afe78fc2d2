"""Casts of integers in `arith`, which MLIR has of tensors and vectors too, and xDSL 0.74 of scalars
alone; and a `scf.while` that carries nothing.

    %w = arith.extsi %x : tensor<8xi16> to tensor<8xi32>
    scf.while : () -> () { ... } do { ... }
"""

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, container_of
from xdsl.dialects.scf import WhileOp
from xdsl.irdl import OperandDef, ResultDef
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self

_INTEGERS, _FLOATS = container_of(IntegerType), arith.floatingPointLike
_CASTS: dict[Any, tuple[Any, Any]] = {
    arith.ExtSIOp: (_INTEGERS, _INTEGERS),
    arith.ExtUIOp: (_INTEGERS, _INTEGERS),
    arith.TruncIOp: (_INTEGERS, _INTEGERS),
    arith.FPToSIOp: (_FLOATS, _INTEGERS),
    arith.FPToUIOp: (_FLOATS, _INTEGERS),
    arith.SIToFPOp: (_INTEGERS, _FLOATS),
    arith.UIToFPOp: (_INTEGERS, _FLOATS),
}
"""The types that each takes and gives."""


def _verify(self: Any) -> None:
    self.get_irdl_definition().verify(self)
    source, result = (get_element_type_or_self(value.type) for value in (self.input, self.result))
    grows = result.width.data - source.width.data  # pyright: ignore
    if (-grows if isinstance(self, arith.TruncIOp) else grows) <= 0:
        kind = "smaller" if isinstance(self, arith.TruncIOp) else "larger"
        raise VerifyException(f"Destination bit-width must be {kind} than the input bit-width")


_parse_while: Any = vars(WhileOp)["parse"].__func__


def _while(cls: type[WhileOp], parser: Parser) -> WhileOp:
    if not parser.parse_optional_punctuation(":"):
        return _parse_while(cls, parser)
    start = parser.pos
    type_ = parser.parse_function_type()
    if type_.inputs.data:
        parser.raise_error(f"expected as many arguments as {type_} has, got 0", start, parser.pos)
    before = parser.parse_region()
    parser.parse_characters("do")
    after = parser.parse_region()
    attributes = parser.parse_optional_attr_dict_with_keyword()
    op = cls([], type_.outputs.data, before, after)
    op.attributes.update({} if attributes is None else attributes.data)
    return op


CASTS: list[tuple[Any, str, Any]] = [
    *(
        (op.get_irdl_definition(), name, [(field, definition(types))])
        for op, (source, result) in _CASTS.items()
        for name, field, definition, types in (
            ("operands", "input", OperandDef, source),
            ("results", "result", ResultDef, result),
        )
    ),
    *((op, "verify_", _verify) for op in (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)),
]
WHILE: list[tuple[Any, str, Any]] = [(WhileOp, "parse", classmethod(_while))]
