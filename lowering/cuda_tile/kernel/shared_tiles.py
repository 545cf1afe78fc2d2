"""Tiles whose elements are in shared memory, as copies have written them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops.address import AddressOp, LdmatrixOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts.layouts import WARP_BITS, TileLayout
from tilewright.lowering.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.lowering.cuda_tile.layouts.shared_order import SharedOrder
from tilewright.lowering.cuda_tile.layouts.threads import scaled
from tilewright.lowering.tile.registers import extracted

_WORD, _LANES_OF_ROW, _MATRIX_BITS = 4, 2, 2
"""The bytes of what a thread has of a matrix, the bits of lanes that share a row of it, and those
of matrices that `ldmatrix` loads at once."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedTile:
    """A tile that TMA writes, from an element of a line of shared memory on, and the order in which
    it lies."""

    line: SSAValue
    start: SSAValue
    order: MatrixOrder
    element: Attribute
    ready: Callable[[], None]
    """Wait until it is there."""

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout."""
        base, order = self.place(kernel)
        lanes = [order.position.get(bit, -1) for bit in layout.threads[:_LANES_OF_ROW]]  # type: ignore[arg-type]
        if order.size == _WORD and lanes == [0, 1] and len(layout.registers) >= _MATRIX_BITS:
            return self._words(base, layout, kernel)
        return kernel.scratch.load(base, layout, self.element, order)

    def _words(self, base: SSAValue, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """Words of which four lanes have 16 bytes: by `ldmatrix`, four of a thread at a time."""
        emitter, matrices = kernel.emitter, layout.registers[:_MATRIX_BITS]
        threads = layout.threads
        rows = (*threads[_LANES_OF_ROW:WARP_BITS], *matrices, *threads[WARP_BITS:])
        place = kernel.scratch.places(base, rows, self.order.order)
        elements: list[SSAValue] = []
        for number in layout.places[:: 1 << _MATRIX_BITS]:
            at, offset = place(number)
            type_ = FragmentType.get(1 << _MATRIX_BITS, i32)
            words = emitter.emit(LdmatrixOp(at, type_, offset))
            for i in range(1 << _MATRIX_BITS):
                word = extracted(words, i, emitter)
                elements.append(kernel.emit(arith.BitcastOp, [word], self.element))
        return elements

    def place(self, kernel: Kernel) -> tuple[SSAValue, SharedOrder]:
        """Its address, once it is there, and its order."""
        self.ready()
        emitter = kernel.emitter
        base = emitter.once(("address", self.line), lambda: AddressOp(self.line))
        start = emitter.resized(self.start, None, 32)
        base = emitter.binary("add", base, scaled(emitter, start, self.order.order.size))
        return base, self.order.order

    def renumbered(self, bits: Mapping[int, int]) -> SharedTile:
        """The tile of whose numbers bit `bits[b]` is bit b here."""
        return replace(self, order=self.order.renumbered(bits))


@dataclass(frozen=True, eq=False, slots=True)
class StageTile:
    """A tile that threads have copied to an address in shared memory, and the order in which it
    lies."""

    base: SSAValue
    order: SharedOrder
    element: Attribute

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout."""
        return kernel.scratch.load(self.base, layout, self.element, self.order)

    def place(self, kernel: Kernel) -> tuple[SSAValue, SharedOrder]:
        """Its address and its order."""
        return self.base, self.order

    def renumbered(self, bits: Mapping[int, int]) -> StageTile:
        """The tile of whose numbers bit `bits[b]` is bit b here."""
        return replace(self, order=self.order.renumbered(bits))
