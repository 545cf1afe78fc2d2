"""Operands of MMAs that a loop does not change: laid down in shared memory once, in front of it,
and there until no loop behind it reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, PlacedTile
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.cuda_tile.products.staged_operands import StagedOperand
from tilewright.passes.cuda_tile.layouts.mma_layouts import MmaLayouts, Multiplication, atom_of
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import WarpgroupLayouts, operands_of


@entity
class HoistedOperands(LoopPart):
    """The operands that a loop keeps in shared memory. Its MMAs read them, and those that a loop
    before it has laid down, behind a barrier: its own, unless copies come with one."""

    _loop: Operation
    _kernel: EntryLowering
    _barrier: bool
    _bytes: int = 0
    _tiles: dict[SSAValue, PlacedTile | SharedTile] = factory(dict)

    def before(self, bounds: Range) -> None:
        """Lay them down."""
        kernel = self._kernel
        for product, name, value in _operands(self._loop, kernel):
            self._hoist(product, name, value)
        kernel.hoisted.append(self)
        beside = [own for own in kernel.hoisted if own._loop.parent is self._loop.parent]
        if self._barrier and any(own._tiles for own in beside):
            kernel.scratch.barrier()

    def wait(self) -> None:
        """Wait for those that copies have laid down, once the loop's own are on their way."""
        kernel = self._kernel
        for product, _, value in _unchanged(self._loop):
            layouts, tile = kernel.table.products.get(product.result), kernel.values.get(value)
            if isinstance(layouts, WarpgroupLayouts) and isinstance(tile, SharedTile):
                tile.ready()
                if value is operands_of(product)["A"]:
                    self._read(value, tile, layouts)

    def _read(self, value: SSAValue, tile: SharedTile, layouts: WarpgroupLayouts) -> None:
        """Have the fragments of A in registers, where a late product leaves some: a chip at its cap
        on power multiplies faster where MMAs read less of shared memory."""
        kernel, late = self._kernel, self._kernel.late_products
        staged = StagedOperand.lying(layouts, "A", tile.order.order, tile.element)
        registers = layouts.layout("A").count * bytes_of(tile.element) // 4
        if self._loop not in late.by_loop or registers > late.room or staged is None:
            return
        base, _ = tile.place(kernel)
        Rings.in_kernel(kernel).read_by_threads(value)
        fragments = staged.fragments(base, kernel).all
        self._tiles[value], kernel[value] = tile, replace(tile, fragments=fragments)

    def _hoist(self, product: Multiplication, name: str, value: SSAValue) -> None:
        kernel, scratch, tile = self._kernel, self._kernel.scratch, self._kernel.values[value]
        atom = atom_of(product)
        assert atom is not None and kernel.arch is not None
        layouts = MmaLayouts.of(product, atom, kernel.table.thread_bits)
        if not isinstance(tile, PlacedTile):
            return
        if tile.layout.threads == layouts.layout(name).threads:
            return
        staged = StagedOperand.of(layouts, name, tile.layout, tile.element)
        order, size = staged.order, staged.order.bytes
        if scratch.reserved + size > shared_memory_limit(kernel.arch):
            return
        (base,) = scratch.lay_down([(tile.layout, tile.elements, order)])
        scratch.reserved += size
        self._bytes += size
        self._tiles[value], kernel.has_hoisted = tile, True
        kernel[value] = StageTile(base, order, tile.element)

    def after(self, bounds: Range) -> None:
        """Behind the loop: what no loop behind it reads is in registers again, the last laid down
        first."""
        hoisted = self._kernel.hoisted
        while hoisted and hoisted[-1]._is_done(self._loop):
            hoisted.pop().release()

    def release(self) -> None:
        """Have them in registers again."""
        self._kernel.values.update(self._tiles)
        self._kernel.scratch.reserved -= self._bytes

    def _is_done(self, loop: Operation) -> bool:
        """True behind a loop where none of the same block reads any of them."""
        if not self._tiles:
            return True
        op = loop.next_op if self._loop.parent is loop.parent else self._loop
        while op is not None and not any(x in self._tiles for *_, x in _operands(op, self._kernel)):
            op = op.next_op
        return op is None


def _operands(
    loop: Operation, kernel: EntryLowering
) -> Iterator[tuple[Multiplication, str, SSAValue]]:
    """The operands of a loop's MMAs of warps that come from outside of it."""
    if kernel.arch is None or not kernel.hoists:
        return
    for product, name, value in _unchanged(loop):
        if atom_of(product) is not None and product.result not in kernel.table.products:
            yield product, name, value


def _unchanged(loop: Operation) -> Iterator[tuple[Multiplication, str, SSAValue]]:
    for op in loop.walk():
        if not isinstance(op, Multiplication):
            continue
        for name, value in (("A", op.lhs), ("B", op.rhs)):
            block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
            if block is not None and not loop.is_ancestor(block):
                yield op, name, value
