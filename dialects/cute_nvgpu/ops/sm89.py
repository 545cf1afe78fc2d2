"""`cute_nvgpu.sm89.mma` and `sm89.sparse_mma`: `mma.sync` and `mma.sp` on 8-bit floats."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.ops.register_mma import DenseMma, SparseMma
from tilewright.dialects.cute_nvgpu.types.atoms import Sm89MmaAtomType, Sm89SparseMmaAtomType


@irdl_op_definition
class MmaOp(DenseMma):
    """D = A * B + C on e4m3 and e5m2, in any pair.

    ```mlir
    %d = cute_nvgpu.sm89.mma %a, %b, %c
       <16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)>
       : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm89.mma"

    atom = prop_def(Sm89MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data


@irdl_op_definition
class SparseMmaOp(SparseMma):
    """D = A * B + C on e4m3 and e5m2 with a structured-sparse A. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.sm89.sparse_mma %a, %b, %c, %e[0]
       <16x8x64, elem_type = (f8E4M3FN, f8E5M2, f32), ordered_metadata>
       : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<16xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm89.sparse_mma"

    atom = prop_def(Sm89SparseMmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
