"""The second of two products of a loop, an iteration late: of attention the weights times V are
multiplied while threads compute the weights of the next iteration.

    first iteration:   s = q k(0);                                 p = softmax of s;  o = o * a
    for j = 1 ..:      s = q k(j) and o += p v(j - 1), in flight;  p = softmax of s;  o = o * a
    behind the last:   o += p v(last)

Every sum is computed as it stands in the kernel. The loop carries the weights in addition.
"""

from __future__ import annotations

from functools import partial

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.cuda_tile.pipelines.ring import Ring
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import (
    AccumulatorTile,
    WarpgroupProduct,
    accumulators,
)
from tilewright.passes.cuda_tile.analysis.find_late_products import LateMultiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import is_added


class LateProduct(LoopPart):
    """A late product on its way: `weights` are the fragments of A that it is behind with, which the
    loop carries."""

    def __init__(self, late: LateMultiplication, ring: Ring, kernel: EntryLowering) -> None:
        self.op: Operation = late.op
        self.sums, self.ring = late.sums, ring
        self._late, self._kernel = late, kernel
        self.weights: list[SSAValue] = []
        self.rescaled: SSAValue | None = None

    @classmethod
    def of(cls, loop: ForOp, kernel: EntryLowering) -> LateProduct | None:
        """That of a loop, where others copy to its stages."""
        late, ring = kernel.late_products.by_loop.get(loop), Rings.in_kernel(kernel).of(loop)
        return None if late is None or ring is None else cls(late, ring, kernel)

    def begin(self, bounds: Range) -> None:
        """Be behind with what the iteration before has put off."""
        self.weights = list(self.carried)

    def end(self) -> None:
        """Leave to the next one what this has put off."""
        self.carried = self.weights

    @property
    def types(self) -> list[Attribute]:
        """The types of the weights."""
        layouts = self._late.layouts
        type_ = FragmentType.of(layouts.atom.element("A"), layouts.values("A"))
        return [type_] * len(layouts.fragments("A"))

    def defer(self) -> None:
        """Remember what is to be multiplied."""
        kernel, layouts = self._kernel, self._late.layouts
        weights = WarpgroupProduct(self._late.op, layouts, kernel).in_registers()
        assert weights is not None
        self.weights = list(weights.values())
        given, result = self._late.op.acc, self._late.op.result
        if is_added(self._late.op):
            own = layouts.layout("C")
            kernel.place(result, own, kernel.elements(given, own))
        else:
            sums = accumulators(given, layouts, kernel)
            kernel[result] = AccumulatorTile(layouts, sums, None)

    @property
    def _is_awaited_once(self) -> bool:
        """True where iterations wait for B of the next one: of 8 bits, in one loop."""
        return is_added(self._late.op) and len(self._kernel.late_products.by_loop) == 1

    def wait(self) -> None:
        """Wait for B of what was put off, at the end of the first iteration."""
        if self._is_awaited_once:
            self.ring.wait(self._late.group, self.ring.place)

    def multiply(self) -> None:
        """Multiply what was put off, B being in the stage before; the loop carries the sums that
        it adds to. ptxas would wait for the MMAs in front of all that threads compute meanwhile;
        that they wait for the next B keeps it from that."""
        if not self.weights:
            return
        kernel, ring, layouts = self._kernel, self.ring, self._late.layouts
        now, ring.place = ring.place, ring.before(ring.place)
        if self._is_awaited_once:
            ring.is_full(self._late.group, ring.place)
        for op in self._loading():
            kernel.lower(op)
        kernel.at(self.op)
        product = WarpgroupProduct(self._late.op, layouts, kernel)
        weights = dict(zip(layouts.fragments("A"), self.weights, strict=True))
        kernel[self.sums] = product.multiplied(weights, self.sums)
        self.rescaled = self.sums
        ring.place, self.weights = now, []
        product.group.before_wait = partial(ring.wait, self._late.group, now)

    def _loading(self) -> list[Operation]:
        """The load of B, and the ops between it and the product."""
        ops, value = list[Operation](), self._late.op.rhs
        while isinstance(op := value.owner, Operation):
            ops.insert(0, op)
            if isinstance(op, LoadViewTkoOp):
                break
            value = op.operands[0]
        return ops
