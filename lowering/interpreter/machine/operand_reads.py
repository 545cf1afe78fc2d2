"""Shared memory that asynchronous tcgen05 operations, and copies to other CTAs, read: until a phase
of an mbarrier, which a `tcgen05.commit` or the copy completes, says that they are done. PTX ISA,
tcgen05.commit, cp.async.bulk."""

import numpy as np

from tilewright.lowering.interpreter.array_types import Int32Array, Int64Array
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import LastReads
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream
from tilewright.lowering.interpreter.values import Lanes, distinct


class OperandReads:
    """Of each stream and CTA: the epoch in which each 16-byte chunk was read last, and by what."""

    def __init__(self, size: int, op_names: dict[int, str]):
        self._size = size
        self._chunks = -(-size // 16)
        self._op_names = op_names
        self._reads: dict[int, dict[Stream, LastReads]] = {}
        # Of each stream the last epoch in which it read.
        self._last: dict[Stream, int] = {}

    @property
    def are_used(self) -> bool:
        """Some operation has read something."""
        return bool(self._reads)

    def issue(self, stream: Stream, cta: int, starts: Int64Array, op: int) -> None:
        """A stream reads the chunks at these addresses of a CTA's shared memory."""
        streams = self._reads.setdefault(cta, {})
        if stream not in streams:
            streams[stream] = LastReads(self._chunks)
        self._last[stream] = stream.epoch
        streams[stream].note(starts // 16, stream.epoch, op)

    def check_write(self, lanes: Lanes, places: Int64Array, clocks: Clocks) -> None:
        """Raise Fault where a thread writes bytes, [threads, bytes], that an operation reads which
        it does not know to be complete."""
        if not self._reads:
            return
        cta, byte = np.divmod(places, self._size)
        common = clocks.common(lanes)[0]
        for number in distinct(cta):
            for stream, reads in self._reads.get(number, {}).items():
                if stream.complete_by_phase(common) >= self._last[stream]:
                    continue
                chunk = np.where(cta == number, byte // 16, 0)
                read = np.where(cta == number, reads.epochs[chunk], 0)
                if read.any():
                    self._check(lanes, stream, read, reads.ops[chunk], clocks)

    def _check(
        self,
        lanes: Lanes,
        stream: Stream,
        read: Int32Array,
        ops: Int32Array,
        clocks: Clocks,
    ) -> None:
        for row in np.flatnonzero(read.any(axis=1)).tolist():
            late = read[row] > stream.complete_by_phase(clocks.seen[lanes[row]])
            if (byte := first_of(late)) is not None:
                committed = any(epoch >= read[row, byte] for epoch, _, _ in stream.commits)
                why = (
                    "no wait for the mbarrier that completes it is before this"
                    if committed
                    else "no tcgen05.commit of its thread follows it"
                )
                op = self._op_names[int(ops[row, byte])]
                raise Fault(f"write of shared memory that {op} reads, and {why}", row)
