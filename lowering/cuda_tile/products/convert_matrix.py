"""`mmaf` and `mmai`: MMAs of warps, whose operands come through shared memory; fused multiply-adds
where there is no MMA."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.kernel.fragment_elements import elements_of, fragments_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, PlacedTile, lowers
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.products.convert_tensor_core_matrix import TensorCoreProduct
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import WarpgroupProduct
from tilewright.lowering.cuda_tile.products.fused_products import multiply_fused
from tilewright.lowering.cuda_tile.products.staged_operands import (
    OperandFragments,
    StagedOperand,
)
from tilewright.lowering.emit.registers import from_elements
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.mma_layouts import MmaLayouts, Multiplication, atom_of
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    accumulators_of,
)
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import (
    WarpgroupLayouts,
    warpgroup_layouts,
)

_KEPT = 16
"""The registers of an operand that a thread has room for beside those of a product."""
_WIDEST_RUN = 2
"""The neighbours along N that a thread computes without MMAs, as bits of their number."""


@finds(MmaFOp, MmaIOp, MmaFScaledOp)
def _product_layout(op: Any, table: LayoutTable) -> TileLayout:
    product = accumulators_of(op, table.thread_bits)
    if product is None:
        product = warpgroup_layouts(op, table.thread_bits, table.arch)
    if product is not None:
        table.products[op.result] = product
        return product.layout("C")
    atom = atom_of(op)
    if atom is None:
        return table.default(shape_of(op.acc), _WIDEST_RUN)
    return MmaLayouts.of(op, atom, table.thread_bits).layout("C")


@lowers(MmaFOp, MmaIOp, MmaFScaledOp)
def _multiply(op: Any, kernel: EntryLowering) -> None:
    atom, product = atom_of(op), kernel.table.products.get(op.result)
    if isinstance(product, Accumulators):
        TensorCoreProduct(op, product, kernel).multiply()
    elif product is not None:
        _multiply_by_warpgroups(op, product, kernel)
    elif atom is None:
        multiply_fused(op, kernel)
        kernel.ahead.read(op, MmaGroup())
    else:
        AtomProduct(op, atom, kernel).multiply()


def _multiply_by_warpgroups(
    op: MmaFOp | MmaIOp, layouts: WarpgroupLayouts, kernel: EntryLowering
) -> None:
    late = kernel.late
    if late is not None and late.op is op:
        late.defer()
        return
    if late is None or not late.is_there(op):
        WarpgroupProduct(op, layouts, kernel).multiply()
    if late is not None:
        late.multiply()


class AtomProduct:
    """A multiplication by atoms."""

    def __init__(self, op: Multiplication, atom: MmaAtom, kernel: EntryLowering):
        self.op, self.atom, self.kernel = op, atom, kernel
        self.layouts = MmaLayouts.of(op, atom, kernel.table.thread_bits)

    def multiply(self) -> None:
        """Emit it."""
        kernel, emitter = self.kernel, self.kernel.emitter
        c_layout = self.layouts.layout("C")
        elements = kernel.elements(self.op.acc, c_layout)
        a, b = self.operands()
        type_ = FragmentType.get(self.layouts.values("C"), elements[0].type)
        places = self.layouts.fragments("C")
        begun = fragments_of(elements, type_, emitter, (self.atom, "C"))
        sums = dict(zip(places, begun, strict=True))
        for k in a.steps:
            for batch, m, n, _ in places:
                inputs = [a[batch, m, 0, k], b[batch, 0, n, k], sums[batch, m, n, 0]]
                sums[batch, m, n, 0] = emitter.emit(MMA_OPS[self.atom.op](inputs, self.atom))
        kernel.ahead.read(self.op, MmaGroup())
        kernel.place(self.op.result, c_layout, elements_of([*sums.values()], emitter))

    # --- operands ---

    def operands(self) -> tuple[OperandFragments, OperandFragments]:
        """The fragments of A and B: of a product before, or as they lie in registers or in shared
        memory, else laid down there, to be read before anything else is."""
        kernel, scratch = self.kernel, self.kernel.scratch
        made: dict[str, OperandFragments] = {}
        staged: list[tuple[StagedOperand, TileLayout, Sequence[SSAValue]]] = []
        for operand, value in (("A", self.op.lhs), ("B", self.op.rhs)):
            known = kernel.emitter.known.get(self._key(operand, value))
            if (fragments := known or self._there(operand, value)) is not None:
                made[operand] = fragments
                continue
            source = kernel.table.of(value)
            elements = kernel.elements(value, source)
            own = StagedOperand.of(self.layouts, operand, source, elements[0].type)
            kernel.remark_laid_down(value, own.order)
            staged.append((own, source, elements))
        if staged:
            bases = scratch.lay_down([(at, tile, own.order) for own, at, tile in staged])
            scratch.written()
            for (own, *_), base in zip(staged, bases, strict=True):
                made[own.operand] = own.fragments(base, kernel)
        for operand, value in (("A", self.op.lhs), ("B", self.op.rhs)):
            if made[operand].registers <= _KEPT:
                kernel.emitter.remembered(self._key(operand, value), partial(made.get, operand))
        return made["A"], made["B"]

    def _key(self, operand: str, value: SSAValue) -> tuple[Any, ...]:
        """The key by which products behind this one find the fragments of an operand."""
        tile = self.kernel[value]
        if isinstance(tile, PlacedTile):
            tile = tile.layout, *tile.elements
        return tile, self.atom, self.layouts.layout(operand), operand

    def _there(self, operand: str, value: SSAValue) -> OperandFragments | None:
        """The fragments of an operand that lies in shared memory or in registers as MMAs take
        it."""
        kernel, tile = self.kernel, self.kernel.values[value]
        if isinstance(tile, SharedTile | StageTile):
            base, order = tile.place(kernel)
            staged = StagedOperand.lying(self.layouts, operand, order, tile.element)
            return None if staged is None else staged.fragments(base, kernel)
        layout = self.layouts.layout(operand)
        if not isinstance(tile, PlacedTile) or tile.layout.threads != layout.threads:
            return None
        elements, width = kernel.elements(value, layout), self.layouts.values(operand)
        type_ = FragmentType.get(width, tile.element)

        def words(number: int) -> SSAValue:
            own = elements[number * width : (number + 1) * width]
            return from_elements(own, type_, kernel.emitter, (self.atom, operand))

        return OperandFragments(self.layouts, operand, words, kernel.emitter)
