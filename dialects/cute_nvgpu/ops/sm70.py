"""`cute_nvgpu.sm70.mma`: four MMAs on the quad pairs of a warp."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.ops.register_mma import DenseMma
from tilewright.dialects.cute_nvgpu.types.atoms import Sm70MmaAtomType


@irdl_op_definition
class MmaOp(DenseMma):
    """D = A * B + C on f16, with any layouts of A and B. PTX ISA 9.7.14.5.1.

    ```mlir
    %d = cute_nvgpu.sm70.mma %a, %b, %c
       <8x8x4, elem_type = (f16, f16, f16, f32), layouts = (col, row)>
       : (!cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<4xf16>, !cute_nvgpu.fragment<8xf16>)
       -> !cute_nvgpu.fragment<8xf32>
    ```
    """

    name = "cute_nvgpu.sm70.mma"

    atom = prop_def(Sm70MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
