"""`mma.sync` and `mma.sp` by the targets that brought them: one MMA of a warp, or four on its quad
pairs (`sm70`)."""

from functools import partial

from tilewright.dialects.cute_nvgpu.ops import wmma
from tilewright.dialects.cute_nvgpu.ops.instruction import atom_op
from tilewright.dialects.cute_nvgpu.ops.register_mma import (
    DenseMma,
    RegisterMmaOp,
    ScaledMma,
    ScaledSparseMma,
    SparseMma,
)
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES

MMA_OPS: dict[str, type[RegisterMmaOp]] = {}
"""Every op that issues an MMA of one warp, by its op in the lattice."""
_mma = partial(atom_op, types=MMA_ATOM_TYPES, ops=MMA_OPS)


@_mma("sm70.mma")
class Sm70MmaOp(DenseMma):
    """D = A * B + C on f16, with any layouts of A and B. PTX ISA 9.7.14.5.1.

    ```mlir
    %d = cute_nvgpu.sm70.mma %a, %b, %c
       <8x8x4, elem_type = (f16, f16, f16, f32), layouts = (col, row)>
       : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf16>)
       -> !cute_nvgpu.fragment<8xf32>
    ```
    """


@_mma("sm80.mma")
class Sm80MmaOp(DenseMma):
    """D = A * B + C on f16, bf16, tf32, f64, integers or single bits.

    ```mlir
    %d = cute_nvgpu.sm80.mma %a, %b, %c
       <16x8x16, elem_type = (bf16, bf16, f32)>
       : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("sm80.sparse_mma")
class Sm80SparseMmaOp(SparseMma):
    """D = A * B + C with a structured-sparse A of f16, bf16, tf32 or integers. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[1]
       <16x8x16, elem_type = (bf16, bf16, f32), ordered_metadata>
       : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("sm89.mma")
class Sm89MmaOp(DenseMma):
    """D = A * B + C on e4m3 and e5m2, in any pair.

    ```mlir
    %d = cute_nvgpu.sm89.mma %a, %b, %c
       <16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)>
       : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("sm89.sparse_mma")
class Sm89SparseMmaOp(SparseMma):
    """D = A * B + C on e4m3 and e5m2 with a structured-sparse A. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.sm89.sparse_mma %a, %b, %c, %e[0]
       <16x8x64, elem_type = (f8E4M3FN, f8E5M2, f32), ordered_metadata>
       : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<16xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("SM120.mma")
class Sm120MmaOp(DenseMma):
    """D = A * B + C on e4m3, e5m2, e3m2, e2m3 and e2m1, in any pair. PTX ISA 9.7.14.5.14.

    ```mlir
    %d = cute_nvgpu.SM120.mma %a, %b, %c
       <16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32), kind = f8f6f4>
       : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<8xf4E2M1FN, unpacked>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("SM120.mma_sp")
class Sm120MmaSpOp(SparseMma):
    """D = A * B + C on 8-, 6- and 4-bit floats with a structured-sparse A. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.SM120.mma_sp %a, %b, %c, %e[0]
       <16x8x64, elem_type = (f6E3M2FN, f8E5M2, f32), kind = f8f6f4, ordered_metadata>
       : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<16xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("SM120.mma_bs")
class Sm120MmaBsOp(ScaledMma):
    """D = (A * SFA) * (B * SFB) + C, the scale factors by row of A, column of B and block of K.
    PTX ISA 9.7.14.3.

    ```mlir
    %d = cute_nvgpu.SM120.mma_bs %a, %b, %c, %sfa[0, 1], %sfb[0, 3]
       <16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4,
        scale_type = f8E4M3FN>
       : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<16xf4E2M1FN>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<4xf8E4M3FN>,
          !cute_nvgpu.fragment<4xf8E4M3FN>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


@_mma("SM120.mma_bs_sp")
class Sm120MmaBsSpOp(ScaledSparseMma):
    """A block-scaled MMA with a structured-sparse A. PTX ISA 9.7.14.3 and 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.SM120.mma_bs_sp %a, %b, %c, %e[0], %sfa[0, 0], %sfb[2, 0]
       <16x8x128, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4, scale_vec = 2,
        scale_type = f8E8M0FNU, ordered_metadata>
       : (!cute_nvgpu.fragment<32xf4E2M1FN>, !cute_nvgpu.fragment<32xf4E2M1FN>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>,
          !cute_nvgpu.fragment<4xf8E8M0FNU>, !cute_nvgpu.fragment<4xf8E8M0FNU>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """


MMA_OPS["wmma.mma"] = wmma.MmaOp
