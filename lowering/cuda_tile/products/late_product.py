"""The second of two products of a loop, an iteration late: of attention the weights times V are
multiplied while threads compute the weights of the next iteration.

    first iteration:   s = q k(0);                                 p = softmax of s;  o = o * a
    for j = 1 ..:      s = q k(j) and o += p v(j - 1), in flight;  p = softmax of s;  o = o * a
    behind the last:   o += p v(last)

Every sum is computed as it stands in the kernel. The loop carries the weights in addition.

Where `p v(j - 1)` has registers of its own until it is added, `q k(j + 1)` is multiplied as soon as
it is, while threads compute the rest of p: nobody waits for scores. Behind the last iteration its
own are computed once more, and nobody reads them. A loop behind it that masks scores goes on with
the weights and the scores that it has left:

    for j = 1 .. k - 1:   ..
    first iteration, if there was none
    for j = k ..:         ..
    behind the last:      o += p v(last)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.cuda_tile.pipelines.ring import Ring, StagePlace
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import (
    AccumulatorTile,
    WarpgroupProduct,
    accumulator_type,
    accumulators,
)
from tilewright.lowering.cuda_tile.products.rows_in_turn import take_rows_in_turn
from tilewright.passes.cuda_tile.analysis.find_late_products import LateMultiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import WarpgroupLayouts, is_added


class LateProduct(LoopPart):
    """A late product on its way: `weights` are the fragments of A that it is behind with, `scores`
    the accumulators of an early one, which the loop carries."""

    def __init__(self, late: LateMultiplication, ring: Ring, kernel: EntryLowering):
        self.ring, self._kernel = ring, kernel
        # Loops behind the first one are the end of it that masks scores, which takes registers.
        first = next(iter(kernel.late_products.by_loop.values()))
        self._is_long = is_added(late.op) and late is first
        self.ran: SSAValue | None = None
        """True where there was an iteration, of a loop in front of it too."""
        self.goes_on: SSAValue | None = None
        """True where the loop behind it, if one goes on with what it leaves, has an iteration."""
        self.scores: AccumulatorTile | None = None
        self.rescaled: SSAValue | None = None
        self._marks = list[Operation]()
        """The first op of the wait for it, the last one of its addition, and of the next scores."""
        self.be(late)

    def be(self, late: LateMultiplication) -> None:
        """Be that of a loop: of another one, which goes on with what it has put off."""
        self.op: Operation = late.op
        self.sums, self._late, self.goes_on = late.sums, late, None
        self._early = late.early if self._is_long else None
        self.weights: Sequence[SSAValue] = ()

    @classmethod
    def of(cls, loop: ForOp, kernel: EntryLowering) -> LateProduct | None:
        """That of a loop, where others copy to its stages."""
        late, ring = kernel.late_products.by_loop.get(loop), Rings.in_kernel(kernel).of(loop)
        return None if late is None or ring is None else cls(late, ring, kernel)

    def start(self, bounds: Range) -> None:
        """Begin the first iteration."""
        self._bounds = bounds
        if self._early is not None:
            # Its stage is free behind the next scores, which may be the same ones.
            self._multiply_early(self.ring.place).completed.clear()

    def begin(self, bounds: Range) -> None:
        """Be behind with what the iteration before has put off."""
        self._bounds = bounds
        self.after(bounds)
        if self._early is not None:
            fragments = tuple(self.carried[len(self.weights) :])
            self.scores = AccumulatorTile(self._early_layouts, fragments, None)

    def end(self) -> None:
        """Leave to the next one what this has put off."""
        if self._marks:
            waited, added, issued = self._marks
            self.weights = take_rows_in_turn(waited, added, issued, self.weights)
            self._marks.clear()
        scores = () if self.scores is None else self.scores.fragments
        self.carried = [*self.weights, *scores]

    def after(self, bounds: Range) -> None:
        """Be behind with what the last iteration has put off."""
        self.weights = self.carried[: len(self._late.layouts.fragments("A"))]
        self.scores = None

    @property
    def types(self) -> list[Attribute]:
        """The types of the weights, and of the scores."""
        layouts, types = self._late.layouts, list[Attribute]()
        type_ = FragmentType.of(layouts.atom.element("A"), layouts.values("A"))
        types += [type_] * len(layouts.fragments("A"))
        if self._early is not None:
            early = self._early_layouts
            types += [accumulator_type(early)] * len(early.fragments("C"))
        return types

    @property
    def _early_layouts(self) -> WarpgroupLayouts:
        assert self._early is not None
        layouts = self._kernel.table.products[self._early.product.results[0]]
        assert isinstance(layouts, WarpgroupLayouts)
        return layouts

    def is_there(self, op: Operation) -> bool:
        """True of the early product, whose scores the iteration before has computed."""
        early = self._early
        if early is None or op is not early.product:
            return False
        self._kernel[op.results[0]] = self.scores
        return True

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

    def wait(self) -> None:
        """Wait for B of what was put off, at the end of the first iteration."""
        if self._is_long:
            self.ring.wait(self._late.group, self.ring.place)
        if self._early is not None:
            self._multiply_early(self._next_place())

    def multiply(self) -> None:
        """Multiply what was put off, B being in the stage before; the loop carries the sums that
        it adds to. ptxas would wait for the MMAs in front of all that threads compute meanwhile;
        that they wait for the next B keeps it from that."""
        if not self.weights:
            return
        kernel, ring, layouts = self._kernel, self.ring, self._late.layouts
        now, ring.place = ring.place, ring.before(ring.place)
        if self._is_long:
            ring.is_full(self._late.group, ring.place)
        for op in _loading(self._late.op):
            kernel.lower(op)
        kernel.at(self.op)
        product = WarpgroupProduct(self._late.op, layouts, kernel)
        weights = dict(zip(layouts.fragments("A"), self.weights, strict=True))
        kernel[self.sums] = product.multiplied(weights, self.sums)
        self.rescaled = self.sums
        ring.place, self.weights = now, []
        product.group.before_wait = partial(ring.wait, self._late.group, now)
        if self.scores is not None:
            ring.wait(self._late.group, now)
            place = self._next_place()
            product.group.before_wait = partial(self._wait_early, place)
            kernel[self.sums] = replace(kernel[self.sums], added=partial(self._go_on, place))

    def _wait_early(self, place: StagePlace) -> None:
        """Wait for the next scores' B, in front of the wait for the late product."""
        assert self._early is not None
        before = self._last_op
        self.ring.wait(self._early, place)
        assert before.next_op is not None
        self._marks = [before.next_op]

    def _go_on(self, place: StagePlace) -> None:
        """Multiply the next scores behind the addition of the late product."""
        self._marks.append(self._last_op)
        self._multiply_early(place)
        self._marks.append(self._last_op)

    @property
    def _last_op(self) -> Operation:
        last = terminator(self._kernel.emitter.block)
        return last

    def _next_place(self) -> StagePlace:
        """That of the load of the next iteration's scores, of this one's in the last."""
        emitter, bounds = self._kernel.emitter, self._bounds
        number = emitter.binary("add", bounds.number, bounds.step)
        follows = emitter.compare("lt", number, bounds.upper)
        if self.goes_on is not None:
            follows = emitter.binary("or", follows, self.goes_on)
        return self.ring.behind(self.ring.place, follows)

    def _multiply_early(self, place: StagePlace) -> MmaGroup:
        """Multiply scores of which B is in a stage."""
        kernel, ring, early = self._kernel, self.ring, self._early
        assert early is not None and isinstance(early.product, MmaFOp)
        op = early.product
        now, ring.place = ring.place, place
        for one in _loading(op):
            kernel.lower(one)
        kernel.at(op)
        ring.place = now
        product = WarpgroupProduct(op, self._early_layouts, kernel)
        product.multiply()
        self.scores = kernel[op.result]
        return product.group


def _loading(product: MmaFOp) -> list[Operation]:
    """The load of B, and the ops between it and the product."""
    ops, value = list[Operation](), product.rhs
    while isinstance(op := value.owner, Operation):
        ops.insert(0, op)
        if isinstance(op, LoadViewTkoOp):
            break
        value = op.operands[0]
    return ops
