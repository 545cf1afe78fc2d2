"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.attributes import CacheAttr, FragmentType, Sm80MmaAtomType
from tilewright.dialects.cute_nvgpu.ops import copy, fragment, sm80, sync

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        sm80.MmaOp,
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
    [FragmentType, Sm80MmaAtomType, CacheAttr],
)
