"""The parameters of a kernel of instructions through which it may write to global memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import starmap

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ptx import atomics, bulk_copy, data_movement, multimem, wmma
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.row_ops import memory_operand
from tilewright.dialects.sequences import reachable
from tilewright.passes.analysis.hazards.blocks import edges_of

_WRITES: dict[type[Operation], str] = {
    data_movement.StOp: "address", atomics.AtomOp: "address", atomics.RedOp: "address",
    multimem.MultimemStoreOp: "address", multimem.MultimemReduceOp: "address",
    wmma.StoreOp: "address", bulk_copy.TensorStoreOp: "map", bulk_copy.TensorReduceOp: "map",
}  # fmt: skip
"""The ops that write, and what says where."""


def written_parameters(entry: EntryOp) -> tuple[int, ...]:
    """The numbers of the parameters that an address, or a tensor map, of a write is computed from.
    An address that lies in memory itself comes from none."""
    given = defaultdict[SSAValue, list[SSAValue]](list)
    work: list[SSAValue] = []
    for block in entry.regions[0].blocks:
        for dest, values in edges_of(block.last_op):
            for argument, value in zip(dest.args, values, strict=True):
                given[argument].append(value)
        writes = ((op, _WRITES[type(op)]) for op in block.ops if type(op) in _WRITES)
        places = starmap(memory_operand, writes)
        work += (place.memory for place in places if not place.is_shared)

    def sources(value: SSAValue) -> Sequence[SSAValue]:
        return _sources(value.owner) if isinstance(value.owner, Operation) else given[value]

    seen = set(reachable(work, sources))
    return tuple(i for i, value in enumerate(entry.regions[0].blocks[0].args) if value in seen)


def _sources(op: Operation) -> tuple[SSAValue, ...]:
    """The values that the results of an op are computed from, but for what is in memory."""
    return () if hasattr(op, "address") else tuple(op.operands)
