"""Multicast objects: memory that several GPUs hold a copy of each. Tile IR specification, views."""

from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tilewright.dialects.accepts import one_of
from tilewright.dialects.cuda_tile.attributes import MultimemReductionKindAttr, chosen
from tilewright.dialects.cuda_tile.constraints import INT_TILE, TILE, TILE_VIEW
from tilewright.dialects.cuda_tile.enums import MultimemReductionKind, PtrAttr
from tilewright.dialects.cuda_tile.ops.memory import ORDERED, ORDERING, SCOPE
from tilewright.dialects.cuda_tile.ops.operation import tile_op
from tilewright.dialects.cuda_tile.ops.views import BOUNDED, INBOUNDS, ViewAccess
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PartitionViewType
from tilewright.dialects.cuda_tile.versions import V13_5
from tilewright.dialects.traits import READS, READS_AND_WRITES, WRITES

INTEGERS = ("i32", "i64")
MULTIMEM_ELEMENTS = {
    MultimemReductionKind.ADD: ("i32", "i64", "f16", "bf16", "f32", "f64"),
    MultimemReductionKind.MIN: ("i32", "i64", "f16", "bf16"),
    MultimemReductionKind.MAX: ("i32", "i64", "f16", "bf16"),
}
"""The elements of multicast objects that may be reduced; kinds not named here want i32 or i64."""

ADD = MultimemReductionKindAttr(MultimemReductionKind.ADD)


class MultimemAccess(ViewAccess):
    """An access to all copies of a tile of a multicast object at once."""

    ADDS_FLOATS = False
    """True where floats are added alone."""

    @property
    def kind(self) -> MultimemReductionKind:
        """How copies are combined."""
        kind = chosen(self.properties.get("reduction", ADD), MultimemReductionKind)
        assert kind is not None
        return kind

    def verify_memory(self) -> None:
        view = self.view_type
        if not isinstance(view, PartitionViewType):
            raise self.fail(f"a partition_view, got {shown(view)}")
        if (memory := view.tensor_view.ptr_attr) is not PtrAttr.MULTICAST:
            raise self.fail(
                f"a view of multicast memory, got {'none' if memory is None else memory}"
            )
        kind = self.kind
        element = shown(view.tensor_view.element_type)
        legal = MULTIMEM_ELEMENTS.get(kind, INTEGERS)
        if self.ADDS_FLOATS and kind is not MultimemReductionKind.ADD:
            legal = INTEGERS
        if element not in legal:
            why = f" where reduction is {kind}" if "reduction" in self.definition.properties else ""
            raise self.fail(f"elements {one_of(legal)}{why}, got {element}")


@tile_op("cuda_tile.multimem_load_reduce_view_tko", 0x7B, V13_5)
class MultimemLoadReduceViewTkoOp(MultimemAccess):
    """A tile of a view of a multicast object, reduced over its copies. Since 13.5."""

    TILE_NAME = "reduced_values"
    ORDERINGS = ("weak", "relaxed", "acquire")
    assembly_format = (
        f"{ORDERED} $view `[` $index `]` (`token` `=` $token^)? {BOUNDED} `:` type($view) "
        "custom<IndexAndTokenTypes>(ref($index), type($index), type($token)) `->` "
        "type($reduced_values) `,` type($result_token)"
    )

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    reduction = opt_prop_def(MultimemReductionKindAttr, ADD)
    inbounds = opt_prop_def(INBOUNDS)
    reduced_values = result_def(TILE)

    traits = READS


class MultimemWrite(MultimemAccess):
    """An access that gives memory a tile."""

    assembly_format = (
        f"{ORDERED} $view `,` $tile `[` $index `]` (`token` `=` $token^)? {BOUNDED} `:` "
        "type($view) `,` type($tile) custom<IndexAndTokenTypes>(ref($index), type($index), "
        "type($token)) `->` type($result_token)"
    )

    view = operand_def(TILE_VIEW)
    tile = operand_def(TILE)
    index = var_operand_def(INT_TILE)


@tile_op("cuda_tile.multimem_reduce_view_tko", 0x7C, V13_5)
class MultimemReduceViewTkoOp(MultimemWrite):
    """All copies of a tile of a multicast object get `reduction` of what they hold and a tile.
    Since 13.5."""

    ORDERINGS = ("relaxed", "release")
    ADDS_FLOATS = True

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    reduction = opt_prop_def(MultimemReductionKindAttr, ADD)
    inbounds = opt_prop_def(INBOUNDS)

    traits = READS_AND_WRITES


@tile_op("cuda_tile.multimem_store_view_tko", 0x7D, V13_5)
class MultimemStoreViewTkoOp(MultimemWrite):
    """All copies of a tile of a multicast object get a tile. Since 13.5."""

    ORDERINGS = ("weak", "relaxed", "release")

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    inbounds = opt_prop_def(INBOUNDS)

    traits = WRITES
