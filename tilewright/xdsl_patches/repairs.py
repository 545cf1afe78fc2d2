"""Repairs of what xDSL 0.74 reads wrongly, at our edge: everything that loads tilewright reads the
same, `xdsl-opt` with our dialects too."""

import re
from math import prod
from typing import Any

from xdsl.dialects import gpu
from xdsl.dialects.builtin import AnyFloat, ComplexType, DenseArrayBase, IndexType, IntegerType
from xdsl.ir import Attribute, Block
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from tilewright.xdsl_patches import masks, tensors
from tilewright.xdsl_patches.assignments import Patches

# A string that no quote ends has no match: each part keeps what it took (possessive, Python 3.11),
# where backtracking would try every way to cut it into runs of characters.
_STRING = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

_BLOCK = re.compile(r"(?:bb)?[0-9]+")
"""Blocks that the printer numbers anew: MLIR's suffix-id may be digits alone."""

_lex_number = MLIRLexer._lex_number  # pyright: ignore[reportPrivateUsage]
_to_type = AttrParser._TensorLiteralElement.to_type  # pyright: ignore[reportPrivateUsage]


_parse_dense_type: Any = AttrParser._parse_dense_literal_type  # pyright: ignore[reportPrivateUsage]
_MOST_ELEMENTS = 1 << 24
"""Of a dense attribute: xDSL holds each of them, of one that says all at once, too."""


_INDICES: tuple[Any, ...] = (
    gpu.ThreadIdOp, gpu.BlockIdOp, gpu.BlockDimOp, gpu.GridDimOp, gpu.GlobalIdOp, gpu.BarrierOp,
    gpu.LaneIdOp, gpu.SubgroupIdOp, gpu.SubgroupSizeOp, gpu.NumSubgroupsOp,
)  # fmt: skip
"""The ops of `gpu` that xDSL reads in the generic form alone."""


def _index(op: Any, parser: Parser) -> Any:
    """MLIR's text of them: `gpu.thread_id x`, `gpu.subgroup_id : index`, `gpu.barrier`."""
    fields = op.get_irdl_definition()
    properties: dict[str, Attribute] = {}
    if "dimension" in fields.properties:
        start = parser.pos
        axis = parser.parse_identifier()
        if axis not in tuple("xyz"):
            parser.raise_error(f"expected x, y, z, got {axis}", start, parser.pos)
        properties["dimension"] = gpu.DimensionAttr(gpu.DimensionEnum(axis))
    attributes = parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation(":"):
        parser.parse_type()
    types = [IndexType() for _ in fields.results]
    return op.create(properties=properties, attributes=attributes, result_types=types)


def _lex_ascii_number(lexer: MLIRLexer, start: int) -> MLIRToken:
    """A number begins with one of ten digits: `²` is numeric to Python, too."""
    if lexer.input.at(start) not in tuple("0123456789"):
        raise ParseError(Span(start, start + 1, lexer.input), "expected a digit of 0 to 9")
    return _lex_number(lexer, start)


def _is_numbered(name: str) -> bool:
    """True where a block's name says no more than a number."""
    return _BLOCK.fullmatch(name) is not None


def _int_value(kind: MLIRTokenKind, span: Span) -> int:
    """The value of an integer literal. Raises ParseError for more digits than Python converts."""
    assert kind is MLIRTokenKind.INTEGER_LIT
    text = span.text
    try:
        return int(text, 16 if text[:2] in ("0x", "0X") else 10)
    except ValueError:
        raise ParseError(span, f"expected an integer, got {len(text)} digits") from None


def _complex(parser: Any) -> tuple[tuple[Any, Any], Span] | None:
    """`(1.0, 0x7FC00000)`: the parts keep their text, which a float in hexadecimal needs."""
    start = parser.pos
    if parser.parse_optional_punctuation("(") is None:
        return None
    parts: list[Any] = []
    for end in (",", ")"):
        value, span = parser._parse_bool_int_or_float()
        parts.append(parser._TensorLiteralElement(value < 0, value, span))
        parser.parse_punctuation(end)
    return (parts[0], parts[1]), Span(start, parts[1].span.end + 1, parser.lexer.input)


def _element(element: Any, parser: AttrParser, type_: Any) -> Any:
    """The value of an element of a `dense` attribute: of a float in hexadecimal its bits."""
    if isinstance(type_, ComplexType):
        if not isinstance(element.value, tuple):
            parser.raise_error(f"expected two parts of {type_}", element.span)
        return tuple(_element(part, parser, type_.element_type) for part in element.value)  # pyright: ignore
    text = element.span.text
    if not isinstance(type_, AnyFloat) or text.lstrip("-")[:2] not in ("0x", "0X"):
        return _to_type(element, parser, type_)
    bits = 8 * type_.compile_time_size
    if not 0 <= element.value < 1 << bits:
        parser.raise_error(f"expected {bits} bits of {type_}, got {text}", element.span)
    raw = element.value.to_bytes(type_.compile_time_size, "little")
    return next(type_.iter_unpack(raw))


def _dense_type(parser: AttrParser) -> Any:
    """The type behind a dense attribute, before its elements are made."""
    start = parser.pos
    type_ = _parse_dense_type(parser)
    if prod(type_.get_shape()) > _MOST_ELEMENTS:
        parser.raise_error(f"expected at most {_MOST_ELEMENTS} elements, got {type_}", start)
    return type_


def _dense_array(parser: Any) -> DenseArrayBase:
    """`array<f32: 1.5, 0x7f800000>`, which is how the printer writes an infinity."""
    with parser.in_angle_brackets():
        start = parser.pos
        type_ = parser.parse_attribute()
        if not isinstance(type_, IntegerType | AnyFloat):
            parser.raise_error(f"expected elements of integers or floats, got {type_}", start)

        def element() -> Any:
            if isinstance(type_, IntegerType):
                return parser._parse_typed_integer(type_, allow_boolean=True)
            return _element(parser._parse_tensor_literal_element(), parser, type_)

        values: list[Any] = []
        if parser.parse_optional_punctuation(":"):
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, element)
    return DenseArrayBase.from_list(type_, values)  # type: ignore[arg-type]


PATCHES: Patches = {
    "unclosed_string": ((MLIRLexer, "_unescaped_characters_regex", _STRING),),
    "ascii_digits": ((MLIRLexer, "_lex_number", _lex_ascii_number),),
    "long_integers": ((MLIRTokenKind, "get_int_value", _int_value),),
    "hexadecimal_floats": (
        (AttrParser._TensorLiteralElement, "to_type", _element),  # pyright: ignore[reportPrivateUsage]
        (AttrParser, "_parse_optional_complex", _complex),
        (AttrParser, "_parse_builtin_densearray_attr", _dense_array),
    ),
    "large_splats": ((AttrParser, "_parse_dense_literal_type", _dense_type),),
    "numbered_blocks": ((Block, "is_default_block_name", staticmethod(_is_numbered)),),
    "gpu_indices": [(op, "parse", classmethod(_index)) for op in _INDICES],
    "vector_masks": masks.ASSIGNMENTS,
    "tensor_casts": tensors.CASTS,
    "while_of_nothing": tensors.WHILE,
}
