"""The base of the ops: what bytecode needs to know of one, and how Tile IR writes them.

    @tile_op("cuda_tile.mmaf", 0x49, fast_acc=V13_3)
    class MmaFOp(CudaTileOp):
        SAME_TYPES = "acc result"

        lhs = operand_def(OPERAND)
        ...

        assembly_format = "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)?"

`opcode` is the op's number in bytecode, `since` the version that introduced it, `later` the version
of each field that came after that. Operands, properties, results and regions are declared in the
order bytecode has them, which is the order of NVIDIA's Ops.td; which are optional or variadic their
definitions say (`opt_operand_def`, `var_operand_def`, `opt_prop_def`). A property with a default
value may be missing.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from xdsl.ir import Attribute, Operation
from xdsl.irdl.declarative_assembly_format import TypeDirective

from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.bodies import Body, Combine
from tilewright.dialects.cuda_tile.ops.directives import (
    AssumedPredicate,
    Inbounds,
    OptionalWord,
    TileElements,
    TypedTileElements,
)
from tilewright.dialects.cuda_tile.ops.type_directives import (
    IndexAndTokenTypes,
    IndexTypes,
    MaskAndPadding,
    MaskAndPaddingTypes,
    RankTypes,
    ShortTypes,
    TypesInParens,
    ViewType,
)
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.versions import V13_1, Version
from tilewright.dialects.declared import DeclaredOp, declared_op
from tilewright.dialects.definition import class_of_row
from tilewright.dialects.directives import Flags, Word
from tilewright.dialects.traits import PURE

_Op = TypeVar("_Op", bound="CudaTileOp")


class CudaTileOp(DeclaredOp):
    """An op of CUDA Tile IR. ROUNDINGS are the legal rounding modes, the one that text leaves out
    first."""

    if TYPE_CHECKING:
        opcode: ClassVar[int]
        since: ClassVar[Version]
        later: ClassVar[Mapping[str, Version]]

    ROUNDINGS: ClassVar[tuple[RoundingMode, ...]] = ()
    BODY_END: ClassVar[type[Operation] | None] = None
    TYPES: ClassVar[type[TypeDirective]] = ShortTypes
    custom_directives: ClassVar = (
        Word, Flags, OptionalWord, Inbounds, AssumedPredicate, TileElements, TypedTileElements,
        MaskAndPadding, MaskAndPaddingTypes, ViewType, IndexTypes, IndexAndTokenTypes, RankTypes,
        TypesInParens, Body, Combine,
    )  # fmt: skip

    @staticmethod
    def shown(attribute: Attribute) -> str:
        return shown(attribute)


class PureOp(CudaTileOp):
    """An op that has no effect but its results."""

    traits = PURE


OPS: list[type[CudaTileOp]] = []
"""Every op, as its room is read."""


def tile_op(
    name: str, opcode: int, since: Version = V13_1, **later: Version
) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its name, its number in bytecode, since when there is one, and which of its
    fields came in which later version."""

    def define(class_: type[_Op]) -> type[_Op]:
        defined = declared_op(name)(class_)
        defined.opcode, defined.since, defined.later = opcode, since, later
        OPS.append(defined)
        return defined

    return define


def tile_row(
    format_: type[_Op], name: str, opcode: int, law: str, since: Version = V13_1, **later: Version
) -> type[_Op]:
    """An op as a row of a table: its fields and text are those of a class for all ops of its
    format, its law is its docstring."""
    return tile_op(name, opcode, since, **later)(class_of_row(format_, name, law))


def word(op: Operation, name: str, default: str = "") -> str:
    """The word of a property that is a choice, or the default."""
    choice: Any = op.properties.get(name)
    return default if choice is None else str(choice.data.value)


def is_signed(op: Operation) -> bool:
    """True where the op reads its integers as signed."""
    return word(op, "signedness") == "signed"
