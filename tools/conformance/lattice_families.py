"""Every family of tensor-core instructions of a warp or a warpgroup."""

from tilewright.tools.conformance.block_scale_families import BLOCK_SCALE_FAMILIES
from tilewright.tools.conformance.copy_families import COPY_FAMILIES
from tilewright.tools.conformance.instruction_family import Family
from tilewright.tools.conformance.mma_families import MMA_FAMILIES
from tilewright.tools.conformance.sparse_families import SPARSE_FAMILIES
from tilewright.tools.conformance.tmem_families import TMEM_FAMILIES
from tilewright.tools.conformance.umma_families import UMMA_FAMILIES
from tilewright.tools.conformance.wgmma_families import WGMMA_FAMILIES
from tilewright.tools.conformance.wmma_families import WMMA_FAMILIES

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
