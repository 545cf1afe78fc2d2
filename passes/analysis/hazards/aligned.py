"""Instructions that whole warps execute: PTX's `.sync.aligned`, and `.sync` with a mask of all."""

from functools import cache

from xdsl.dialects import gpu, scf
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    matrix_copy,
    shuffle,
    sync,
    warp_specialization,
    wmma,
)
from tilewright.dialects.cute_nvgpu.ops.address import LdmatrixOp
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp
from tilewright.dialects.ptx import cluster as ptx_cluster
from tilewright.dialects.ptx import matrix as ptx_matrix
from tilewright.dialects.ptx import matrix_copy as ptx_matrix_copy
from tilewright.dialects.ptx import shuffle as ptx_shuffle
from tilewright.dialects.ptx import synchronization as ptx_sync
from tilewright.dialects.ptx import warp_specialization as ptx_warps
from tilewright.dialects.ptx import wmma as ptx_wmma
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.trace import WARP, Flags
from tilewright.passes.analysis.thread_dependence import depends_on_thread

BARRIERS = (
    gpu.BarrierOp, sync.BarSyncOp, sync.BarArriveOp, ptx_sync.BarSyncOp, ptx_sync.BarArriveOp,
    ptx_sync.BarRedOp,
)  # fmt: skip
"""Barriers of a CTA, where its last warp may have fewer threads."""

ALIGNED = (
    *BARRIERS, RegisterMmaOp, ptx_matrix.WarpMmaOp, wmma.WmmaAccessOp, ptx_wmma.WmmaAccessOp,
    LdmatrixOp, matrix_copy.MatrixCopyOp, matrix_copy.MovmatrixOp, ptx_matrix_copy.MatrixCopyOp,
    ptx_matrix_copy.MovmatrixOp, shuffle.ShflSyncOp, shuffle.ShflIdxOp, ptx_shuffle.ShflSyncOp,
    warp_specialization.ElectSyncOp, ptx_warps.ElectOp, cluster.ArriveOp, cluster.WaitOp,
    ptx_cluster.ArriveOp, ptx_cluster.WaitOp,
)  # fmt: skip
"""Instructions of warps, but for events of a warp that comes together, or of a warpgroup: those are
looked at there."""

MEMBERS = (
    shuffle.ShflSyncOp, shuffle.ShflIdxOp, ptx_shuffle.ShflSyncOp, warp_specialization.ElectSyncOp,
    ptx_warps.ElectOp,
)  # fmt: skip
"""Those of them that wait for no thread that has ended (PTX ISA, shfl.sync)."""


@cache
def is_aligned(kind: type[Operation]) -> bool:
    """Whole warps execute ops of the class."""
    return issubclass(kind, ALIGNED)


def parts_a_warp(op: Operation) -> bool:
    """A branch or a loop that threads of a warp may take differently, around an instruction of
    whole ones."""
    match op:
        case scf.IfOp():
            decides = (op.cond,)
        case scf.ForOp():
            decides = op.lb, op.ub, op.step
        case _:
            return False
    return any(map(depends_on_thread, decides)) and any(
        is_aligned(type(inner)) for inner in op.walk()
    )


def check_whole(op: Operation, flags: Flags, present: Flags) -> None:
    """Raise Hazard where some threads of a warp execute it, and others that are there do not."""
    mine, all_ = flags.reshape(-1, WARP), present.reshape(-1, WARP)
    apart = mine.any(axis=1) & (mine != all_).any(axis=1)
    if apart.any():
        there, whole = (int(rows[apart][0].sum()) for rows in (mine, all_))
        raise Hazard("aligned", op, missing=f"a warp together, got {there} of {whole}")
