"""Tensor memory: its geometry, and the instructions that allocate it. PTX ISA, tcgen05.

Each CTA has 128 lanes of 512 columns of 32-bit cells. An address has the lane in bits 31 to 16 and
the column in bits 15 to 0. It is allocated by whole columns.
"""

from tilewright.dialects.cute import tensor_memory
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.nearest import why_not
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Choice, OperandForm, Register
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement, any_of, needs
from tilewright.dialects.frozen import frozen

LANES = tensor_memory.LANES
COLUMNS = 512
CELL_BITS = tensor_memory.CELL_BITS
LANE_STRIDE = tensor_memory.LANE_STRIDE
"""How far apart the addresses of neighbouring lanes are, in cells."""

WINDOW = 32
"""A warp loads and stores the lanes from 32 * (warp % 4) on, so many."""

CTA_GROUPS = (1, 2)
"""How many CTAs of a cluster work together: one, or a pair whose ranks differ in the lowest bit."""

ALLOCATIONS = tensor_memory.ALLOCATIONS
"""How many columns may be allocated at once."""

DATACENTER_BLACKWELL = any_of("sm_100f", "sm_110f")
"""The targets with tensor memory: no other Blackwell has it."""

TENSOR_MEMORY = Requirement(DATACENTER_BLACKWELL, (8, 6))
"""The needs of most of its instructions."""


@frozen
class TmemRow(NeedingRow):
    """An instruction on tensor memory of one CTA or of a pair.

    `op` is its op in IR, `does` what it does in words; `spellings` are its mnemonics, that of the
    op first, with `{group}` where they name the CTA group; `section` names the instruction, and
    `operands` stand in PTX's order.
    """

    op: str
    does: str
    spellings: tuple[str, ...]
    section: str
    operands: tuple[OperandForm, ...] = ()
    threads: str = ""
    needs: Requirement = TENSOR_MEMORY

    def mnemonic(self, group: int) -> str:
        """The mnemonic that the op of that CTA group becomes."""
        return self.spellings[0].format(group=group)

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """All mnemonics of the row."""
        spelled = (
            spelling.format(group=group) for spelling in self.spellings for group in CTA_GROUPS
        )
        return tuple(dict.fromkeys(spelled))


_COLUMNS = Choice("nCols", ALLOCATIONS)
_WARP, _ONE = "all of the warp", "one"

TMEM_ALLOC = TmemRow(
    "tmem.alloc",
    "allocate columns of tensor memory, and write their address to shared memory",
    (
        "tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32",
        "tcgen05.alloc.cta_group::{group}.sync.aligned.b32",
    ),
    "tcgen05.alloc",
    (Address("dst"), _COLUMNS),
    "all of one warp; with cta_group::2 of one warp in each CTA of the pair",
)
TMEM_DEALLOC = TmemRow(
    "tmem.dealloc",
    "give columns of tensor memory back",
    ("tcgen05.dealloc.cta_group::{group}.sync.aligned.b32",),
    "tcgen05.dealloc",
    (Register("taddr"), _COLUMNS),
    _WARP,
)
TMEM_RELINQUISH = TmemRow(
    "tmem.relinquish_alloc_permit",
    "give up the right to allocate tensor memory",
    ("tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned",),
    "tcgen05.relinquish_alloc_permit",
    threads=_WARP,
)


def why_illegal_columns(columns: int) -> str | None:
    """The fault of a count of columns to allocate, or None."""
    why = why_not(columns, ALLOCATIONS, f"{', '.join(map(str, ALLOCATIONS))} columns")
    return why and f"{why} (PTX ISA, tcgen05.alloc)"


def why_illegal_group(group: int) -> str | None:
    """The fault of a CTA group, or None."""
    return why_not(group, CTA_GROUPS, f"cta_group {' or '.join(map(str, CTA_GROUPS))}")


# What moves data within tensor memory, and orders it

TMEM_SHIFT = TmemRow(
    "tmem.shift",
    "move rows of 8 columns down by one lane, all but the last",
    ("tcgen05.shift.cta_group::{group}.down",),
    "tcgen05.shift",
    (Address("taddr"),),
    _ONE,
    needs("sm_100a|sm_103a|sm_110a 8.6"),
)
TMEM_COMMIT = TmemRow(
    "tcgen05.commit",
    "arrive at an mbarrier once the thread's MMAs, copies and shifts so far are complete",
    (
        "tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64",
        "tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.b64",
    ),
    "tcgen05.commit",
    (Address("mbar"),),
    _ONE,
)
TMEM_COMMIT_MULTICAST = TmemRow(
    "tcgen05.commit",
    "arrive at the mbarriers of several CTAs once the thread's MMAs, copies and shifts so far are "
    "complete",
    (
        "tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64",
        "tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.multicast::cluster.b64",
    ),
    "tcgen05.commit",
    (Address("mbar"), Register("ctaMask", "b16")),
    _ONE,
)
TMEM_WAIT_LOAD = TmemRow(
    "tmem.wait_load",
    "wait until the thread's loads from tensor memory are complete",
    ("tcgen05.wait::ld.sync.aligned",),
    "tcgen05.wait",
    threads=_WARP,
)
TMEM_WAIT_STORE = TmemRow(
    "tmem.wait_store",
    "wait until the thread's stores to tensor memory are complete",
    ("tcgen05.wait::st.sync.aligned",),
    "tcgen05.wait",
    threads=_WARP,
)
FENCE_BEFORE = TmemRow(
    "tcgen05.fence.before_thread_sync",
    "order the thread's accesses to tensor memory before what other threads learn of next",
    ("tcgen05.fence::before_thread_sync",),
    "tcgen05.fence",
)
FENCE_AFTER = TmemRow(
    "tcgen05.fence.after_thread_sync",
    "order the thread's accesses to tensor memory after what it has waited for",
    ("tcgen05.fence::after_thread_sync",),
    "tcgen05.fence",
)
TMEM_ROWS: tuple[TmemRow, ...] = (
    TMEM_ALLOC, TMEM_DEALLOC, TMEM_RELINQUISH, TMEM_SHIFT, TMEM_COMMIT, TMEM_COMMIT_MULTICAST,
    TMEM_WAIT_LOAD, TMEM_WAIT_STORE, FENCE_BEFORE, FENCE_AFTER,
)  # fmt: skip
"""All but the accesses (`tmem_access`)."""

SHIFTED_COLUMNS = 8
"""How many columns of 32 bits a shift moves."""


_PIPELINED = {("cp", "mma"), ("shift", "mma"), ("mma", "shift"), ("mma", "cp")}


def are_pipelined(earlier: tuple[str, object], later: tuple[str, object]) -> bool:
    """True where a thread's asynchronous operation is done with its cells before a later one
    touches them: (kind, what two MMAs must share, or the shape of a copy). That of mma and cp is
    CUTLASS's, which relies on it; the others are of PTX ISA, tcgen05 memory consistency."""
    kinds = earlier[0], later[0]
    if kinds == ("mma", "mma"):
        return earlier[1] == later[1]
    if kinds == ("shift", "cp"):
        return later[1] == "4x256b"
    return kinds in _PIPELINED
