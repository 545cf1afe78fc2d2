"""The base of the ops: what bytecode needs to know of one, its text, its verification.

    @tile_op(0x49, fast_acc=V13_3)
    class MmaFOp(CudaTileOp):
        name = "cuda_tile.mmaf"
        TEXT: ClassVar = "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict `:` ..."
        SAME_TYPES: ClassVar = (("acc", "result"),)

        lhs = operand_def(OPERAND)
        ...

**Bytecode.** `opcode` is the op's number, `since` the version that introduced it, `later` the
version of each field that came after that. Operands, properties, results and regions are declared
in the order bytecode has them, which is the order of NVIDIA's Ops.td; which are optional or
variadic their definitions say (`opt_operand_def`, `var_operand_def`, `opt_prop_def`). A property
with a default value may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

from xdsl.irdl import IRDLOperation, irdl_op_definition

from tilewright.dialects.cuda_tile.versions import V13_1, Version

if TYPE_CHECKING:
    from xdsl.irdl import OpDef

_Op = TypeVar("_Op", bound="CudaTileOp")

Names = tuple[tuple[str, ...], ...]
"""Groups of names of operands and results."""


class CudaTileOp(IRDLOperation):
    """An op of CUDA Tile IR.

    TEXT is its format. SAME_TYPES, SAME_SHAPES, SAME_ELEMENTS and SAME_RANKS name operands and
    results that agree with each other, all of a group.
    """

    if TYPE_CHECKING:
        opcode: ClassVar[int]
        since: ClassVar[Version]
        later: ClassVar[Mapping[str, Version]]
        definition: ClassVar[OpDef]

    TEXT: ClassVar[str] = ""
    SAME_TYPES: ClassVar[Names] = ()
    SAME_SHAPES: ClassVar[Names] = ()
    SAME_ELEMENTS: ClassVar[Names] = ()
    SAME_RANKS: ClassVar[Names] = ()


OPS: list[type[CudaTileOp]] = []
"""Every op, as its room is read."""


def tile_op(
    opcode: int, since: Version = V13_1, **later: Version
) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its number in bytecode, since when there is one, and which of its fields came
    in which later version."""

    def define(class_: type[_Op]) -> type[_Op]:
        defined = irdl_op_definition(class_)
        defined.opcode, defined.since, defined.later = opcode, since, later
        defined.definition = defined.get_irdl_definition()
        OPS.append(defined)
        return defined

    return define
