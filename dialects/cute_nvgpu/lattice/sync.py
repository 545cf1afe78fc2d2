"""The order of threads and memory around MMAs: barriers of a CTA by number, groups of `wgmma`, and
the fence between a thread and the async proxy. PTX ISA 9.7.13 and 9.7.15.7."""

from dataclasses import dataclass, replace

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.legal_integers import COUNTING
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.nearest import why_not
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    Result,
    Scalar,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, needs
from tilewright.dialects.frozen import frozen


@frozen
class NamedBarrierRow:
    """`bar.sync` and `bar.arrive`: how many barriers there are, and how many threads may meet."""

    barriers: int
    warp: int
    max_threads: int
    section: str

    def why_illegal(self, barrier: int, threads: int | None) -> str | None:
        """The fault of a barrier and its count of threads, or None; no count is all."""
        why = why_not(barrier, range(self.barriers), f"a barrier below {self.barriers}")
        if why is not None or threads is None:
            return why
        return why_not(
            threads,
            range(self.warp, self.max_threads + 1, self.warp),
            f"a count of threads that is whole warps, at most {self.max_threads}",
        )


NAMED_BARRIER = NamedBarrierRow(16, 32, 1024, "9.7.13.1")


_THREADS = range(0, 1 << 32, NAMED_BARRIER.warp)
MEMBERMASK = Choice("membermask", type_="x32")

BAR_SYNC = InstructionRow(
    "barrier.sync", "arrive at a numbered barrier of the CTA, and wait for the others",
    ("bar.sync",), BASELINE, NAMED_BARRIER.section,
    (Choice("a", range(NAMED_BARRIER.barriers)), Choice("b", _THREADS, optional=True)),
)  # fmt: skip
BARRIER_SYNC = replace(
    BAR_SYNC, op="ptx.barrier.sync", mnemonics=("barrier.sync",),
    does=f"{BAR_SYNC.does}; threads of a warp may come one by one",
)  # fmt: skip


def _bar_red(does: str, type_: str, *operations: str) -> InstructionRow:
    return InstructionRow(
        "ptx.bar.red", f"{BAR_SYNC.does}, and learn {does}",
        tuple(f"bar.red.{operation}" for operation in operations), BASELINE, NAMED_BARRIER.section,
        (Result("d", type_), *BAR_SYNC.operands, Scalar("c", "pred")),
    )  # fmt: skip


