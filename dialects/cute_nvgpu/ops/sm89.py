"""`cute_nvgpu.sm89.mma`: one dense `mma.sync` of a warp on 8-bit floats."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.attributes import Sm89MmaAtomType
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp


@irdl_op_definition
class MmaOp(RegisterMmaOp):
    """D = A * B + C on e4m3 and e5m2, in any pair.

    ```mlir
    %d = cute_nvgpu.sm89.mma %a, %b, %c <16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)>
       : (!cute_nvgpu.fragment<16xf8E4M3FN>, !cute_nvgpu.fragment<8xf8E5M2>,
          !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm89.mma"

    atom = prop_def(Sm89MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
