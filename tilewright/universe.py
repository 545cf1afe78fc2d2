"""tilewright's entry point for xDSL: its dialects, passes and targets, loaded on demand.

Plain `xdsl-opt` finds this through the `xdsl.universe` entry point.
"""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target


def _cute() -> Dialect:
    from tilewright.dialects.cute.dialect import CUTE

    return CUTE


def _cute_nvgpu() -> Dialect:
    from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU

    return CUTE_NVGPU


def _cuda_tile() -> Dialect:
    from tilewright.dialects.cuda_tile.dialect import CUDA_TILE

    return CUDA_TILE


def _ptx() -> Dialect:
    from tilewright.dialects.ptx.dialect import PTX

    return PTX


def _ptx_target() -> type[Target]:
    from tilewright.lowering.ptx.target import PtxTarget

    return PtxTarget


def _tileirbc_target() -> type[Target]:
    from tilewright.dialects.cuda_tile.bytecode.target import TileIRTarget

    return TileIRTarget


def _check_hazards() -> type[ModulePass]:
    from tilewright.passes.check_hazards import CheckHazardsPass

    return CheckHazardsPass


def _cute_expand_ops() -> type[ModulePass]:
    from tilewright.passes.cute_expand_ops import CuteExpandOpsPass

    return CuteExpandOpsPass


def _cute_fold_static() -> type[ModulePass]:
    from tilewright.passes.cute_fold_static import CuteFoldStaticPass

    return CuteFoldStaticPass


def _cute_to_base() -> type[ModulePass]:
    from tilewright.lowering.convert_cute_to_base import CuteToBasePass

    return CuteToBasePass


def _cuda_tile_canonicalize() -> type[ModulePass]:
    from tilewright.passes.cuda_tile_canonicalize import CudaTileCanonicalizePass

    return CudaTileCanonicalizePass


def _cuda_tile_fuse_fma() -> type[ModulePass]:
    from tilewright.passes.cuda_tile_fuse_fma import CudaTileFuseFmaPass

    return CudaTileFuseFmaPass


def _cuda_tile_split_loops() -> type[ModulePass]:
    from tilewright.passes.cuda_tile_split_loops import CudaTileSplitLoopsPass

    return CudaTileSplitLoopsPass


def _cuda_tile_synthesize_scopes() -> type[ModulePass]:
    from tilewright.passes.cuda_tile_synthesize_scopes import CudaTileSynthesizeScopesPass

    return CudaTileSynthesizeScopesPass


def _check_target() -> type[ModulePass]:
    from tilewright.passes.check_target import CheckTargetPass

    return CheckTargetPass


def _check_tmem() -> type[ModulePass]:
    from tilewright.passes.check_tmem import CheckTmemPass

    return CheckTmemPass


def _insert_wgmma_sync() -> type[ModulePass]:
    from tilewright.passes.insert_wgmma_sync import InsertWgmmaSyncPass

    return InsertWgmmaSyncPass


def _select_atom() -> type[ModulePass]:
    from tilewright.passes.select_atom import SelectAtomPass

    return SelectAtomPass


def _synthesize_layouts() -> type[ModulePass]:
    from tilewright.passes.synthesize_layouts import SynthesizeLayoutsPass

    return SynthesizeLayoutsPass


def _convert_cute_to_cute_nvgpu() -> type[ModulePass]:
    from tilewright.lowering.convert_cute_to_cute_nvgpu import ConvertCuteToCuteNvgpuPass

    return ConvertCuteToCuteNvgpuPass


def _convert_to_ptx() -> type[ModulePass]:
    from tilewright.lowering.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass

    return ConvertCuteNvgpuToPtxPass


TILEWRIGHT_UNIVERSE = Universe(
    all_dialects={"cuda_tile": _cuda_tile, "cute": _cute, "cute_nvgpu": _cute_nvgpu, "ptx": _ptx},
    all_passes={
        "convert-cute-to-cute-nvgpu": _convert_cute_to_cute_nvgpu,
        "cuda-tile-canonicalize": _cuda_tile_canonicalize,
        "cuda-tile-fuse-fma": _cuda_tile_fuse_fma,
        "cuda-tile-split-loops": _cuda_tile_split_loops,
        "cuda-tile-synthesize-scopes": _cuda_tile_synthesize_scopes,
        "cute-expand-ops": _cute_expand_ops,
        "cute-fold-static": _cute_fold_static,
        "cute-to-base": _cute_to_base,
        "cute-nvgpu-check-hazards": _check_hazards,
        "cute-nvgpu-check-target": _check_target,
        "cute-nvgpu-check-tmem": _check_tmem,
        "cute-nvgpu-insert-wgmma-sync": _insert_wgmma_sync,
        "cute-nvgpu-select-atom": _select_atom,
        "cute-nvgpu-synthesize-layouts": _synthesize_layouts,
        "convert-cute-nvgpu-to-ptx": _convert_to_ptx,
    },
    all_targets={"ptx": _ptx_target, "tileirbc": _tileirbc_target},
)
