"""Views: tensors in global memory, cut into tiles. Tile IR specification, views."""

from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, NoneAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import ParsingState
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.accepts import Accepts, list_of
from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import (
    INT_TILE,
    SCALAR_INT,
    SCALAR_POINTER,
    TENSOR_VIEW,
    TILE,
    TILE_VIEW,
    is_pointer_tile,
    number_of,
)
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import AtomicRMWMode, MemoryScope, PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.ops.extents import (
    dynamic_of,
    parse_extents,
    print_extents,
    verify_extents,
)
from tilewright.dialects.cuda_tile.ops.memory import (
    HINTS,
    ORDERED,
    ORDERING,
    SCOPE,
    SCOPED,
    MemoryOp,
    verify_rmw,
)
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, print_types, shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
)
from tilewright.dialects.cuda_tile.versions import V13_3, V13_4, V13_5
from tilewright.dialects.declared_format import made, put_entries, remaining_entries
from tilewright.dialects.traits import READS, READS_AND_WRITES, WRITES


@tile_op("cuda_tile.make_tensor_view", 0x43)
class MakeTensorViewOp(PureOp):
    """A tensor from an address: `make_tensor_view %p, shape = [%n, 64], strides = [64, 1] :
    tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>`."""

    base = operand_def(SCALAR_POINTER)
    dynamic_shape = var_operand_def(SCALAR_INT)
    dynamic_strides = var_operand_def(SCALAR_INT)
    result = result_def(TENSOR_VIEW)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        begin, state = parser.pos, ParsingState(cls)
        base = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        shape = parse_extents(parser, "shape")
        parser.parse_punctuation(",")
        strides = parse_extents(parser, "strides")
        put_entries(parser.parse_optional_attr_dict(), cls, state)
        parser.parse_punctuation(":")
        start = parser.pos
        types = [parse_type(parser)]
        while parser.parse_optional_punctuation(",") or parser.parse_optional_punctuation("->"):
            types.append(parse_type(parser))
        result = types.pop()
        if not isinstance(result, TensorViewType):
            parser.raise_error(f"expected a tensor_view, got {shown(result)}", start, parser.pos)
        pointers: Attribute = TileType.get((), PointerType.get(result.element_type))
        if types and is_pointer_tile(types[0]):
            pointers = types.pop(0)
        verify_extents(parser, shape, result.shape, "shape")
        verify_extents(parser, strides, result.strides, "strides")
        dynamic = [dynamic_of(extents) for extents, _ in (shape, strides)]
        state.operands = [base, *dynamic]
        state.operand_types = [[pointers], *(types[:1] * len(values) for values in dynamic)]
        state.result_types = [[result]]
        return made(parser, begin, state)

    def print(self, printer: Printer) -> None:
        type_ = self.result.type
        assert isinstance(type_, TensorViewType)
        printer.print_string(" ")
        printer.print_operand(self.base)
        print_extents(printer, "shape", type_.shape, self.dynamic_shape)
        print_extents(printer, "strides", type_.strides, self.dynamic_strides)
        if attributes := remaining_entries(self, ()):
            printer.print_string(" ")
            printer.print_attribute(DictionaryAttr(attributes))
        printer.print_string(" : ")
        before: list[Attribute] = [] if type_.attribute == NoneAttr() else [self.base.type]
        before += [value.type for value in (*self.dynamic_shape, *self.dynamic_strides)][:1]
        if before:
            print_types(printer, before)
            printer.print_string(" -> ")
        print_type(printer, type_)

    def verify_types(self) -> None:
        type_ = self.result.type
        assert isinstance(type_, TensorViewType)
        pointer = self.base.type.element_type  # pyright: ignore
        assert isinstance(pointer, PointerType)
        if (pointer.pointee_type, pointer.ptr_attr) != (type_.element_type, type_.ptr_attr):
            raise self.fail(
                f"base to point to the elements of {shown(type_)}, got {shown(self.base.type)}"
            )
        dynamic = (*self.dynamic_shape, *self.dynamic_strides)
        for name, values, extents in (
            ("shape", self.dynamic_shape, type_.shape),
            ("strides", self.dynamic_strides, type_.strides),
        ):
            if len(values) != extents.count(DYNAMIC):
                raise self.fail(
                    f"{extents.count(DYNAMIC)} operands for the {name} of {shown(type_)}, "
                    f"got {len(values)}"
                )
        for value in dynamic:
            if value.type != dynamic[0].type:
                raise self.fail(
                    f"sizes and strides of one type, got {shown(dynamic[0].type)} and "
                    f"{shown(value.type)}"
                )


def accepting(view: type[TileView]) -> Accepts:
    """A view of that kind."""
    return Accepts(f"a {view.name.removeprefix('cuda_tile.')}", lambda x: isinstance(x, view))


