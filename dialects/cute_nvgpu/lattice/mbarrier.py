"""Barriers in shared memory (mbarrier), and what warp-specialised kernels use beside them."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """An instruction that has one form: what it is called and what it needs."""

    mnemonic: str
    target: Target
    ptx_version: tuple[int, int]


def _row(mnemonic: str, minimum: str, version: tuple[int, int]) -> InstructionRow:
    return InstructionRow(mnemonic, target(minimum), version)


# The lowest target and version are ptxas's.
MBARRIER_INIT = _row("mbarrier.init.shared.b64", "sm_80", (7, 0))
MBARRIER_INVAL = _row("mbarrier.inval.shared.b64", "sm_80", (7, 0))
MBARRIER_ARRIVE = _row("mbarrier.arrive.shared.b64", "sm_80", (7, 1))
MBARRIER_ARRIVE_COUNT = _row("mbarrier.arrive.shared.b64", "sm_90", (7, 8))
MBARRIER_ARRIVE_EXPECT_TX = _row("mbarrier.arrive.expect_tx.shared.b64", "sm_90", (8, 0))
MBARRIER_TRY_WAIT = _row("mbarrier.try_wait.parity.shared.b64", "sm_90", (7, 8))
FENCE_MBARRIER_INIT = _row("fence.mbarrier_init.release.cluster", "sm_90", (8, 0))
ELECT_SYNC = _row("elect.sync", "sm_90", (8, 0))
BAR_WARP_SYNC = _row("bar.warp.sync", "sm_70", (6, 0))

MBARRIER_BYTES = 8
"""The size and alignment of an mbarrier."""

MAX_ARRIVALS = (1 << 20) - 1
"""The most arrivals that a phase may wait for; transaction bytes have the same bound."""


@dataclass(frozen=True, slots=True)
class SetmaxnregRow:
    """`setmaxnreg.ACTION.sync.aligned.u32 N`: registers given back, or asked for, by a thread."""

    actions: tuple[str, ...]
    lowest: int
    highest: int
    unit: int
    target: Target
    ptx_version: tuple[int, int]

    def why_illegal(self, registers: int) -> str | None:
        """The fault of a count of registers, or None."""
        legal = range(self.lowest, self.highest + 1, self.unit)
        if registers in legal:
            return None
        return (
            f"expected a multiple of {self.unit} from {self.lowest} to {self.highest} registers, "
            f"got {registers}; nearest legal: {closest(registers, legal)}"
        )


SETMAXNREG = SetmaxnregRow(("inc", "dec"), 24, 256, 8, target("sm_90a"), (8, 0))


def why_illegal_count(what: str, lowest: int, count: int) -> str | None:
    """The fault of a count of arrivals or of bytes, or None."""
    legal = range(lowest, MAX_ARRIVALS + 1)
    if count in legal:
        return None
    nearest = closest(count, legal)
    return f"expected {lowest} to {MAX_ARRIVALS} {what}, got {count}; nearest legal: {nearest}"
