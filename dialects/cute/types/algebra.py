"""The `cute` dialect's types and attributes, in the text of NVIDIA's CuTe IR.

!cute.shape<"(4,?)">        a value that is known in part, its dynamic leaves at run time
#cute.shape<"(4,?)">        the same as an attribute
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self, TypeVar

from xdsl.dialects.builtin import MemRefLayoutAttr, StringAttr, i32, i64
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tilewright.dialects.cute import Layout, LayoutParseError
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.values import Typed, fault, read_typed


@cache
def _canonical(kind: str, text: str) -> StringAttr:
    return StringAttr(read_typed(kind, text).text)


class TypedAttribute(ABC):
    """An attribute that stands for a value of the dialect."""

    @property
    @abstractmethod
    def typed(self) -> Typed:
        """The value, with its kind."""


@dataclass(frozen=True, init=False)  # or the text would not count in comparisons
class TextAttribute(ParametrizedAttribute, TypedAttribute, ABC):
    """A value whose one parameter is its text."""

    text: StringAttr

    @classmethod
    def kind(cls) -> str:
        """The dialect's name of values like this."""
        return cls.name.removeprefix("cute.")

    @property
    def typed(self) -> Typed:
        """The value, with its kind."""
        return read_typed(self.kind(), self.text.data)


class CuteValue(TextAttribute, ABC):
    """A value of the algebra."""

    @classmethod
    def new(cls, params: Sequence[Attribute]) -> Self:
        (text,) = params
        return _interned(cls, text.data) if isinstance(text, StringAttr) else super().new(params)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.parse_punctuation("<")
        return cls.parse_text(parser)

    @classmethod
    def parse_text(cls, parser: AttrParser) -> Sequence[Attribute]:
        """The parameters, from behind the opening bracket to the closing one."""
        start = parser.pos
        text = parser.parse_optional_str_literal()
        if text is None:
            parser.raise_error("expected string")
        try:
            parameter = _canonical(cls.kind(), text)
        except LayoutParseError as error:
            reason = f'failed to parse {cls.kind()} from "{text}": {error}'
            parser.raise_error(reason, start, parser.pos)
        parser.parse_punctuation(">")
        return [parameter]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.text.data)


_Value = TypeVar("_Value", bound=CuteValue)


@cache
def _interned(cls: type[_Value], text: str) -> _Value:
    """The one object of a text: modules repeat the same few, and each is verified once."""
    return super(CuteValue, cls).new([StringAttr(text)])


class CuteType(CuteValue, TypeAttribute, ABC):
    """The type of a value: what of it is known."""

    def verify(self) -> None:
        if (reason := fault(self.kind(), self.text.data)) is not None:
            raise VerifyException(reason)


class _MemRefLayout(CuteType, MemRefLayoutAttr, ABC):
    """A layout type; as a memref's layout it maps the memref's coordinates to element offsets."""

    @property
    def data(self) -> AnyLayout:
        """The layout as a value of the algebra."""
        return self.typed.value

    @classmethod
    def get(cls, layout: AnyLayout) -> Self:
        """The attribute of a layout."""
        return cls(StringAttr(str(layout)))

    def get_strides(self) -> Sequence[int | None] | None:
        layout = self.data
        if isinstance(layout, Layout) and isinstance(layout.stride, tuple):
            strides = [step for step in layout.stride if isinstance(step, int)]
            return strides if len(strides) == len(layout.stride) else None
        return None

    def get_affine_map(self) -> AffineMap:
        strides = self.get_strides()
        if strides is None:
            raise DiagnosticException(f"no affine map expresses the layout {self.text.data}")
        result = AffineExpr.constant(0)
        for dim, step in enumerate(strides):
            assert step is not None
            result = result + AffineExpr.dimension(dim) * step
        return AffineMap(len(strides), 0, (result,))


@irdl_attr_definition
class IntTupleType(CuteType):
    """Integers, or tuples of them: `!cute.int_tuple<"(1,(?,3))">`."""

    name = "cute.int_tuple"


