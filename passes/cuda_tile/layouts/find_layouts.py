"""The layout of every tile of a kernel: from memory accesses, MMAs and folds on to what is computed
of them.

A tile that is cheap to compute anywhere has none (constants, `iota`, what is broadcast, and what is
computed of those alone): it is computed in the layout of whoever reads it. What regions carry has
the layout that it comes with first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.aggregate import ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.conversions import ConversionOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp, ExtractOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import factory
from tilewright.dialects.op_rules import OpRules
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import (
    TileLayout,
    bits_of,
    blocked,
    dim_bits,
    log2,
)
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import Accumulators
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import WarpgroupLayouts, is_added

AccumulatorLayouts = WarpgroupLayouts | Accumulators
Layouts = Sequence[TileLayout | None]
Finder = Callable[[Any, "LayoutTable"], "TileLayout | None"]

FINDERS = OpRules[Finder]()
"""The layout of an op's results, where it is not that of its operands."""

finds = FINDERS.of


@dataclass
class LayoutTable:
    """The layouts that were found, for a CTA of `1 << thread_bits` threads."""

    thread_bits: int
    arch: Target | None
    products: dict[SSAValue, AccumulatorLayouts] = factory(dict)
    """Where the accumulators are whose values these are, or are carried on from."""
    wanted: Mapping[Operation, TileLayout] = factory(dict)
    """The layouts in which threads read what has been loaded ahead."""
    layouts: dict[SSAValue, TileLayout | None] = factory(dict)

    @property
    def scalar(self) -> TileLayout:
        """That of tiles of one element, which every thread has."""
        return TileLayout((None,) * self.thread_bits, ())

    def default(self, shape: Sequence[int], run: int = 0) -> TileLayout:
        """A layout in row-major order, runs of elements in registers."""
        return self.dealt(range(bits_of(shape)), run)

    def dealt(self, order: Sequence[int], run: int) -> TileLayout:
        """Elements dealt out in an order of their bits, in runs that leave no thread idle."""
        run = max(0, min(run, len(order) - self.thread_bits))
        return blocked(order, self.thread_bits, run)

    def of(self, value: SSAValue) -> TileLayout:
        """The layout of a tile; the default one where any will do."""
        layout = self.layouts.get(value)
        assert isinstance(value.type, TileType)
        return self.default(value.type.shape) if layout is None else layout

    # --- walking ---

    def find(self, block: Block) -> None:
        """Find the layouts of a block."""
        for op in block.ops:
            match op:
                case ForOp() | LoopOp():
                    self._find_loop(op)
                case IfOp():
                    for region in op.regions:
                        if region.blocks:
                            self.find(region.block)
                    self._settle(passed_on(op), first=True)
                case _:
                    self._find_results(op)

    def _find_results(self, op: Operation) -> None:
        tiles = [result for result in op.results if isinstance(result.type, TileType)]
        if not tiles:
            return
        finder = FINDERS.get(type(op))
        layout = finder(op, self) if finder else self.common(op.operands, tiles[0])
        for result in tiles:
            self.layouts[result] = layout

    def common(self, operands: Sequence[SSAValue], result: SSAValue) -> TileLayout | None:
        """The layout of what is computed element by element: that of the first operand of its
        shape that has one."""
        assert isinstance(result.type, TileType)
        for operand in operands:
            if isinstance(operand.type, TileType) and operand.type.shape == result.type.shape:
                layout = self.layouts.get(operand)
                if layout is not None:
                    return layout
        return None

    def _find_loop(self, op: ForOp | LoopOp) -> None:
        block, columns = op.region.block, passed_on(op)
        ranged, count = isinstance(op, ForOp), len(op.init_values)
        if ranged:
            self.layouts[block.args[0]] = self.scalar
        for initial, argument, *_ in columns[:count]:
            self.layouts[argument] = self.layouts.get(initial)
        self.find(block)
        if self._settle([column[1 : -1 if ranged else None] for column in columns[:count]]):
            self.find(block)
        if not ranged:
            self._settle(columns[count:], first=True)
            return
        for _, argument, *again, result in columns:
            self.layouts[result] = self.layouts[argument]
            self._carry_product(argument, result, again)

    def _carry_product(
        self, argument: SSAValue, result: SSAValue, sources: Sequence[SSAValue]
    ) -> None:
        """Let a loop carry accumulators as they are."""
        products = [self.products.get(source) for source in sources]
        product = products[0] if products and products == products[:1] * len(products) else None
        if any(isinstance(source.owner, MmaFOp) and is_added(source.owner) for source in sources):
            return
        others = argument.block.args if isinstance(argument, BlockArgument) else ()
        if isinstance(product, Accumulators) and product in map(self.products.get, others):
            return
        if product is not None and product.layout("C") == self.layouts[argument]:
            self.products[argument] = self.products[result] = product

    def _settle(self, columns: Sequence[Sequence[SSAValue]], *, first: bool = False) -> bool:
        """Give values that have no layout (`first`: all) the one that the first of their sources
        behind them has, else the default one; whether any had none."""
        changed = False
        for value, *sources in columns:
            if not isinstance(value.type, TileType):
                continue
            if not first and self.layouts.get(value) is not None:
                continue
            changed = True
            known = (self.layouts.get(source) for source in sources)
            layout = next((layout for layout in known if layout is not None), None)
            self.layouts[value] = layout or self.default(value.type.shape)
        return changed


def part_bits(op: ExtractOp) -> dict[int, bool] | None:
    """The bits of a tile's numbers that say which part of it is extracted, and what they are there;
    None where indices are no constants."""
    fixed: dict[int, bool] = {}
    parts = zip(op.indices, dim_bits(shape_of(op.source)), shape_of(op.result), strict=True)
    for index, bits, extent in parts:
        if not isinstance(index.owner, ConstantOp):
            return None
        number = int(index.owner.elements.array().reshape(-1)[0])
        low = log2(extent)
        fixed.update({bit: bool(number >> i & 1) for i, bit in enumerate(bits[low:])})
    return fixed


def held_bits(value: SSAValue, count: int) -> set[int]:
    """The bits of a tile's numbers in which the elements of a thread are to differ: those by which
    parts of it are extracted, and of a dimension that it is scanned along so many of the lowest.
    The tile may be converted first."""
    bits: set[int] = set()
    for use in value.uses:
        op = use.operation
        if isinstance(op, ExtractOp):
            bits |= set(part_bits(op) or ())
        elif isinstance(op, ScanOp):
            bits |= {*dim_bits(shape_of(value))[op.dim.value.data][:count]}  # type: ignore[attr-defined]
        elif isinstance(op, ConversionOp):
            bits |= held_bits(op.results[0], count)
    return bits


def order_of(
    tile: SSAValue, along: Sequence[int], above: Sequence[int], thread_bits: int, run: int
) -> list[int]:
    """The bits of a tile's numbers in the order in which elements are dealt out: those of the
    dimension `along` neighbours first, those in which elements of a thread differ last."""
    order = [*along, *above]
    last = held_bits(tile, max(len(order) - thread_bits - run, 0))
    if not last.isdisjoint(along):
        last = held_bits(tile, 0)
    return [*(bit for bit in order if bit not in last), *(bit for bit in order if bit in last)]


def find_layouts(
    block: Block,
    thread_bits: int,
    arch: Target | None,
    wanted: Mapping[Operation, TileLayout] | None,
) -> LayoutTable:
    """The layouts of a kernel's tiles; `wanted` of some loads."""
    table = LayoutTable(thread_bits, arch, wanted=wanted or {})
    for argument in block.args:
        table.layouts[argument] = table.scalar
    table.find(block)
    return table
