"""The ops around an op."""

from collections.abc import Iterator

from xdsl.ir import Operation


def ancestors(op: Operation, until: Operation | None = None) -> Iterator[Operation]:
    """The ops that an op is in, the innermost first, but for one and those around it."""
    while (parent := op.parent_op()) is not None and parent is not until:
        yield parent
        op = parent
