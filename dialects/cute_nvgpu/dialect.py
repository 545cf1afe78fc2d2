"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    copy,
    fragment,
    fragment_arithmetic,
    fragment_memory,
    matrix_copy,
    mbarrier,
    shuffle,
    smem_desc,
    sync,
    tcgen05_sync,
    tma,
    tmem,
    tmem_access,
    tmem_copy,
    tmem_reduce,
    warp_specialization,
    wgmma_sync,
    wmma,
)
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm90 import WGMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES, UniversalFmaType
from tilewright.dialects.cute_nvgpu.types.copies import CopyInstructionAttr, TmaInstructionAttr
from tilewright.dialects.cute_nvgpu.types.fragments import CacheAttr, FragmentType
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES, WGMMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.cute_nvgpu.types.wmma import WMMA_ACCESS_TYPES

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    [
        *MMA_OPS.values(),
        wmma.LoadOp,
        wmma.StoreOp,
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
        fragment.ConcatOp,
        fragment.CastOp,
        fragment_arithmetic.FmaOp,
        *fragment_memory.OPS,
        sync.BarSyncOp,
        sync.BarArriveOp,
        sync.WarpSyncOp,
        *WGMMA_OPS.values(),
        *UMMA_OPS.values(),
        smem_desc.MakeSmemDescOp,
        wgmma_sync.WgmmaFenceOp,
        wgmma_sync.WgmmaCommitGroupOp,
        wgmma_sync.WgmmaWaitGroupOp,
        wgmma_sync.FenceProxyAsyncOp,
        *mbarrier.OPS,
        *shuffle.OPS,
        *tma.OPS,
        *cluster.OPS,
        *tmem.ALLOCATION_OPS,
        *tmem_access.ACCESS_OPS,
        tmem_reduce.LoadReduceOp,
        *tmem_copy.COPY_OPS,
        *tcgen05_sync.SYNC_OPS,
        *warp_specialization.OPS,
    ],
    [
        FragmentType,
        SmemDescViewType,
        TmaDescriptorType,
        CacheAttr,
        CopyInstructionAttr,
        TmaInstructionAttr,
        matrix_copy.MatrixShapeAttr,
        matrix_copy.SrcFmtAttr,
        tmem_access.TmemShapeAttr,
        tma.TmaReductionAttr,
        tmem_reduce.ReductionAttr,
        tmem_copy.CopyShapeAttr,
        *MMA_ATOM_TYPES.values(),
        UniversalFmaType,
        *WGMMA_ATOM_TYPES.values(),
        *UMMA_ATOM_TYPES.values(),
        *WMMA_ACCESS_TYPES.values(),
    ],
)
