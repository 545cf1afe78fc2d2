"""The steps before Tile IR is lowered: those that the commands know, one after the other, are what
the lowering does."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.universe import Universe

import tilewright as tw
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu import lower_entry
from tilewright.passes.cuda_tile.steps import STEPS
from tilewright.pipeline import run_pipeline, stages_of, verified
from tilewright.source.parsing import default_context

FOLDER = Path(__file__).parents[1] / "filecheck" / "passes" / "cuda_tile"


def test_the_commands_know_every_step():
    known = Universe.get_multiverse().all_passes
    assert {step.name: step for step in STEPS.values()} == {
        name: known[name]() for name in (f"cuda-tile-{step}" for step in STEPS)
    }


def test_every_step_has_its_test():
    assert {path.stem.replace("_", "-") for path in FOLDER.glob("*.mlir")} >= STEPS.keys()


@pytest.mark.parametrize(
    "name, arch",
    [
        ("collapse_loops", "sm_80"),
        ("split_blocks", "sm_90a"),
        ("place_accumulators", "sm_100a"),
        ("slice_products", "sm_120a"),
    ],
)
def test_steps_are_what_the_lowering_does(name: str, arch: str):
    text = (FOLDER / f"{name}.mlir").read_text()
    module, source = verified(text)
    passes = ",".join(f"{step.name}{{arch={arch}}}" for step in STEPS.values())
    run_pipeline(module, arch, source, stages=stages_of(passes))
    lowered, _ = verified(text)
    for entry in [op for op in lowered.walk() if isinstance(op, EntryOp)]:
        assert not lower_entry(entry, target(arch)).retreats
    assert str(module) == str(lowered) != str(verified(text)[0])


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_columns_that_a_text_has_already_are_decided_anew(arch: str):
    """Of another target's tensor memory, say."""
    module, _ = verified((FOLDER / "place_accumulators.mlir").read_text())
    plain = tw.compile(module, arch).ptx
    place = STEPS["place-accumulators"]
    place(arch="sm_100a").apply(default_context(), module)
    assert "cute.accumulators" in str(module)
    assert tw.compile(module, arch).ptx == plain
