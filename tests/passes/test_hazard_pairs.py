"""Of two small kernels one is refused by the static check, by both its places, and the other one
passes and runs."""

from __future__ import annotations

from dataclasses import replace

import array_pairs
import cluster_pairs
import group_pairs
import mbarrier_pairs
import pytest
import scope_pairs
import tensor_memory_pairs
import warp_pairs
from hazard_kernels import Pair, cases, checked, refused, run
from run_levels import at_levels

import tilewright as tw

TABLES = (
    array_pairs, cluster_pairs, group_pairs, mbarrier_pairs, scope_pairs, tensor_memory_pairs,
    warp_pairs,
)  # fmt: skip
PAIRS = tuple(pair for table in TABLES for pair in table.PAIRS)


@pytest.mark.parametrize("pair, level", cases(PAIRS))
def test_the_wrong_one_is_refused(pair: Pair, level: str):
    """Before it runs, and by the interpreter alone, in the order of the text."""
    refused(pair, level)
    with pytest.raises(tw.ExecutionError):
        run(pair, "WRONG", level)


@pytest.mark.filterwarnings("error::tilewright.passes.check_hazards.UnprovenWarning")
@pytest.mark.parametrize("pair, level", cases(PAIRS))
def test_the_right_one_passes_and_runs(pair: Pair, level: str):
    checked(pair, "RIGHT", level)
    run(pair, "RIGHT", level, schedule=1)


@pytest.mark.parametrize("axis", "xyz")
@at_levels()
def test_blocks_along_another_axis(axis: str, level: str):
    """A block waits for the flag of the one before it, along whichever axis it asks for."""
    (pair,) = (pair for pair in PAIRS if pair.name == "a flag between blocks, set relaxed")
    other = replace(pair, body=pair.body.replace("#gpu<dim x>", f"#gpu<dim {axis}>"))
    checked(other, "RIGHT", level)
    with pytest.raises(tw.CompileError, match=r"no release\.gpu of its block follows it"):
        checked(other, "WRONG", level)
