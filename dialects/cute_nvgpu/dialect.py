"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.atom_types import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.attributes import CacheAttr, FragmentType
from tilewright.dialects.cute_nvgpu.ops import copy, fragment, sync, wmma
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.wmma_types import WMMA_ACCESS_TYPES

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        *MMA_OPS.values(),
        wmma.LoadOp,
        wmma.StoreOp,
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
    [FragmentType, CacheAttr, *MMA_ATOM_TYPES.values(), *WMMA_ACCESS_TYPES.values()],
)
