"""Clusters: CTAs that run at the same time and reach each other's shared memory. PTX ISA,
barrier.cluster and mapa."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.targets import target

CLUSTER_RANK = InstructionRow("mov.u32", target("sm_90"), (7, 8))
CLUSTER_ARRIVE = InstructionRow("barrier.cluster.arrive.aligned", target("sm_90"), (7, 8))
CLUSTER_WAIT = InstructionRow("barrier.cluster.wait.aligned", target("sm_90"), (7, 8))
MAPA = InstructionRow("mapa.shared::cluster.u32", target("sm_90"), (7, 8))
MBARRIER_ARRIVE_CLUSTER = InstructionRow(
    "mbarrier.arrive.release.cluster.shared::cluster.b64", target("sm_90"), (8, 0)
)

MAX_CLUSTER = 8
"""How many CTAs a cluster may have wherever there are clusters."""
