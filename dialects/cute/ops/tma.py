"""`cute.make_tma_copy`: the copy of a tensor's tiles by the tensor memory accelerator."""

from functools import partial

from xdsl.irdl import operand_def, prop_def, result_def

from tilewright.dialects.cute.ops.operands import COPIER, MEMREF, TENSOR
from tilewright.dialects.cute.ops.operation import REGULAR, InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import instruction, spelled
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import copies
from tilewright.dialects.cute.tensor import read_layout
from tilewright.dialects.cute.types.tma import TmaAtomAttr
from tilewright.dialects.cute.values import read_typed, typed_layout


@cute_op("cute.make_tma_copy", copies.make_tma_copy)
class MakeTmaCopyOp(InferredOp):
    """The copy of tiles of a tensor in global memory, an argument of the kernel, and the tensor of
    its coordinates.

    `%tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem =
    "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)`: tiles of 128 x 64, which lie in shared memory as
    `smem` says. The copy's source is a tile of `%coords`.
    """

    SYNTAX = Syntax.INFERRED
    assembly_format = f"`<` $atom `,` `tile` `=` $tile `,` `smem` `=` $smem `>` {REGULAR}"

    source = operand_def(MEMREF)
    atom = prop_def(instruction(TmaAtomAttr, "a TMA atom"))
    tile = prop_def(spelled("tile", partial(read_typed, "tile")))
    smem = prop_def(spelled("smem", lambda text: typed_layout(read_layout(text))))
    copy = result_def(COPIER)
    coords = result_def(TENSOR)
