"""From verified IR to the `ptx` level, through one pipeline of named stages."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.exceptions import ArgSpecParseError

from tilewright import xdsl_patches
from tilewright.dialects.cuda_tile.bytecode.container import is_bytecode
from tilewright.dialects.cuda_tile.ops.module import NEGATIVE, EntryOp
from tilewright.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, lowest, target
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.lowering.tile.convert_cute_to_cute_nvgpu import ConvertCuteToCuteNvgpuPass
from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.check_issue import CheckIssuePass
from tilewright.passes.check_target import CheckTargetPass, required_targets
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.passes.inline_calls import InlineCallsPass
from tilewright.passes.synthesize_layouts import SynthesizeLayoutsPass
from tilewright.source.diagnostic import ArgumentError, CompileError, Diagnostic
from tilewright.source.guard import guard
from tilewright.source.nearest_name import check_pass_names
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.recursion import deep_recursion
from tilewright.source.verification import verify


@frozen
class Stage:
    """One step of the pipeline: its name, and the pass that it runs for an arch; `verified` where
    what it leaves is verified always."""

    name: str
    build: Callable[[str], ModulePass]
    verified: bool = False


def _convert_cuda_tile(arch: str) -> ModulePass:
    from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu import (
        ConvertCudaTileToCuteNvgpuPass,
    )

    return ConvertCudaTileToCuteNvgpuPass(arch)


PROGRAM_STAGE = "convert-cuda-tile-to-cute-nvgpu"
"""The stage that leaves no Tile IR; modules without any do without it."""


def _convert_triton(arch: str) -> ModulePass:
    from tilewright.lowering.triton.convert_triton_to_cuda_tile import (
        ConvertTritonToCudaTilePass,
    )

    return ConvertTritonToCudaTilePass()


def _see_through_pointers(arch: str) -> ModulePass:
    from tilewright.passes.cuda_tile_pointers_to_views import CudaTilePointersToViewsPass

    return CudaTilePointersToViewsPass()


TRITON_STAGES = (
    Stage("convert-triton-to-cuda-tile", _convert_triton),
    Stage("cuda-tile-pointers-to-views", _see_through_pointers, verified=True),
)
"""The stages that make Tile IR of Triton's functions, before anything else is done with them."""

PIPELINE: tuple[Stage, ...] = (
    Stage(PROGRAM_STAGE, _convert_cuda_tile),
    Stage("inline-calls", lambda arch: InlineCallsPass()),
    Stage("cute-nvgpu-check-issue", lambda arch: CheckIssuePass()),
    Stage("convert-cute-to-cute-nvgpu", lambda arch: ConvertCuteToCuteNvgpuPass(arch)),
    Stage("cute-nvgpu-check-target", lambda arch: CheckTargetPass(arch)),
    Stage("cute-nvgpu-synthesize-layouts", lambda arch: SynthesizeLayoutsPass()),
    Stage("cute-nvgpu-check-tmem", lambda arch: CheckTmemPass()),
    Stage("cute-nvgpu-check-hazards", lambda arch: CheckHazardsPass()),
    Stage("convert-cute-nvgpu-to-ptx", lambda arch: ConvertCuteNvgpuToPtxPass(arch)),
)
"""The stages between verified IR and PTX text, in order."""


def stages_where(unproven: str) -> tuple[Stage, ...]:
    """The pipeline, whose check of hazards does that of what it cannot decide."""
    check = CheckHazardsPass.name

    def build(arch: str) -> ModulePass:
        return CheckHazardsPass(unproven)

    return tuple(
        replace(stage, build=build) if stage.name == check else stage for stage in PIPELINE
    )


TILE_STAGE = "convert-cute-to-cute-nvgpu"
"""The stage that leaves atoms."""


Observer = Callable[[str | None, ModuleOp], None]
"""Told of every pass that ran, by name, with the module as it left it; of None before the first."""


