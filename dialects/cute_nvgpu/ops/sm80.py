"""`cute_nvgpu.sm80.mma`: one dense `mma.sync` of a warp."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition, prop_def

from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.attributes import Sm80MmaAtomType
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp


@irdl_op_definition
class MmaOp(RegisterMmaOp):
    """D = A * B + C on f16, bf16, tf32, f64, integers or single bits.

    ```mlir
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)>
       : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    name = "cute_nvgpu.sm80.mma"

    atom = prop_def(Sm80MmaAtomType)

    @property
    def mma_atom(self) -> MmaAtom:
        return self.atom.data
