"""tilewright's entry point for xDSL: its dialects, passes and targets, loaded on demand.

Plain `xdsl-opt` finds this through the `xdsl.universe` entry point.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

from tilewright.xdsl_patches import repair

_DIALECTS = {
    "cuda_tile": "dialects.cuda_tile.dialect:CUDA_TILE",
    "cute": "dialects.cute.dialect:CUTE",
    "cute_nvgpu": "dialects.cute_nvgpu.dialect:CUTE_NVGPU",
    "ptx": "dialects.ptx.dialect:PTX",
    "tt": "dialects.triton.dialect:TRITON",
    "ttg": "dialects.triton.dialect:TRITON_GPU",
}
_PASSES = {
    "convert-cute-nvgpu-to-ptx": (
        "lowering.to_ptx.convert_cute_nvgpu_to_ptx:ConvertCuteNvgpuToPtxPass"
    ),
    "convert-cuda-tile-to-cute": (
        "lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu:ConvertCudaTileToCutePass"
    ),
    "convert-cuda-tile-to-cute-nvgpu": (
        "lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu:ConvertCudaTileToCuteNvgpuPass"
    ),
    "convert-cute-to-cute-nvgpu": (
        "lowering.tile.convert_cute_to_cute_nvgpu:ConvertCuteToCuteNvgpuPass"
    ),
    "cuda-tile-canonicalize": "passes.cuda_tile_canonicalize:CudaTileCanonicalizePass",
    "cuda-tile-fuse-fma": "passes.cuda_tile_fuse_fma:CudaTileFuseFmaPass",
    "cuda-tile-make-persistent": (
        "passes.cuda_tile.scheduling.make_persistent:CudaTileMakePersistentPass"
    ),
    "cuda-tile-pointers-to-views": (
        "passes.cuda_tile_pointers_to_views:CudaTilePointersToViewsPass"
    ),
    "cuda-tile-bound-sizes": "passes.cuda_tile.scheduling.cut_rows:CudaTileBoundSizesPass",
    "cuda-tile-share-blocks": "passes.cuda_tile.scheduling.split_blocks:CudaTileShareBlocksPass",
    "cuda-tile-show-layouts": "lowering.cuda_tile.show_layouts:CudaTileShowLayoutsPass",
    "cuda-tile-split-loops": "passes.cuda_tile_split_loops:CudaTileSplitLoopsPass",
    "cuda-tile-synthesize-scopes": (
        "passes.cuda_tile_synthesize_scopes:CudaTileSynthesizeScopesPass"
    ),
    "convert-triton-to-cuda-tile": (
        "lowering.triton.convert_triton_to_cuda_tile:ConvertTritonToCudaTilePass"
    ),
    "cute-expand-ops": "lowering.to_base.cute_expand_ops:CuteExpandOpsPass",
    "cute-fold-static": "passes.cute_fold_static:CuteFoldStaticPass",
    "inline-calls": "passes.inline_calls:InlineCallsPass",
    "cute-nvgpu-check-issue": "passes.check_issue:CheckIssuePass",
    "cute-nvgpu-check-hazards": "passes.check_hazards:CheckHazardsPass",
    "cute-nvgpu-check-target": "passes.check_target:CheckTargetPass",
    "cute-nvgpu-check-tmem": "passes.check_tmem:CheckTmemPass",
    "cute-nvgpu-insert-wgmma-sync": "passes.insert_wgmma_sync:InsertWgmmaSyncPass",
    "cute-nvgpu-select-atom": "passes.select_atom:SelectAtomPass",
    "cute-nvgpu-synthesize-layouts": "passes.synthesize_layouts:SynthesizeLayoutsPass",
    "cute-to-base": "lowering.to_base.convert_cute_to_base:CuteToBasePass",
}
_TILE_STEPS = (
    "legalize", "merge-folds", "collapse-loops", "split-single-trips", "make-loads-late",
    "mark-loaded-places", "crowd-loops", "make-loads-early",
    "load-for-each-shape", "order-blocks", "cut-rows", "split-blocks", "strip-mine", "unroll-rows",
    "reload-rows", "slice-products", "narrow-steps", "align-stores", "place-accumulators",
    "pair-products", "transpose-products", "permute-products", "legalize-placed",
)  # fmt: skip
"""The steps of `passes.cuda_tile.steps`, which has them by name, in order."""
_TARGETS = {
    "ptx": "lowering.ptx.target:PtxTarget",
    "tileirbc": "dialects.cuda_tile.bytecode.target:TileIRTarget",
}


def _tile_step(name: str) -> Callable[[], Any]:
    """The loader of a step."""
    return lambda: import_module("tilewright.passes.cuda_tile.steps").STEPS[name]


def _loaders(places: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """The loader of each of a table's rows, `MODULE:NAME` in the package."""

    def loader(place: str) -> Callable[[], Any]:
        module, name = place.split(":")
        return lambda: getattr(import_module(f"tilewright.{module}"), name)

    return {key: loader(place) for key, place in places.items()}


repair()

TILEWRIGHT_UNIVERSE = Universe(
    all_dialects=_loaders(_DIALECTS),
    all_passes=_loaders(_PASSES) | {f"cuda-tile-{name}": _tile_step(name) for name in _TILE_STEPS},
    all_targets=_loaders(_TARGETS),
)
