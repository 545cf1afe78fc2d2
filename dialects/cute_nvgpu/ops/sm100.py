"""`cute_nvgpu.sm100.mma` and its likes: one `tcgen05.mma` of a CTA or of a pair of CTAs; the
weight-stationary ones are `mma_ws` and `mma_ws_sp`."""

from functools import partial

from xdsl.dialects.builtin import MemRefType, UnitAttr, i32, i64
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

from tilewright.dialects.cute_nvgpu.ops.instruction import atom_op
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp, umma_format
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES
from tilewright.dialects.fields import NUMBER


class _Sparse:
    """A structured-sparse A: its metadata, and which of two columns they are in."""

    e = operand_def(MemRefType)
    selector = prop_def(NUMBER)


class _Scaled:
    """Block scaling: the factors of A and B, and at which byte of a word they start."""

    sfa = operand_def(MemRefType)
    sfb = operand_def(MemRefType)
    sfa_id = prop_def(NUMBER)
    sfb_id = prop_def(NUMBER)


class _Plain:
    """Without scale factors: lanes of D left out, D scaled, A shifted."""

    disable_output_lane = var_operand_def(i32)
    scale_input_d = opt_prop_def(NUMBER)
    ashift = opt_prop_def(UnitAttr)


class _Stationary:
    """B kept for the MMAs that follow."""

    zero_column_mask = opt_operand_def(i64)


_PLAIN = (
    " (`scale_input_d` $scale_input_d^)? (`disable_output_lane` `(` $disable_output_lane^ `)`)?",
    " (`ashift` $ashift^)?",
)
_STATIONARY = " (`zero_column_mask` $zero_column_mask^)?"


UMMA_OPS: dict[str, type[UmmaOp]] = {}
"""Every op that issues a `tcgen05.mma`, by its op in the lattice."""
_mma = partial(atom_op, types=UMMA_ATOM_TYPES, ops=UMMA_OPS)


@_mma("sm100.mma")
class MmaOp(_Plain, UmmaOp):
    """D = A * B + D on f16, bf16, tf32, floats of 8, 6 and 4 bits, or bytes.

    ```mlir
    cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %more
       <128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>
       : memref<128x256xf32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>,
         !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">,
         !cute_nvgpu.smem_desc_view<256x16xbf16, tcgen05, "S<3,3,3> o 0 o (256,16):(64,1)">
    ```

    `disable_output_lane` names lanes of D that keep what they hold, a bit each; `scale_input_d`
    divides D by a power of two first. PTX ISA, tcgen05.mma.
    """

    TENSORS = ("D", "A", "B")

    assembly_format = umma_format(TENSORS, *_PLAIN)


@_mma("sm100.mma_sp")
class MmaSpOp(_Sparse, _Plain, UmmaOp):
    """D = A * B + D with a structured-sparse A, of which half the K is stored.

    ```mlir
    cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[0] enable_input_d %more
       <128x64x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    The selector says which of two columns of an even pair the metadata are in. PTX ISA,
    tcgen05.mma.sp.
    """

    TENSORS = ("D", "A", "B", "E")

    assembly_format = umma_format(TENSORS, *_PLAIN)


@_mma("sm100.mma_bs")
class MmaBsOp(_Scaled, UmmaOp):
    """D = (A * SFA) * (B * SFB) + D, the scale factors by row of A, column of B and block of K.

    ```mlir
    cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[2] enable_input_d %more
       <128x128x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss,
        kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : ...
    ```

    The ids say at which byte of a word the scale factors start. PTX ISA, tcgen05.mma.
    """

    TENSORS = ("D", "A", "B", "SFA", "SFB")

    assembly_format = umma_format(TENSORS)


@_mma("sm100.mma_bs_sp")
class MmaBsSpOp(_Sparse, _Scaled, UmmaOp):
    """A block-scaled MMA with a structured-sparse A.

    ```mlir
    cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %more
       <128x128x64, elem_type = (f8E4M3FN, f8E5M2, f32), ab_major = (k, k), frag_kind = ss,
        kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : ...
    ```

    PTX ISA, tcgen05.mma.sp.
    """

    TENSORS = ("D", "A", "B", "E", "SFA", "SFB")

    assembly_format = umma_format(TENSORS)


@_mma("sm100.mma_ws")
class MmaWsOp(_Stationary, UmmaOp):
    """D = A * B + D, B kept for the MMAs that follow: weight-stationary, for M of 32, 64 and 128.

    ```mlir
    cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %more collector "b0::fill"
       <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    `zero_column_mask` is a descriptor of columns of B that count as zeros. PTX ISA, tcgen05.mma.ws.
    """

    TENSORS = ("D", "A", "B")

    assembly_format = umma_format(TENSORS, _STATIONARY)


@_mma("sm100.mma_ws_sp")
class MmaWsSpOp(_Sparse, _Stationary, UmmaOp):
    """A weight-stationary MMA with a structured-sparse A.

    ```mlir
    cute_nvgpu.sm100.mma_ws_sp %d, %a, %b, %e[0] enable_input_d %more
       <64x64x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    PTX ISA, tcgen05.mma.ws.sp.
    """

    TENSORS = ("D", "A", "B", "E")

    assembly_format = umma_format(TENSORS, _STATIONARY)
