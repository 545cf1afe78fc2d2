"""xDSL's `llvm` dialect with an intrinsic and hints that Triton's TTIR has, and it lacks."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, i1
from xdsl.dialects.llvm import LLVM
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.traits import WRITES


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """The condition holds: `llvm.intr.assume %c : i1`."""

    name = "llvm.intr.assume"

    cond = operand_def(i1)

    traits = WRITES

    assembly_format = "$cond attr-dict `:` type($cond)"


class _Hints(ParametrizedAttribute):
    """Hints to LLVM by name: `<disable = true>`."""

    hints: DictionaryAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def hint() -> tuple[str, Attribute]:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            return name, parser.parse_attribute()

        hints = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, hint)
        return [DictionaryAttr(dict(hints))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for number, (name, value) in enumerate(self.hints.data.items()):
                printer.print_string(f"{', ' if number else ''}{name} = ")
                printer.print_attribute(value)


@irdl_attr_definition
class LoopLicmAttr(_Hints):
    """The hoisting of loop-invariant code: Triton's `disable_licm`."""

    name = "llvm.loop_licm"


@irdl_attr_definition
class LoopAnnotationAttr(_Hints):
    """Hints at a loop."""

    name = "llvm.loop_annotation"


EXTENDED = Dialect(
    "llvm", [*LLVM.operations, AssumeOp], [*LLVM.attributes, LoopLicmAttr, LoopAnnotationAttr]
)
