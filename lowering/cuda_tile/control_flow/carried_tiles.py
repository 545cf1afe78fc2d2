"""Values that loops and branches pass on: registers, fragments of accumulators, tokens."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.products.carried_accumulators import (
    carried,
    carried_tile,
    carried_types,
    undefined,
)
from tilewright.passes.cuda_tile.layouts.find_layouts import AccumulatorLayouts
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout


class CarriedTiles:
    """Values of Tile IR that regions pass on: the registers of tiles; tokens are no values here."""

    def __init__(self, values: Sequence[SSAValue], kernel: EntryLowering):
        self._kernel, self.all = kernel, list(values)
        self.tiles = [value for value in values if isinstance(value.type, TileType)]
        self.tokens = [value for value in values if not isinstance(value.type, TileType)]
        self._layouts = [kernel.table.of(value) for value in self.tiles]
        self._products = [kernel.table.products.get(value) for value in self.tiles]

    def types(self, op: Operation) -> list[Attribute]:
        """The types of the registers, or of the fragments of accumulators."""
        return [
            type_
            for value, layout, product in self._rows(self.tiles)
            for type_ in (
                [self._kernel.scalar_type(op, value)] * layout.count
                if product is None
                else carried_types(product)
            )
        ]

    def _rows(
        self, tiles: Sequence[SSAValue]
    ) -> Iterator[tuple[SSAValue, TileLayout, AccumulatorLayouts | None]]:
        return zip(tiles, self._layouts, self._products, strict=True)

    def registers(
        self, sources: Sequence[SSAValue], fresh: Container[SSAValue] = ()
    ) -> list[SSAValue]:
        """The registers of the values that are passed, undefined of those that are `fresh`."""
        tiles = [value for value in sources if isinstance(value.type, TileType)]
        return [
            register
            for own, (value, layout, product) in zip(self.tiles, self._rows(tiles), strict=True)
            for register in (
                self._kernel.elements(value, layout)
                if product is None
                else undefined(product, self._kernel)
                if own in fresh
                else carried(value, product, self._kernel)
            )
        ]

    def bind(self, registers: Sequence[SSAValue]) -> None:
        """Say what the tiles are now."""
        coming = iter(registers)
        for value, layout, product in self._rows(self.tiles):
            if product is None:
                self._kernel.place(value, layout, list(islice(coming, layout.count)))
            else:
                own = tuple(islice(coming, len(carried_types(product))))
                self._kernel[value] = carried_tile(product, own, self._kernel)

    def bind_tokens(self, sources: Sequence[Sequence[SSAValue]]) -> None:
        """Say that the tokens are behind all that may be passed."""
        kernel = self._kernel
        for i, value in enumerate(self.all):
            if value in self.tokens:
                passed = [kernel[source[i]] for source in sources if source[i] in kernel.values]
                kernel[value] = kernel.order.joined(passed)

    def bind_again(self, sources: Sequence[SSAValue], body: Operation) -> None:
        """Say that the tokens are behind what is passed and what the body of a loop accesses."""
        kernel = self._kernel
        reads, writes = accesses_of(body)
        for value, source in zip(self.all, sources, strict=True):
            if value in self.tokens:
                kernel[value] = kernel.order.pending(kernel[source], reads=reads, writes=writes)


def accesses_of(body: Operation) -> tuple[bool, bool]:
    """True where an op reads, and writes, global memory."""
    accesses = descendants(body, MemoryOp)
    loads = [isinstance(op, LoadPtrTkoOp | LoadViewTkoOp) for op in accesses]
    return any(loads), not all(loads)
