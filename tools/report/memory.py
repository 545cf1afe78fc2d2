"""Shared memory over a kernel: what lies where, from which instruction to which, and who accesses
it; read off the instructions."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.lowering.interpreter.timeline.record import ARRIVING
from tilewright.source.diagnostic import at

_ACCESSES = {
    "read": ("ptx.ld", "ptx.ldmatrix", "ptx.wmma.load", "ptx.cp.async.bulk.tensor.store"),
    "write": ("ptx.st", "ptx.stmatrix", "ptx.cp.async", "ptx.wmma.store"),
    "copy": ("ptx.cp.async.bulk.tensor.load", "ptx.tcgen05.cp", "ptx.tcgen05.alloc"),
    "multiply": ("ptx.wgmma.mma_async", "ptx.tcgen05.mma"),
    "mbarrier": (*ARRIVING, "ptx.mbarrier.init", "ptx.mbarrier.inval",
                 "ptx.mbarrier.try_wait.parity"),
}  # fmt: skip
KINDS = {name: kind for kind, names in reversed(_ACCESSES.items()) for name in names}
"""The ways in which ops access shared memory; a copy that arrives, too, is a copy."""


def shared_map(entry: EntryOp) -> dict[str, Any]:
    """The regions of a kernel's shared memory, each with the positions of its accesses among all
    instructions."""
    ops = list(entry.body.walk())
    origins: dict[SSAValue, frozenset[int]] = defaultdict(frozenset)
    first_lines: dict[int, int | None] = {}
    accesses: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for position, op in enumerate(ops):
        line = at(op.location, "").line
        if isinstance(op, SharedAddressOp):
            offset = op.offset.value.data
            first_lines.setdefault(offset, line)
            origins[op.result] = frozenset({offset})
            continue
        regions = frozenset[int]().union(*(origins[operand] for operand in op.operands))
        kind = KINDS.get(op.name)
        if kind is None:
            for result in op.results:
                origins[result] = regions
            continue
        barrier: SSAValue | None = getattr(op, "barrier", None)
        arrives = origins[barrier] if isinstance(barrier, SSAValue) else frozenset[int]()
        for offset in regions:
            what = "mbarrier" if offset in arrives else kind
            accesses[offset].append({"at": position, "line": line, "kind": what, "op": op.name})
    total = entry.shared.value.data
    starts = [*sorted(first_lines), total]
    return {
        "bytes": total,
        "ops": len(ops),
        "regions": [
            {"first": first, "bytes": following - first, "line": first_lines[first],
             "accesses": accesses[first]}
            for first, following in pairwise(starts)
        ],
    }  # fmt: skip
