"""`mmaf_scaled` of f16: MMAs over the elements of each scale factor, whose sums are scaled."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import float_resized
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_floats
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, lowers
from tilewright.lowering.cuda_tile.layouts.elements import shape_of
from tilewright.lowering.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout, dim_bits
from tilewright.lowering.cuda_tile.layouts.mma_layouts import MmaLayouts, atom_of
from tilewright.lowering.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    accumulators_of,
)
from tilewright.lowering.cuda_tile.products.convert_matrix import (
    AtomProduct,
    bits_along,
    moved_bits,
    with_depth,
)
from tilewright.lowering.cuda_tile.products.convert_tensor_core_matrix import TensorCoreProduct
from tilewright.lowering.tile.registers import extracted, from_elements


@finds(MmaFScaledOp)
def _product_layout(op: MmaFScaledOp, table: LayoutTable) -> TileLayout:
    accumulators = accumulators_of(op, table.thread_bits)
    if accumulators is not None:
        table.products[op.result] = accumulators
        return accumulators.layout()
    atom = atom_of(op)
    if atom is None:
        return table.default(shape_of(op.acc))
    return MmaLayouts.of(op, atom, table.thread_bits).layout("C")


@lowers(MmaFScaledOp)
def _multiply(op: MmaFScaledOp, kernel: Kernel) -> None:
    accumulators = kernel.table.products.get(op.result)
    if isinstance(accumulators, Accumulators):
        TensorCoreProduct(op, accumulators, kernel).multiply()
        return
    atom = atom_of(op)
    assert atom is not None
    _ScaledProduct(op, atom, kernel).multiply()


class _ScaledProduct(AtomProduct):
    """A scaled multiplication by atoms of f16."""

    def multiply(self) -> None:
        """Emit it."""
        kernel, emitter, op = self.kernel, self.kernel.emitter, self.op
        assert isinstance(op, MmaFScaledOp)
        layout, width = self.layouts.layout("C"), self.layouts.values("C")
        totals = list(kernel.elements(op.acc, layout))
        left, right = self._factors(op, layout)
        type_, zero = FragmentType.get(width, Float32Type()), kernel.constant(0.0, Float32Type())
        block = shape_of(op.lhs)[-1] // shape_of(op.lhs_scale)[-1]
        a, b = self.operands()
        places = self.layouts.fragments("C")
        for number in range(shape_of(op.lhs_scale)[-1]):
            for i, (batch, m, n, _) in enumerate(places):
                total = from_elements([zero] * width, type_, emitter)
                for k in [k for k in a.steps if k // block == number]:
                    inputs = [a[batch, m, 0, k], b[batch, 0, n, k], total]
                    total = emitter.emit(MMA_OPS[self.atom.op](inputs, self.atom))
                for j in range(width):
                    register = i * width + j
                    factors = left[register][number], right[register][number]
                    part = extracted(total, j, emitter)
                    totals[register] = self._added(totals[register], part, *factors)
        kernel.place(op.result, layout, totals)

    def _factors(
        self, op: MmaFScaledOp, layout: TileLayout
    ) -> tuple[list[list[SSAValue]], list[list[SSAValue]]]:
        """For each register of the result its factors, one for each block of K, of A and of B."""
        kernel, count = self.kernel, shape_of(op.lhs_scale)[-1]
        *batch, rows, columns = dim_bits(shape_of(op.acc))
        columns_of: list[list[list[SSAValue]]] = []
        for scale, kept, along, depth in (
            (op.lhs_scale, rows, -2, -1), (op.rhs_scale, columns, -1, -2),
        ):  # fmt: skip
            own = dim_bits(shape_of(scale))
            bits = bits_along(kept, own[along])
            if batch:
                bits |= bits_along(batch[0], own[0])
            whole = with_depth(layout, bits, own[depth])
            elements = kernel.elements(scale, whole)
            columns_of.append(
                [
                    [
                        elements[whole.register_at[moved_bits(place, bits) | k << own[depth].start]]
                        for k in range(count)
                    ]
                    for place in layout.places
                ]
            )
        return columns_of[0], columns_of[1]

    def _added(self, total: SSAValue, part: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        kernel, wide = self.kernel, x.type
        factor = on_floats(kernel, arith.MulfOp, x, y)
        part, total = (float_resized(kernel, value, wide) for value in (part, total))
        scaled = on_floats(kernel, math.FmaOp, part, factor, total)
        return float_resized(kernel, scaled, Float32Type())
