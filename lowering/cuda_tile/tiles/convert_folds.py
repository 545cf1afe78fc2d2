"""`reduce`: within a thread, then between the lanes of a warp by shuffles, then between warps
through shared memory.

A fold goes through the bits of the dimension's coordinate: what differs in a bit is combined, the
upper half onto the lower one, the highest bit of each kind first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import islice, takewhile

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr, f32, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import terminator, users
from tilewright.dialects.cuda_tile.ops import integer as integers
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp, YieldOp
from tilewright.dialects.cuda_tile.ops.floating_point import AddFOp, MaxFOp, MinFOp, MulFOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL
from tilewright.dialects.integers import integer_of
from tilewright.dialects.ptx.control_flow import BY_WARPS
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    bitcast,
    compared_floats,
    integer_function,
    on_integers,
)
from tilewright.lowering.cuda_tile.arithmetic.convert_floats import float_function
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.tile.convert_reduce import shuffled
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, bits_of, dim_bits
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on, region_of
from tilewright.source.diagnostic import file_location

Columns = list[list[SSAValue]]
"""The registers of each of the tiles that are folded together."""

_READ = 3
"""The bits of warps' numbers of which a thread folds what all of them have: for more, shuffles are
fewer instructions than reading and folding it are, and take no registers."""
_FLOATS = (AddFOp, MulFOp, MaxFOp, MinFOp)
_COMMUTATIVE = (
    *_FLOATS, integers.AddIOp, integers.MulIOp, integers.AndIOp, integers.OrIOp, integers.XOrIOp,
    integers.MaxIOp, integers.MinIOp,
)  # fmt: skip


def folded_layout(op: ReduceOp | ScanOp, table: LayoutTable) -> TileLayout:
    """The layout in which tiles are folded: that of the first which has one."""
    known = (table.layouts.get(operand) for operand in op.operands)
    own = next((layout for layout in known if layout is not None), None)
    return own or table.default(shape_of(op.operands[0]))


def _dimension(op: ReduceOp | ScanOp) -> range:
    return dim_bits(shape_of(op.operands[0]))[integer_of(op.dim)]


def find_body(op: ReduceOp | ScanOp, table: LayoutTable) -> None:
    """Find the layouts of the region of a fold, whose values are scalars."""
    for argument in op.body.block.args:
        table.layouts[argument] = table.scalar
    table.find(op.body.block)


class Fold:
    """A fold of tiles in one layout, and its region as a function of elements."""

    def __init__(self, op: ReduceOp | ScanOp, kernel: EntryLowering, layout: TileLayout):
        self.op, self.kernel, self.layout = op, kernel, layout
        self.dimension = _dimension(op)
        block = op.body.block
        inner = [x for x in block.ops if not isinstance(x, YieldOp)]
        self.commutes = (
            len(inner) == 1
            and isinstance(inner[0], _COMMUTATIVE)
            and set(inner[0].operands) == set(block.args)
        )
        if self.commutes:
            [only] = inner
            function_of = float_function if isinstance(only, _FLOATS) else integer_function
            self.compute, self.location = function_of(only, kernel), file_location(only.location)
            self.swaps = only.operands[0] is not block.args[0]

    def combined(
        self, elements: Sequence[SSAValue], accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The region's values for elements and what was folded before."""
        kernel, block, scalar = self.kernel, self.op.body.block, self.kernel.table.scalar
        if self.commutes:
            pair = (accumulators[0], elements[0]) if self.swaps else (elements[0], accumulators[0])
            outer, kernel.emitter.location = kernel.emitter.location, self.location
            value = self.compute(*pair)
            kernel.emitter.location = outer
            return [value]
        for i, (element, accumulator) in enumerate(zip(elements, accumulators, strict=True)):
            kernel.place(block.args[2 * i], scalar, [accumulator])
            kernel.place(block.args[2 * i + 1], scalar, [element])
        kernel.lower_block(block)
        last = terminator(block)
        values = [kernel.scalar(value) for value in last.operands]
        kernel.at(self.op)
        return values

    def across_lanes(self, row: Sequence[SSAValue], thread_bit: int) -> list[SSAValue]:
        """The values of the lane whose number differs in a bit."""
        emitter = self.kernel.emitter
        return [shuffled(value, 1 << thread_bit, value.type, emitter) for value in row]

    def ordered(
        self, own: Sequence[SSAValue], other: Sequence[SSAValue], thread_bit: int
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """The values of the thread with the bit, and of the one without."""
        emitter, is_set = self.kernel.emitter, self.kernel.threads.is_set(thread_bit)
        pairs = list(zip(own, other, strict=True))
        upper = [emitter.select(is_set, x, y) for x, y in pairs]
        return upper, [emitter.select(is_set, y, x) for x, y in pairs]


@finds
def _reduced(op: ReduceOp, table: LayoutTable) -> TileLayout:
    find_body(op, table)
    layout, gone = folded_layout(op, table), _dimension(op)
    rest, dealt = _rest(layout, gone), table.default(shape_of(op.results[0]))
    crosses = any(bit in gone for bit in layout.threads[WARP_BITS:])
    spread = crosses and dealt.count < rest.count and not any(map(_grows, op.results))
    return dealt if spread else rest


def _rest(layout: TileLayout, gone: range) -> TileLayout:
    """The layout of what is left of a tile without the bits of a dimension."""
    kept = {bit for bit in (*layout.threads, *layout.registers) if bit is not None} - {*gone}
    return layout.renumbered({bit: bit - len(gone) * (bit >= gone.stop) for bit in kept})


def _grows(tile: SSAValue) -> bool:
    """True where a larger tile is computed of one."""
    todo, seen = [tile], {tile}
    while todo:
        value = todo.pop()
        for op in list(users(value)):
            regions = [x for x in (op, region_of(op)) if isinstance(x, ForOp | LoopOp | IfOp)]
            columns = [column for x in regions for column in passed_on(x) if value in column]
            results = [x for column in columns for x in column] if regions else op.results
            tiles = [x for x in results if isinstance(x.type, TileType) and x not in seen]
            if any(bits_of(shape_of(x)) > bits_of(shape_of(tile)) for x in tiles):
                return True
            seen.update(tiles)
            todo += tiles
    return False


@lowers
def _reduce(op: ReduceOp, kernel: EntryLowering) -> None:
    if op in kernel.folded:
        kernel.folded.remove(op)
        return
    folds = [
        _Reduction(one, kernel, folded_layout(one, kernel.table))
        for one in (op, *_beside(op, kernel))
    ]
    kernel.folded |= {fold.op for fold in folds[1:]}
    layout, columns = folds[0].layout, list[Columns]()
    for fold in folds:
        layout, own = fold.in_warps(fold.layout, fold.operands)
        columns.append(own)
    if gathered := folds[0].gathered(layout):
        moved = iter(_exchanged([x for own in columns for x in own], layout, gathered, kernel))
        for i, fold in enumerate(folds):
            _, columns[i] = fold.in_warps(gathered, list(islice(moved, len(columns[i]))))
    for fold, own in zip(folds, columns, strict=True):
        for result, column in zip(fold.op.results, own, strict=True):
            kernel.place(result, kernel.table.of(result), column)


def _beside(op: ReduceOp, kernel: EntryLowering) -> Iterator[ReduceOp]:
    """The folds behind one in its block of tiles that are known before it, which lie as its own do
    before and behind."""
    table, other, behind = kernel.table, op.next_op, set[object]()
    warps = folded_layout(op, table).threads[WARP_BITS:]
    if not any(bit in _dimension(op) for bit in warps):
        return

    def known(fold: ReduceOp) -> object:
        types = [(x.type, table.of(x)) for x in fold.results]
        return types, folded_layout(fold, table), _dimension(fold)

    while other is not None:
        ready = behind.isdisjoint(x.owner for x in other.operands)
        if ready and isinstance(other, ReduceOp) and known(other) == known(op):
            yield other
        behind.add(other)
        other = other.next_op


def _exchanged(
    tiles: Columns, source: TileLayout, target: TileLayout, kernel: EntryLowering
) -> Columns:
    """Tiles in another layout: two or four of one type as one tile of more elements."""
    if not tiles:
        return []
    alike = list(takewhile(lambda tile: tile[0].type == tiles[0][0].type, tiles))
    count = 1 << len(alike).bit_length() - 1
    free = 1 + max(
        (bit for bit in (*source.threads, *source.registers) if bit is not None), default=0
    )
    more = range(free, free + count.bit_length() - 1)
    both = [TileLayout(x.threads, (*x.registers, *more)) for x in (source, target)]
    elements = [element for tile in tiles[:count] for element in tile]
    moved = iter(kernel.scratch.converted(both[0], elements, both[1]))
    own = [list(islice(moved, target.count)) for _ in range(count)]
    return own + _exchanged(tiles[count:], source, target, kernel)


class _Reduction(Fold):
    @property
    def operands(self) -> Columns:
        """The elements of every tile."""
        return [list(self.kernel.elements(x, self.layout)) for x in self.op.operands]

    def gathered(self, layout: TileLayout) -> TileLayout | None:
        """The layout in which threads have what is left in all warps; None of one warp."""
        warps = self._thread_bits(layout, lanes=False)
        return (self._spread(warps) or self._gathered(layout)) if warps else None

    def in_warps(self, layout: TileLayout, columns: Columns) -> tuple[TileLayout, Columns]:
        """The elements left in a warp."""
        fold = self._by_rows if self._are_maxima_of_scores else self._left
        return fold(layout, columns)

    @property
    def _are_maxima_of_scores(self) -> bool:
        """True of maxima of scores that are there when an iteration begins: instructions are what
        counts in such a loop, and Hopper compares three integers in one. Of two loops ptxas
        spills."""
        late, op = self.kernel.late, self.op.body.block.first_op
        late_products = self.kernel.late_products
        return (
            late is not None
            and late.scores is not None
            and len(late_products.by_loop) - len(late_products.following) == 1
            and isinstance(op, MaxFOp)
            and "propagate_nan" not in op.properties
            and self.commutes
            and element_of(self.op.operands[0]) == f32
        )

    def _by_rows(self, layout: TileLayout, columns: Columns) -> tuple[TileLayout, Columns]:
        """The maxima left in a warp, row by row."""
        row = TileLayout(layout.threads, tuple(x for x in layout.registers if x in self.dimension))
        kept = tuple(x for x in layout.registers if x not in self.dimension)
        (elements,), maxima, threads = columns, list[SSAValue](), layout.threads
        for place in TileLayout(threads, kept).places:
            own = [elements[layout.register_at[place | other]] for other in row.places]
            rest, largest = self._largest(row, own)
            maxima.append(largest)
            threads = rest.threads
        return TileLayout(threads, kept), [maxima]

    def _largest(self, layout: TileLayout, elements: list[SSAValue]) -> tuple[TileLayout, SSAValue]:
        """The largest element of a row. Where the largest one of integers is no negative number, it
        has the bits of that; where it is in a row of the warp, floats are compared after all."""
        kernel, of_floats = self.kernel, self.compute
        self.compute = larger = partial(on_integers, kernel, arith.MaxSIOp)
        words = [bitcast(kernel, x, i32) for x in elements]
        while len(words) > 1:
            words = [*words[3:], reduce(larger, words[:3])]
        rest, ((word,),) = self._left(TileLayout(layout.threads, ()), [words])
        self.compute, largest = of_floats, bitcast(kernel, word, f32)
        fits = compared_floats(kernel, "greater_than_or_equal", largest, kernel.constant(0.0, f32))
        results = kernel.emitter.either(
            fits, lambda: [largest], lambda: self._left(layout, [elements])[1][0]
        )
        branch = results[0].owner
        assert isinstance(branch, Operation)
        branch.attributes[BY_WARPS] = UnitAttr()
        return rest, results[0]

    def _left(self, layout: TileLayout, columns: Columns) -> tuple[TileLayout, Columns]:
        """The elements left in a warp."""
        layout, columns = self._in_registers(layout, columns)
        lanes = self._thread_bits(layout, lanes=True)
        for i in lanes:
            columns = self._between_lanes(columns, i)
        threads = (None if i in lanes else bit for i, bit in enumerate(layout.threads))
        return TileLayout(tuple(threads), layout.registers), columns

    def _spread(self, warps: Sequence[int]) -> TileLayout | None:
        """Every thread has what is left in all warps of the few elements of the result that are its
        own, where these are dealt out to all threads."""
        own, first = self.kernel.layout(self.op.results[0]), self.dimension.start
        if own is None or own == _rest(self.layout, self.dimension):
            return None
        moved = [bit + len(self.dimension) * (bit >= first) for bit in own.registers]
        threads = (
            None if bit is None else bit + len(self.dimension) * (bit >= first)
            for bit in own.threads
        )
        bits = [bit for i in warps if (bit := self.layout.threads[i]) is not None]
        return TileLayout(tuple(threads), (*moved, *bits))

    def _gathered(self, layout: TileLayout) -> TileLayout:
        """Every warp has what is left in all of them, in registers and in lanes that are free."""
        warps = self._thread_bits(layout, lanes=False)
        threads = [None if i in warps else bit for i, bit in enumerate(layout.threads)]
        bits = [bit for i in warps if (bit := layout.threads[i]) is not None]
        free = [i for i, bit in enumerate(threads[:WARP_BITS]) if bit is None]
        read = max(_READ, len(bits) - len(free))
        for i, bit in zip(free, bits[read:], strict=False):
            threads[i] = bit
        return TileLayout(tuple(threads), (*layout.registers, *bits[:read]))

    def _thread_bits(self, layout: TileLayout, *, lanes: bool) -> list[int]:
        """The bits of the thread's number that are the dimension's, its highest one first."""
        own = [
            i for i, bit in enumerate(layout.threads)
            if bit in self.dimension and (i < WARP_BITS) is lanes
        ]  # fmt: skip
        return sorted(own, key=lambda i: -(layout.threads[i] or 0))

    def _in_registers(self, layout: TileLayout, columns: Columns) -> tuple[TileLayout, Columns]:
        """The elements left in a thread: the highest bit is folded first, but one result is
        finished before the next one is begun, so that few are in registers at once; those of two
        neighbours beside each other where instructions fold two."""
        bits = [bit for bit in reversed(self.dimension) if bit in layout.registers]
        kept = tuple(bit for bit in layout.registers if bit not in bits)
        rest = TileLayout(layout.threads, kept)

        def folded(places: Sequence[int], count: int) -> list[Sequence[SSAValue]]:
            if count == 0:
                registers = map(layout.register_at.__getitem__, places)
                return [[column[register] for column in columns] for register in registers]
            upper = folded([place | 1 << bits[count - 1] for place in places], count - 1)
            return [*map(self.combined, upper, folded(places, count - 1))]

        def row(place: int) -> Sequence[SSAValue]:
            if len(bits) > 1 and self._by_two:
                lower, upper = folded([place, place | 1 << bits[-1]], len(bits) - 1)
                return self.combined(upper, lower)
            return folded([place], len(bits))[0]

        rows = [*map(row, rest.places)]
        return rest, [list(column) for column in zip(*rows, strict=True)]

    @property
    def _by_two(self) -> bool:
        """True of sums for which there are instructions of two f32."""
        arch, only = self.kernel.arch, self.op.body.block.first_op
        paired = arch is not None and arch.supports(DATACENTER_BLACKWELL)
        return paired and self.commutes and isinstance(only, AddFOp | MulFOp)

    def _between_lanes(self, columns: Columns, thread_bit: int) -> Columns:
        rows: list[list[SSAValue]] = []
        for own in zip(*columns, strict=True):
            other = self.across_lanes(own, thread_bit)
            if self.commutes:
                rows.append(self.combined(own, other))
            else:
                rows.append(self.combined(*self.ordered(own, other, thread_bit)))
        return [list(column) for column in zip(*rows, strict=True)]
