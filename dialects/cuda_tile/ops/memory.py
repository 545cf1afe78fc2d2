"""Memory through tiles of pointers, tokens, atomics. Tile IR specification, memory and atomics.

Nothing but tokens orders these operations: each may take one and gives one.
"""

from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tilewright.dialects.accepts import integer, one_of
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import (
    I1_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_POINTER,
    TILE,
    TOKEN,
    number_of,
)
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryScope,
    TileEnum,
)
from tilewright.dialects.cuda_tile.hints import verify_hints
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, PureOp, tile_op
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.versions import V13_3, V13_4
from tilewright.dialects.integers import integer_of
from tilewright.dialects.traits import READS, READS_AND_WRITES, WRITES

Choice = TypeVar("Choice", bound=TileEnum)

ATOMIC = ("relaxed", "acquire", "release", "acq_rel")
"""How atomics may be ordered."""

RMW_ELEMENTS = {
    AtomicRMWMode.ADDF: ("f16", "bf16", "f32", "f64"),
    AtomicRMWMode.XCHG: ("i32", "i64", "f32", "f64"),
}
"""The elements that atomic operations are for; those not named here for i32 and i64."""
_HALVES = ("f16", "bf16")
WIDER_ELEMENTS = {
    AtomicRMWMode.MAX: _HALVES,
    AtomicRMWMode.MIN: _HALVES,
    AtomicRMWMode.XCHG: ("i16", *_HALVES),
}
"""The elements beyond those of Tile IR that the chip's atomic operations are for, and ops with the
attribute `WIDER`; bytecode has none."""
WIDER = "cuda_tile.wider_elements"


class TokenOp(CudaTileOp):
    """An op between a token and the next one."""

    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)


class MemoryOp(TokenOp):
    """An access to memory: ORDERINGS are how it may be ordered. `weak` ones have no scope. POINTERS
    name operands, and the tile whose elements they point to."""

    ORDERINGS: ClassVar[tuple[str, ...]] = ATOMIC
    POINTERS: ClassVar[tuple[str, str] | None] = None

    @property
    def ordering(self) -> MemoryOrderingSemantics:
        """How it is ordered."""
        return choice_in(self, "memory_ordering_semantics", MemoryOrderingSemantics)

    @property
    def scope(self) -> MemoryScope | None:
        """Who else may access the memory at the same time."""
        return choice_in(self, "memory_scope", MemoryScope) if self._scoped else None

    @property
    def rmw_mode(self) -> AtomicRMWMode:
        """The operation of an atomic one on what memory holds."""
        return choice_in(self, "mode", AtomicRMWMode)

    @property
    def _scoped(self) -> bool:
        return "memory_scope" in self.properties

    def verify_types(self) -> None:
        ordering = self.ordering.value
        if ordering not in self.ORDERINGS:
            raise self.fail(
                f"memory ordering {one_of(self.ORDERINGS)}, got {ordering}; "
                f"nearest legal: {self.ORDERINGS[-1]}"
            )
        if ordering == "weak" and self._scoped:
            raise self.fail(f"no memory scope where weak is, got {self.scope}")
        if ordering != "weak" and not self._scoped:
            raise self.fail(f"a memory scope where {ordering} is, got none")
        if self.POINTERS is not None:
            pointers, tile = (getattr(self, name).type for name in self.POINTERS)
            if pointers.element_type.pointee_type != (element := tile.element_type):
                raise self.fail(
                    f"pointers to {shown(element)} as {self.POINTERS[1]} has them, "
                    f"got {shown(pointers)}"
                )

    def verify_in_place(self) -> None:
        verify_hints(self)


def choice_in(op: CudaTileOp, name: str, words: type[Choice]) -> Choice:
    """The case that an i32 of an op stands for."""
    word = words.of_number(integer_of(op.properties[name]))
    assert word is not None
    return word


def legal_elements(mode: AtomicRMWMode, *, wider: bool) -> tuple[str, ...]:
    """The elements that an atomic operation is for."""
    return RMW_ELEMENTS.get(mode, ("i32", "i64")) + (WIDER_ELEMENTS.get(mode, ()) if wider else ())


