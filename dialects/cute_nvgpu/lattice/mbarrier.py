"""Barriers in shared memory (mbarrier), and what warp-specialised kernels use beside them."""

from dataclasses import dataclass, replace

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.nearest import why_not
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    OperandForm,
    Register,
    Result,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, needs, target

MAX_ARRIVALS = (1 << 20) - 1
"""The most arrivals that a phase may wait for; transaction bytes have the same bound."""

_BARRIER = Address("addr")
_STATE = Result("state", "b64", ("r", "_"))
_COUNTS = range(1, 1 << 32)


def _row(
    op: str,
    does: str,
    mnemonic: str,
    needed: Requirement,
    *operands: OperandForm,
    threads: str = "",
) -> InstructionRow:
    section = mnemonic if not op.startswith("mbarrier.") else op.removesuffix(".parity")
    return InstructionRow(op, does, (mnemonic,), needed, section, operands, threads=threads)


# The lowest targets and versions are ptxas's.
_AMPERE, _HOPPER = needs("sm_80 7.0"), needs("sm_90 8.0")

MBARRIER_INIT = _row(
    "mbarrier.init",
    "make an mbarrier whose phases each wait for so many arrivals",
    "mbarrier.init.shared.b64", _AMPERE,
    _BARRIER, Choice("count", range(1, MAX_ARRIVALS + 1)),
)  # fmt: skip
MBARRIER_INVAL = _row(
    "mbarrier.inval",
    "free the memory of an mbarrier for other uses",
    "mbarrier.inval.shared.b64", _AMPERE, _BARRIER,
)  # fmt: skip
_ARRIVES = "arrive at an mbarrier"
_ARRIVE = "mbarrier.arrive.shared.b64"
MBARRIER_ARRIVE_COUNT = _row(
    "mbarrier.arrive", f"{_ARRIVES} so many times", _ARRIVE, needs("sm_90 7.8"),
    _STATE, _BARRIER, Choice("count", _COUNTS, optional=True, target=target("sm_90")),
)  # fmt: skip
MBARRIER_ARRIVE = _row(
    "mbarrier.arrive", f"{_ARRIVES}, once or (sm_90 or later) count times", _ARRIVE,
    needs("sm_80 7.1"), *MBARRIER_ARRIVE_COUNT.operands,
)  # fmt: skip
MBARRIER_ARRIVE_EXPECT_TX = _row(
    "mbarrier.arrive.expect_tx", f"{_ARRIVES} whose phase waits for so many bytes more",
    "mbarrier.arrive.expect_tx.shared.b64", _HOPPER,
    _STATE, _BARRIER, Choice("txCount"),
)  # fmt: skip
CP_ASYNC_ARRIVE = _row(
    "cp.async.mbarrier.arrive", "arrive at an mbarrier once the thread's cp.async are complete",
    "cp.async.mbarrier.arrive.noinc.shared.b64", _AMPERE, _BARRIER,
)  # fmt: skip
CP_ASYNC_ARRIVE_MORE = replace(
    CP_ASYNC_ARRIVE, does=f"{CP_ASYNC_ARRIVE.does}, which its phase waits for besides",
    mnemonics=("cp.async.mbarrier.arrive.shared.b64",),
)  # fmt: skip
_WAITS = "say whether the phase of that parity is complete, after waiting for a while"
MBARRIER_TRY_WAIT = _row(
    "mbarrier.try_wait.parity", _WAITS, "mbarrier.try_wait.parity.shared.b64",
    needs("sm_90 7.8"),
    Result("waitComplete", "pred"), _BARRIER, Choice("phaseParity", (0, 1), type_="u32"),
    Choice("suspendTimeHint", type_="u32", optional=True),
)  # fmt: skip
MBARRIER_TRY_WAIT_CLUSTER = _row(
    "mbarrier.try_wait.parity", f"{_WAITS}, and learn of what other CTAs wrote",
    "mbarrier.try_wait.parity.acquire.cluster.shared.b64", _HOPPER, *MBARRIER_TRY_WAIT.operands,
)  # fmt: skip


def _asks(form: str, phase: OperandForm) -> InstructionRow:
    """One look at the phase of a parity, or of a state: `try_wait.parity.relaxed.cta`."""
    tries, of_parity = form.startswith("try"), ".parity" in form
    plain = "sm_90 7.8" if tries else "sm_80 7.1" if of_parity else "sm_80 7.0"
    learns, needed = next((of for order, of in _LEARNS.items() if order in form), ("", plain))
    does = "say, after waiting for a while," if tries else "say"
    which = "of that parity is complete" if of_parity else "is complete in which a state was given"
    hint = (Choice("suspendTimeHint", type_="u32", optional=True),) if tries else ()
    return _row(
        "ptx.mbarrier.ask", f"{does} whether the phase {which}{learns}",
        f"mbarrier.{form}.shared.b64", needs(needed),
        MBARRIER_TRY_WAIT.operands[0], _BARRIER, phase, *hint,
    )  # fmt: skip


