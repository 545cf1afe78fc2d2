"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.attributes import MMA_ATOM_TYPES, CacheAttr, FragmentType
from tilewright.dialects.cute_nvgpu.ops import copy, fragment, sm80, sm89, sync

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        sm80.MmaOp,
        sm89.MmaOp,
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
