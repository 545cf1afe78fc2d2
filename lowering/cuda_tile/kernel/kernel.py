"""The state of one kernel on its way from tiles to threads, and the rules that drive it.

The kernel is walked once, in order. A tile is its elements in the registers of each thread, as the
layout says that `find_layouts` gave it, or, where it is cheap to compute, how to compute them in
any layout (`DerivedTile`). All threads of the CTA take the same way through the kernel, as a tile
block is one thread of control.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import partial
from math import inf
from struct import pack
from typing import Any, Protocol

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects.ancestors import body_ops
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryFenceAliasTkoOp, TokenOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TokenType
from tilewright.dialects.cute.types.argument import ArgumentAttr
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops import address, cluster
from tilewright.dialects.frozen import frozen_entity
from tilewright.dialects.op_rules import OpRules
from tilewright.lowering.cuda_tile.kernel.memory_order import MemoryOrder, Token
from tilewright.lowering.cuda_tile.kernel.scratch import Scratch
from tilewright.lowering.cuda_tile.kernel.tensor_memory import AccumulatorMemory
from tilewright.lowering.cuda_tile.kernel.threads import ThreadNumber
from tilewright.lowering.cuda_tile.kernel.warp_moves import WarpMoves
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup, MmaGroups
from tilewright.lowering.emit.emitter import Emitter
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.analysis.find_late_products import LateProducts
from tilewright.passes.cuda_tile.analysis.find_late_store import LateStore
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess
from tilewright.passes.cuda_tile.layouts.elements import (
    element_of,
    number_attribute,
    scalar_type,
    shape_of,
    tile_text,
)
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import SharedOrder, converting
from tilewright.source.diagnostic import OpError, file_location

Elements = tuple[SSAValue, ...]
"""The registers of a tile in a layout."""

TakesToken = TokenOp | MemoryFenceAliasTkoOp | PrintTkoOp
"""The ops between a token and the next one."""

Rule = Callable[[Any, "EntryLowering"], None]
RULES = OpRules[Rule]()
"""How each op lowers; the convert_* modules of this package fill it."""

lowers = RULES.of


class LoweredTile(Protocol):
    """A tile, wherever its elements are."""

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements in a layout."""
        ...


@frozen_entity
class PlacedTile:
    """A tile whose elements are in registers."""

    layout: TileLayout
    elements: Elements
    element: Attribute

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements, moved."""
        return kernel.scratch.converted(self.layout, self.elements, layout)


@frozen_entity
class DerivedTile:
    """A tile that is cheap to compute: its elements in any layout."""

    compute: Callable[[TileLayout], Sequence[SSAValue]]

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements, computed."""
        return self.compute(layout)


class LoadsAhead(Protocol):
    """Loads that are made ahead of where they stand."""

    def load(self, op: LoadViewTkoOp | LoadPtrTkoOp) -> LoweredTile | None:
        """The tile of a load that is; None of any other."""
        ...

    def read(self, product: Operation, flight: MmaGroup) -> None:
        """Say which MMAs a product is, so that they free what was loaded for it."""
        ...

    def commit(self, product: Operation) -> None:
        """Let what was loaded for a product in tensor memory be free once its MMAs, which the
        thread has just issued, are complete."""
        ...

    def issued(self, product: Operation) -> None:
        """Say that they have been issued, in all threads."""
        ...


class DeferredProduct(Protocol):
    """A product of the loop that is being lowered, which is computed an iteration late."""

    op: Operation
    rescaled: SSAValue | None
    """Its sums, which threads multiply by factors that are mostly 1."""
    scores: Any
    """The scores that the iteration before has computed, if it has."""

    def defer(self) -> None:
        """Remember what is to be multiplied."""
        ...

    def is_there(self, op: Operation) -> bool:
        """True of a product that the iteration before has computed."""
        ...

    def multiply(self) -> None:
        """Multiply what was put off."""
        ...


class DeferredStore(Protocol):
    """The store of blocks that is made under the products of the next block."""

    @property
    def plan(self) -> LateStore: ...

    def defer(self) -> None:
        """Leave it to the next block."""
        ...


class CopiesAhead(Protocol):
    """Loads that threads copy ahead of where they stand."""

    def load(self, op: LoadViewTkoOp | LoadPtrTkoOp) -> LoweredTile | None:
        """The tile of a load that is; None of any other."""
        ...

    def reads(self, op: LoadViewTkoOp | LoadPtrTkoOp) -> bool:
        """True of one whose copies by other threads may not have been made yet."""
        ...

    def issued(self, product: Operation, group: MmaGroup | None = None) -> None:
        """Go on behind a product's MMAs, of a group where registers have its sums."""
        ...