def verify_rmw(op: CudaTileOp, mode: AtomicRMWMode, element: Attribute) -> None:
    """Raise VerifyException where an atomic operation is not for a type of elements."""
    legal = legal_elements(mode, wider=WIDER in op.attributes)
    if shown(element) not in legal:
        raise op.fail(f"elements {one_of(legal)} where mode is {mode}, got {shown(element)}")


ORDERING = number_of(MemoryOrderingSemantics)
SCOPE = number_of(MemoryScope)

SCOPED = "custom<Word>($memory_ordering_semantics) custom<Word>($memory_scope)"
ORDERED = "custom<Word>($memory_ordering_semantics) (custom<Word>($memory_scope)^)?"
HINTS = "(`optimization_hints` `=` $optimization_hints^)?"
TOKEN_TEXT = "(`token` `` `=` `` $token^)?"
TOKEN_AND_HINTS = f"{TOKEN_TEXT} {HINTS}"
"""Parts of the formats."""


@tile_op("cuda_tile.alloca", 0x71, V13_3)
class AllocaOp(CudaTileOp):
    """Memory of its own: `alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>`."""

    assembly_format = "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $global^)?"

    num_elem = prop_def(integer(64, least=0))
    alignment = prop_def(integer(64, least=0))
    global_ = opt_prop_def(UnitAttr, prop_name="global")
    result = result_def(SCALAR_POINTER)

    traits = WRITES

    def verify_types(self) -> None:
        alignment = self.alignment.value.data  # pyright: ignore
        pointee: Any = self.result.type.element_type.pointee_type  # pyright: ignore
        least = max(ELEMENT_OF[pointee].bits // 8, 1)
        if alignment & (alignment - 1) or alignment < least:
            raise self.fail(
                f"an alignment that is a power of two of {least} or more, as {shown(pointee)} "  # pyright: ignore
                f"needs, got {alignment}"
            )


@tile_op("cuda_tile.make_token", 0x44)
class MakeTokenOp(PureOp):
    """A token that nothing comes before: `make_token : token`."""

    result = result_def(TOKEN)


@tile_op("cuda_tile.join_tokens", 0x3C)
class JoinTokensOp(PureOp):
    """A token behind several: `join_tokens %a, %b : token`."""

    tokens = var_operand_def(TOKEN)
    result = result_def(TOKEN)

    def verify_types(self) -> None:
        if len(self.tokens) < 2:
            raise self.fail(f"2 tokens or more, got {len(self.tokens)}")


@tile_op("cuda_tile.load_ptr_tko", 0x3D)
class LoadPtrTkoOp(MemoryOp):
    """A tile from the memory that a tile of pointers names.

    `%x, %t = load_ptr_tko weak %p, %mask, %padding token=%t0 : tile<4xptr<f32>>, tile<4xi1>,
    tile<4xf32> -> tile<4xf32>, token`
    """

    assembly_format = (
        f"{ORDERED} $source custom<MaskAndPadding>($mask, $padding_value) {TOKEN_AND_HINTS} "
        "attr-dict `:` type($source) custom<MaskAndPaddingTypes>(ref($mask), ref($padding_value), "
        "type($mask), type($padding_value)) `->` type($result) `,` type($result_token)"
    )
    SAME_SHAPES = "source result mask"
    ORDERINGS = ("weak", "relaxed", "acquire")
    SAME_TYPES = "result padding_value"
    POINTERS = ("source", "result")

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    source = operand_def(POINTER_TILE)
    mask = opt_operand_def(I1_TILE)
    padding_value = opt_operand_def(NUMBER_TILE)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)

    traits = READS