BAR_COUNT = _bar_red("of how many of them c holds", "b32", "popc.u32")
BAR_VOTE = _bar_red("whether c holds for all of them, or for one", "pred", "and.pred", "or.pred")
BARRIER_COUNT, BARRIER_VOTE = (
    replace(
        row, op="ptx.barrier.red", does=f"{row.does}; threads of a warp may come one by one",
        mnemonics=tuple(name.replace("bar.", "barrier.") for name in row.mnemonics),
    )
    for row in (BAR_COUNT, BAR_VOTE)
)  # fmt: skip
BAR_ARRIVE = InstructionRow(
    "barrier.arrive", "arrive at a numbered barrier of the CTA without waiting",
    ("bar.arrive",), BASELINE, NAMED_BARRIER.section,
    (Choice("a", range(NAMED_BARRIER.barriers)), Choice("b", _THREADS[1:])),
)  # fmt: skip
BARRIER_ARRIVE = replace(
    BAR_ARRIVE, op="ptx.barrier.arrive", mnemonics=("barrier.arrive",),
    does=f"{BAR_ARRIVE.does}; threads of a warp may come one by one",
)  # fmt: skip
REGISTER_BARRIERS, REGISTER_VOTES = (
    tuple(
        replace(
            row,
            op=op,
            does=f"{row.does}; registers say which, and of how many threads",
            operands=tuple(
                replace(form, type_="u32") if isinstance(form, Choice) else form
                for form in row.operands
            ),
        )
        for row in rows
    )
    for op, rows in (
        ("ptx.barrier", (BAR_SYNC, BAR_ARRIVE, BARRIER_SYNC, BARRIER_ARRIVE)),
        ("ptx.barrier.vote", (BAR_COUNT, BAR_VOTE, BARRIER_COUNT, BARRIER_VOTE)),
    )
)
BAR_WARP_SYNC = InstructionRow(
    "ptx.bar.warp.sync", "wait for other threads of the warp", ("bar.warp.sync",), BASELINE,
    "9.7.13.2", (MEMBERMASK,), threads="those of the membermask",
)  # fmt: skip
BAR_WARP_SYNC_MEMBERS = replace(
    BAR_WARP_SYNC, op="ptx.bar.warp.sync.members", does=f"{BAR_WARP_SYNC.does}, of a register"
)
NANOSLEEP = InstructionRow(
    "ptx.nanosleep", "wait for about so many nanoseconds", ("nanosleep.u32",),
    needs("sm_70 6.3"), "9.7.13.15", (Choice("t", type_="u32"),),
)  # fmt: skip
GRIDDEPCONTROL_WAIT = InstructionRow(
    "griddepcontrol.wait", "wait for the grids that this one depends on, and see their memory",
    ("griddepcontrol.wait",), needs("sm_90 7.8"), "9.7.13.13",
)  # fmt: skip
GRIDDEPCONTROL_LAUNCH_DEPENDENTS = InstructionRow(
    "griddepcontrol.launch_dependents", "let the grids that depend on this one start",
    ("griddepcontrol.launch_dependents",), needs("sm_90 7.8"), "9.7.13.13",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleRow(InstructionRow):
    """`shfl.sync` of 32 bits: how the lane is chosen whose value comes."""

    modes: tuple[str, ...]
    lanes: int

    def why_illegal(self, mode: str, lane: int) -> str | None:
        """The fault of a choice of lanes, or None."""
        if mode not in self.modes:
            return f"expected {' or '.join(self.modes)}, got {mode}"
        return why_not(lane, range(self.lanes), f"a lane below {self.lanes}")


SHFL_SYNC = ShuffleRow(
    op="shuffle",
    does="the value of another thread of the warp: of lane b, or of the own lane xor b",
    mnemonics=("shfl.sync.bfly.b32", "shfl.sync.idx.b32"),
    needs=BASELINE,
    section="9.7.9.6",
    operands=(
        Result("d", "b32", ("r", "r|r", "r|_")),
        Scalar("a", "b32", plain=True),
        Choice("b"),
        Choice("c"),
        MEMBERMASK,
    ),
    threads="those of the membermask",
    modes=("bfly", "idx"),
    lanes=32,
)

_WGMMA = needs("sm_90a 8.0")
WGMMA_FENCE = InstructionRow(
    "wgmma.fence",
    "order what the warpgroup did to registers before what later wgmmas do to them",
    ("wgmma.fence.sync.aligned",),
    _WGMMA,
    "9.7.15.7.1",
    threads="all of the warpgroup",
)
WGMMA_COMMIT_GROUP = InstructionRow(
    "wgmma.commit_group",
    "make all wgmmas of the warp that are in no group yet the latest group",
    ("wgmma.commit_group.sync.aligned",),
    _WGMMA,
    "9.7.15.7.2",
    threads="all of the warpgroup",
)
WGMMA_WAIT_GROUP = InstructionRow(
    "wgmma.wait_group",
    "wait until at most the latest N groups are not complete",
    ("wgmma.wait_group.sync.aligned",),
    _WGMMA,
    "9.7.15.7.3",
    (Constant("N", COUNTING),),
    threads="all of the warpgroup",
)


def _fence(*scopes: str) -> InstructionRow:
    return InstructionRow(
        "fence",
        "order what the thread did to memory before what it does, for the threads of a scope",
        tuple(f"fence.{order}.{scope}" for order in ("acq_rel", "sc") for scope in scopes),
        SCOPES[scopes[0]],
        "9.7.13.4",
    )


FENCE, FENCE_IN_CLUSTERS = _fence("cta", "gpu", "sys"), _fence("cluster")
FENCES = {mnemonic: row for row in (FENCE, FENCE_IN_CLUSTERS) for mnemonic in row.mnemonics}
"""The row of each fence between threads."""

FENCE_PROXY_ASYNC = InstructionRow(
    "fence.proxy.async",
    "order what the thread wrote to memory before what the async proxy (wgmma, TMA) does with it",
    (
        "fence.proxy.async",
        "fence.proxy.async.global",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async.shared::cluster",
    ),
    needs("sm_90 8.0"),
    "9.7.13.4",
)
FENCE_PROXY_ALIAS = InstructionRow(
    "fence.proxy.alias",
    "order accesses of the thread to the same memory by different addresses",
    ("fence.proxy.alias",),
    needs("sm_70 7.5"),
    "9.7.13.4",
)
PROXY_FENCES = InstructionRow(
    "ptx.fence.proxy", "order what the thread wrote to tensor maps before what others read of them",
    tuple(f"fence.proxy.tensormap::generic.release.{scope}" for scope in SCOPES),
    needs("sm_90 8.3"), "9.7.13.4",
)  # fmt: skip
PROXY_FENCES_OF_MAPS = replace(
    PROXY_FENCES, does="order what others wrote to a tensor map before what the thread reads of it",
    mnemonics=tuple(name.replace("release", "acquire") for name in PROXY_FENCES.mnemonics),
    operands=(Address("addr"), Constant("size", (128,))),
)  # fmt: skip
RESTRICTED_FENCES = InstructionRow(
    PROXY_FENCES.op, "order what the thread did to shared memory, or the async proxy did there",
    tuple(
        f"fence.{proxy}{restriction}.cluster"
        for proxy in ("", "proxy.async::generic.")
        for restriction in
        ("acquire.sync_restrict::shared::cluster", "release.sync_restrict::shared::cta")
    ),
    needs("sm_90 8.6"), "9.7.13.4",
)  # fmt: skip
FENCED_SPACES = tuple(
    name.removeprefix("fence.proxy.async.")
    for name in FENCE_PROXY_ASYNC.mnemonics
    if ".shared" in name
)
"""The spaces of a `fence.proxy.async` that waits for no write to global memory."""
ORDERING: tuple[InstructionRow, ...] = (
    WGMMA_FENCE,
    WGMMA_COMMIT_GROUP,
    WGMMA_WAIT_GROUP,
    FENCE_PROXY_ASYNC,
)
