"""From verified IR to the `ptx` level, through one pipeline of named stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostic import CompileError, OpError
from tilewright.lowering.tile.convert_cute_to_cute_nvgpu import ConvertCuteToCuteNvgpuPass
from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass
from tilewright.parsing import (
    default_context,
    op_diagnostic,
    parse_module,
    verify,
    verify_diagnostic,
)
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.check_target import CheckTargetPass
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.passes.synthesize_layouts import SynthesizeLayoutsPass


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline: its name, and the pass that it runs for an arch."""

    name: str
    build: Callable[[str], ModulePass]


PIPELINE: tuple[Stage, ...] = (
    Stage("convert-cute-to-cute-nvgpu", lambda arch: ConvertCuteToCuteNvgpuPass(arch)),
    Stage("cute-nvgpu-check-target", lambda arch: CheckTargetPass(arch)),
    Stage("cute-nvgpu-synthesize-layouts", lambda arch: SynthesizeLayoutsPass()),
    Stage("cute-nvgpu-check-tmem", lambda arch: CheckTmemPass()),
    Stage("cute-nvgpu-check-hazards", lambda arch: CheckHazardsPass()),
    Stage("convert-cute-nvgpu-to-ptx", lambda arch: ConvertCuteNvgpuToPtxPass(arch)),
)
"""What happens between verified IR and PTX text, in order."""

TILE_STAGE = "convert-cute-to-cute-nvgpu"
"""The stage that leaves atoms."""


Observer = Callable[[str | None, ModuleOp], None]
"""Told of every pass that ran, by name, with the module as it left it; of None before the first."""


def lower(
    module_or_text: ModuleOp | str,
    arch: str,
    *,
    name: str = "<string>",
    verify_each: bool = False,
) -> tuple[ModuleOp, str | None]:
    """The module at the `ptx` level, and the source text where there is one."""
    module, source = verified(module_or_text, name)
    run_pipeline(module, arch, source, verify_each=verify_each)
    return module, source


def run_pipeline(
    module: ModuleOp,
    arch: str,
    source: str | None = None,
    *,
    verify_each: bool = False,
    observers: Sequence[Observer] = (),
    stages: Sequence[Stage] | None = None,
) -> None:
    """Lower a verified module in place, to the `ptx` level by all stages. Raises CompileError."""
    context = default_context()
    try:
        for observer in observers:
            observer(None, module)
        for stage in PIPELINE if stages is None else stages:
            stage.build(arch).apply(context, module)
            if verify_each:
                module.verify()
            for observer in observers:
                observer(stage.name, module)
    except OpError as error:
        raise CompileError(op_diagnostic(error, source)) from None
    except VerifyException as error:
        raise CompileError(verify_diagnostic(module, error, source)) from None


def lower_tiles(module: ModuleOp, arch: str, source: str | None = None) -> None:
    """Lower a verified module to the atom level in place. Raises CompileError."""
    stages = [stage for stage in PIPELINE if stage.name == TILE_STAGE]
    run_pipeline(module, arch, source, stages=stages)


def verified(module_or_text: ModuleOp | str, name: str) -> tuple[ModuleOp, str | None]:
    """A verified module of our own, and the source text where there is one."""
    if isinstance(module_or_text, str):
        module, source = parse_module(module_or_text, name), module_or_text
    else:
        module, source = module_or_text.clone(), None
    verify(module, source)
    return module, source
