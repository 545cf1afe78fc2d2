"""The order of accesses to global memory that tokens ask for, between the threads of a CTA.

One thread's accesses are in order anyhow; what another thread did is before only behind a barrier.
A token knows when the last read and the last write behind it were emitted, the kernel when its last
barrier was: an access waits where its token has a conflicting one since.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.kernel.scratch import Scratch

NEVER = -1


@frozen
class Token:
    """When the last read and the last write that it is behind were emitted."""

    read: int = NEVER
    write: int = NEVER


class MemoryOrder:
    """The clock of a kernel's accesses."""

    def __init__(self, scratch: Scratch):
        self._scratch = scratch
        self._now = 0
        self.flushed = 0
        scratch.on_barrier.append(self._flush)

    def _flush(self) -> None:
        self._now += 1
        self.flushed = self._now

    def before(self, token: Token, *, writes: bool) -> None:
        """Wait for the accesses of other threads that an access has to come after."""
        last = max(token.write, token.read) if writes else token.write
        if last > self.flushed:
            self._scratch.barrier()

    def after(self, token: Token | None, *, reads: bool = False, writes: bool = False) -> Token:
        """The token of an access."""
        self._now += 1
        token = token or Token()
        return Token(self._now if reads else token.read, self._now if writes else token.write)

    def joined(self, tokens: Iterable[Token]) -> Token:
        """A token behind several."""
        read = write = NEVER
        for token in tokens:
            read, write = max(read, token.read), max(write, token.write)
        return Token(read, write)

    def pending(self, token: Token, *, reads: bool, writes: bool) -> Token:
        """A token that may be behind accesses that were emitted just now, of earlier iterations."""
        return self.after(token, reads=reads, writes=writes)

    def forget(self, flushed: int) -> None:
        """A region may not have been entered: behind it, a barrier in it is none."""
        self.flushed = min(self.flushed, flushed)
        self._now += 1
