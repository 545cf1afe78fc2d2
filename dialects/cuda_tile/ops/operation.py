"""The base of the ops: what bytecode needs to know of one, its text, its verification.

    @tile_op("cuda_tile.mmaf", 0x49, fast_acc=V13_3)
    class MmaFOp(CudaTileOp):
        TEXT: ClassVar[str] = "$lhs `,` $rhs `,` $acc flags(fast_acc)"
        SAME_TYPES: ClassVar = (("acc", "result"),)

        lhs = operand_def(OPERAND)
        ...

**Bytecode.** `opcode` is the op's number, `since` the version that introduced it, `later` the
version of each field that came after that. Operands, properties, results and regions are declared
in the order bytecode has them, which is the order of NVIDIA's Ops.td; which are optional or
variadic their definitions say (`opt_operand_def`, `var_operand_def`, `opt_prop_def`). A property
with a default value may be missing.

**Verification** is cheap where it happens often: what depends on types and properties alone is
remembered by them, so that of ops alike only the first is looked at.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from xdsl.ir import SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tilewright.dialects.cuda_tile.ops.declared import DeclaredOp
from tilewright.dialects.cuda_tile.ops.facts import OpFacts
from tilewright.dialects.cuda_tile.ops.format import Format, Read, created, format_of
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.versions import V13_1, Version
from tilewright.dialects.definition import class_of_row, define_op

_Op = TypeVar("_Op", bound="CudaTileOp")

Values = Mapping[str, tuple[SSAValue, ...]]
"""Operands and results by name."""

_REMEMBERED = 1 << 14


class CudaTileOp(DeclaredOp):
    """An op of CUDA Tile IR."""

    if TYPE_CHECKING:
        opcode: ClassVar[int]
        since: ClassVar[Version]
        later: ClassVar[Mapping[str, Version]]
        format: ClassVar[Format | None]
        verified: ClassVar[set[Any]]

    # --- text ---

    @classmethod
    def text_format(cls) -> Format:
        """The format that TEXT says, worked out when it is first wanted."""
        if "format" not in cls.__dict__:
            cls.format = format_of(cls)
        assert cls.format is not None
        return cls.format

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        read = Read(cls, parser.pos)
        cls.text_format().parse(parser, read)
        cls.settle(read)
        return created(parser, read)

    @classmethod
    def settle(cls, read: Read) -> None:
        """Tell apart by their types what text does not."""

    def print(self, printer: Printer) -> None:
        self.text_format().print(printer, self)

    # --- verification ---

    def verify_(self) -> None:
        types = [value.type for value in (*self._operands, *self.results)]
        counts = (len(self.results), len(self.regions), len(self.successors))
        key = (counts, *types, *self.properties.items())
        if key not in self.verified:
            self._verify_alike()
            if len(self.verified) >= _REMEMBERED:
                self.verified.clear()
            self.verified.add(key)
        self.verify_in_place()

    def _verify_alike(self) -> None:
        """Verify what depends on types and properties alone."""
        values = self.facts.verify(self)
        for what, groups, of in _AGREEMENTS:
            for group in getattr(self, groups):
                _verify_same(self, values, what, group, of)
        self.verify_types()

    def verify_types(self) -> None:
        """Raise VerifyException where types or properties of the right kind are wrong."""

    def verify_in_place(self) -> None:
        """Raise VerifyException where regions, parents, symbols or locations are wrong."""


class PureOp(CudaTileOp):
    """An op that has no effect but its results."""

    traits = traits_def(Pure())


def _element(value: SSAValue) -> Any:
    return value.type.element_type  # pyright: ignore


_AGREEMENTS: tuple[tuple[str, str, Callable[[SSAValue], Any]], ...] = (
    ("rank", "SAME_RANKS", lambda value: value.type.rank),  # pyright: ignore
    ("element type", "SAME_ELEMENTS", _element),
    ("shape", "SAME_SHAPES", lambda value: value.type.shape),  # pyright: ignore
    ("type", "SAME_TYPES", lambda value: value.type),
)
"""The properties that values may have to share, the least first."""


def _verify_same(
    op: CudaTileOp, values: Values, what: str, group: tuple[str, ...], of: Callable[[SSAValue], Any]
) -> None:
    present = [(name, value) for name in group for value in values[name]]
    for name, value in present[1:]:
        first, reference = present[0]
        if of(value) != of(reference):
            raise op.fail(
                f"{first} and {name} of one {what}, got {shown(reference.type)} and "
                f"{shown(value.type)}"
            )


OPS: list[type[CudaTileOp]] = []
"""Every op, as its room is read."""


def tile_op(
    name: str, opcode: int, since: Version = V13_1, **later: Version
) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its name, its number in bytecode, since when there is one, and which of its
    fields came in which later version."""

    def define(class_: type[_Op]) -> type[_Op]:
        class_.name = name
        defined = define_op(class_)
        # xDSL's verification of the definition is ours in `Facts`, with ours of the diagnostics.
        defined.verify_ = CudaTileOp.verify_
        defined.opcode, defined.since, defined.later = opcode, since, later
        defined.definition = defined.get_irdl_definition()
        defined.facts, defined.verified = OpFacts(defined), set()
        OPS.append(defined)
        return defined

    return define


def tile_row(
    format_: type[_Op], name: str, opcode: int, law: str, since: Version = V13_1, **later: Version
) -> type[_Op]:
    """An op that has all but its law from its format."""
    return tile_op(name, opcode, since, **later)(class_of_row(format_, name, law))
