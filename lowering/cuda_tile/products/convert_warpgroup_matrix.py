"""`mmaf` and `mmai` by `wgmma`: the accumulators are fragments, which loops carry as they are; B
and, unless it was computed where the MMA wants it, A are matrices in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, Float32Type, i1, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.cute_nvgpu.ops.fragment import CastOp
from tilewright.dialects.cute_nvgpu.ops.sm90 import WGMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import (
    float_or_same,
    float_resized,
)
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import on_floats
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, PlacedTile
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout, log2
from tilewright.lowering.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.lowering.cuda_tile.layouts.warpgroup_layouts import (
    ADDED_DEPTH,
    WARPGROUP_BITS,
    WarpgroupLayouts,
    atom_of_majors,
    is_added,
)
from tilewright.lowering.tile.registers import extracted, from_elements

Fragments = tuple[SSAValue, ...]


@dataclass(frozen=True, eq=False, slots=True)
class AccumulatorTile:
    """A tile in the accumulators of `wgmma`s, which may be in flight as their group."""

    layouts: WarpgroupLayouts
    fragments: Fragments
    group: MmaGroup | None

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout, once they are there."""
        kernel.groups.complete(self.group)
        width, own = self.layouts.values("C"), self.layouts.layout("C")
        emitter = kernel.emitter
        elements = [
            extracted(fragment, i, emitter) for fragment in self.fragments for i in range(width)
        ]
        return kernel.scratch.converted(own, elements, layout)


def accumulator_type(layouts: WarpgroupLayouts) -> FragmentType:
    """The type of a fragment of the accumulators."""
    return FragmentType.get(layouts.values("C"), _SUMS[layouts.atom.element("C").name])


_SUMS: dict[str, Attribute] = {"f32": Float32Type(), "f16": Float16Type(), "s32": i32}


def accumulators(value: SSAValue, layouts: WarpgroupLayouts, kernel: Kernel) -> Fragments:
    """A tile as fragments of accumulators."""
    tile = kernel.values[value]
    if isinstance(tile, AccumulatorTile) and tile.layouts == layouts:
        return tile.fragments
    elements = kernel.elements(value, layouts.layout("C"))
    type_, width = accumulator_type(layouts), layouts.values("C")
    if elements[0].type != type_.element_type:
        wide = type_.element_type
        elements = tuple(float_resized(kernel, x, wide) for x in elements)  # type: ignore[arg-type]
    return tuple(
        from_elements(elements[i : i + width], type_, kernel.emitter)
        for i in range(0, len(elements), width)
    )


def is_zero(value: SSAValue) -> bool:
    """True of a constant tile of zeros."""
    constant: Any = value.owner
    if not isinstance(constant, core.ConstantOp):
        return False
    number: Any = constant.value
    return bool(number.is_splat) and not number.array().reshape(-1)[:1].view("u1").any()


@dataclass(frozen=True, slots=True)
class _OperandMatrices:
    """An operand in shared memory: the line, where its tile begins there, how it lies, and a
    descriptor's type."""

    line: SSAValue
    start: SSAValue | None
    order: MatrixOrder
    view: SmemDescViewType
    major: str


