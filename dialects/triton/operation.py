"""The base of Triton's ops: what all of them have to hold, and how their text has types."""

from math import prod
from typing import Any, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.declared import DeclaredOp
from tilewright.dialects.directives import Word
from tilewright.dialects.traits import PURE
from tilewright.dialects.triton.types import element_of, shape_of

MAX_ELEMENTS = 1 << 20


@irdl_custom_directive
class BareType(CustomDirective):
    """The type of a value whose constraint has one class: `<f32>`, or in full."""

    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        op: Any = state.op_type
        given = parser.parse_optional_type()
        if given is None:
            class_ = self._accepts(op).types[0]
            given = class_.new(class_.parse_parameters(parser))
        self.type.set(state, [given])

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        state.print_whitespace(printer)
        type_: Any = self.type.get(op)[0]
        type_.print_parameters(printer)

    def _accepts(self, op: Any) -> Any:
        inner: Any = self.type.inner
        return op.facts.place[inner.name].accepts


class TritonOp(DeclaredOp):
    """An op of TTIR. Its tensors have a power of two of elements, 2^20 at most."""

    custom_directives: ClassVar = (Word, BareType)

    @staticmethod
    def shape_of(type_: Any) -> Any:
        return shape_of(type_)

    @staticmethod
    def element_of(type_: Any) -> Any:
        return element_of(type_)

    def word(self, name: str) -> Any:
        """The word, number or text of a property that may be left out, by its name; None where
        nothing is said."""
        definition: Any = self.definition.properties[name]
        value = self.properties.get(name, definition.default_value)
        return None if value is None else definition.constr.value_of(value)

    def _verify_alike(self) -> None:
        super()._verify_alike()
        for value in (*self.operands, *self.results):
            type_ = value.type
            if isinstance(type_, TensorType):
                count = prod(type_.get_shape())
                if not 0 < count <= MAX_ELEMENTS or count & (count - 1):
                    raise self.fail(
                        f"tensors of a power of two of elements, at most {MAX_ELEMENTS}, "
                        f"got {type_}"
                    )


class PureOp(TritonOp):
    """An op that has no effect but its results."""

    traits = PURE


class GenericOp(TritonOp):
    """An op that has MLIR's generic form alone."""

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        parser.raise_error(f"'{cls.name}' expected its generic form, \"{cls.name}\"(...)")

    print = Operation.print
