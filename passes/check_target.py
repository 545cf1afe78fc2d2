"""`cute-nvgpu-check-target`: every atom of the module runs on the named target."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.diagnostic import OpError
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.types.tiled import TiledCopyType, TiledMmaType
from tilewright.dialects.cute.types.tma import TmaCopyType
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC, MOVMATRIX
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum, TargetError, target
from tilewright.dialects.cute_nvgpu.lattice.tma import TENSOR_LOAD, TENSOR_LOAD_MULTICAST
from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    copy,
    mbarrier,
    tcgen05_sync,
    tma,
    tmem,
    tmem_access,
    tmem_copy,
    warp_specialization,
    wgmma_sync,
)
from tilewright.dialects.cute_nvgpu.ops.matrix_copy import MatrixCopyOp, MovmatrixOp
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.tmem_reduce import LoadReduceOp
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.cute_nvgpu.ops.wmma import WmmaAccessOp
from tilewright.dialects.cute_nvgpu.types.atoms import MmaAtomType
from tilewright.dialects.cute_nvgpu.types.copies import CopyInstructionAttr
from tilewright.dialects.cute_nvgpu.types.wgmma import WgmmaAtomType
from tilewright.dialects.ptx.instruction import BASELINE, PtxOp

_WARPGROUP = target("sm_90a")

_MINIMA: dict[type[Operation], Minimum] = {
    MovmatrixOp: MOVMATRIX.target,
    copy.CpAsyncOp: CP_ASYNC.target,
    copy.CpAsyncCommitGroupOp: CP_ASYNC.target,
    copy.CpAsyncWaitGroupOp: CP_ASYNC.target,
    mbarrier.FenceMbarrierInitOp: mbarrier.FenceMbarrierInitOp.ROW.target,
    **{each: each.ROW.target for each in (*tma.OPS, *warp_specialization.OPS)},
    wgmma_sync.WgmmaFenceOp: _WARPGROUP,
    wgmma_sync.WgmmaCommitGroupOp: _WARPGROUP,
    wgmma_sync.WgmmaWaitGroupOp: _WARPGROUP,
    wgmma_sync.FenceProxyAsyncOp: target("sm_90"),
    **{each: each.ROW.target for each in (*tmem_access.ACCESS_OPS, *tmem_copy.COPY_OPS)},
    **{each: each.ROW.target for each in tmem.ALLOCATION_OPS if issubclass(each, tmem.TmemOp)},
    **{each: each.ROW.target for each in tcgen05_sync.SYNC_OPS},
    LoadReduceOp: LoadReduceOp.ROW.target,
    **{each: each.ROW.target for each in cluster.OPS},
}


@dataclass(frozen=True)
class CheckTargetPass(ModulePass):
    """Reject the first op that `arch` cannot execute, naming what it requires."""

    name = "cute-nvgpu-check-target"

    arch: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            arch = target(self.arch)
        except TargetError as error:
            raise OpError(op, str(error)) from error
        for each in op.walk():
            required = _required(each)
            if required is not None and not arch.supports(required):
                raise OpError(
                    each, f"{_spelled(each)} requires {required.at_least}, got target {arch}"
                )


def _spelled(op: Operation) -> str:
    """The mnemonic where the op has a row of its own, otherwise its name."""
    if isinstance(op, RegisterMmaOp | WarpgroupMmaOp):
        return op.mma_atom.mnemonic
    if isinstance(op, UmmaOp):
        return op.mnemonic
    if isinstance(op, WmmaAccessOp):
        return op.access.mnemonic()
    return op.matrix_copy.mnemonic if isinstance(op, MatrixCopyOp) else f"'{op.name}'"


def required_targets(module: ModuleOp) -> list[Minimum]:
    """What the module's atoms, copies and instructions require, the baseline included."""
    found: set[Minimum] = {BASELINE.target}
    for op in module.walk():
        required = op.requirement().target if isinstance(op, PtxOp) else _required(op)
        if required is not None:
            found.add(required)
    return list(found)


def _required(op: Operation) -> Minimum | None:
    if isinstance(op, RegisterMmaOp | WarpgroupMmaOp):
        return op.mma_atom.row.target
    if isinstance(op, UmmaOp):
        return op.required
    if isinstance(op, tma.TmaLoadOp):
        return op.row.target
    if isinstance(op, WmmaAccessOp):
        return op.access.row.target
    if isinstance(op, MatrixCopyOp | mbarrier.MbarrierOp):
        return op.row.target
    if isinstance(op, GemmOp | CopyOp):
        return _required_of_tile(op)
    return _MINIMA.get(type(op))


def _required_of_tile(op: GemmOp | CopyOp) -> Minimum | None:
    """What the instruction of a tile needs."""
    if isinstance(op, GemmOp):
        atom = op.mma.type.atom if isinstance(op.mma.type, TiledMmaType) else None
        return atom.data.row.target if isinstance(atom, MmaAtomType | WgmmaAtomType) else None
    copy = None if op.tiled is None else op.tiled.type
    if isinstance(copy, TmaCopyType):
        return (TENSOR_LOAD if op.mask is None else TENSOR_LOAD_MULTICAST).target
    if not isinstance(copy, TiledCopyType) or not isinstance(copy.atom, CopyInstructionAttr):
        return None
    instruction = copy.atom.data
    match instruction.kind:
        case "cp_async":
            return CP_ASYNC.target
        case "ldmatrix" | "stmatrix":
            return instruction.matrices.row.target
        case _:
            return None
