"""Tiles whose elements are in shared memory, as copies have written them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops.address import AddressOp
from tilewright.dialects.frozen import factory, frozen_entity
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import SharedOrder

Registers = dict[tuple[int, int, int, int], SSAValue]
"""The fragments of A of a product, by their places."""


@frozen_entity
class SharedTile:
    """A tile that TMA writes, from an element of a line of shared memory on, and the order in which
    it lies."""

    line: SSAValue
    start: SSAValue
    order: MatrixOrder
    element: Attribute
    ready: Callable[[], None]
    """Wait until it is there."""
    rounded: bool = False
    """True where the copy has rounded it to tf32."""
    fragments: Registers = factory(Registers)
    """Those that threads have in registers."""

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements in a layout."""
        base, order = self.place(kernel)
        return kernel.scratch.load(base, layout, self.element, order)

    def place(self, kernel: EntryLowering) -> tuple[SSAValue, SharedOrder]:
        """Its address, once it is there, and its order."""
        self.ready()
        emitter = kernel.emitter
        base = emitter.once(("address", self.line), lambda: AddressOp(self.line))
        start = emitter.resized(self.start, None, 32)
        base = emitter.binary("add", base, scaled(emitter, start, self.order.order.size))
        return base, self.order.order

    def renumbered(self, bits: Mapping[int, int]) -> SharedTile:
        """The tile whose element numbers have as bit `bits[b]` what is bit b here."""
        return replace(self, order=self.order.renumbered(bits), fragments={})


@frozen_entity
class StageTile:
    """A tile that threads have copied to an address in shared memory, and the order in which it
    lies."""

    base: SSAValue
    order: SharedOrder
    element: Attribute

    def elements_in(self, layout: TileLayout, kernel: EntryLowering) -> Sequence[SSAValue]:
        """The elements in a layout."""
        return kernel.scratch.load(self.base, layout, self.element, self.order)

    def place(self, kernel: EntryLowering) -> tuple[SSAValue, SharedOrder]:
        """Its address and its order."""
        return self.base, self.order

    def renumbered(self, bits: Mapping[int, int]) -> StageTile:
        """The tile whose element numbers have as bit `bits[b]` what is bit b here."""
        return replace(self, order=self.order.renumbered(bits))
