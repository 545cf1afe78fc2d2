"""Tiles whose elements are in shared memory, as TMA has written them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops.address import AddressOp
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout
from tilewright.lowering.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.lowering.cuda_tile.layouts.threads import scaled


@dataclass(frozen=True, eq=False, slots=True)
class SharedTile:
    """A tile from an element of a line of shared memory on, and the order in which it lies."""

    line: SSAValue
    start: SSAValue
    order: MatrixOrder
    element: Attribute
    ready: Callable[[], None]
    """Wait until it is there."""

    def elements_in(self, layout: TileLayout, kernel: Kernel) -> Sequence[SSAValue]:
        """The elements in a layout."""
        self.ready()
        emitter = kernel.emitter
        base = emitter.once(("address", self.line), lambda: AddressOp(self.line))
        start = emitter.resized(self.start, None, 32)
        base = emitter.binary("add", base, scaled(emitter, start, self.order.order.size))
        return kernel.scratch.load(base, layout, self.element, self.order.order)

    def renumbered(self, bits: Mapping[int, int]) -> SharedTile:
        """The tile of whose numbers bit `bits[b]` is bit b here."""
        return replace(self, order=self.order.renumbered(bits))