class MakeView(PureOp):
    """`$op %tensor : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>`."""

    assembly_format = (
        "$tensor_view attr-dict `:` custom<ViewType>(type($result), type($tensor_view))"
    )

    tensor_view = operand_def(TENSOR_VIEW)

    def verify_types(self) -> None:
        wanted: Any = self.results[0].type.tensor_view  # pyright: ignore
        if self.tensor_view.type != wanted:
            raise self.fail(
                f"tensor_view to be {shown(wanted)} as the result has it, "  # pyright: ignore
                f"got {shown(self.tensor_view.type)}"
            )


@tile_op("cuda_tile.make_partition_view", 0x42)
class MakePartitionViewOp(MakeView):
    """A grid of tiles."""

    result = result_def(accepting(PartitionViewType))


@tile_op("cuda_tile.make_strided_view", 0x74, V13_3)
class MakeStridedViewOp(MakeView):
    """Tiles with gaps, or overlapping."""

    result = result_def(accepting(StridedViewType))


@tile_op("cuda_tile.make_gather_scatter_view", 0x73, V13_3)
class MakeGatherScatterViewOp(MakeView):
    """Tiles of rows that are named one by one."""

    result = result_def(accepting(GatherScatterViewType))


class Extents(PureOp):
    """A number for each dimension of `src`."""

    assembly_format = (
        "$src attr-dict `:` type($src) `->` custom<RankTypes>(type($result), ref($src))"
    )

    result = var_result_def(SCALAR_INT)

    def verify_types(self) -> None:
        type_ = self.operands[0].type
        rank = type_.index_rank if isinstance(type_, TileView) else type_.rank  # pyright: ignore
        if len(self.results) != rank:
            raise self.fail(
                f"{rank} results as {shown(type_)} has dimensions, got {len(self.results)}"
            )


@tile_op("cuda_tile.get_index_space_shape", 0x2D)
class GetIndexSpaceShapeOp(Extents):
    """How many tiles a view has: `%m, %n = get_index_space_shape %view : partition_view<...> ->
    tile<i32>`."""

    src = operand_def(TILE_VIEW)


@tile_op("cuda_tile.get_tensor_shape", 0x2F)
class GetTensorShapeOp(Extents):
    """The sizes of a tensor: `%m, %n = get_tensor_shape %x : tensor_view<...> -> tile<i32>`."""

    src = operand_def(TENSOR_VIEW)


INBOUNDS = list_of(1)
BOUNDED = "custom<Inbounds>($inbounds) attr-dict-with-keyword"
"""A part of the formats."""

_PACKED_BITS = 4
"""The bits of an element that is half a byte."""


NAN_FLAG = "nan_flag"
"""Attribute of a load: the number of the parameter, an i1, that says whether NaN is outside of the
tensor in place of zeros."""
ANYWHERE = "anywhere"
"""Attribute of an access whose index may name no tile of the view: it accesses nothing then."""


class ViewAccess(MemoryOp):
    """An access to a tile of a view: TILE_NAME is what the tile is called."""

    TILE_NAME: ClassVar[str] = "tile"

    @property
    def view_type(self) -> TileView:
        """The type of the view."""
        return self.view.type  # pyright: ignore

    @property
    def accessed(self) -> SSAValue:
        """The tile that is loaded, stored or combined with what is there."""
        return getattr(self, self.TILE_NAME)

    @property
    def within(self) -> tuple[bool, ...]:
        """For each index, whether the tile is known to lie within the tensor along it."""
        value: Any = self.properties.get("inbounds")
        if value is None:
            return (False,) * self.view_type.index_rank
        return tuple(bool(flag) for flag in value.get_values())

    @property
    def nan_flag(self) -> BlockArgument | None:
        """The parameter that says whether NaN is outside of the tensor, if there is one."""
        number = self.attributes.get(NAN_FLAG)
        if not isinstance(number, IntegerAttr):
            return None
        entry = next(op for op in ancestors(self) if op.name == "cuda_tile.entry")
        return entry.regions[0].block.args[number.value.data]

    def verify_types(self) -> None:
        view = self.view_type
        types: list[Any] = [index.type for index in self.index]  # pyright: ignore
        if len(types) != view.index_rank:
            raise self.fail(f"{view.index_rank} indices as the view has, got {len(types)}")
        tile = self.accessed.type
        if tile != view.tile_type:
            raise self.fail(
                f"{self.TILE_NAME} to be {shown(view.tile_type)} as the view has it, "
                f"got {shown(tile)}"
            )
        if (wrong := view.wrong_index(types)) is not None:
            raise self.fail(wrong.removeprefix("expected "))
        if len(self.within) != view.index_rank:
            raise self.fail(f"{view.index_rank} inbounds as indices, got {len(self.within)}")
        if ELEMENT_OF[view.tensor_view.element_type].bits == _PACKED_BITS:
            self._verify_packing(view)
        super().verify_types()
        self.verify_memory()

    def _verify_packing(self, view: TileView) -> None:
        """Raise VerifyException where nothing says which elements of 4 bits share a byte."""
        strides, element = view.tensor_view.strides, shown(view.tensor_view.element_type)
        if strides.count(1) != 1:
            raise self.fail(f"one stride of 1, along which two {element} are a byte, "
                            f"got strides {list(strides)}")  # fmt: skip
        axis = strides.index(1)
        if isinstance(view, GatherScatterViewType) and view.sparse_dim == axis:
            raise self.fail(f"sparse_dim to be no dimension of stride 1, along which two {element} "
                            f"are a byte, got {axis}")  # fmt: skip

    def verify_memory(self) -> None:
        """Raise VerifyException where it is not for the view's memory."""
        if self.view_type.tensor_view.ptr_attr is PtrAttr.MULTICAST:
            raise self.fail("a view of memory that is no multicast object, got multicast")


