"""`cute_nvgpu.sm80.mma` and `sm80.sparse_mma`: one `mma.sync` or `mma.sp` of a warp."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.ops.register_mma import DenseMma, SparseMma
from tilewright.dialects.cute_nvgpu.types.atoms import Sm80MmaAtomType, Sm80SparseMmaAtomType


@irdl_op_definition
class MmaOp(DenseMma):
    """D = A * B + C on f16, bf16, tf32, f64, integers or single bits.

    ```mlir
    %d = cute_nvgpu.sm80.mma %a, %b, %c
       <16x8x16, elem_type = (bf16, bf16, f32)>
       : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm80.mma"

    atom = prop_def(Sm80MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data


@irdl_op_definition
class SparseMmaOp(SparseMma):
    """D = A * B + C with a structured-sparse A of f16, bf16, tf32 or integers. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.sm80.sparse_mma %a, %b, %c, %e[1]
       <16x8x16, elem_type = (bf16, bf16, f32), ordered_metadata>
       : (!cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm80.sparse_mma"

    atom = prop_def(Sm80SparseMmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
