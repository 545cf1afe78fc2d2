"""`cute.make_tma_copy`: the copy of a tensor's tiles by the tensor memory accelerator."""

from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def

from tilewright.dialects.cute.ops.operands import COPIER, MEMREF, TENSOR
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
from tilewright.dialects.cute.ops.properties import PrefixOp, atom, spelled
from tilewright.dialects.cute.rules import copies
from tilewright.dialects.cute.tensor import read_layout
from tilewright.dialects.cute.types.tma import TmaAtomAttr
from tilewright.dialects.cute.values import read_typed, typed_layout


@cute_op("cute.make_tma_copy", (MEMREF,), (COPIER, TENSOR), copies.make_tma_copy)
class MakeTmaCopyOp(PrefixOp, InferredOp):
    """The copy of tiles of a tensor in global memory, an argument of the kernel, and the tensor of
    its coordinates.

    `%tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem =
    "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)`: tiles of 128 x 64, which lie in shared memory as
    `smem` says. The copy's source is a tile of `%coords`.
    """

    SYNTAX: ClassVar = Syntax.INFERRED
    PARTS: ClassVar = (
        atom("atom", TmaAtomAttr, "a TMA atom"),
        spelled("tile", partial(read_typed, "tile"), "tile"),
        spelled("smem", lambda text: typed_layout(read_layout(text)), "smem"),
    )

    source = operand_def()
    atom = prop_def(Attribute)
    tile = prop_def(StringAttr)
    smem = prop_def(StringAttr)
    copy = result_def()
    coords = result_def()