@irdl_attr_definition
class CoordType(CuteType):
    """A coordinate, `_` standing for a whole mode: `!cute.coord<"(_,(?,1))">`."""

    name = "cute.coord"


@irdl_attr_definition
class ShapeType(CuteType):
    """Extents: `!cute.shape<"(?{i64},(8,4))">`."""

    name = "cute.shape"


@irdl_attr_definition
class StrideType(CuteType):
    """Steps, of integers or along modes: `!cute.stride<"(1,?)">`, `!cute.stride<"(1@0,?@1)">`."""

    name = "cute.stride"


@irdl_attr_definition
class LayoutType(_MemRefLayout):
    """A layout: `!cute.layout<"(4,?):(1,4)">`."""

    name = "cute.layout"


@irdl_attr_definition
class TileType(CuteType):
    """A layout or `_` for each mode: `!cute.tile<"[(2,3):(1,2);_]">`."""

    name = "cute.tile"


@irdl_attr_definition
class ComposedLayoutType(_MemRefLayout):
    """A layout through another, or a swizzle:
    `!cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">`."""

    name = "cute.composed_layout"


@irdl_attr_definition
class SwizzleType(CuteType):
    """An XOR of two fields of an index: `!cute.swizzle<"S<3,4,3>">`."""

    name = "cute.swizzle"


@irdl_attr_definition
class IntTupleAttr(CuteValue):
    """`#cute.int_tuple<"(1,2)">`."""

    name = "cute.int_tuple"


@irdl_attr_definition
class CoordAttr(CuteValue):
    """`#cute.coord<"(_,1)">`."""

    name = "cute.coord"


@irdl_attr_definition
class ShapeAttr(CuteValue):
    """`#cute.shape<"(4,8)">`."""

    name = "cute.shape"


@irdl_attr_definition
class StrideAttr(CuteValue):
    """`#cute.stride<"(1,4)">`."""

    name = "cute.stride"


@irdl_attr_definition
class LayoutAttr(CuteValue):
    """`#cute.layout<"(4,8):(1,4)">`."""

    name = "cute.layout"


@irdl_attr_definition
class TileAttr(CuteValue):
    """`#cute.tile<"[4:1;_]">`."""

    name = "cute.tile"


@irdl_attr_definition
class ComposedLayoutAttr(CuteValue):
    """`#cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">`."""

    name = "cute.composed_layout"


@irdl_attr_definition
class SwizzleAttr(CuteValue):
    """`#cute.swizzle<"S<3,4,3>">`."""

    name = "cute.swizzle"


TYPES = (
    IntTupleType, CoordType, ShapeType, StrideType, LayoutType, TileType, ComposedLayoutType,
    SwizzleType,
)  # fmt: skip
ATTRIBUTES = (
    IntTupleAttr, CoordAttr, ShapeAttr, StrideAttr, LayoutAttr, TileAttr, ComposedLayoutAttr,
    SwizzleAttr,
)  # fmt: skip

_TYPE_OF: dict[str, type[CuteType]] = {type_.kind(): type_ for type_ in TYPES}
_BUILT: dict[str, Callable[[Typed], Attribute]] = {}


def built_by(kind: str, build: Callable[[Typed], Attribute]) -> None:
    """Say how the type of a further kind of value is made."""
    _BUILT[kind] = build


def type_of(typed: Typed) -> Attribute:
    """The type of a value. Raises VerifyException where it is none of its kind."""
    if typed.kind in _BUILT:
        return _BUILT[typed.kind](typed)
    return _interned(_TYPE_OF[typed.kind], typed.text)


def typed_of(type_: Attribute) -> Typed | None:
    """The value that a type stands for; an i32 or i64 is a scalar. None where it is neither."""
    if isinstance(type_, TypedAttribute):
        return type_.typed
    if type_ in (i32, i64):
        return Typed("scalar", Dynamic(64 if type_ == i64 else 32))
    return None