@deep_recursion()
def lower(
    module_or_text: ModuleOp | str, arch: str, *, name: str = "<string>", verify_each: bool = False
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
    first: Sequence[Stage] = (),
    verify_each: bool = False,
    observers: Sequence[Observer] = (),
    stages: Sequence[Stage] | None = None,
) -> None:
    """Lower a verified module in place, to the `ptx` level by all stages, of which others may come
    `first`. Raises CompileError."""
    context = default_context()
    for observer in observers:
        observer(None, module)
    for stage in (*first, *(PIPELINE if stages is None else stages)):
        if stage.name == PROGRAM_STAGE and not is_tile_ir(module):
            continue
        with guard(stage.name, module, source, named=stage in first):
            stage.build(arch).apply(context, module)
            if verify_each or stage.verified:
                verify(module, source, stage.name)
        for observer in observers:
            observer(stage.name, module)


def _for_any_target(arch: str) -> ModulePass:
    return ConvertCuteNvgpuToPtxPass()


def lower_for_lowest(module: ModuleOp, source: str | None = None) -> str:
    """Lower a verified module in place to the `ptx` level, as for a target that has everything: the
    name of the lowest that its instructions need. Raises CompileError."""
    arch = lowest(required_targets(module)).name
    *above, last = PIPELINE
    unchecked = replace(last, build=_for_any_target)
    run_pipeline(module, arch, source, stages=(*above, unchecked))
    with guard(last.name, module, source):
        return lowest([target(arch), *required_targets(module)]).name


def stages_of(passes: str | Sequence[ModulePass]) -> list[Stage]:
    """The stages that passes are: instances, or what xdsl-opt's `-p` takes.

    Raises ArgumentError for a text that no pipeline is.
    """
    if isinstance(passes, str):
        known = Universe.get_multiverse().all_passes
        try:
            check_pass_names(passes, known)
            passes = PassPipeline.parse_spec(known, passes).passes
        except (ArgumentError, TargetError):
            raise
        # xDSL's of the text, which is no Exception, or what a pass says of its options.
        except (ArgSpecParseError, Exception) as error:
            why = " ".join(str(error).split())
            raise ArgumentError(
                f"expected passes as a pipeline, got {told(passes)} ({why})"
            ) from None
    return [Stage(pass_.name, lambda arch, pass_=pass_: pass_, True) for pass_ in passes]


def is_tile_ir(module: ModuleOp) -> bool:
    """True where a module holds CUDA Tile IR."""
    return any(isinstance(op, TileModuleOp | EntryOp) for op in module.body.ops)


def lower_programs(module: ModuleOp, arch: str, source: str | None = None) -> None:
    """Lower Tile IR to kernels of threads in place. Raises CompileError."""
    stages = [stage for stage in PIPELINE if stage.name == PROGRAM_STAGE]
    run_pipeline(module, arch, source, stages=stages)


def lower_tiles(module: ModuleOp, arch: str, source: str | None = None) -> None:
    """Lower a verified module to the atom level in place. Raises CompileError."""
    stages = [stage for stage in PIPELINE if stage.name in (InlineCallsPass.name, TILE_STAGE)]
    run_pipeline(module, arch, source, stages=stages)


def verified(
    module_or_text: ModuleOp | str | bytes, name: str = "<string>", negative: Sequence[int] = ()
) -> tuple[ModuleOp, str | None]:
    """A verified module of our own, and the source text where there is one.

    Bytes are Tile IR bytecode if they begin as it does, else UTF-8 text. Triton's functions become
    Tile IR, for launches whose arguments at some places may be `negative`. Raises CompileError.
    """
    xdsl_patches.install()
    if isinstance(module_or_text, bytes):
        if is_bytecode(module_or_text, name):
            from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode

            return read_bytecode(module_or_text, name), None
        try:
            module_or_text = module_or_text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            what = f"expected Tile IR bytecode or UTF-8 text, got neither ({error.reason})"
            raise CompileError(Diagnostic(f"{what} (at byte {error.start})", name)) from None
    if isinstance(module_or_text, str):
        module, source = parse_module(module_or_text, name), module_or_text
    else:
        module, source = module_or_text.clone(), None
    with guard("verify", module, source, name):
        verify(module, source)
    names = {op.name for op in module.body.ops}
    if "ptx.func" in names:
        run_pipeline(module, "", source, stages=[s for s in PIPELINE if s.name == "inline-calls"])
    if "tt.func" in names:
        # Its ops stand in Python, or in a file that can be read again.
        source = None
        if negative:
            module.attributes[NEGATIVE] = DenseArrayBase.from_list(i32, negative)
        run_pipeline(module, "", source, stages=TRITON_STAGES)
    return module, source
