"""`tilewright.compile`: IR in, PTX out, through one pipeline of named stages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostic import CompileError, OpError
from tilewright.dialects.cute.argument import ArgumentAttr, signature_of, sources_of
from tilewright.dialects.cute_nvgpu.targets import target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.ir_dump import IRDump
from tilewright.lowering.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass
from tilewright.lowering.convert_cute_to_cute_nvgpu import ConvertCuteToCuteNvgpuPass
from tilewright.lowering.ptx.text import STATIC_SHARED_LIMIT, module_text
from tilewright.parsing import (
    default_context,
    op_diagnostic,
    read_module,
    verify,
    verify_diagnostic,
)
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.check_target import CheckTargetPass
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.passes.synthesize_layouts import SynthesizeLayoutsPass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tilewright.verify_by_running import Trial


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


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of compiled code: its name, its parameters as (name, PTX type) in order, its shared
    memory in bytes, and the block size that it asks for, if any.

    One that was lowered from the tile level takes arguments of the types `signature`, and
    `sources` says which part of which of them each parameter is."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    shared_bytes: int
    block: tuple[int, int, int] | None
    signature: tuple[Attribute, ...] = ()
    sources: tuple[ArgumentAttr | None, ...] = ()

    @property
    def dynamic_shared_bytes(self) -> int:
        """What a launch must reserve: all of it where it is more than a static array may be."""
        return self.shared_bytes if self.shared_bytes > STATIC_SHARED_LIMIT else 0


@dataclass(frozen=True)
class Kernel:
    """Compiled code: `ptx` for the driver, `entries` the kernels in it, `arch` what it was
    compiled for."""

    ptx: str
    entries: tuple[Entry, ...]
    arch: str
    _loaded: dict[str, Any] = field(default_factory=dict[str, Any], compare=False, repr=False)

    @property
    def shared_bytes(self) -> int:
        """The shared memory of the kernel that needs most, in bytes."""
        return max((entry.shared_bytes for entry in self.entries), default=0)

    def entry(self, name: str | None = None) -> Entry:
        """The kernel of that name; without one, the only kernel. Raises ValueError otherwise."""
        found = [entry for entry in self.entries if name in (None, entry.name)]
        if len(found) != 1:
            names = ", ".join(entry.name for entry in self.entries)
            raise ValueError(f"expected the name of one kernel, got {name!r}; legal: {names}")
        return found[0]

    def launch(
        self,
        *args: Any,
        grid: Sequence[int],
        block: Sequence[int],
        kernel: str | None = None,
    ) -> list[NDArray[np.generic]]:
        """Run a kernel on the GPU of this machine, as `tilewright.interpret` runs it on the CPU.

        `args`: a NumPy array for each memref (copied to the GPU and back), a `TensorMap` for each
        `tma_descriptor`, a number for each scalar; of a kernel that was lowered from the tile level
        those that it had there. Arrays on the GPU are used in place. Returns the arrays after the
        run. Needs the `gpu` extra and a CUDA driver; raises `tilewright.launcher.LaunchError` where
        there is none, or where the launch fails.
        """
        from tilewright.launcher import launch

        return launch(self, self.entry(kernel), args, grid, block)


def compile(
    module_or_text: ModuleOp | str | bytes,
    arch: str,
    *,
    name: str = "<string>",
    verify_each: bool = False,
    dump_dir: str | os.PathLike[str] | None = None,
    verify_by_running: Trial | None = None,
) -> Kernel:
    """Compile IR to PTX for a target.

    `module_or_text` is an xDSL module (which is left as it is), MLIR text, or Tile IR bytecode;
    `arch` a target such as "sm_90a". The text carries the lowest `.version` and `.target` that its
    instructions need and that `arch` runs.
    `verify_each` verifies the IR after every stage too; `dump_dir` is a folder that gets the IR
    after every stage, and the PTX, as numbered files; `verify_by_running` is a run of the kernel
    whose results no stage may change. Raises CompileError with a diagnostic that points into the
    text (called `name`), TargetError for an unknown arch.
    """
    target(arch)
    module, source = verified(module_or_text, name)
    dump = None if dump_dir is None else IRDump(dump_dir)
    observers: list[Observer] = [] if dump is None else [dump]
    if verify_by_running is not None:
        observers.append(_result_check(verify_by_running, arch, name, source))
    run_pipeline(module, arch, source, verify_each=verify_each, observers=observers)
    try:
        text = module_text(module, target(arch))
    except OpError as error:
        raise CompileError(op_diagnostic(error, source)) from None
    if dump is not None:
        dump.output(text, "ptx")
    return Kernel(text, tuple(_entry(op) for op in module.body.block.ops if
                              isinstance(op, EntryOp)), arch)  # fmt: skip


def lower(
    module_or_text: ModuleOp | str | bytes,
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


def verified(module_or_text: ModuleOp | str | bytes, name: str) -> tuple[ModuleOp, str | None]:
    """A verified module of our own, and the source text where there is one."""
    if not isinstance(module_or_text, ModuleOp):
        return read_module(module_or_text, name)
    module = module_or_text.clone()
    verify(module)
    return module, None


def _result_check(trial: Trial, arch: str, name: str, source: str | None) -> Observer:
    from tilewright.verify_by_running import ResultCheck

    return ResultCheck(trial if trial.arch else replace(trial, arch=arch), name, source)


def _entry(op: EntryOp) -> Entry:
    names = [each.data for each in op.parameter_names]
    types = [each.data for each in op.parameters]
    block = None if op.reqntid is None else tuple(op.reqntid.get_values())
    return Entry(
        op.sym_name.data,
        tuple(zip(names, types, strict=True)),
        op.shared.value.data,
        block,  # type: ignore[arg-type]
        signature_of(op) or (),
        tuple(sources_of(op)) if signature_of(op) is not None else (),
    )
