"""The ops around an op and in it, and the symbols that it may name."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, TypeVar, overload

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, SymbolTable

_Kind = TypeVar("_Kind")


def ancestors(op: Operation, until: Operation | None = None) -> Iterator[Operation]:
    """The ops that an op is in, the innermost first, but for one and those around it."""
    while (parent := op.parent_op()) is not None and parent is not until:
        yield parent
        op = parent


@overload
def enclosing(op: Operation, kind: type[_Kind]) -> Iterator[_Kind]: ...
@overload
def enclosing(op: Operation, kind: UnionType) -> Iterator[Any]: ...
def enclosing(op: Operation, kind: Any) -> Iterator[Any]:
    """The ops of a kind, or of several, that an op is in, the innermost first."""
    return (parent for parent in ancestors(op) if isinstance(parent, kind))


@overload
def descendants(top: Operation | Region | Block, kind: type[_Kind]) -> list[_Kind]: ...
@overload
def descendants(
    top: Operation | Region | Block, kind: UnionType | tuple[Any, ...]
) -> list[Any]: ...
def descendants(top: Operation | Region | Block, kind: Any) -> list[Any]:
    """The ops of a kind, or of several, in an op, region or block, in the order of the text."""
    return [op for op in top.walk() if isinstance(op, kind)]


def makers(op: Operation) -> list[Operation]:
    """The ops whose results an op takes, an operand each."""
    return [value.owner for value in op.operands if isinstance(value.owner, Operation)]


def users(*values: SSAValue) -> Iterator[Operation]:
    """The ops that use values, once a use."""
    return (use.operation for value in values for use in value.uses)


def terminator(block: Block) -> Operation:
    """The op that ends a block."""
    last = block.last_op
    assert last is not None
    return last


def body_ops(block: Block) -> Iterator[Operation]:
    """The ops of a block but its terminator."""
    last = block.last_op
    return (op for op in block.ops if op is not last or not op.has_trait(IsTerminator))


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
