"""`mmaf` and `mmai` by `wgmma`: the accumulators are fragments, which loops carry as they are; B
and, unless it was computed where the MMA wants it, A are matrices in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.fragment import CastOp
from tilewright.dialects.cute_nvgpu.ops.sm90 import WGMMA_OPS
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen_entity
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_floats
from tilewright.lowering.cuda_tile.kernel.fragment_elements import elements_of, fragments_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, PlacedTile
from tilewright.lowering.cuda_tile.kernel.shared_tiles import Registers, SharedTile
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.products.shared_operands import SharedOperands
from tilewright.lowering.cuda_tile.products.staged_operands import (
    OperandFragments,
    StagedOperand,
)
from tilewright.lowering.emit.registers import extracted, from_elements
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import (
    ADDED_DEPTH,
    WarpgroupLayouts,
    atom_of_majors,
    is_added,
    operands_of,
)

Fragments = tuple[SSAValue, ...]


@frozen_entity
class AccumulatorTile:
    """A tile in the accumulators of `wgmma`s, which may be in flight as their group; zeros where
    there is a condition, and it fails: they are undefined then."""

    layouts: WarpgroupLayouts
    fragments: Fragments
    group: MmaGroup | None
    condition: SSAValue | None = None

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements in a layout, once they are there."""
        elements = elements_of(self.complete(kernel), kernel.emitter)
        return kernel.scratch.converted(self.layouts.layout("C"), elements, layout)

    def complete(self, kernel: EntryLowering) -> Fragments:
        """The fragments, once they are there."""
        kernel.groups.complete(self.group)
        if self.condition is None:
            return self.fragments
        zeros = [zero_fragment(self.layouts, kernel)] * len(self.fragments)
        return tuple(kernel.emitter.either(self.condition, lambda: self.fragments, lambda: zeros))


