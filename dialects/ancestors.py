"""The ops around an op, and the symbols that it may name."""

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable


def ancestors(op: Operation, until: Operation | None = None) -> Iterator[Operation]:
    """The ops that an op is in, the innermost first, but for one and those around it."""
    while (parent := op.parent_op()) is not None and parent is not until:
        yield parent
        op = parent


def symbol_table(op: Operation) -> Operation | None:
    """The op in whose symbol table an op's symbols are; None where it is in none."""
    return next((around for around in ancestors(op) if around.has_trait(SymbolTable)), None)


def symbol(op: Operation, name: str) -> Operation | None:
    """The op of the name that an op uses; None where there is none."""
    table = symbol_table(op)
    blocks = () if table is None else table.regions[0].blocks
    return next((other for block in blocks for other in block.ops if name_of(other) == name), None)


def name_of(op: Operation) -> str | None:
    """The name by which others use an op."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None
