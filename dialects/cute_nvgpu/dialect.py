"""The `cute_nvgpu` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of, ops_of
from tilewright.dialects.cute_nvgpu.ops import (
    address,
    cluster,
    copy,
    fragment,
    fragment_arithmetic,
    fragment_memory,
    matrix_copy,
    mbarrier,
    mma,
    multimem,
    rounded,
    shuffle,
    sm90,
    sm100,
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
from tilewright.dialects.cute_nvgpu.types import (
    conversion,
    copies,
    fragments,
    smem_desc_view,
    tensor_map,
    universal_fma,
)
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES, WGMMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.wmma import WMMA_ACCESS_TYPES

_OPS = (
    address, multimem, mma, wmma, matrix_copy, copy, fragment, fragment_arithmetic, fragment_memory,
    rounded, sync, sm90, sm100, smem_desc, wgmma_sync, mbarrier, shuffle, tma, cluster, tmem,
    tmem_access, tmem_reduce, tmem_copy, tcgen05_sync, warp_specialization,
)  # fmt: skip

CUTE_NVGPU = Dialect(
    "cute_nvgpu",
    ops_of(*_OPS),
    [
        *attributes_of(
            fragments, smem_desc_view, tensor_map, copies, conversion, universal_fma, *_OPS
        ),
        *MMA_ATOM_TYPES.values(),
        *WGMMA_ATOM_TYPES.values(),
        *UMMA_ATOM_TYPES.values(),
        *WMMA_ACCESS_TYPES.values(),
    ],
)