@tile_op("cuda_tile.store_ptr_tko", 0x65)
class StorePtrTkoOp(MemoryOp):
    """A tile to the memory that a tile of pointers names.

    `%t = store_ptr_tko weak %p, %x, %mask token=%t0 : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> ->
    token`
    """

    assembly_format = (
        f"{ORDERED} $destination `,` $value (`,` $mask^)? {TOKEN_AND_HINTS} attr-dict `:` "
        "type($destination) `,` type($value) (`,` type($mask)^)? `->` type($result_token)"
    )
    SAME_SHAPES = "destination value mask"
    ORDERINGS = ("weak", "relaxed", "release")
    POINTERS = ("destination", "value")

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = opt_prop_def(SCOPE)
    destination = operand_def(POINTER_TILE)
    value = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)

    traits = WRITES


@tile_op("cuda_tile.atomic_cas_tko", 0x07)
class AtomicCASTkoOp(MemoryOp):
    """Where memory holds `cmp` it gets `val`; the result is what it held.

    `%old, %t = atomic_cas_tko relaxed device %p, %c, %v : tile<4xptr<i32>>, tile<4xi32> ->
    tile<4xi32>, token`
    """

    assembly_format = (
        f"{SCOPED} $pointers `,` $cmp `,` $val (`,` $mask^)? {TOKEN_TEXT} attr-dict `:` "
        "type($pointers) `,` type($val) (`,` type($mask)^)? `->` type($result) `,` "
        "type($result_token)"
    )
    SAME_TYPES = "cmp val result"
    SAME_SHAPES = "pointers val mask"
    POINTERS = ("pointers", "val")

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    pointers = operand_def(POINTER_TILE)
    cmp = operand_def(TILE)
    val = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    result = result_def(TILE)

    traits = READS_AND_WRITES

    def verify_types(self) -> None:
        super().verify_types()
        verify_rmw(self, AtomicRMWMode.XCHG, self.val.type.element_type)  # pyright: ignore


@tile_op("cuda_tile.atomic_rmw_tko", 0x08)
class AtomicRMWTkoOp(MemoryOp):
    """Memory gets `mode` of what it holds and `arg`; the result is what it held.

    `%old, %t = atomic_rmw_tko relaxed device %p, add, %x : tile<4xptr<i32>>, tile<4xi32> ->
    tile<4xi32>, token`
    """

    assembly_format = (
        f"{SCOPED} $pointers `,` custom<Word>($mode) `,` $arg (`,` $mask^)? {TOKEN_TEXT} attr-dict "
        "`:` type($pointers) `,` type($arg) (`,` type($mask)^)? `->` type($result) `,` "
        "type($result_token)"
    )
    SAME_TYPES = "arg result"
    SAME_SHAPES = "pointers arg mask"
    POINTERS = ("pointers", "arg")

    memory_ordering_semantics = prop_def(ORDERING)
    memory_scope = prop_def(SCOPE)
    pointers = operand_def(POINTER_TILE)
    mode = prop_def(number_of(AtomicRMWMode))
    arg = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    result = result_def(TILE)

    traits = READS_AND_WRITES

    def verify_types(self) -> None:
        super().verify_types()
        verify_rmw(self, self.rmw_mode, self.arg.type.element_type)  # pyright: ignore


class GridDependency(TokenOp):
    """`%t = $op token = %t0 -> token`. Since 13.4."""

    assembly_format = "(`token` `=` $token^)? attr-dict `->` type($result_token)"

    traits = READS_AND_WRITES


@tile_op("cuda_tile.gdc_launch_dependents_tko", 0x77, V13_4)
class GdcLaunchDependentsTkoOp(GridDependency):
    """The grids that depend on this one may start."""


@tile_op("cuda_tile.gdc_wait_tko", 0x78, V13_4)
class GdcWaitTkoOp(GridDependency):
    """Wait for the grids that this one depends on, and for their memory."""


@tile_op("cuda_tile.memory_fence_alias_tko", 0x7A, V13_4)
class MemoryFenceAliasTkoOp(CudaTileOp):
    """Accesses by one address come before those of the same memory by another:
    `%t = memory_fence_alias_tko %t0`. Since 13.4."""

    assembly_format = "$token attr-dict"

    token = operand_def(TOKEN)
    result_token = result_def(TOKEN)

    traits = READS_AND_WRITES