_LEARNS = {
    ".acquire": (", and learn of what other CTAs wrote", "sm_90 8.0"),
    ".relaxed": (", and learn no more", "sm_90 8.6"),
}
MBARRIER_ASK = tuple(
    _asks(f"{name}{of}{order}", phase)
    for name in ("try_wait", "test_wait")
    for of, phase in ((".parity", MBARRIER_TRY_WAIT.operands[2]), ("", Register("state", "b64")))
    for order in ("", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster")
)
"""One look at a phase, of a parity or of a state."""
_DROPS = f"{_ARRIVES}, which no later phase waits for"
_OPEN = ", and complete no phase"
_MORE = "; this one waits for so many bytes more"
_BYTES = "let the phase of an mbarrier wait for so many bytes"
_FAR = Result("state", "b64", ("_",))
_ORDERED = tuple(
    (f"{name}.{order}.{scope}", needs("sm_90 8.6" if order == "relaxed" else "sm_90 8.0"),
     does + ", and order nothing" * (order == "relaxed"))
    for name, does in (
        ("arrive", _ARRIVES), ("arrive.expect_tx", MBARRIER_ARRIVE_EXPECT_TX.does),
        ("arrive_drop", _DROPS), ("arrive_drop.expect_tx", f"{_DROPS}{_MORE}"),
    )
    for order, scope in (("relaxed", "cta"), ("relaxed", "cluster"), ("release", "cluster"))
)  # fmt: skip
_TRANSACTIONS = tuple(
    (f"{name}.relaxed.{scope}", _HOPPER, does)
    for name, does in (("expect_tx", f"{_BYTES} more"), ("complete_tx", f"{_BYTES} less"))
    for scope in ("cta", "cluster")
)
_COUNTED = tuple(
    _row(
        "ptx.mbarrier.arrival" if state is _STATE else "ptx.mbarrier", does,
        f"mbarrier.{name}.{space}.b64", needed,
        *((state,) if "arrive" in name else ()), _BARRIER,
        Choice("count", optional=(name, space) not in (("init", "shared"), ("arrive", "shared"))
               and "tx" not in name and "noComplete" not in name,
               target=target("sm_90") if name == "arrive_drop" else None),
    )
    for space, state, rows in (
        ("shared", _STATE, (
            ("init", MBARRIER_INIT.needs, MBARRIER_INIT.does),
            ("arrive", MBARRIER_ARRIVE_COUNT.needs, MBARRIER_ARRIVE_COUNT.does),
            ("arrive.expect_tx", MBARRIER_ARRIVE_EXPECT_TX.needs, MBARRIER_ARRIVE_EXPECT_TX.does),
            ("arrive.noComplete", _AMPERE, f"{_ARRIVES}{_OPEN}"),
            ("arrive_drop", _AMPERE, _DROPS),
            ("arrive_drop.expect_tx", _HOPPER, f"{_DROPS}{_MORE}"),
            ("arrive_drop.noComplete", _AMPERE, f"{_DROPS}{_OPEN}"),
            *_ORDERED, *_TRANSACTIONS,
        )),
        ("shared::cluster", _FAR, (
            ("arrive", _HOPPER, _ARRIVES), ("arrive.expect_tx", _HOPPER, f"{_ARRIVES}{_MORE}"),
            ("arrive_drop", _HOPPER, _DROPS),
            ("arrive_drop.expect_tx", _HOPPER, f"{_DROPS}{_MORE}"), *_ORDERED, *_TRANSACTIONS,
        )),
    )
    for name, needed, does in rows
)  # fmt: skip
MBARRIER_COUNTED, MBARRIER_ARRIVALS = (
    [row for row in _COUNTED if (row.operands[0] is _STATE) is stated] for stated in (False, True)
)
"""Those whose count is in a register, or that are in PTX alone, without a state and with one."""
MBARRIER_PENDING_COUNT = _row(
    "ptx.mbarrier.pending_count", "how many arrivals the phase waited for before that of a state",
    "mbarrier.pending_count.b64", _AMPERE, Result("count", "b32"), Register("state", "b64"),
)  # fmt: skip
FENCE_MBARRIER_INIT = _row(
    "fence.mbarrier_init",
    "order the thread's mbarrier.init before what the cluster's threads do with the mbarrier",
    "fence.mbarrier_init.release.cluster", _HOPPER,
)  # fmt: skip
_ELECTS = "choose one thread of the warp: its lane, and whether it is this one"
ELECT_SYNC_MEMBERS = _row(
    "ptx.elect.sync.members", f"{_ELECTS}, of those of a register", "elect.sync", _HOPPER,
    Result("p", "b32", ("_|r", "r|r")), Choice("membermask", type_="x32"),
    threads="those of the membermask",
)  # fmt: skip
ELECT_SYNC = replace(ELECT_SYNC_MEMBERS, op="elect.sync", does=_ELECTS)

MBARRIER_BYTES = 8
"""The size and alignment of an mbarrier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetmaxnregRow(InstructionRow):
    """`setmaxnreg.ACTION.sync.aligned.u32 N`: registers given back, or asked for, by a thread."""

    actions: tuple[str, ...]
    lowest: int
    highest: int
    unit: int

    def why_illegal(self, registers: int) -> str | None:
        """The fault of a count of registers, or None."""
        return why_not(
            registers,
            range(self.lowest, self.highest + 1, self.unit),
            f"a multiple of {self.unit} from {self.lowest} to {self.highest} registers",
        )


SETMAXNREG = SetmaxnregRow(
    op="setmaxnreg",
    does="ask for registers, or give them back: so many may each thread of the warpgroup have",
    mnemonics=("setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32"),
    needs=needs("sm_90a|sm_100f|sm_110f|sm_120f 8.0"),
    section="setmaxnreg",
    operands=(Constant("imm-reg-count", range(24, 257, 8)),),
    threads="all of the warpgroup",
    actions=("inc", "dec"),
    lowest=24,
    highest=256,
    unit=8,
)


def why_illegal_count(what: str, lowest: int, count: int) -> str | None:
    """The fault of a count of arrivals or of bytes, or None."""
    return why_not(count, range(lowest, MAX_ARRIVALS + 1), f"{lowest} to {MAX_ARRIVALS} {what}")
