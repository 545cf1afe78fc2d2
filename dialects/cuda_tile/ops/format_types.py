"""The pieces of the formats of ops that are types: see `format`."""

from dataclasses import dataclass

from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.ops.declared import DeclaredOp
from tilewright.dialects.cuda_tile.ops.format_pieces import Piece, Read
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, print_types, shown
from tilewright.dialects.cuda_tile.types import TOKEN, TensorViewType, TileView, TokenType


@dataclass(frozen=True)
class Types(Piece):
    """The type of an operand or result, or the types of a variadic one."""

    name: str
    several: bool
    tensor: str = ""

    def parse(self, parser: Parser, read: Read) -> None:
        start = parser.pos
        types = [parse_type(parser)]
        if self.tensor and not isinstance(types[0], TileView):
            words = read.op.facts.place[self.name].accepts.words
            parser.raise_error(f"expected {words}, got {shown(types[0])}", start)
        while self.several and parser.parse_optional_punctuation(","):
            types.append(parse_type(parser))
        read.types[self.name] = types
        if self.tensor and isinstance(types[0], TileView):
            read.types[self.tensor] = [types[0].tensor_view]

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        print_types(printer, [value.type for value in op.values_of(self.name)])
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return bool(op.values_of(self.name))


@dataclass(frozen=True)
class IndexTypes(Piece):
    """`, tile<i32>` for all indices, or a type each; with `token`, its type behind them."""

    name: str
    token: str = ""

    tight = True

    def parse(self, parser: Parser, read: Read) -> None:
        types: list[Attribute] = []
        start = parser.pos
        while parser.parse_optional_punctuation(",") is not None:
            types.append(parse_type(parser))
        if self.token and types and isinstance(types[-1], TokenType):
            types.pop()
        count = len(read.operands[self.name])
        if len(types) == 1:
            types *= count
        if len(types) != count:
            parser.raise_error(
                f"expected the type of {count} indices, one for all or one each, got {len(types)}",
                start,
                parser.pos,
            )
        read.types[self.name] = types

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        types = [value.type for value in op.values_of(self.name)]
        if all(type_ == types[0] for type_ in types):
            types = types[:1]
        if self.token and op.values_of(self.token):
            types.append(TOKEN)
        for type_ in types:
            printer.print_string(", ")
            print_type(printer, type_)
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return bool(op.values_of(self.name)) or bool(self.token and op.values_of(self.token))


@dataclass(frozen=True)
class RankTypes(Piece):
    """One type for as many results as a view has dimensions."""

    name: str
    view: str

    def parse(self, parser: Parser, read: Read) -> None:
        start = parser.pos
        type_ = parse_type(parser)
        view = read.types[self.view][0]
        if isinstance(view, TileView):
            count = view.index_rank
        elif isinstance(view, TensorViewType):
            count = view.rank
        else:
            words = read.op.facts.place[self.view].accepts.words
            parser.raise_error(f"expected {words}, got {shown(view)}", start)
        read.types[self.name] = [type_] * count

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        print_type(printer, op.values_of(self.name)[0].type)
        return ""
