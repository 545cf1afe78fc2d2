"""Barriers of a CTA by number. PTX ISA 9.7.13.1."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedBarrierRow:
    """`bar.sync` and `bar.arrive`: how many barriers there are, and how many threads may meet."""

    barriers: int
    warp: int
    max_threads: int
    section: str

    def why_illegal(self, barrier: int, threads: int | None) -> str | None:
        """What is wrong with a barrier and its count of threads, or None; no count is all."""
        if not 0 <= barrier < self.barriers:
            nearest = min(max(barrier, 0), self.barriers - 1)
            return (
                f"expected a barrier below {self.barriers}, got {barrier}; nearest legal: {nearest}"
            )
        if threads is None or (threads % self.warp == 0 and 0 < threads <= self.max_threads):
            return None
        nearest = min(max(round(threads / self.warp), 1) * self.warp, self.max_threads)
        return (
            f"expected a count of threads that is whole warps, at most {self.max_threads}, "
            f"got {threads}; nearest legal: {nearest}"
        )


NAMED_BARRIER = NamedBarrierRow(16, 32, 1024, "9.7.13.1")
