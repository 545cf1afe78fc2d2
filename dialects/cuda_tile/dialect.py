"""The `cuda_tile` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of
from tilewright.dialects.cuda_tile import attributes, debug_info, elements
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.floating_point import FPowFOp
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp, SpecialRegisterTkoOp
from tilewright.dialects.cuda_tile.types import TYPES

CUDA_TILE = Dialect(
    "cuda_tile",
    [*OPS, FPowFOp, LibdeviceOp, SpecialRegisterTkoOp],
    [*TYPES, *attributes_of(attributes, elements, debug_info)],
)
