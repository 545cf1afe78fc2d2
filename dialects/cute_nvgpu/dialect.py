"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.atom_types import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.attributes import CacheAttr, FragmentType
from tilewright.dialects.cute_nvgpu.ops import copy, fragment, matrix_copy, sync
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        *MMA_OPS.values(),
        matrix_copy.LdmatrixOp,
        matrix_copy.StmatrixOp,
        matrix_copy.MovmatrixOp,
        copy.CpAsyncOp,
        copy.CpAsyncCommitGroupOp,
        copy.CpAsyncWaitGroupOp,
        fragment.SplatOp,
        fragment.FromElementsOp,
        fragment.ExtractOp,
        fragment.InsertOp,
        fragment.SliceOp,
        fragment.CastOp,
        sync.BarSyncOp,
        sync.BarArriveOp,
        sync.WarpSyncOp,
    ],
    [
        FragmentType,
        CacheAttr,
        matrix_copy.MatrixShapeAttr,
        matrix_copy.SrcFmtAttr,
        *MMA_ATOM_TYPES.values(),
    ],
)
