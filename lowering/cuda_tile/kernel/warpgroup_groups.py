"""The groups of `wgmma`s that a kernel has committed and not waited for.

Groups complete in order. What is listed here may be complete already, as behind the first round of
a loop, but whatever is in flight is the end of this list: to wait for all but the last n is right
either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.cuda_tile.kernel.scratch import Scratch
from tilewright.lowering.emit.emitter import Emitter


@entity
class MmaGroup:
    """A group of `wgmma`s: whether it reads what threads laid down in shared memory, what is done
    before somebody waits for it, and what follows once it is complete."""

    reads_scratch: bool = False
    before_wait: Callable[[], None] | None = None
    completed: list[Callable[[], None]] = factory(list)


class MmaGroups:
    """The groups in flight, oldest first."""

    def __init__(self, emitter: Emitter, scratch: Scratch):
        self._emitter, self._scratch = emitter, scratch
        scratch.before_reuse.append(self._leave_scratch)
        self.one_by_one = False
        """True where registers are too few for operands and sums of two at once."""
        self.pending: list[MmaGroup] = []

    def commit(self, group: MmaGroup) -> None:
        """Make a group of the `wgmma`s since the last one."""
        self._emitter.add(wgmma_sync.WgmmaCommitGroupOp())
        self.pending.append(group)

    def wait(self, left: int = 0) -> None:
        """Wait until at most so many groups are in flight."""
        if len(self.pending) <= left:
            return
        self._emitter.add(wgmma_sync.WgmmaWaitGroupOp(left))
        done = self.pending[: len(self.pending) - left]
        del self.pending[: len(done)]
        for group in done:
            # Other warpgroups may be behind, though there was a barrier since it was laid down.
            self._scratch.state |= group.reads_scratch
            for follow in group.completed:
                follow()

    def complete(self, group: MmaGroup | None) -> None:
        """Wait for a group, where it may be in flight."""
        if group in self.pending:
            if group.before_wait is not None:
                group.before_wait()
            self.wait(len(self.pending) - 1 - self.pending.index(group))

    def settle(self, in_flight: Sequence[MmaGroup]) -> None:
        """End a block: wait for all groups but those, as far as they are the last ones."""
        left = 0
        while left < len(self.pending) and self.pending[-1 - left] in in_flight:
            left += 1
        self.wait(left)
        self.pending.clear()

    def _leave_scratch(self) -> None:
        """Wait for all that reads what threads have laid down."""
        readers = [group for group in self.pending if group.reads_scratch]
        if readers:
            self.complete(readers[-1])
