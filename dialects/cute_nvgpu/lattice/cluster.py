"""Clusters: CTAs that run at the same time and reach each other's shared memory. PTX ISA,
barrier.cluster and mapa."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Register,
    Result,
    Scalar,
    Vector,
)
from tilewright.dialects.cute_nvgpu.lattice.scalar import registers_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, needs
from tilewright.dialects.cute_nvgpu.lattice.tma import COPIED

_CLUSTERS = needs("sm_90 7.8")

CLUSTER_RANK = InstructionRow(
    "cluster.rank", "the rank of the CTA in its cluster", ("mov.u32",), _CLUSTERS,
    "%cluster_ctarank", (Result("d"), Register("%cluster_ctarank")),
)  # fmt: skip
CLUSTER_ARRIVE = InstructionRow(
    "cluster.arrive", "arrive at the barrier of the cluster without waiting",
    ("barrier.cluster.arrive.aligned", "barrier.cluster.arrive"), _CLUSTERS, "barrier.cluster",
    threads="all of the warp, where .aligned",
)  # fmt: skip
CLUSTER_ARRIVE_RELAXED = InstructionRow(
    "cluster.arrive", "arrive at the barrier of the cluster without waiting and without order",
    ("barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.arrive.relaxed"),
    needs("sm_90 8.0"), "barrier.cluster", threads=CLUSTER_ARRIVE.threads,
)  # fmt: skip
CLUSTER_WAIT = InstructionRow(
    "cluster.wait", "wait until all threads of the cluster have arrived at its barrier",
    ("barrier.cluster.wait.aligned", "barrier.cluster.wait"), _CLUSTERS, "barrier.cluster",
    threads=CLUSTER_ARRIVE.threads,
)  # fmt: skip
MAPA = InstructionRow(
    "cluster.map", "the address of the same place in the shared memory of another CTA",
    ("mapa.shared::cluster.u32",), _CLUSTERS, "mapa",
    (Result("d"), Scalar("a", "u32", plain=True), Choice("b", type_="u32")),
)  # fmt: skip
LEADER_MASKS = range(0xFE << RANK_SHIFT, 0xFF << RANK_SHIFT)
"""The masks that give an address in the CTA of the pair whose rank is even."""
MAPA_LEADER = InstructionRow(
    "ptx.mapa.leader", "the address of the same place in the CTA of the pair whose rank is even",
    ("and.b32",), BASELINE, "and",
    (Result("d"), Scalar("a", "b32", plain=True), Choice("mask", LEADER_MASKS)),
)  # fmt: skip
GETCTARANK = InstructionRow(
    "ptx.getctarank", "the rank of the CTA whose shared memory an address is of",
    ("getctarank.shared::cluster.u32",), _CLUSTERS, "getctarank",
    (Result("d"), Scalar("a", "u32", plain=True)),
)  # fmt: skip
MBARRIER_ARRIVE_CLUSTER = InstructionRow(
    "cluster.mbarrier_arrive", "arrive at an mbarrier of a CTA of the cluster",
    ("mbarrier.arrive.release.cluster.shared::cluster.b64", "mbarrier.arrive.shared::cluster.b64"),
    needs("sm_90 8.0"), "mbarrier.arrive",
    (
        Result("state", "b64", ("_",)),
        Address("addr"),
        Choice("count", range(1, 1 << 32), optional=True),
    ),
)  # fmt: skip

MBARRIER_EXPECT_TX_CLUSTER = replace(
    MBARRIER_ARRIVE_CLUSTER, op="ptx.mbarrier.arrive.expect_tx.cluster",
    does=f"{MBARRIER_ARRIVE_CLUSTER.does}, whose phase waits for so many bytes more",
    mnemonics=(
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64",
        "mbarrier.arrive.expect_tx.shared::cluster.b64",
    ),
    operands=(*MBARRIER_ARRIVE_CLUSTER.operands[:2], Choice("txCount")),
)  # fmt: skip

_COMPLETES = "shared::cluster{}.mbarrier::complete_tx::bytes"
_ARRIVES = "a CTA of the cluster; its bytes arrive at an mbarrier there"


def _sent(name: str, does: str, section: str, forms: Sequence[str]) -> InstructionRow:
    """Registers for the shared memory of a CTA of the cluster, in forms of the same registers."""
    return InstructionRow(
        f"ptx.{name.removesuffix('.relaxed.cluster')}", f"{does} {_ARRIVES}",
        tuple(f"{name}.{_COMPLETES.format('')}.{form}" for form in forms), needs("sm_90 8.1"),
        section, (Address("a"), Vector("b", *registers_of(forms[0]), loose=True), Address("mbar")),
    )  # fmt: skip


ST_ASYNC = tuple(
    _sent("st.async", "start to store what registers hold in", "9.7.9.12", [form])
    for length, type_ in product(("", "v2.", "v4."), ("b32", "b64", "f32", "f64"))
    if (form := length + type_) not in ("v4.b64", "v4.f64")
)
_REDUCED = ("inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
            "xor.b32", "add.u32", "add.s32", "add.u64")  # fmt: skip
RED_ASYNC = tuple(
    _sent("red.async.relaxed.cluster", "start to combine a register with a word of", "9.7.13.7",
          forms)
    for forms in (_REDUCED[:-1], _REDUCED[-1:])
)  # fmt: skip
_BETWEEN = f"async.bulk.{_COMPLETES.format('.shared::cta')}"
BULK_SEND = InstructionRow(
    "ptx.cp.async.bulk.cluster", f"start to copy bytes of shared memory to {_ARRIVES}",
    (f"cp.{_BETWEEN}",), needs("sm_90 8.0"), "cp.async.bulk",
    (Address("dstMem"), Address("srcMem"), COPIED, Address("mbar", loose=("integer",))),
)  # fmt: skip
BULK_SEND_REDUCE = replace(
    BULK_SEND, does=f"start to combine bytes of shared memory with those of {_ARRIVES}",
    mnemonics=tuple(f"cp.reduce.{_BETWEEN}.{form}" for form in _REDUCED),
    section="cp.reduce.async.bulk",
)  # fmt: skip

MAX_CLUSTER = 8
"""How many CTAs a cluster may have wherever there are clusters."""
