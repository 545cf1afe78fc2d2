"""The columns of tensor memory that a kernel has allocated: their stages, and tensors in them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import column_stride, lane_stride
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES
from tilewright.dialects.cute_nvgpu.ops import tmem
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.kernel.threads import ThreadNumber
from tilewright.lowering.emit.emitter import Emitter
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, log2
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    Accumulators,
    PackedOperand,
)

MOST_LOADED = 32
"""The elements that a thread loads or stores by one instruction."""


class TensorColumns:
    """Columns of each CTA, in one stage or in two that alternate."""

    def __init__(self, emitter: Emitter, threads: ThreadNumber):
        self._emitter, self._threads = emitter, threads
        self.parities: list[SSAValue] = []
        """Of the phase of the mbarrier of MMAs that comes, and of the one of threads before; with
        two stages of columns, the one that is in use."""
        self.stages = self.ctas = 1
        self._columns = 0
        self._base: SSAValue

    def at(self, *, other: bool = False) -> SSAValue:
        """The number of the stage that is in use, or of the `other` one, as an index."""
        emitter = self._emitter
        if self.stages == 1:
            return emitter.constant(0, None)
        stage = self.parities[-1]
        if other:
            stage = emitter.binary("xor", stage, 1)
        return emitter.resized(stage, 32, None)

    def next_stage(self) -> None:
        """Go on to the other stage; behind the second one come the next phases."""
        *parities, stage = self.parities
        self.parities = [self._emitter.binary("xor", parity, stage) for parity in parities]
        self.parities.append(self._emitter.binary("xor", stage, 1))

    def _own_columns(self) -> SSAValue:
        """The columns of the stage."""
        if self.stages == 1:
            return self._base
        emitter, at = self._emitter, self.at()
        type_ = tmem.allocation_type(self._columns)

        def build() -> Operation:
            first = emitter.binary("mul", at, self._columns)
            return tmem.SliceOp(self._base, [emitter.constant(0, None), first], type_)

        return emitter.once(("stage", at), build)

    def first_lane(self) -> SSAValue:
        """The first lane that the thread's warp reaches."""
        lane = self._threads.total([0] * WARP_BITS + [1 << WARP_BITS, 2 << WARP_BITS] + [0])
        assert lane is not None
        return self._emitter.resized(lane, 32, None)

    def view(self, accumulators: Accumulators) -> SSAValue:
        """The columns as elements, from the accumulators' lane on."""
        bits = 8 * bytes_of(accumulators.element)
        shape, apart = (LANES - accumulators.lane, self._columns), column_stride(bits)
        if isinstance(accumulators, PackedOperand):
            shape, apart = (shape[0], shape[1] * accumulators.per_cell), 1
        layout = Layout(shape, (lane_stride(bits), apart))
        first = accumulators.lane * LANE_STRIDE
        return self.slice(first, accumulators.element, shape, layout)

    def slice(
        self, address: int, element: Attribute, shape: tuple[int, int], layout: Layout
    ) -> SSAValue:
        """The tensor of a shape and a layout from an address on."""
        emitter = self._emitter
        type_ = MemRefType(element, shape, LayoutType.get(layout), SpaceAttr(Space.TMEM))
        begin = [emitter.constant(at, None) for at in divmod(address, LANE_STRIDE)]
        base = self._own_columns()
        key = "tmem", base, address, type_
        return emitter.once(key, lambda: tmem.SliceOp(base, begin, type_))

    def block(
        self, accumulators: Accumulators, atom: UmmaAtom, batch: int, row: int, column: int
    ) -> SSAValue:
        """The operand D of an MMA from an element on."""
        rows, columns = atom.cta_extents("D")
        at = accumulators.address_of(batch, row, column)
        return self.slice(at, accumulators.element, (rows, columns), atom.cta_layout("D"))

    def operand(
        self, packed: PackedOperand, atom: UmmaAtom, place: tuple[int, int, int]
    ) -> SSAValue:
        """The operand A of an MMA from an element (batch, row, K) on."""
        at = packed.address_of(*place) // packed.per_cell
        return self.slice(at, packed.element, atom.cta_extents("A"), atom.cta_layout("A"))

    def runs(self, accumulators: Accumulators) -> Iterator[tuple[list[SSAValue], int]]:
        """Where the elements of a thread's registers begin, in runs."""
        emitter, threads = self._emitter, self._threads
        layout, (_, rows, columns) = accumulators.layout(), accumulators.extents
        lane = self.first_lane()

        def column_of(place: int) -> int:
            above, column = divmod(place, columns)
            batch, row = divmod(above, rows)
            return accumulators.address_of(batch, row, column) % LANE_STRIDE

        along = [bit for bit in layout.registers if bit < log2(columns)]
        count = min(MOST_LOADED, 1 << len(along))
        group = accumulators.group_bit
        for place in layout.places[::count]:
            at = emitter.constant(column_of(place), 32)
            if group is not None:
                weight = column_of(1 << group) - column_of(0)
                own = threads.total([0] * (WARP_BITS + 2) + [weight])
                assert own is not None
                at = emitter.binary("add", own, at)
            yield [lane, emitter.resized(at, 32, None)], count
