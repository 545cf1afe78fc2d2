"""Ops that are put beside others."""

from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter


def insert_before(op: Operation, anchor: Operation) -> None:
    """Put an op in front of one in a block."""
    Rewriter.insert_op(op, InsertPoint.before(anchor))


def insert_after(op: Operation, anchor: Operation) -> None:
    """Put an op behind one in a block."""
    Rewriter.insert_op(op, InsertPoint.after(anchor))
