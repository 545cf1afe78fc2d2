"""The places of a kernel's tiles, in CuTe's words: registers by a thread-value layout, shared
memory by a swizzled layout, tensor memory by columns, or none."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu import LoweredEntry
from tilewright.lowering.cuda_tile.kernel.kernel import PlacedTile
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import TensorTile
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import AccumulatorTile
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoad
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import (
    WARP_BITS,
    TileLayout,
    dim_bits,
)
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import Accumulators

ANYWHERE = "none: computed in the layout of whoever reads it"


class TilePlaces:
    """The places of the tiles of an entry that is lowered."""

    def __init__(self, lowered: LoweredEntry):
        self._kernel, self._plan = lowered.kernel, lowered.plan.ahead
        self._copies = lowered.plan.copies

    def of(self, value: SSAValue) -> str:
        """The place of a tile."""
        shape = shape_of(value)
        match self._kernel.values.get(value):
            case PlacedTile(layout=layout):
                return in_words(layout, shape)
            case AccumulatorTile(layouts=layouts):
                return f"accumulators of wgmma, {in_words(layouts.layout('C'), shape)}"
            case SharedTile(order=order) | StageTile(order=order):
                return f"shared memory, {self._stages(value)}{order.text(shape)}"
            case TensorTile(accumulators=accumulators):
                return _columns(accumulators, shape)
            case _:
                return ANYWHERE

    def of_store(self, store: StoreViewTkoOp) -> str | None:
        """The shared memory from which TMA stores a tile; None of a store by threads."""
        access = self._kernel.stored.get(store)
        if access is None:
            return None
        return f"shared memory, {access.order.text(shape_of(store.tile))}; TMA stores it from there"

    def reader(self, load: Operation) -> str:
        """Who reads what is loaded to shared memory."""
        if (ahead := self._plan.of(load)) is not None:
            by_threads, by_warps = ahead[1].by_threads, ahead[1].by_warps
            as_matrix = not by_threads and not by_warps
        else:
            copied = self._copied(load)
            as_matrix = copied is not None and copied.product is not None
            by_threads = copied is not None and copied.private
        if as_matrix:
            return "MMAs read it as it lies"
        return "threads read it" if by_threads else "MMAs of warps read it, or threads"

    def _copied(self, load: Operation) -> CopiedLoad | None:
        loops = self._copies.by_loop.values()
        return next((own for loop in loops for own in loop.loads if own.op is load), None)

    def _stages(self, value: SSAValue) -> str:
        """How many stages a load has, and who fills them; nothing of other tiles."""
        load = value.owner
        if not isinstance(load, Operation):
            return ""
        if (ahead := self._plan.of(load)) is not None:
            pipeline, group, _ = ahead
            ctas = f" for {group.ctas} CTAs" if group.ctas > 1 else ""
            return f"{_counted(pipeline.stages)} by TMA{ctas}, "
        if self._copied(load) is None:
            return ""
        stages = self._copies.by_loop[load.parent_op()].stages  # type: ignore[index]
        return f"{_counted(stages)} by cp.async, "


def _counted(stages: int) -> str:
    return f"{stages} stage{'s' * (stages > 1)}"


def _columns(accumulators: Accumulators, shape: Sequence[int]) -> str:
    first, count = accumulators.column, accumulators.columns
    layout = in_words(accumulators.layout(), shape)
    lanes = f"from lane {accumulators.lane} on, " if accumulators.lane else ""
    return f"tensor memory, {lanes}columns {first} to {first + count - 1}; threads load {layout}"


def in_words(layout: TileLayout, shape: Sequence[int]) -> str:
    """A layout in words: the extents of a tile that registers, lanes and warps run through."""
    lanes, warps = layout.threads[:WARP_BITS], layout.threads[WARP_BITS:]
    parts = [
        f"{name} {'x'.join(map(str, extents))}"
        for name, bits in (("registers", layout.registers), ("lanes", lanes), ("warps", warps))
        if prod(extents := _extents(bits, shape)) > 1
    ]
    words = ", ".join(parts) or "one element"
    alike = layout.threads.count(None)
    shared = f", the same in {1 << alike} threads" if alike else ""
    return f"{words}{shared} = {layout.text()}"


def _extents(bits: Sequence[int | None], shape: Sequence[int]) -> list[int]:
    """The elements that bits number along each dimension."""
    return [1 << sum(bit in own for bit in bits if bit is not None) for own in dim_bits(shape)]


def is_tile(value: SSAValue) -> bool:
    """True of tiles that have a place: not of scalars."""
    return isinstance(value.type, TileType) and value.type.rank > 0
