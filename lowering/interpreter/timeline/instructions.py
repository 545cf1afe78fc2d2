"""Instructions of a timeline: what is known of each before it runs."""

from xdsl.ir import Operation

from tilewright.lowering.interpreter.timeline.latencies import latency, slots_of
from tilewright.source.diagnostic import place_of

Line = tuple[str, int]
"""A file, and a line of it."""

GROUPS = {
    "ptx.wgmma.mma_async": "wgmma",
    "ptx.cp.async": "cp.async",
    "ptx.cp.async.bulk.tensor.store": "cp.async.bulk",
    "ptx.cp.reduce.async.bulk.tensor": "cp.async.bulk",
    "ptx.tcgen05.ld": "tcgen05.wait.ld",
    "ptx.tcgen05.st": "tcgen05.wait.st",
}
"""The groups of what a warp's instructions start, by those."""

ARRIVING = (
    "ptx.mbarrier.arrive",
    "ptx.mbarrier.arrive.cluster",
    "ptx.mbarrier.arrive.expect_tx",
    "ptx.cp.async.bulk.tensor.load",
    "ptx.tcgen05.commit",
)
"""The ops that may complete the phase of an mbarrier."""


class TimedInstruction:
    """An instruction whose steps are timed: `gives` where it does no more than to give a value."""

    def __init__(self, op: Operation, reads: tuple[int, ...], writes: tuple[int, ...]):
        space: str = getattr(getattr(op, "space", None), "data", "")
        self.op, self.reads, self.writes = op, reads, writes
        self.name, self.line = op.name.removeprefix("ptx."), line_of(op)
        self.row, self.slots = latency(op.name, space), slots_of(op.name)
        self.group = GROUPS.get(op.name)
        self.gives = bool(writes) and not self.row.pipe and self.group is None


def line_of(op: Operation) -> Line | None:
    """The line of the source that an op is of."""
    place = place_of(op.location)
    return None if place is None else place[:2]
