"""Addresses of a cluster's shared memory: ranks stand in the bits above, as on the chip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from cluster_addresses import KERNEL, RANKS

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT

RECORDED = np.load(Path(__file__).parent / "fixtures" / "cluster_addresses.npz")


def test_ranks_are_as_far_apart_as_on_the_chip():
    """Where the first one begins is the chip's own; ours are counted from 1."""
    out = np.zeros(RANKS, np.uint32)
    (ours,) = tw.interpret(KERNEL, grid=(RANKS,), block=(1,), args=[out], arch="sm_90a")
    assert (np.diff(RECORDED["mapa"]) == 1 << RANK_SHIFT).all()
    assert (np.diff(ours) == 1 << RANK_SHIFT).all()
