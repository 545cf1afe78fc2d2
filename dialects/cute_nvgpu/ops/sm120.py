"""`cute_nvgpu.SM120.*`: MMAs of a warp on 8-, 6- and 4-bit floats, block-scaled or not."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.ops.register_mma import (
    DenseMma,
    ScaledMma,
    ScaledSparseMma,
    SparseMma,
)
from tilewright.dialects.cute_nvgpu.types.atoms import (
    Sm120MmaAtomType,
    Sm120MmaBsAtomType,
    Sm120MmaBsSpAtomType,
    Sm120MmaSpAtomType,
)


@irdl_op_definition
class MmaOp(DenseMma):
    """D = A * B + C on e4m3, e5m2, e3m2, e2m3 and e2m1, in any pair. PTX ISA 9.7.14.5.14.

    ```mlir
    %d = cute_nvgpu.SM120.mma %a, %b, %c
       <16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32), kind = f8f6f4>
       : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<8xf4E2M1FN, unpacked>,
          !cute_nvgpu.fragment<4xf32>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.SM120.mma"

    atom = prop_def(Sm120MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data


@irdl_op_definition
class MmaSpOp(SparseMma):
    """D = A * B + C on 8-, 6- and 4-bit floats with a structured-sparse A. PTX ISA 9.7.14.6.

    ```mlir
    %d = cute_nvgpu.SM120.mma_sp %a, %b, %c, %e[0]
       <16x8x64, elem_type = (f6E3M2FN, f8E5M2, f32), kind = f8f6f4, ordered_metadata>
       : (!cute_nvgpu.fragment<16xf6E3M2FN>, !cute_nvgpu.fragment<16xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.SM120.mma_sp"

    atom = prop_def(Sm120MmaSpAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data


@irdl_op_definition
class MmaBsOp(ScaledMma):
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

    name = "cute_nvgpu.SM120.mma_bs"

    atom = prop_def(Sm120MmaBsAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data


@irdl_op_definition
class MmaBsSpOp(ScaledSparseMma):
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

    name = "cute_nvgpu.SM120.mma_bs_sp"

    atom = prop_def(Sm120MmaBsSpAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
