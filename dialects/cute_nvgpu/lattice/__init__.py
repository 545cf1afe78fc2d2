"""The atom lattice: every instruction that an atom can be, one row each.

A row is the only place where a fact about its instruction stands: the verifier, the canonical
layouts, the mnemonic in both directions, the interpreter and the listings all read it.

Section numbers of the PTX ISA, here and everywhere, are those of its edition 9.0; where editions
differ, the section stands by its name.
"""

from tilewright.dialects.cute_nvgpu.lattice.data_movement import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import (
    LDMATRIX,
    MOVMATRIX,
    STMATRIX,
    MatrixCopyRow,
)
from tilewright.dialects.cute_nvgpu.lattice.mma import (
    SM70_MMA,
    SM80_MMA,
    SM80_SPARSE_MMA,
    SM89_MMA,
    SM89_SPARSE_MMA,
)
from tilewright.dialects.cute_nvgpu.lattice.row import MmaRow
from tilewright.dialects.cute_nvgpu.lattice.sm90 import SM90_MMA, SM90_SPARSE_MMA, WgmmaRow
from tilewright.dialects.cute_nvgpu.lattice.sm100 import (
    SM100_MMA,
    SM100_MMA_BS,
    SM100_MMA_BS_SP,
    SM100_MMA_SP,
    SM100_MMA_WS,
    SM100_MMA_WS_SP,
    UmmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.sm120 import (
    SM120_MMA,
    SM120_MMA_BS,
    SM120_MMA_BS_SP,
    SM120_MMA_SP,
)
from tilewright.dialects.cute_nvgpu.lattice.sync import NAMED_BARRIER, ORDERING
from tilewright.dialects.cute_nvgpu.lattice.wmma import (
    WMMA_ACCESS,
    WMMA_MMA,
    WmmaAccessRow,
    WmmaRow,
)

MMA_ROWS: tuple[MmaRow, ...] = (
    *SM70_MMA,
    *SM80_MMA,
    *SM80_SPARSE_MMA,
    *SM89_MMA,
    *SM89_SPARSE_MMA,
    *SM120_MMA,
    *SM120_MMA_SP,
    *SM120_MMA_BS,
    *SM120_MMA_BS_SP,
)
"""Every `mma.sync` and `mma.sp`."""
WGMMA_ROWS: tuple[WgmmaRow, ...] = (*SM90_MMA, *SM90_SPARSE_MMA)
"""Every `wgmma.mma_async`, dense and sparse."""
UMMA_ROWS: tuple[UmmaRow, ...] = (
    *SM100_MMA,
    *SM100_MMA_SP,
    *SM100_MMA_BS,
    *SM100_MMA_BS_SP,
    *SM100_MMA_WS,
    *SM100_MMA_WS_SP,
)
"""Every `tcgen05.mma`."""
MATRIX_COPY_ROWS: tuple[MatrixCopyRow, ...] = (*LDMATRIX, *STMATRIX)

__all__ = [
    "CP_ASYNC", "LDMATRIX", "MATRIX_COPY_ROWS", "MMA_ROWS", "MOVMATRIX", "NAMED_BARRIER",
    "ORDERING", "STMATRIX", "UMMA_ROWS", "WGMMA_ROWS", "WMMA_ACCESS", "WMMA_MMA", "InstructionRow",
    "MatrixCopyRow", "MmaRow", "UmmaRow", "WgmmaRow", "WmmaAccessRow", "WmmaRow",
]  # fmt: skip
