"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.atom_types import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.attributes import CacheAttr, FragmentType
from tilewright.dialects.cute_nvgpu.ops import copy, fragment, sync
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        *MMA_OPS.values(),
        copy.LdmatrixOp,
        copy.StmatrixOp,
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
    [FragmentType, CacheAttr, *MMA_ATOM_TYPES.values()],
)
