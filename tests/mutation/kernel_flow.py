"""The control flow of a kernel, op by op: what may run next, and what ran before. Rules of
equivalence ask it what lies between two ops on any path."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

Is = Callable[[Operation], bool]


def named(pattern: str) -> Is:
    """Whether an op's name, without its dialect, is one of a pattern."""
    expression = re.compile(rf"\w+\.({pattern})")
    return lambda op: expression.fullmatch(op.name) is not None


TENSOR = named(
    r"sm100\.\w+|gemm|tmem\.(load|store|copy|shift|reduce\w*|dealloc)|memref\.dealloc"
    r"|tcgen05\.(mma\w*|ld\w*|st\w*|cp|shift|dealloc)"
)
"""Accesses to tensor memory. (A tile level `gemm` may be one, its copies are not told apart.)"""

TELLS = named(
    r"barrier|bar\.(sync|arrive|warp\.sync)|cluster\.(arrive|wait)|mbarrier\..*|tcgen05\.commit"
    r"|pipeline\.(producer|consumer)_\w+|shuffle\w*|shfl\w*"
)
"""Ops by which threads learn of one another."""

LEARNS = named(
    r"barrier|bar\.(sync|warp\.sync)|cluster\.wait|mbarrier\.(wait|try_wait\.parity)"
    r"|pipeline\.(producer_acquire|consumer_wait)|shuffle\w*|shfl\w*"
)
"""Those by which a thread learns of others."""

WRITES = named(
    r"store|st|fragment\.store|stmatrix|atomic_rmw|address\.(store|atomic|reduce)|atom|red"
)
"""What threads write to memory."""

ASYNCHRONOUS = named(r"tma\.load|tcgen05\.commit|cp\.async\.bulk\.tensor\.load")
"""What completes an mbarrier, but threads."""

DEALLOC = named(r"(tmem|tcgen05)\.dealloc")


class Flow:
    """The ops that may follow each op of a kernel, and come before it."""

    def __init__(self, module: ModuleOp):
        self.after: dict[Operation, list[Operation]] = defaultdict(list)
        self.before: dict[Operation, list[Operation]] = defaultdict(list)
        kernel = module.body.block.first_op
        assert kernel is not None
        for op in kernel.walk():
            if op is kernel:
                continue
            for following in _following(op):
                self.after[op].append(following)
                self.before[following].append(op)

    def reach(self, op: Operation, stop: Is, *, back: bool = False) -> set[Operation]:
        """The ops on any path from one op to one at which to stop, without both: what runs after
        it, or before it."""
        ways = self.before if back else self.after
        seen = set[Operation]()
        ahead = list(ways[op])
        while ahead:
            other = ahead.pop()
            if other in seen or stop(other):
                continue
            seen.add(other)
            ahead += ways[other]
        return seen


def _following(op: Operation) -> Iterator[Operation]:
    if isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp):
        inside = [region.block for region in op.regions if region.blocks]
        yield from (block.first_op for block in inside if block.first_op is not None)
        if not isinstance(op, scf.IfOp) or len(inside) < 2:
            yield from _next(op)
        return
    parent = op.parent_op()
    if op.next_op is None and isinstance(parent, scf.ForOp | scf.WhileOp):
        # The loop goes round, or ends.
        yield parent
        return
    if op.next_op is None and isinstance(parent, scf.IfOp):
        yield from _next(parent)
        return
    yield from _next(op)


def _next(op: Operation) -> Iterator[Operation]:
    if op.next_op is not None:
        yield op.next_op
    elif op.successors:
        yield from (first for block in op.successors if (first := _first(block)) is not None)
    elif isinstance(parent := op.parent_op(), scf.ForOp | scf.WhileOp):
        yield parent
    elif isinstance(parent, scf.IfOp):
        yield from _next(parent)


def _first(block: Block) -> Operation | None:
    return block.first_op