@frozen_entity
class AddedTile:
    """A tile and a product, which may be in flight, whose sum is wanted; what follows once it is
    computed."""

    totals: Sequence[SSAValue]
    product: AccumulatorTile
    added: Callable[[], None] | None = None

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements of the sum, once the product is there."""
        own = self.product.layouts.layout("C")
        parts = self.product.elements_in(own, kernel)
        sums = [
            on_floats(kernel, arith.AddfOp, total, part)
            for total, part in zip(self.totals, parts, strict=True)
        ]
        if self.added is not None:
            self.added()
        return kernel.scratch.converted(own, sums, layout)


def accumulator_type(layouts: WarpgroupLayouts) -> FragmentType:
    """The type of a fragment of the accumulators."""
    return FragmentType.of(layouts.atom.element("C"), layouts.values("C"))


def accumulators(value: SSAValue, layouts: WarpgroupLayouts, kernel: EntryLowering) -> Fragments:
    """A tile as fragments of accumulators."""
    tile = kernel.values[value]
    if isinstance(tile, AccumulatorTile) and tile.layouts == layouts:
        return tile.fragments if tile.condition is None else tile.complete(kernel)
    elements = kernel.elements(value, layouts.layout("C"))
    form = layouts.atom, "C"
    return tuple(fragments_of(elements, accumulator_type(layouts), kernel.emitter, form))


def zero_fragment(layouts: WarpgroupLayouts, kernel: EntryLowering) -> SSAValue:
    """A fragment of accumulators that are zero."""
    type_, width = accumulator_type(layouts), layouts.values("C")
    zeros = [kernel.constant(0, type_.element_type)] * width
    return from_elements(zeros, type_, kernel.emitter, (layouts.atom, "C"))


class WarpgroupProduct:
    """A multiplication by `wgmma`."""

    def __init__(self, op: MmaFOp | MmaIOp, layouts: WarpgroupLayouts, kernel: EntryLowering):
        self.op, self.layouts, self.kernel = op, layouts, kernel
        self.shared = SharedOperands(layouts, kernel)
        self.group = MmaGroup()

    def multiply(self) -> None:
        """Emit it."""
        kernel, op, layouts = self.kernel, self.op, self.layouts
        self._find_operands(self.in_registers() or self.read_to_registers())
        if is_added(op):
            self._add()
            return
        if kernel.groups.one_by_one:
            kernel.groups.wait()
        sums = accumulators(op.acc, layouts, kernel)
        kernel[op.result] = self._multiplied(sums, kernel.adds_first(op))
        kernel.groups.wait(1)

    def multiplied(self, registers: Registers, sums: SSAValue) -> AccumulatorTile | AddedTile:
        """The sum of a tile and the product of A in registers, in flight."""
        self._find_operands(registers)
        if not is_added(self.op):
            given = accumulators(sums, self.layouts, self.kernel)
            return self._multiplied(given, None)
        totals = self.kernel.elements(sums, self.layouts.layout("C"))
        zero = zero_fragment(self.layouts, self.kernel)
        return AddedTile(totals, self._multiplied([zero], self.kernel.constant(0, i1)))

    def _find_operands(self, registers: Registers | OperandFragments | None) -> None:
        kernel, op = self.kernel, self.op
        kernel.ahead.read(op, self.group)
        wanted = operands_of(op)
        if registers is not None:
            del wanted["A"]
        operands, staged = self.shared.laid_down(wanted, kernel.scratch.written)
        self.group.reads_scratch = bool(staged)
        for matrices in operands.values():
            matrices.ready()
        self.registers, self.a, self.b = registers, operands.get("A"), operands["B"]
        major = "k" if self.a is None else self.a.major
        self.atom = atom_of_majors(self.layouts, major, self.b.major, registers=self.a is None)

    def _multiplied(self, given: Sequence[SSAValue], adds: SSAValue | None) -> AccumulatorTile:
        """A product, of which the first MMAs add under a condition."""
        kernel, layouts, places = self.kernel, self.layouts, self.layouts.fragments("C")
        sums = dict(zip(places, given, strict=True))
        steps = range(0, layouts.extents["k"], self.atom.shape[2])
        for number, k in enumerate(steps):
            if isinstance(self.registers, OperandFragments):
                self._read(self.registers, k, number, len(steps))
            elif not number:
                kernel.emitter.add(wgmma_sync.WgmmaFenceOp())
            for place in places:
                sums[place] = self._issue(place, k, sums[place], None if k else adds)
        kernel.groups.commit(self.group)
        kernel.copied.issued(self.op, self.group)
        return AccumulatorTile(layouts, tuple(sums.values()), self.group)

    def _read(self, registers: OperandFragments, k: int, number: int, steps: int) -> None:
        """Read A of the next of so many steps of K. Its registers are those of the iteration
        before, of which the last step is in flight: that is complete when half of this one's are
        issued. ptxas would serialize all of them if one of this iteration's were waited for."""
        groups = self.kernel.groups
        if number:
            groups.commit(MmaGroup())
        if number == steps // 2:
            groups.wait(number)
        for batch, m, *_ in self.layouts.fragments("C"):
            _ = registers[batch, m, 0, k]
        self.kernel.emitter.add(wgmma_sync.WgmmaFenceOp())

    def _issue(
        self, place: tuple[int, int, int, int], k: int, acc: SSAValue, adds: SSAValue | None
    ) -> SSAValue:
        """One `wgmma`, which adds under a condition, if there is one."""
        kernel, (batch, m, n, _) = self.kernel, place
        if self.registers is not None:
            left = self.registers[batch, m, 0, k]
        else:
            assert self.a is not None
            left = self.shared.descriptor(self.a, "A", batch, m, k)
        inputs = [left, self.shared.descriptor(self.b, "B", batch, n, k), acc]
        return kernel.emitter.emit(WGMMA_OPS[self.atom.op](inputs, self.atom, scale_d=adds))

    def _add(self) -> None:
        """Sums of so much of K as 14 bits are enough for, each added in f32; one fragment after the
        other, so that registers suffice."""
        kernel, op, layouts = self.kernel, self.op, self.layouts
        own, width = layouts.layout("C"), layouts.values("C")
        zero, never = zero_fragment(layouts, kernel), kernel.constant(0, i1)
        totals = [*kernel.elements(op.acc, own)]
        depth, step = layouts.extents["k"], self.atom.shape[2]
        rounds = [
            (i, place, k)
            for i, place in enumerate(layouts.fragments("C"))
            for k in range(0, depth, ADDED_DEPTH)
        ]
        for i, place, begin in rounds:
            acc = zero
            kernel.emitter.add(wgmma_sync.WgmmaFenceOp())
            for k in range(begin, min(begin + ADDED_DEPTH, depth), step):
                acc = self._issue(place, k, acc, never if k == begin else None)
            last = (i, place, begin) == rounds[-1]
            kernel.groups.commit(self.group if last else MmaGroup(self.group.reads_scratch))
            kernel.groups.wait()
            for j in range(width):
                part, at = extracted(acc, j, kernel.emitter), i * width + j
                totals[at] = on_floats(kernel, arith.AddfOp, totals[at], part)
        kernel.copied.issued(op)
        kernel.place(op.result, own, totals)

    # --- A in registers ---

    def read_to_registers(self) -> OperandFragments | None:
        """The fragments of A, read when they are multiplied, where MMAs cannot read it as it
        lies."""
        tile = self.kernel.values[operands_of(self.op)["A"]]
        if not isinstance(tile, SharedTile) or self.shared.view("A", tile.order):
            return None
        base, order = tile.place(self.kernel)
        staged = StagedOperand.lying(self.layouts, "A", order, tile.element)
        return None if staged is None else staged.fragments(base, self.kernel)

    def in_registers(self) -> Registers | None:
        """The fragments of A, where it was computed by the lanes that the MMA takes it from."""
        kernel, layouts = self.kernel, self.layouts
        tile = kernel.values[operands_of(self.op)["A"]]
        if isinstance(tile, SharedTile) and tile.fragments:
            return tile.fragments
        if not isinstance(tile, PlacedTile) or not layouts.takes(tile.layout):
            return None
        width = layouts.values("A")
        type_ = FragmentType.of(layouts.atom.element("A"), width)
        as_held = FragmentType.get(width, tile.element)
        if type_.element_type != tile.element and layouts.atom.element("A").name != "tf32":
            return None
        elements = tile.elements_in(layouts.layout("A"), kernel)
        fragments = fragments_of(elements, as_held, kernel.emitter, (layouts.atom, "A"))
        if as_held != type_:
            fragments = [kernel.emitter.emit(CastOp(own, type_)) for own in fragments]
        return dict(zip(layouts.fragments("A"), fragments, strict=True))
