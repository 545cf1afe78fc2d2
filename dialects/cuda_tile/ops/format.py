"""The formats of ops, as strings in the manner of MLIR's `assemblyFormat`.

    $lhs `,` $rhs choice(rounding, $rounding_mode) flags(flush_to_zero) attr-dict `:` type($result)

| piece | is |
|---|---|
| `` `word` `` | itself; nothing is printed between `` `token=` `` and what follows |
| `$x` | an operand (`%x`, or several), or a property as it is |
| `word($p)` | a property as one of the words of its choices, `signed` |
| `choice(rounding, $p)` | a property that may be left out, `rounding<zero>` |
| `flags(a, b)` | properties that are there or not, in any order |
| `hints(=)` | the optimization hints, behind an equals sign that is spelled so |
| `inbounds` | which indices lie within the tensor |
| `type($x)` | the type of an operand or result; `view($x)` also that of the view's tensor |
| `index_types($x, $token)` | the types of indices, one for all or one each, and the token's |
| `rank_types($x, $view)` | one type for as many results as a view has dimensions |
| `attr-dict`, `attributes` | attributes, and properties that stand nowhere else |
| `( ... )?` | all or nothing, by its first piece; printed where a field of it is there |

Types that are not written follow: from operands and results that share them, or since only one
type is possible.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.constraints import UNIQUE
from tilewright.dialects.cuda_tile.ops.declared import DeclaredOp
from tilewright.dialects.cuda_tile.ops.facts import SEGMENTS, Arity
from tilewright.dialects.cuda_tile.ops.format_pieces import (
    AttrDict,
    Group,
    Literal,
    OperandsPiece,
    Piece,
    Plain,
    Read,
    print_pieces,
)
from tilewright.dialects.cuda_tile.ops.format_types import IndexTypes, RankTypes, Types
from tilewright.dialects.cuda_tile.ops.format_words import (
    AssumedPredicate,
    Flags,
    Hints,
    Inbounds,
    OptionalWord,
    Word,
    choice_of,
)

_TOKEN = re.compile(r"`[^`]*`|[\w-]+\([^)]*\)|\$\w+|\(|\)\?|[\w-]+|\^")


@dataclass(frozen=True)
class Format:
    """The text of an op."""

    pieces: tuple[Piece, ...]

    def parse(self, parser: Parser, read: Read) -> None:
        """Read all pieces."""
        for piece in self.pieces:
            piece.parse(parser, read)

    def print(self, printer: Printer, op: DeclaredOp) -> None:
        """Write all pieces."""
        if any(piece.present(op) for piece in self.pieces):
            printer.print_string(" ")
        print_pieces(printer, op, self.pieces)


def format_of(op: type[DeclaredOp]) -> Format:
    """The format that an op's TEXT begins: its operands, where that says nothing. Attributes and
    types follow where it says none: of one type for all that one, else those of operands, and of
    results that are none of theirs."""
    text = op.TEXT or " `,` ".join(f"${place.name}" for place in op.facts.operands)
    if "attr" not in text:
        text += f" attr-dict {_types_text(op)}"
    pieces = _pieces(op, iter(_TOKEN.findall(text)))
    named = frozenset(name for piece in pieces for name in piece.fields())
    return Format(
        tuple(
            AttrDict(piece.keyword, named) if isinstance(piece, AttrDict) else piece
            for piece in pieces
        )
    )


def _types_text(op: type[DeclaredOp]) -> str:
    operands = [place.name for place in op.facts.operands if place.accepts not in UNIQUE]
    results = [place.name for place in op.facts.results]
    shared = {name: group for group in op.SAME_TYPES for name in group}
    types = {shared.get(name, name): name for name in reversed(operands)}
    given = [f"type(${name})" for name in reversed(types.values())]
    others = [f"type(${name})" for name in results if shared.get(name, name) not in types]
    if len(types) < 2 and not (given and others):
        given, others = [f"type(${name})" for name in (*results, *operands)[:1]], []
    return "`:` " + " `->` ".join(" `,` ".join(part) for part in (given, others) if part)


def _pieces(op: type[DeclaredOp], tokens: Iterator[str]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for token in tokens:
        if token == ")?":
            break
        if token == "(":
            pieces.append(Group(_pieces(op, tokens)))
        elif token != "^":
            pieces.append(_piece(op, token))
    return tuple(pieces)


def _piece(op: type[DeclaredOp], token: str) -> Piece:
    if token.startswith("`"):
        return Literal(token.strip("`"))
    if token.startswith("$"):
        return _field(op, token[1:])
    function, _, rest = token.removesuffix(")").partition("(")
    names = [name.strip().lstrip("$") for name in rest.split(",")]
    match function:
        case "attr-dict" | "attributes":
            return AttrDict(function == "attributes", frozenset())
        case "inbounds":
            return Inbounds()
        case "hints":
            return Hints(rest)
        case "flags":
            return Flags(tuple(names))
        case "word":
            return Word(op.facts.property_name[names[0]], op.facts.constraint(names[0]))
        case "predicate":
            return AssumedPredicate(names[0])
        case "choice":
            return _choice(op, *names)
        case "type":
            return Types(names[0], op.facts.place[names[0]].arity is Arity.ANY)
        case "view":
            return Types(names[0], False, names[1])
        case "rank_types":
            return RankTypes(*names)
        case "index_types":
            return IndexTypes(*names)
        case _:
            raise ValueError(f"{op.name}: no piece {token}")


def _field(op: type[DeclaredOp], name: str) -> Piece:
    place = op.facts.place.get(name)
    if place is None:
        known = op.facts.property_name[name]
        default = op.definition.properties[known].default_value
        return Plain(known, op.facts.constraint(name), default)
    return OperandsPiece(name, place.arity is Arity.ANY)


def _choice(op: type[DeclaredOp], keyword: str, name: str) -> OptionalWord:
    constraint = op.facts.constraint(name)
    given = op.definition.properties[name].default_value
    default = choice_of(constraint, op.ROUNDINGS[0]) if given is None else given
    return OptionalWord(keyword, name, constraint, default, required=given is None)


# --- operands and types of what was read ---


def created(parser: Parser, read: Read) -> Any:
    """The op that was read. Raises ParseError where operands or types do not fit."""
    op = read.op
    _spread_types(read)
    operands: list[SSAValue] = []
    for place in op.facts.operands:
        unresolved = read.operands.get(place.name, [])
        types = _types(parser, read, place.name, len(unresolved))
        operands += [
            parser.resolve_operand(operand, type_)
            for operand, type_ in zip(unresolved, types, strict=True)
        ]
    if op.facts.segmented:
        sizes = [len(read.operands.get(place.name, ())) for place in op.facts.operands]
        read.properties[SEGMENTS] = DenseArrayBase.from_list(i32, sizes)
    results = [type_ for place in op.facts.results for type_ in read.types.get(place.name, ())]
    return op.create(
        operands=operands,
        result_types=results,
        properties=read.properties,
        attributes=read.attributes,
        regions=read.regions,
    )


def _types(parser: Parser, read: Read, name: str, count: int) -> list[Attribute]:
    """The types of `count` operands."""
    types = read.types.get(name, [])
    only = UNIQUE.get(read.op.facts.place[name].accepts)
    if not types and only is not None:
        types = [only]
    if len(types) == 1 and count:
        types = types * count
    if len(types) != count and (count or name in read.written):
        parser.raise_error(
            f"'{read.op.name}' expected {count} types of {name}, got {len(types)}",
            read.start,
            parser.pos,
        )
    return types[:count]


def _spread_types(read: Read) -> None:
    """Give values the types that they share with others, or that alone are possible."""
    read.written = set(read.types)
    for group in read.op.SAME_TYPES:
        known = next((read.types[name] for name in group if name in read.types), None)
        if known is not None:
            for name in group:
                read.types.setdefault(name, known)
    for place in read.op.facts.results:
        only = UNIQUE.get(place.accepts)
        if place.arity is Arity.ONE and only is not None:
            read.types.setdefault(place.name, [only])
