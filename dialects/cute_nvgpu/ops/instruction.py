"""The bases of the ops: every op says what it needs of its target."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, prop_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, InstructionFacts, Requirement
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op
from tilewright.dialects.register_origins import origins

if TYPE_CHECKING:
    from xdsl.irdl import VarOperand


class NvgpuOp(FieldsOp):
    """An op that is one instruction, a row of the lattice: that of its class or its own `row`."""

    ROW: ClassVar[Any]
    ROWS: ClassVar[tuple[Any, ...]] = ()

    CHIP_CHOOSES: ClassVar[bool | None] = None
    """True where the PTX ISA leaves it to the chip which thread holds what of its fragments; None
    for an op that looks at no elements of fragments."""

    @property
    def row(self) -> InstructionFacts:
        """The row of its instruction."""
        return self.ROW

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        return f"'{self.name}'"

    def requirement(self) -> Requirement:
        """The lowest target and PTX version that run the instruction."""
        return Requirement.of(self.row)


@irdl_custom_directive
class Identifier(CustomDirective):
    """A property that is a word, without quotes: `custom<Identifier>($p)`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, StringAttr(parser.parse_identifier()))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(op.properties[self.attribute.name].data)  # type: ignore[attr-defined]


class WaitsForGroups(FieldsOp):
    """A wait until all but the latest `pending` groups are complete, at either level."""

    EXPECTED: ClassVar[str] = "a count of groups, got {}; nearest legal: 0"

    pending = prop_def(NUMBER)

    def verify_(self) -> None:
        if (pending := self.pending.value.data) < 0:
            raise self.fail(self.EXPECTED.format(pending))


class AtomOp(NvgpuOp):
    """An op whose property `atom` says what it issues."""

    @property
    def issued(self) -> Any:
        """The atom, or access."""
        return self.properties["atom"].data  # type: ignore[attr-defined]

    @property
    def row(self) -> Any:
        return self.issued.row

    def spelled(self) -> str:
        return self.issued.mnemonic


_Op = TypeVar("_Op", bound=NvgpuOp)


def atom_op(
    name: str, types: Mapping[str, type[Attribute]], ops: dict[str, Any]
) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op that issues MMA atoms, by its name in the lattice: its `atom` is of that one of
    the types, and it is one of the `ops`."""

    def define(class_: type[_Op]) -> type[_Op]:
        setattr(class_, "atom", prop_def(types[name]))  # noqa: B010
        ops[name] = defined = fields_op(f"cute_nvgpu.{name}")(class_)
        return defined

    return define


def verify_holders(op: NvgpuOp, operand: str, value: SSAValue) -> None:
    """Raise VerifyException where a fragment comes from an instruction whose threads hold other
    elements than `op` takes: between `wmma` and all others. PTX ISA 9.7.14.4.1."""
    for other in origins(value):
        if isinstance(other, NvgpuOp) and other.CHIP_CHOOSES is (not op.CHIP_CHOOSES):
            wanted = "wmma" if op.CHIP_CHOOSES else "another instruction than wmma"
            raise op.fail(
                f"{operand} from {wanted}, got that of '{other.name}' (which "
                "thread holds what of a fragment of wmma PTX leaves to the chip, PTX ISA "
                "9.7.14.4.1); nearest legal: through shared memory"
            )


class BaselineOp(NvgpuOp):
    """An op that every target runs: registers renamed, addresses, plain loads and stores."""

    def requirement(self) -> Requirement:
        return BASELINE


class FragmentAccessOp(NvgpuOp):
    """A load or store between a fragment and the elements from an index of a memref on, which is
    its `source` or its `dest`."""

    if TYPE_CHECKING:
        indices: VarOperand
        fragment: SSAValue[Any]

    @property
    def memory(self) -> SSAValue:
        """The memref."""
        return getattr(self, "source" if hasattr(self, "source") else "dest")

    @property
    def fragment_type(self) -> FragmentType:
        """The type of the fragment that is loaded or stored."""
        assert isinstance(self.fragment.type, FragmentType)
        return self.fragment.type
