"""Operands of asynchronous MMAs in shared memory: matrices where TMA has put them, or where threads
lay them down, and their descriptors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import FenceProxyAsyncOp
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.frozen import entity, frozen
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import ThreadWord
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, log2
from tilewright.passes.cuda_tile.layouts.mma_layouts import AsyncLayouts
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK


@frozen
class OperandMatrices:
    """An operand in shared memory: the line, where its tile begins there, how it lies, a
    descriptor's type, and what to wait for."""

    line: SSAValue
    start: SSAValue | None
    order: MatrixOrder
    view: SmemDescViewType
    major: MajorMode
    ready: Callable[[], None]


@entity
class SharedOperands:
    """The operands of a multiplication."""

    layouts: AsyncLayouts
    kernel: EntryLowering

    def laid_down(
        self, wanted: Mapping[str, SSAValue], written: Callable[[], None]
    ) -> tuple[dict[str, OperandMatrices], list[str]]:
        """Operands in shared memory, `written` behind threads that lay some down; which of them
        threads lay down, if not for a product before."""
        kernel = self.kernel
        lying = {operand: self._there(operand, value) for operand, value in wanted.items()}
        missing = [operand for operand, matrices in lying.items() if matrices is None]
        there = {operand: matrices for operand, matrices in lying.items() if matrices is not None}
        again = {operand: self._again(operand, wanted[operand]) for operand in missing}
        kept = {operand: matrices for operand, matrices in again.items() if matrices is not None}
        if len(kept) == len(missing):
            return there | kept, missing
        staged = {operand: self._staged(operand, wanted[operand]) for operand in missing}
        places = kernel.scratch.take_lines(
            [(order, element) for order, element, *_ in staged.values()]
        )
        for (operand, (order, _, view, source, elements)), (line, start, base) in zip(
            staged.items(), places, strict=True
        ):
            kernel.scratch.store(base, source, elements, order.order)
            at, major = kernel.emitter.constant(start, None), self._major(operand, order)
            there[operand] = OperandMatrices(line, at, order, view, major, lambda: None)
            kernel.scratch.laid[kernel.emitter.block, wanted[operand]] = there[operand]
        kernel.emitter.add(FenceProxyAsyncOp(space="shared::cta"))
        written()
        return there, missing

    def _there(self, operand: str, value: SSAValue) -> OperandMatrices | None:
        """An operand that lies in shared memory as the MMA can read it."""
        tile = self.kernel.values[value]
        view = self.view(operand, tile.order) if isinstance(tile, SharedTile) else None
        if view is None:
            return None
        major = self._major(operand, tile.order)
        return OperandMatrices(tile.line, tile.start, tile.order, view, major, tile.ready)

    def _again(self, operand: str, value: SSAValue) -> OperandMatrices | None:
        """An operand that threads have laid down before in this block, where it lies still."""
        matrices = self.kernel.scratch.laid.get((self.kernel.emitter.block, value))
        if not isinstance(matrices, OperandMatrices):
            return None
        same = self.view(operand, matrices.order) == matrices.view
        return replace(matrices, major=self._major(operand, matrices.order)) if same else None

    def _major(self, operand: str, order: MatrixOrder) -> MajorMode:
        return "k" if order.run[0] in self.layouts.bits(operand)[0] else "mn"

    def view(self, operand: str, order: MatrixOrder) -> SmemDescViewType | None:
        """The type of the descriptors of an operand's matrices."""
        depth, across, _ = self.layouts.bits(operand)
        atom = self.layouts.atom
        major, element = self._major(operand, order), atom.element(operand)
        if order.atom != atom.FORMAT.swizzle_atom(major, 8 * order.order.size):
            return None
        extent, k = atom.shared_extents(operand)
        rows = across[: log2(extent)]
        whole = depth if major == "k" else across
        if set(order.run) - set(whole):
            return None
        if major == "mn" and not self.layouts.may_be_turned(order.order.size, 1 << len(rows)):
            return None
        inside = [bit for bit in depth[: log2(k)] if bit in order.order.position]
        return order.view(rows, inside, element, atom.FORMAT)

    def _staged(
        self, operand: str, value: SSAValue
    ) -> tuple[MatrixOrder, Attribute, SmemDescViewType, TileLayout, Sequence[SSAValue]]:
        """How threads lay an operand down: along the dimension in which they hold neighbours, of
        what any layout will do for along K."""
        kernel, (depth, across, batch) = self.kernel, self.layouts.bits(operand)
        along_k = kernel.table.dealt([*depth, *across, *batch], log2(2 * CHUNK))
        source = kernel.layout(value) or along_k
        elements = kernel.elements(value, source)
        size = bytes_of(elements[0].type)
        if self.layouts.atom.element(operand).bits < 8:
            return self._packed(operand, value)
        first = source.registers[0] if source.registers else -1
        runs = [(depth, across), (across, depth)]
        if first in across:
            runs.reverse()
        for run, above in runs:
            order = MatrixOrder.of(run, [*above, *batch], size)
            view = self.view(operand, order)
            if view is not None:
                kernel.remark_laid_down(value, order)
                return order, elements[0].type, view, source, elements
        raise AssertionError("K-major matrices have descriptors")

    def _packed(
        self, operand: str, value: SSAValue
    ) -> tuple[MatrixOrder, Attribute, SmemDescViewType, TileLayout, Sequence[SSAValue]]:
        """How threads lay down elements of 4 bits, two neighbours along K in a byte: a byte has the
        number of the first of them."""
        kernel, (depth, across, batch) = self.kernel, self.layouts.bits(operand)
        source = kernel.table.of(value)
        if source.registers[:1] != tuple(depth[:1]):
            source = kernel.table.dealt([*depth, *across, *batch], log2(2 * CHUNK))
        pairs = kernel.elements(value, source)
        octets = [
            (ThreadWord(kernel, low) | ThreadWord(kernel, high) << 4).value
            for low, high in zip(pairs[::2], pairs[1::2], strict=True)
        ]
        layout = TileLayout(source.threads, source.registers[1:])
        order = MatrixOrder.of(depth[1:], [*across, *batch], 1)
        view = self.view(operand, order)
        assert view is not None
        return order, i8, view, layout, octets

    def descriptor(
        self, matrices: OperandMatrices, operand: str, batch: int, across: int, k: int
    ) -> SSAValue:
        """The descriptor of the matrix at coordinates along the batch, M or N, and K; of
        warpgroups that of each."""
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
        weights = [0] * self.layouts.UNIT_BITS + [
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