class EntryLowering:
    """Lowers the body of one entry, to the end of a block at a time."""

    def __init__(self, entry: Block, table: LayoutTable, arch: Target | None):
        self.entry, self.table, self.arch = entry, table, arch
        self.emitter = Emitter(entry)
        self.threads = ThreadNumber(self.emitter)
        room = inf if arch is None else shared_memory_limit(arch)
        self.scratch = Scratch(self.emitter, self.threads, room)
        self.order = MemoryOrder(self.scratch)
        self.groups = MmaGroups(self.emitter, self.scratch)
        self.tensor = AccumulatorMemory(self.emitter, self.threads, self.scratch)
        self.values: dict[SSAValue, Any] = {}
        self.op: Operation | None = None
        self.crowded: Operation | None = None
        """The first op behind which shared memory has no room."""
        self.hoists = True
        """True where loops may keep operands in shared memory."""
        self.hoisted: list[Any] = []
        """The operands that loops keep in shared memory, as they were laid down."""
        self.has_hoisted = False
        """True once some are."""
        self.maps: dict[ArgumentAttr, SSAValue] = {}
        self.ahead: LoadsAhead
        self.copied: CopiesAhead
        self.late_products = LateProducts({})
        self.late: DeferredProduct | None = None
        self.late_store: DeferredStore | None = None
        self.postponed: Set[Operation] = frozenset()
        self.due: Callable[[Iterable[Any]], Iterable[Any]] = iter
        """The parts of a store that are made, of all."""
        self.stored: Mapping[StoreViewTkoOp, BoxedAccess] = {}
        self.prefetched: Set[Operation] = frozenset()
        self.awaits_behind: Operation | None = None
        """The load behind which MMAs in flight are waited for: in front of what reads it, where
        ptxas would."""
        self.adds: dict[Operation, SSAValue] = {}
        """The condition under which the first MMA of a product adds."""
        self.folded = set[Operation]()
        """The folds to come that are made: with one whose warps exchange as theirs do."""
        self.guard: SSAValue | None = None
        """The condition under which memory is loaded from, where it is not that of the program."""

    # --- values ---

    def __setitem__(self, value: SSAValue, lowered: Any) -> None:
        self.values[value] = lowered

    def __getitem__(self, value: SSAValue) -> Any:
        return self.values[value]

    def layout(self, value: SSAValue) -> TileLayout | None:
        """The layout that was found for a tile; None for one that is computed wherever it is
        needed."""
        return self.table.layouts.get(value)

    def elements(self, value: SSAValue, layout: TileLayout) -> Elements:
        """The elements of a tile in a layout."""
        tile = self.values[value]
        if isinstance(tile, PlacedTile) and tile.layout.threads != layout.threads:
            self._remark_conversion(value, tile, layout)
        return self.elements_of(tile, layout)

    def remark_laid_down(self, value: SSAValue, order: SharedOrder | MatrixOrder) -> None:
        """Say that threads write an operand to shared memory, from where the op reads it."""
        if self.op is not None:
            remark(
                self.op,
                "conversion",
                f"'{self.op.name}' reads {_made(value)} from shared memory, where threads write "
                f"it: {order.text(shape_of(value))}",
            )

    def _remark_conversion(self, value: SSAValue, tile: PlacedTile, layout: TileLayout) -> None:
        if self.op is None or (tile.layout.count == 1 and set(tile.layout.threads) == {None}):
            return
        size, what = address.bytes_of(tile.elements[0].type), _made(value)
        moves = WarpMoves.paying(tile.layout, layout, tile.elements[0].type)
        way = "through shared memory"
        if moves is not None:
            way = f"by {moves.shuffles} shuffles of a warp"
        remark(
            self.op,
            "conversion",
            f"'{self.op.name}' wants {what} in another layout, {way}: "
            f"{layout.text()} from {tile.layout.text()}",
        )
        if moves is not None:
            return
        order = converting(tile.layout, layout, size)
        ways = [order.conflicts(side) for side in (tile.layout, layout)]
        if max(ways) > 1:
            remark(
                self.op,
                "bank-conflict",
                f"the conversion of {what} for '{self.op.name}' conflicts {ways[0]} ways where it "
                f"is written and {ways[1]} ways where it is read, 1 being none",
            )

    def elements_of(self, tile: LoweredTile, layout: TileLayout) -> Elements:
        """The elements of a tile in a layout, moved or computed once."""
        if isinstance(tile, PlacedTile) and tile.layout == layout:
            return tile.elements
        build = partial(tile.elements_in, layout, self)
        return tuple(self.emitter.remembered((tile, layout), build))

    def scalar(self, value: SSAValue) -> SSAValue:
        """The element of a tile that has one."""
        return self.elements(value, self.table.scalar)[0]

    def place(self, value: SSAValue, layout: TileLayout, elements: Sequence[SSAValue]) -> None:
        """Say that a tile's elements are in registers."""
        self.values[value] = PlacedTile(layout, tuple(elements), elements[0].type)

    def give(
        self, op: Operation, compute: Callable[[TileLayout], Sequence[Sequence[SSAValue]]]
    ) -> None:
        """Say how the results of an op, which have one layout, are computed in a layout: now, in
        the layout that was found, or where they are needed."""
        layout, tiles = self.layout(op.results[0]), op.results
        if isinstance(tiles[-1].type, TokenType):
            tiles = tiles[:-1]
        if layout is not None:
            for result, elements in zip(tiles, compute(layout), strict=True):
                self.place(result, layout, elements)
            return

        def later(place: int, layout: TileLayout) -> Sequence[SSAValue]:
            outer = self.emitter.location
            self.at(op)
            try:
                return compute(layout)[place]
            finally:
                self.emitter.location = outer

        for i, result in enumerate(tiles):
            self.values[result] = DerivedTile(partial(later, i))

    def tensor_map(self, source: ArgumentAttr) -> SSAValue:
        """The parameter that is a tensor map."""
        if source not in self.maps:
            map_ = self.entry.insert_arg(source.type, len(self.entry.args))
            map_.name_hint = f"map{len(self.maps)}"
            self.maps[source] = map_
        return self.maps[source]

    def count(self, loop: ForOp, number: SSAValue) -> None:
        """Say what the variable of a loop is."""
        variable = loop.region.block.args[0]
        type_ = self.scalar_type(loop, variable)
        if number.type != type_:
            number = self.emitter.resized(number, number.type.bitwidth, type_.bitwidth)  # type: ignore[attr-defined]
        self.place(variable, self.table.scalar, [number])

    def token_of(self, op: TakesToken) -> Token:
        """The token that an op takes."""
        return Token() if op.token is None else self.values[op.token]

    @contextmanager
    def access(
        self, op: TakesToken, *, reads: bool = False, writes: bool = False
    ) -> Generator[None]:
        """An access, where the op's token lets it be; behind it is the token that the op gives."""
        token = self.token_of(op)
        self.order.before(token, writes=writes)
        yield
        self.values[op.result_token] = self.order.after(token, reads=reads, writes=writes)

    # --- ops ---

    def emit(
        self, kind: type[Operation], operands: Sequence[SSAValue], result: Attribute,
        **properties: Attribute,
    ) -> SSAValue:  # fmt: skip
        """The result of a pure op; an earlier one of the same operands where there is one."""
        return self.emitter.pure(kind, operands, result, properties)

    def emits(
        self, kind: type[Operation], result: Attribute, **properties: Attribute
    ) -> Callable[..., SSAValue]:
        """The results of pure ops of a kind, by their operands."""
        return self.emitter.emits(kind, result, properties)

    def constant(self, number: Any, type_: Attribute) -> SSAValue:
        """A constant of a scalar type."""
        attribute: Any = number_attribute(number, type_)
        if isinstance(type_, IntegerType):
            return self.emitter.constant(attribute.value.data, type_.bitwidth)
        # Quicker than its hash.
        return self.emitter.once(
            ("scalar", pack("d", attribute.value.data), type_.name),
            lambda: arith.ConstantOp.create(properties={"value": attribute}, result_types=[type_]),
        )

    def adds_first(self, product: Multiplication) -> SSAValue | None:
        """The condition under which the first MMA of a product adds; None where it does."""
        return self.constant(0, i1) if is_zero(product.acc) else self.adds.get(product)

    @property
    def rank(self) -> SSAValue:
        """The number of the CTA in its cluster."""
        return self.emitter.once((cluster.RankOp,), cluster.RankOp)

    @property
    def leads(self) -> SSAValue:
        """True in the CTA that issues the MMAs of its pair."""
        return self.emitter.compare("eq", self.rank, 0)

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Both of two conditions; either may be missing."""
        if a is None or b is None:
            return b if a is None else a
        return self.emitter.binary("and", a, b)

    def scalar_type(self, op: Operation, value: SSAValue) -> Attribute:
        """The type that holds an element of a tile of an op."""
        return scalar_type(op, element_of(value))

    # --- walking ---

    def at(self, op: Operation) -> None:
        """Say that an op is what is emitted from here on."""
        self.op = op
        self.emitter.location = file_location(op.location)

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block but its terminator."""
        for op in body_ops(block):
            self.lower(op)

    def lower(self, op: Operation) -> None:
        """Lower one op by its rule, unless it is `postponed`. Raises OpError where there is
        none."""
        if op in self.postponed:
            return
        self.at(op)
        rule = RULES.rule(op, "has no lowering to cute")
        if self.late_store is not None and op is self.late_store.plan.op:
            self.late_store.defer()
        else:
            rule(op, self)
        if op is self.awaits_behind:
            self.groups.wait()
        if self.crowded is None and self.scratch.bytes > self.scratch.limit:
            self.crowded = op

    def check_room(self) -> None:
        """Raise OpError where tiles are larger than shared memory."""
        if (op := self.crowded) is not None:
            raise OpError(
                op, f"'{op.name}' expected tiles that fit into the {self.scratch.limit} bytes of "
                f"shared memory of a CTA of {self.arch}, got {self.scratch.bytes}; "
                "nearest legal: smaller tiles"
            )  # fmt: skip


def _made(value: SSAValue) -> str:
    """A tile, and who makes it."""
    owner = value.owner
    made = f"'{owner.name}'" if isinstance(owner, Operation) else "what the region carries"
    return f"{tile_text(value)} of {made}"
