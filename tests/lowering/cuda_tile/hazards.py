"""The hazard analysis of compiled Tile IR, at each level from atoms on."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.pipeline import run_pipeline, verified

LEVELS = {"atom": CheckHazardsPass.name, "ptx": "convert-cute-nvgpu-to-ptx"}
"""The stage that each level is left by."""


def at_levels(text: str, arch: str) -> dict[str, ModuleOp]:
    """A kernel at each level."""
    module, source = verified(text)
    stages: dict[str | None, ModuleOp] = {}

    def left(name: str | None, module: ModuleOp) -> None:
        if name in LEVELS.values():
            stages[name] = module.clone()

    run_pipeline(module, arch, source, observers=[left])
    return {level: stages[stage] for level, stage in LEVELS.items()}


def hazards(module: ModuleOp) -> list[str]:
    """The hazards of a module, and what is not proven to be none."""
    verdicts = [check(function) for function in functions(module)]
    return [str(hazard.error()) for hazard, _ in verdicts if hazard is not None] + [
        f"'{op.name}' {why}" for _, unproven in verdicts for op, why in unproven.items()
    ]
