"""Values of the `cute` dialect at run time: their dynamic leaves, as an LLVM value.

(4,8)             !llvm.struct<()>                         nothing that its type does not say
(?,8)             i32                                      one leaf is no struct
(?,(2,?{i64}))    !llvm.struct<(i32, i64)>                 the profile is in the type
(?,?):(1,?)       !llvm.struct<(struct<(i32, i32)>, i32)>  shape, stride
[?:1;_;3:?]       a layout after the other, nested tiles too
A o 0 o B         !llvm.struct<(B, struct<()>, A)>         outer, offset, inner
S<3,4,3>          !llvm.struct<()>
"""

from collections.abc import Iterator, Sequence
from functools import cache

from xdsl.dialects.builtin import FunctionType, IntegerType
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cute.rules.accessors import (
    composed_get_inner,
    composed_get_offset,
    composed_get_outer,
    dynamic_leaves,
)
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import Typed, tile_layouts

Path = tuple[int, ...]
"""Where a field is: its number in the struct, and so on inwards."""


@cache
def struct_type(typed: Typed) -> Attribute:
    """The type of a value at run time: a struct, or an integer where that is all of it."""
    fields = list(_fields(typed))
    return fields[0] if len(fields) == 1 else LLVMStructType.from_type_list(fields)


def _fields(typed: Typed) -> Iterator[Attribute]:
    match typed.kind:
        case "swizzle" | "layout" | "composed_layout":
            yield LLVMStructType.from_type_list([struct_type(part) for part in parts_of(typed)])
        case "tile":
            for layout in tile_layouts(typed.value):
                yield struct_type(Typed("layout", layout))
        case _:
            yield from (IntegerType(leaf.width) for leaf in dynamic_leaves(typed))


def parts_of(typed: Typed) -> Sequence[Typed]:
    """The values that a layout is made of, in the order of their fields: shape and stride; outer
    layout, offset and inner one. Other values have no parts."""
    match typed.kind:
        case "layout":
            return Typed("shape", typed.value.shape), Typed("stride", typed.value.stride)
        case "composed_layout":
            of = composed_get_outer, composed_get_offset, composed_get_inner
            return [part(typed) for part in of]
        case _:
            return ()


def integer_paths(type_: Attribute, prefix: Path = ()) -> Iterator[Path]:
    """Where the integers of a struct are, from left to right; an integer is at ()."""
    if not isinstance(type_, LLVMStructType):
        yield prefix
        return
    for i, field in enumerate(type_.types):
        yield from integer_paths(field, (*prefix, i))


def field_type(type_: Attribute, path: Path) -> Attribute:
    """The type of a field."""
    for i in path:
        assert isinstance(type_, LLVMStructType)
        type_ = type_.types.data[i]
    return type_


# --- whole modules --------------------------------------------------------------------------------


def converted(type_: Attribute) -> Attribute:
    """The type with values of the `cute` dialect as they are at run time, in signatures too.

    Other types that mention the dialect stay: a memref keeps its layout.
    """
    match type_:
        case CuteType():
            return struct_type(type_.typed)
        case FunctionType():
            inputs, outputs = (map(converted, types) for types in (type_.inputs, type_.outputs))
            return FunctionType.from_lists(list(inputs), list(outputs))
        case _:
            return type_


def convert_types(top: Operation) -> None:
    """Give every value and every signature in an op its type at run time."""
    for op in list(top.walk()):
        _convert_values(op.results)
        for attributes in (op.properties, op.attributes):
            attributes.update(
                (name, converted(attribute)) for name, attribute in list(attributes.items())
            )
        for region in op.regions:
            for block in region.blocks:
                _convert_values(block.args)


def _convert_values(values: Sequence[SSAValue]) -> None:
    for value in list(values):
        if (type_ := converted(value.type)) != value.type:
            Rewriter.replace_value_with_new_type(value, type_)
