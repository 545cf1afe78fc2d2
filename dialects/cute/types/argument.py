"""Which part of which argument of the tile level a kernel argument of a lower level is."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilewright.dialects.labelled import Bracketed, parse_natural

FROM = "cute.from"
"""The argument attribute that says it."""

SIGNATURE = "cute.arguments"
"""The attribute of a lowered kernel that holds the types of its arguments at the tile level."""

_MODES = {"value": 0, "pointer": 0, "shape": 1, "stride": 1, "tensor_map": None, "flat_map": None,
          "field": None}  # fmt: skip
"""The parts of an argument, and how many modes say which one; a tensor map has its dimensions, a
field the numbers that lead to it."""
MAPS = ("tensor_map", "flat_map")
"""The parts that are tensor maps."""
ARGUMENT, NUMBER, NAN_FLAG = range(3)
"""The kinds of the second of two modes of a `flat_map`, as the first one says; a negative one is
of an argument that is multiplied, a larger one of an argument that is divided."""


@irdl_attr_definition
class ArgumentAttr(Bracketed):
    """One part of an argument of the tile level.

    - `#cute.argument<0, pointer>`: the address of tensor 0;
    - `#cute.argument<0, shape<1>>`, `#cute.argument<0, stride<1>>`: an integer of its layout, by
      the place among the leaves of the shape;
    - `#cute.argument<0, tensor_map<1, 0>, !cute_nvgpu.tma_descriptor<64x32xf16>>`: a tensor map of
      it, whose dimensions are those leaves, outermost first; the type says the box;
    - `#cute.argument<0, flat_map<0, 1, 0, 2, 1, 64, 1, 1>, !cute_nvgpu.tma_descriptor<64x32xf16>>`:
      one of a pointer; for each dimension of the tensor, outermost first, its size and its stride
      in elements: 0 and the number of the argument that says it, -n and that of an argument of
      which it is n times as much, 4 and that of one of which it is a quarter, or 1 and the number
      itself; 2 and that of an argument say whether NaN is outside of the tensor;
    - `#cute.argument<1, value>`: a scalar as it is;
    - `#cute.argument<1, field<1, 0>>`: field 0 of field 1 of a struct; of a value of the algebra,
      by its place among the leaves that are not known.
    """

    name = "cute.argument"

    index: IntAttr
    part: StringAttr
    modes: ArrayAttr[IntAttr]
    type: Attribute

    @classmethod
    def get(
        cls, index: int, part: str, modes: Sequence[int] = (), type_: Attribute | None = None
    ) -> ArgumentAttr:
        """A part of an argument; `modes` and `type_` as the part has them."""
        return cls(
            IntAttr(index), StringAttr(part), ArrayAttr(map(IntAttr, modes)), type_ or NoneAttr()
        )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        index = parse_natural(parser)
        parser.parse_punctuation(",")
        part = parser.parse_identifier()
        modes = parser.parse_optional_comma_separated_list(
            parser.Delimiter.ANGLE, parser.parse_integer
        )
        type_: Attribute = NoneAttr()
        if parser.parse_optional_punctuation(","):
            type_ = parser.parse_attribute()
        return [IntAttr(index), StringAttr(part), ArrayAttr(map(IntAttr, modes or ())), type_]

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(f"{self.index.data}, {self.part.data}")
        if self.modes:
            printer.print_string(f"<{', '.join(str(mode.data) for mode in self.modes)}>")
        if not isinstance(self.type, NoneAttr):
            printer.print_string(", ")
            printer.print_attribute(self.type)

    def verify(self) -> None:
        part, count = self.part.data, len(self.modes)
        if part not in _MODES:
            raise VerifyException(f"argument expected a part of {', '.join(_MODES)}, got {part}")
        wanted = _MODES[part]
        if (count == 0) if wanted is None else (count != wanted):
            legal = "at least one" if wanted is None else wanted
            raise VerifyException(f"argument expected {legal} mode for {part}, got {count}")
        if (part in MAPS) == isinstance(self.type, NoneAttr):
            raise VerifyException(f"argument expected a type for a tensor map alone, got {part}")


def source_of(attributes: Attribute | None) -> ArgumentAttr | None:
    """The attributes of one kernel argument, as they are written."""
    source = attributes.data.get(FROM) if isinstance(attributes, DictionaryAttr) else None
    return source if isinstance(source, ArgumentAttr) else None


def sources_of(kernel: Operation) -> list[ArgumentAttr | None]:
    """The attributes of each argument of a kernel."""
    given = kernel.properties.get("arg_attrs")
    count = len(kernel.regions[0].blocks[0].args)
    return list(map(source_of, given)) if isa(given, ArrayAttr) else [None] * count


def signature_of(kernel: Operation) -> tuple[Attribute, ...] | None:
    """The types that a kernel's arguments had at the tile level, if it was lowered from there."""
    signature = kernel.attributes.get(SIGNATURE)
    return signature.data if isa(signature, ArrayAttr) else None
