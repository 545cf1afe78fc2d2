"""Stores of whole tiles by TMA: threads lay the tile down in shared memory, one of them copies it.

A tile of more than `store_room` bytes goes through that much memory in rounds: before threads write
it anew, the copies of the round before have read it. Copies are complete when the kernel is.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial

from xdsl.ir import SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.memory import MakeTokenOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops import tma, wgmma_sync
from tilewright.dialects.sequences import numbered
from tilewright.lowering.cuda_tile.kernel.coordinates import box_corners
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.late_accumulators import PartwiseElements
from tilewright.passes.cuda_tile.analysis.cost_model import products_of
from tilewright.passes.cuda_tile.analysis.find_late_store import writes_of
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.tensor_maps import (
    BoxedAccess,
    accesses_behind,
    boxed_store,
)
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, dim_bits, gathered
from tilewright.passes.cuda_tile.layouts.shared_order import SharedOrder
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import TransposedLayouts

_SMALLEST = 1 << 12
"""The bytes of a tile from which on a copy is worth it."""


def stored_boxes(entry: EntryOp, arch: Target | None) -> dict[StoreViewTkoOp, BoxedAccess]:
    """The stores of a kernel that TMA makes: of kernels in which warpgroups multiply."""
    if not products_of(entry, arch):
        return {}
    stored: dict[StoreViewTkoOp, BoxedAccess] = {}
    for op in descendants(entry, StoreViewTkoOp):
        access = boxed_store(op, arch)
        if isinstance(access, BoxedAccess) and access.order.bytes < _SMALLEST:
            access = f"a tile of less than {_SMALLEST} bytes is not worth it"
        if isinstance(access, BoxedAccess):
            stored[op] = access
        else:
            _say_why(op, access)
    writes = writes_of(entry)
    # No fence is between the writes of threads and those of TMA.
    while lost := [op for op in stored if _meets_threads(op, writes, stored)]:
        for op in lost:
            del stored[op]
            _say_why(op, "what threads write comes before or after it")
    return stored


def _meets_threads(
    store: StoreViewTkoOp, writes: Sequence[MemoryOp], stored: Container[MemoryOp]
) -> bool:
    """True of a store that writes of threads come after, or that comes after one."""
    behind = accesses_behind(store.result_token)
    return any(
        op in behind or store in accesses_behind(op.result_token)
        for op in writes
        if op not in stored
    )


def _say_why(op: StoreViewTkoOp, why: str) -> None:
    remark(op, "tma", f"'{op.name}' does not store by TMA: {why}")


def store_boxed(op: StoreViewTkoOp, access: BoxedAccess, kernel: EntryLowering) -> None:
    """Store a tile."""
    own = kernel.layout(op.tile)
    layout = kernel.table.default(op.view_type.tile_shape) if own is None else own
    _BoxedStore(access, layout, kernel).store(kernel.elements(op.tile, layout))


class _BoxedStore:
    """A store in rounds, which registers' bits number: those of boxes, else, of a transposed
    product, those of the outermost dimension, a part of which is the extent of each box."""

    def __init__(self, access: BoxedAccess, layout: TileLayout, kernel: EntryLowering):
        self.access, self.layout, self.kernel = access, layout, kernel
        order, token = access.order, access.op.token
        # What the token is behind is complete, not only read, before this store begins.
        self.alone = token is None or isinstance(token.owner, MakeTokenOp)
        tile = dim_bits(access.op.view_type.tile_shape)
        outermost = next(bits for bits in tile if bits)
        self.axis = access.along.index(tile.index(outermost))
        self.across, self.rows = order.run[order.row :], outermost
        products = kernel.table.products.values()
        if not any(isinstance(x, TransposedLayouts) and x.layout("C") == layout for x in products):
            self.rows = range(0)
        self.rounds, room = list[int](), kernel.scratch.store_room
        for bit in (*reversed(self.across), *reversed(self.rows)):
            if order.bytes >> len(self.rounds) > room and bit in layout.registers:
                self.rounds.append(bit)

    def store(self, elements: tuple[SSAValue, ...]) -> None:
        """Store the elements that the thread has."""
        kernel, order, size = self.kernel, self.access.order, self.access.order.order.size
        room = order.bytes // size >> len(self.rounds)
        element = self.access.map_type.element_type
        line, base = kernel.scratch.store_line(order, element, room)
        corners = list(box_corners(self.access, kernel))
        kept = TileLayout(
            self.layout.threads, tuple(b for b in self.layout.registers if b not in self.rounds)
        )
        inside, places = self._order_in_round(), TileLayout((), tuple(self.rounds)).places
        rounds = list[list[SSAValue]]()
        for place in places:
            at = [self.layout.register_at[place | other] for other in kept.places]
            rounds.append([elements[register] for register in at])
        turns = PartwiseElements(elements, kernel)
        for number, (place, own) in kernel.due(enumerate(zip(places, rounds, strict=True))):
            turns.load(own)
            kernel.scratch.free_store_line(read=self.alone or number > 0)
            kernel.scratch.store(base, kept, own, inside)
            kernel.emitter.add(wgmma_sync.FenceProxyAsyncOp(space="shared::cta"))
            kernel.scratch.barrier()
            boxes = [corner for i, corner in enumerate(corners) if self._is_in(place, i)]
            kernel.emitter.when(kernel.threads.is_first, partial(self._copy, line, boxes, place))

    def _order_in_round(self) -> SharedOrder:
        """Where elements of a round are: the bits that number rounds are left out."""
        order = self.access.order.order
        left = sorted(
            (bit for bit in order.position if bit not in self.rounds),
            key=order.position.__getitem__,
        )
        return SharedOrder(numbered(left), order.size, order.swizzle)

    def _is_in(self, place: int, box: int) -> bool:
        """True of a box that is stored, or a part of it, in the round of a place."""
        return all(
            place >> bit & 1 == box >> i & 1
            for i, bit in enumerate(self.across)
            if bit in self.rounds
        )

    def _copy(self, line: SSAValue, corners: list[list[SSAValue]], place: int) -> None:
        emitter, taken = self.kernel.emitter, [bit for bit in self.rows if bit in self.rounds]
        row = gathered(place, self.rows)
        map_ = self.kernel.tensor_map(self.access.part(self.axis, len(taken)))
        for i, corner in enumerate(corners):
            at = emitter.constant(i * self.access.box >> len(taken), None)
            begin = [*corner]
            if row:
                begin[self.axis] = emitter.binary("add", begin[self.axis], row)
            emitter.add(tma.TmaStoreOp(line, [at], map_, begin))
        emitter.add(tma.BulkCommitGroupOp())
