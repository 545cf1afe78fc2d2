"""What edits of a kernel are made of: which ops order others, which may be ordered, and the numbers
that they take."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute.types.memref import Space, is_memref, space_of

Edit = Callable[[Operation], bool]
"""Changes an op in place; False where it has nothing to change."""

SYNCHRONISES = re.compile(
    r"\w+\.(mbarrier\.|fence|wgmma\.(fence|commit|wait)|cp\.async\.(bulk\.)?(commit|wait)"
    r"|bar\.|barrier|cluster\.(arrive|wait|mbarrier)|tcgen05\.(commit|wait|fence|alloc|dealloc|relinq)"
    r"|tmem\.(wait|alloc|dealloc|relinq)|setmaxnreg|pipeline\.(producer|consumer)|memref\.dealloc)"
)
"""Ops that order others, by name."""

ACTS = re.compile(
    r"\w+\.(.*(load|store|copy|mma|gemm|ldmatrix|retrieve|fill)|ld|st|cp\.async|tma\.|scf|if|for)"
)
"""Ops that read or write memory or hold such ops: what an op that is moved has to pass."""

PREPARES = re.compile(r"cute\.(tiled\.|make_|mma\.)")
"""Ops of the same names that only say how memory will be accessed."""


def synchronises(op: Operation) -> bool:
    """Whether an op orders others."""
    return SYNCHRONISES.match(op.name) is not None


def acts(op: Operation) -> bool:
    """Whether an op orders others, or is one that may be ordered."""
    if synchronises(op) or op.regions:
        return True
    return ACTS.match(op.name) is not None and PREPARES.match(op.name) is None


def is_guard(op: scf.IfOp) -> bool:
    """Whether a branch decides who orders others: one around stores of results, or around all that
    a kernel does, decides what is computed."""
    inside = set(op.walk())
    kernel = [each for root in ancestors(op) for each in root.walk()]
    alone = all(each in inside for each in kernel if synchronises(each))
    return (
        not op.results
        and any(map(_orders_others, inside))
        and not alone
        and not any(isinstance(each, memref.StoreOp) and _is_global(each) for each in inside)
    )


def _is_global(op: memref.StoreOp) -> bool:
    assert is_memref(op.memref.type)
    return space_of(op.memref.type.memory_space) is Space.GMEM


def _orders_others(op: Operation) -> bool:
    """Whether an op orders more than the copies of its own thread: the guard of a store that waits
    for itself is no synchronisation."""
    return synchronises(op) and ".bulk." not in op.name


def carried(value: SSAValue) -> bool:
    """Whether a value is a loop's, or made of one: the number of a use, or a stage. What a thread
    makes of its own number is a matter of the data."""
    if isinstance(value, BlockArgument):
        return isinstance(value.owner.parent_op(), scf.ForOp | scf.WhileOp)
    owner = value.owner
    return isinstance(owner, Operation) and any(map(carried, owner.operands))


def number(value: int, type: Attribute) -> arith.ConstantOp:
    """A constant of a type of integers."""
    assert isinstance(type, IndexType | IntegerType)
    return arith.ConstantOp(IntegerAttr(value, type))


def put(op: Operation, place: int, *made: Operation) -> bool:
    """Give an op another operand: the result of the last of some ops, which come before it."""
    block = op.parent_block()
    assert block is not None
    block.insert_ops_before(made, op)
    op.operands[place] = made[-1].results[0]
    return True


def put_number(op: Operation, place: int, value: int) -> bool:
    """Make an operand a constant."""
    return put(op, place, number(value, op.operands[place].type))


def put_changed(
    op: Operation, place: int, by: type[arith.AddiOp] | type[arith.XOrIOp], value: int
) -> bool:
    """Change an operand by a constant."""
    old = op.operands[place]
    constant = number(value, old.type)
    return put(op, place, constant, by(old, constant.result))


def constant_of(value: SSAValue) -> int | None:
    """The number that a value always is."""
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def add_before(op: Operation, *made: Operation) -> bool:
    """Let ops come before another one."""
    block = op.parent_block()
    assert block is not None
    block.insert_ops_before(made, op)
    return True


def add_behind(op: Operation, *made: Operation) -> bool:
    """Let ops follow another one."""
    block = op.parent_block()
    assert block is not None
    block.insert_ops_after(made, op)
    return True