@tile_op("cuda_tile.load_view_tko", 0x3E, inbounds=V13_4)
class LoadViewTkoOp(ViewAccess):
    """A tile of a view: `%x, %t = load_view_tko weak %view[%i, %j] token = %t0 :
    partition_view<...>, tile<i32> -> tile<4x8xf32>, token`. `inbounds` says along which dimensions
    the tile lies within the tensor."""

    ORDERINGS = ("weak", "relaxed", "acquire")
    assembly_format = (
        f"{ORDERED} $view `[` $index `]` (`token` `=` $token^)? {HINTS} {BOUNDED} `:` type($view) "
        "custom<IndexTypes>(ref($index), type($index)) `->` type($tile) `,` type($result_token)"
    )

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(INBOUNDS)
    tile = result_def(TILE)

    traits = READS

    def _verify_packing(self, view: TileView) -> None:
        super()._verify_packing(view)
        padding = view.padding_value
        if padding not in (None, PaddingValue.ZERO, PaddingValue.NEG_ZERO):
            raise self.fail(f"padding_value zero or neg_zero, got {padding} (an f4E2M1FN is "
                            "neither infinite nor NaN)")  # fmt: skip


@tile_op("cuda_tile.store_view_tko", 0x66, inbounds=V13_4)
class StoreViewTkoOp(ViewAccess):
    """A tile to a view: `%t = store_view_tko weak %x, %view[%i, %j] : tile<4x8xf32>,
    partition_view<...>, tile<i32> -> token`."""

    ORDERINGS = ("weak", "relaxed", "release")
    assembly_format = (
        f"{ORDERED} $tile `,` $view `[` $index `]` (`token` `=` $token^)? {HINTS} {BOUNDED} `:` "
        "type($tile) `,` type($view) custom<IndexTypes>(ref($index), type($index)) `->` "
        "type($result_token)"
    )

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    tile = operand_def(TILE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(INBOUNDS)

    traits = WRITES


@tile_op("cuda_tile.atomic_red_view_tko", 0x75, V13_3, inbounds=V13_5)
class AtomicRedViewTkoOp(ViewAccess):
    """A tile of a view gets `mode` of what it holds and `value`: `%t = atomic_red_view_tko relaxed
    device %view[%i], add, %x : tile<4xi32>, partition_view<...>, tile<i32> -> token`."""

    ORDERINGS = ("relaxed",)
    TILE_NAME = "value"
    assembly_format = (
        f"{SCOPED} $view `[` $index `]` `,` custom<Word>($mode) `,` $value (`token` `=` $token^)? "
        f"{BOUNDED} `:` type($value) `,` type($view) custom<IndexTypes>(ref($index), type($index)) "
        "`->` type($result_token)"
    )

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    mode = prop_def(number_of(AtomicRMWMode))
    value = operand_def(TILE)
    inbounds = opt_prop_def(INBOUNDS)

    traits = READS_AND_WRITES

    def verify_types(self) -> None:
        view, mode = self.view_type, self.rmw_mode
        if isinstance(view, GatherScatterViewType):
            raise self.fail(
                "a partition_view or strided_view, got a gather_scatter_view; "
                "nearest legal: partition_view"
            )
        if view.padding_value is not None:
            raise self.fail(f"a view without padding_value, got {view.padding_value}")
        if mode is AtomicRMWMode.XCHG:
            raise self.fail("a mode other than xchg, got xchg")
        super().verify_types()
        verify_rmw(self, mode, view.tensor_view.element_type)
        if self.scope is MemoryScope.SYS:
            raise self.fail("memory scope tl_blk or device, got sys; nearest legal: device")
