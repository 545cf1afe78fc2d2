"""Clusters: CTAs that run at the same time and reach each other's shared memory. PTX ISA,
barrier.cluster and mapa."""

from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Register,
    Result,
    Scalar,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import needs

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

MAX_CLUSTER = 8
"""How many CTAs a cluster may have wherever there are clusters."""