class WarpgroupProduct:
    """A multiplication by `wgmma`."""

    def __init__(self, op: MmaFOp | MmaIOp, layouts: WarpgroupLayouts, kernel: Kernel) -> None:
        self.op, self.layouts, self.kernel = op, layouts, kernel
        self.group = MmaGroup()
        kernel.ahead.read(op, self.group)

    def multiply(self) -> None:
        """Emit it."""
        kernel, op, layouts = self.kernel, self.op, self.layouts
        registers = self._in_registers()
        a, b = self._operands(registers is None)
        majors = ("k" if a is None else a.major, "k" if b is None else b.major)
        assert b is not None
        self.registers, self.a, self.b = registers, a, b
        self.atom = atom_of_majors(layouts, *majors, registers=a is None)
        if is_added(op):
            self._add()
            return
        if kernel.groups.one_by_one:
            kernel.groups.wait()
        zero, places = is_zero(op.acc), layouts.fragments("C")
        sums = dict(zip(places, accumulators(op.acc, layouts, kernel), strict=True))
        kernel.emitter.add(wgmma_sync.WgmmaFenceOp())
        for k in range(0, layouts.extents["k"], self.atom.shape[2]):
            for place in places:
                sums[place] = self._issue(place, k, sums[place], fresh=zero and not k)
        kernel.groups.commit(self.group)
        result = AccumulatorTile(layouts, tuple(sums.values()), self.group)
        own, wanted = layouts.layout("C"), kernel.scalar_type(op, op.result)
        if wanted != accumulator_type(layouts).element_type:
            narrow = [float_resized(kernel, x, wanted) for x in result.elements_in(own, kernel)]  # type: ignore[arg-type]
            kernel.place(op.result, own, narrow)
            return
        kernel[op.result] = result
        kernel.groups.wait(1)

    def _issue(
        self, place: tuple[int, int, int, int], k: int, acc: SSAValue, *, fresh: bool
    ) -> SSAValue:
        """One `wgmma`, to accumulators that do not count where they are `fresh`."""
        kernel, (batch, m, n, _) = self.kernel, place
        if self.registers is not None:
            left = self.registers[batch, m, 0, k]
        else:
            left = self._descriptor(self.a, "A", batch, m, k)
        inputs = [left, self._descriptor(self.b, "B", batch, n, k), acc]
        flag = kernel.constant(0, i1) if fresh else None
        return kernel.emitter.emit(WGMMA_OPS[self.atom.op](inputs, self.atom, scale_d=flag))

    def _add(self) -> None:
        """Sums of so much of K as 14 bits are enough for, each added in f32; one fragment after the
        other, so that registers suffice."""
        kernel, op, layouts = self.kernel, self.op, self.layouts
        own, type_ = layouts.layout("C"), accumulator_type(layouts)
        wide, width = type_.element_type, layouts.values("C")
        totals = [float_or_same(kernel, x, wide) for x in kernel.elements(op.acc, own)]
        zero = from_elements([kernel.constant(0, wide)] * width, type_, kernel.emitter)
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
                acc = self._issue(place, k, acc, fresh=k == begin)
            last = (i, place, begin) == rounds[-1]
            kernel.groups.commit(self.group if last else MmaGroup(self.group.reads_scratch))
            kernel.groups.wait()
            for j in range(width):
                part, at = extracted(acc, j, kernel.emitter), i * width + j
                totals[at] = on_floats(kernel, arith.AddfOp, totals[at], part)
        wanted = kernel.scalar_type(op, op.result)
        kernel.place(op.result, own, [float_or_same(kernel, x, wanted) for x in totals])

    # --- A in registers ---

    def _in_registers(self) -> dict[tuple[int, ...], SSAValue] | None:
        """The fragments of A, where it was computed as the MMA takes it."""
        kernel, layouts = self.kernel, self.layouts
        tile, own = kernel.values[self.op.lhs], layouts.layout("A")
        if (
            not isinstance(tile, PlacedTile)
            or tile.layout != own
            or None in own.threads[:WARPGROUP_BITS]
        ):
            return None
        width = layouts.values("A")
        type_ = FragmentType.of(layouts.atom.element("A"), width)
        as_held = FragmentType.get(width, tile.element)
        if type_.element_type != tile.element and layouts.atom.element("A").name != "tf32":
            return None
        fragments: dict[tuple[int, ...], SSAValue] = {}
        for i, place in enumerate(layouts.fragments("A")):
            own = tile.elements[i * width : (i + 1) * width]
            fragment = from_elements(own, as_held, kernel.emitter)
            if as_held != type_:
                fragment = kernel.emitter.emit(CastOp(fragment, type_))
            fragments[place] = fragment
        return fragments

    # --- in shared memory ---

    def _operands(self, both: bool) -> tuple[_OperandMatrices | None, _OperandMatrices | None]:
        """A, unless it is in registers, and B in shared memory."""
        kernel, op = self.kernel, self.op
        wanted = {"A": op.lhs, "B": op.rhs} if both else {"B": op.rhs}
        laid_down = {operand: self._there(operand, value) for operand, value in wanted.items()}
        missing = [operand for operand, matrices in laid_down.items() if matrices is None]
        if missing:
            self.group.reads_scratch = True
            staged = {operand: self._staged(operand, wanted[operand]) for operand in missing}
            places = kernel.scratch.take_lines(
                [(order, element) for order, element, *_ in staged.values()]
            )
            for (operand, (order, _, view, source, elements)), (line, start, base) in zip(
                staged.items(), places, strict=True
            ):
                kernel.scratch.store(base, source, elements, order.order)
                at = kernel.emitter.constant(start, None)
                laid_down[operand] = _OperandMatrices(
                    line, at, order, view, self._major(operand, order)
                )
            kernel.emitter.add(wgmma_sync.FenceProxyAsyncOp())
            kernel.scratch.written()
        return laid_down.get("A"), laid_down["B"]

    def _there(self, operand: str, value: SSAValue) -> _OperandMatrices | None:
        """An operand that lies in shared memory as the MMA can read it."""
        tile = self.kernel.values[value]
        if not isinstance(tile, SharedTile):
            return None
        view = self._view(operand, tile.order)
        if view is None:
            return None
        tile.ready()
        return _OperandMatrices(
            tile.line, tile.start, tile.order, view, self._major(operand, tile.order)
        )

    def _bits(self, operand: str) -> tuple[list[int], list[int], list[int]]:
        """The bits of an operand's rows or columns, of K, and of the batch."""
        position, layouts = self.layouts.positions(operand), self.layouts
        across, depth, batch = (
            [position[mode, i] for i in range(log2(layouts.extents[mode]))]
            for mode in ("m" if operand == "A" else "n", "k", "b")
        )
        return across, depth, batch

    def _major(self, operand: str, order: MatrixOrder) -> str:
        return "k" if order.run[0] in self._bits(operand)[1] else "mn"

    def _view(self, operand: str, order: MatrixOrder) -> SmemDescViewType | None:
        """The type of the descriptors of an operand's matrices."""
        across, depth, _ = self._bits(operand)
        atom = self.layouts.atom
        assert isinstance(atom, WgmmaAtom)
        major, element = self._major(operand, order), atom.element(operand)
        whole = depth if major == "k" else across
        if set(order.run) - set(whole) or (major == "mn" and order.order.size != 2):
            return None
        m, n, k = atom.shape
        rows = across[: log2(m if operand == "A" else n)]
        return order.view(rows, depth[: log2(k)], element)

    def _staged(
        self, operand: str, value: SSAValue
    ) -> tuple[MatrixOrder, Attribute, SmemDescViewType, TileLayout, Sequence[SSAValue]]:
        """How threads lay an operand down: along the dimension of which they hold neighbours."""
        kernel, (across, depth, batch) = self.kernel, self._bits(operand)
        source = kernel.table.of(value)
        elements = kernel.elements(value, source)
        size = bytes_of(elements[0].type)
        first = source.registers[0] if source.registers else -1
        runs = [(depth, across), (across, depth)]
        if first in across and size == 2:
            runs.reverse()
        for run, above in runs:
            order = MatrixOrder.of(run, [*above, *batch], size)
            view = self._view(operand, order)
            if view is not None:
                return order, elements[0].type, view, source, elements
        raise AssertionError(f"K-major matrices have descriptors: {self.op}")

    def _descriptor(
        self, matrices: _OperandMatrices | None, operand: str, batch: int, across: int, k: int
    ) -> SSAValue:
        """The descriptor of the warpgroup's matrix at coordinates along the batch, M or N, and
        K."""
        assert matrices is not None
        kernel, position = self.kernel, self.layouts.positions(operand)
        emitter, order = kernel.emitter, matrices.order.order
        mode = "m" if operand == "A" else "n"
        number = sum(
            1 << position[name, i]
            for name, value in ((mode, across), ("k", k), ("b", batch))
            for i in range(log2(self.layouts.extents[name]))
            if value >> i & 1
        )
        known = sum(1 << order.position[bit] for bit in order.position if number >> bit & 1)
        weights = [0] * WARPGROUP_BITS + [
            1 << order.position[position[bit]] if bit is not None and bit[0] == mode else 0
            for bit in self.layouts.units
        ]
        # The constant comes last: descriptors then differ by one.
        at, own = matrices.start, kernel.threads.total(weights)
        if own is not None:
            own = emitter.resized(own, 32, None)
            at = own if at is None else emitter.binary("add", at, own)
        far = emitter.constant(known, None)
        at = far if at is None else emitter.binary("add", at, far)
        key = ("desc", matrices.line, at, matrices.view)
        return emitter.once(key, partial(MakeSmemDescOp, matrices.line, [at], matrices.view))
