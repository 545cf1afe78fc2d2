"""Every family of tensor-core instructions of a warp or a warpgroup."""

from __future__ import annotations

from block_scale_families import BLOCK_SCALE_FAMILIES
from copy_families import COPY_FAMILIES
from instruction_family import Family
from mma_families import MMA_FAMILIES
from sparse_families import SPARSE_FAMILIES
from tmem_families import TMEM_FAMILIES
from umma_families import UMMA_FAMILIES
from wgmma_families import WGMMA_FAMILIES
from wmma_families import WMMA_FAMILIES

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        *MMA_FAMILIES,
        *BLOCK_SCALE_FAMILIES,
        *SPARSE_FAMILIES,
        *COPY_FAMILIES,
        *WMMA_FAMILIES,
        *WGMMA_FAMILIES,
        *TMEM_FAMILIES,
        *UMMA_FAMILIES,
    )
}
