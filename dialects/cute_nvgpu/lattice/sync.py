"""The order of threads and memory around MMAs: barriers of a CTA by number, groups of `wgmma`, and
the fence between a thread and the async proxy. PTX ISA 9.7.13 and 9.7.15.7."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target


@dataclass(frozen=True, slots=True)
class NamedBarrierRow:
    """`bar.sync` and `bar.arrive`: how many barriers there are, and how many threads may meet."""

    barriers: int
    warp: int
    max_threads: int
    section: str
    target: Target
    ptx_version: tuple[int, int]

    def why_illegal(self, barrier: int, threads: int | None) -> str | None:
        """The fault of a barrier and its count of threads, or None; no count is all."""
        if barrier not in (legal := range(self.barriers)):
            nearest = closest(barrier, legal)
            return (
                f"expected a barrier below {self.barriers}, got {barrier}; nearest legal: {nearest}"
            )
        legal = range(self.warp, self.max_threads + 1, self.warp)
        if threads is None or threads in legal:
            return None
        return (
            f"expected a count of threads that is whole warps, at most {self.max_threads}, "
            f"got {threads}; nearest legal: {closest(threads, legal)}"
        )


NAMED_BARRIER = NamedBarrierRow(16, 32, 1024, "9.7.13.1", target("sm_70"), (6, 0))


@dataclass(frozen=True, slots=True)
class ShuffleRow:
    """`shfl.sync` of 32 bits: how the lane is chosen whose value comes."""

    modes: tuple[str, ...]
    lanes: int
    target: Target
    ptx_version: tuple[int, int]
    section: str

    def why_illegal(self, mode: str, lane: int) -> str | None:
        """The fault of a choice of lanes, or None."""
        if mode not in self.modes:
            return f"expected {' or '.join(self.modes)}, got {mode}"
        if lane not in (legal := range(self.lanes)):
            nearest = closest(lane, legal)
            return f"expected a lane below {self.lanes}, got {lane}; nearest legal: {nearest}"
        return None


SHFL_SYNC = ShuffleRow(("bfly", "idx"), 32, target("sm_70"), (6, 0), "9.7.9.6")


@dataclass(frozen=True, slots=True)
class OrderingRow:
    """An instruction that orders what is before it with what is after it, without registers.

    `op` is its op in IR, `orders` what it does in words, `mnemonics` all its forms, that of the op
    first; `groups` says whether it takes a number of groups that may be pending.
    """

    op: str
    orders: str
    mnemonics: tuple[str, ...]
    target: Target
    ptx_version: tuple[int, int]
    section: str
    groups: bool = False


WGMMA_FENCE = OrderingRow(
    "wgmma.fence",
    "order what the warpgroup did to registers before what later wgmmas do to them",
    ("wgmma.fence.sync.aligned",),
    target("sm_90a"),
    (8, 0),
    "9.7.15.7.1",
)
WGMMA_COMMIT_GROUP = OrderingRow(
    "wgmma.commit_group",
    "make all wgmmas of the warp that are in no group yet the latest group",
    ("wgmma.commit_group.sync.aligned",),
    target("sm_90a"),
    (8, 0),
    "9.7.15.7.2",
)
WGMMA_WAIT_GROUP = OrderingRow(
    "wgmma.wait_group",
    "wait until at most the latest N groups are not complete",
    ("wgmma.wait_group.sync.aligned",),
    target("sm_90a"),
    (8, 0),
    "9.7.15.7.3",
    groups=True,
)
FENCE_PROXY_ASYNC = OrderingRow(
    "fence.proxy.async",
    "order what the thread wrote to memory before what the async proxy (wgmma, TMA) does with it",
    (
        "fence.proxy.async",
        "fence.proxy.async.global",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async.shared::cluster",
    ),
    target("sm_90"),
    (8, 0),
    "9.7.13.4",
)
ORDERING: tuple[OrderingRow, ...] = (
    WGMMA_FENCE,
    WGMMA_COMMIT_GROUP,
    WGMMA_WAIT_GROUP,
    FENCE_PROXY_ASYNC,
)
