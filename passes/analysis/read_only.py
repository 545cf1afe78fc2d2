"""Memory that is read as such that no thread writes for as long as the kernel runs:
`ld.global.nc`."""

from collections import defaultdict

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.passes.analysis.hazards.report import Hazard


def written_constant(function: Operation) -> Hazard | None:
    """The first load of such that its block writes, by the same register and offset."""
    accesses = defaultdict[SSAValue, list[tuple[range, LdOp | StOp]]](list)
    for op in function.walk():
        if not isinstance(op, LdOp | StOp) or op.predicate is not None:
            continue
        if isinstance(op, LdOp) and not op.is_read_only:
            continue
        first = op.offset.value.data
        places = range(first, first + op.access_bytes * op.data.type.count.data)
        for others, other in accesses[op.operands[0]]:
            overlap = max(others.start, places.start) < min(others.stop, places.stop)
            if overlap and type(other) is not type(op) and other.parent is op.parent:
                load, store = (op, other) if isinstance(op, LdOp) else (other, op)
                return Hazard("read_only", load, store)
        accesses[op.operands[0]].append((places, op))
    return None
