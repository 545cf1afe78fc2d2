"""Which loads of loops come by `cp.async`, ahead of their use: those whose tiles are multiplied,
and that TMA does not make.

Every thread copies its part of a tile, up to 16 bytes at a time, to a stage in shared memory, where
MMAs read it as it lies. Where a tile lies must follow from the loop's variable and from what is
known before the loop, and nothing in the loop may have written it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics, PaddingValue
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import GatherScatterViewType
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.analysis.cost_model import copy_stages, holds_fragments
from tilewright.lowering.cuda_tile.analysis.find_pipelines import (
    LoadedOperand,
    Pipelines,
    follows,
    is_readable,
    loaded_by,
)
from tilewright.lowering.cuda_tile.analysis.hints import latency
from tilewright.lowering.cuda_tile.analysis.tensor_maps import reads_only
from tilewright.lowering.cuda_tile.analysis.thread_read_layouts import thread_read_layout
from tilewright.lowering.cuda_tile.analysis.view_access import (
    contiguous,
    extents_of,
    run_bits,
    tensor_of,
    tile_dimensions,
)
from tilewright.lowering.cuda_tile.layouts.elements import element_of, scalar_type
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout, blocked, dim_bits
from tilewright.lowering.cuda_tile.layouts.mma_layouts import MmaLayouts, Multiplication, atom_of
from tilewright.lowering.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.lowering.cuda_tile.layouts.warpgroup_layouts import multiplies_by_warpgroups

NARROWEST = min(CP_ASYNC.sizes["ca"])
"""The fewest bytes that one copy moves."""


@dataclass(frozen=True, eq=False)
class CopiedLoad:
    """A load by `cp.async`: how its tile lies in a stage, and the neighbours of one copy, as bits
    of their number; `as_matrix` where `wgmma` reads the stage."""

    op: LoadViewTkoOp
    order: MatrixOrder
    run: int
    element: Attribute
    as_matrix: bool

    def layout(self, thread_bits: int) -> TileLayout:
        """The elements that each thread copies."""
        order = [*self.order.run, *self.order.above]
        return blocked(order, thread_bits, self.run)


@dataclass(eq=False)
class CopiedLoop:
    """The loads of a loop, in `stages`."""

    loop: ForOp
    loads: list[CopiedLoad] = field(default_factory=list[CopiedLoad])
    stages: int = 0
    slice: list[Operation] = field(default_factory=list[Operation])
    """The ops of the loop's body that say where tiles lie, in order."""

    @property
    def stage(self) -> int:
        """The bytes of a stage."""
        return sum(load.order.bytes for load in self.loads)

    @property
    def bytes(self) -> int:
        """The shared memory that it takes."""
        return self.stages * self.stage

    @property
    def matrices(self) -> list[CopiedLoad]:
        """The loads that `wgmma` reads, each in memory of its own."""
        return [load for load in self.loads if load.as_matrix]

    def line(self, load: CopiedLoad) -> LineKey:
        """The memory of such a load, which loops that do not run within one another share."""
        around = [op for op in _around(self.loop) if isinstance(op, ForOp)]
        number = self.matrices.index(load)
        return (
            number,
            len(around),
            self.stages * load.order.elements,
            load.order.width,
            load.element,
        )


LineKey = tuple[int, int, int, int, Attribute]


def _around(op: Operation) -> Iterator[Operation]:
    while (parent := op.parent_op()) is not None:
        yield parent
        op = parent


@dataclass(eq=False)
class CopiedLoads:
    """The loads of a kernel that come by `cp.async`, by loop; why others do not; and the layouts in
    which threads read those that are converted before they are multiplied."""

    by_loop: dict[ForOp, CopiedLoop] = field(default_factory=dict[ForOp, CopiedLoop])
    refused: dict[Operation, str] = field(default_factory=dict[Operation, str])
    read: dict[Operation, TileLayout] = field(default_factory=dict[Operation, TileLayout])

    @property
    def bytes(self) -> int:
        """The shared memory that loops take, one within another."""
        return max((self._within(loop) for loop in self.by_loop), default=0)

    @property
    def beside(self) -> int:
        """The part of that which is no memory in which tiles change layout."""
        lines: dict[LineKey, int] = {}
        for own in self.by_loop.values():
            lines |= {own.line(load): own.stages * load.order.bytes for load in own.matrices}
        return sum(lines.values())

    def _within(self, loop: ForOp) -> int:
        return sum(own.bytes for other, own in self.by_loop.items() if other.is_ancestor(loop))


def find_copied_loads(
    entry: EntryOp, arch: Target | None, plan: Pipelines, thread_bits: int, beside: int = 0
) -> CopiedLoads:
    """The loads by `cp.async` of a kernel, whose stages leave so much shared memory at least."""
    copies = CopiedLoads()
    if arch is None or not arch.supports(CP_ASYNC.target):
        return copies
    tried = set[Operation]()
    for product, operand, name in _operands(entry):
        source = loaded_by(operand)
        if source is None or plan.of(source.load) is not None or source.load in tried:
            continue
        tried.add(source.load)
        copied = _copied(source.load)
        if not isinstance(copied, str):
            if isinstance(product, MmaFOp | MmaIOp) and multiplies_by_warpgroups(product, arch):
                direct = is_readable(copied.order, source, operand, product)
                copied = replace(copied, as_matrix=direct)
                order = copied.order
                layouts = thread_read_layout(source.load, order, product, thread_bits, arch)
                read = None if direct else next(layouts, None)
            else:
                read = _read(product, source, operand, name, thread_bits)
            copied = _add(copied, copies, plan)
            if copied is None and read is not None:
                copies.read[source.load] = read
        if copied is not None:
            copies.refused[source.load] = copied
    _choose_stages(entry, arch, copies, beside + plan.bytes)
    for load in copies.refused:
        copies.read.pop(load, None)
    return copies


def _operands(entry: EntryOp) -> Iterator[tuple[Multiplication, SSAValue, str]]:
    """The operands of multiplications by MMAs."""
    for op in entry.walk():
        if isinstance(op, Multiplication) and atom_of(op) is not None:
            yield op, op.lhs, "A"
            yield op, op.rhs, "B"


def _read(
    product: Multiplication, source: LoadedOperand, operand: SSAValue, name: str, thread_bits: int
) -> TileLayout | None:
    """The layout in which threads read what is converted: as the MMA takes it, where registers
    suffice for that."""
    if not source.converted:
        return None
    atom = atom_of(product)
    assert atom is not None
    layouts = MmaLayouts.of(product, atom, thread_bits)
    own, sums = layouts.layout(name), layouts.layout("C").count
    size = bytes_of(scalar_type(product, element_of(operand)))
    return own.renumbered(source.bits) if holds_fragments(sums, own.count * size) else None


def _add(copied: CopiedLoad, copies: CopiedLoads, plan: Pipelines) -> str | None:
    """Give a load its place; else why it has none."""
    load = copied.op
    loop = load.parent_op()
    if not isinstance(loop, ForOp):
        return "it is in no loop over a range, or in a branch within one"
    if loop.unsigned_cmp is not None and element_of(loop.lower_bound) == i64:
        return "its loop counts in unsigned i64"
    if copied.as_matrix and loop in plan.by_loop:
        return "other loads of its loop come by TMA"
    tensor, needed = tensor_of(load.view), dict[Operation, None]()
    sizes, strides = extents_of(tensor)
    places = [*load.index, tensor.base]
    places += [extent for extent in (*sizes, *strides) if not isinstance(extent, int)]
    if not all(follows(value, loop, needed) for value in places):
        return "where it lies depends on more than the loop's variable"
    own = copies.by_loop.setdefault(loop, CopiedLoop(loop))
    own.loads.append(copied)
    wanted = {*own.slice, *needed}
    own.slice = [op for op in loop.region.block.ops if op in wanted]
    return None


def _copied(op: LoadViewTkoOp) -> CopiedLoad | str:
    """The copy that a load may be; else why not."""
    if op.ordering is not MemoryOrderingSemantics.WEAK:
        return "the access is not weak"
    if isinstance(op.view_type, GatherScatterViewType):
        return "the view gathers"
    if not reads_only(op.token):
        return "a write comes before it"
    dimensions = tile_dimensions(op)
    whole = all(dimension.within for dimension in dimensions)
    if not whole and op.view_type.padding_value not in (None, PaddingValue.ZERO):
        return "what lies outside of the tensor is not zero"
    element = scalar_type(op, element_of(op.tile))
    along, size = contiguous(dimensions), bytes_of(element)
    run = run_bits(op, dimensions, divided=True)
    if along is None or size << run < NARROWEST:
        return f"no {NARROWEST} bytes of it are known to be neighbours at a multiple of that"
    bits = dim_bits(op.view_type.tile_shape)
    above = [bit for i in reversed(range(len(bits))) if i != along for bit in bits[i]]
    order = MatrixOrder.of(bits[along], above, size)
    return CopiedLoad(op, order, run, element, as_matrix=False)


def _choose_stages(entry: EntryOp, arch: Target, copies: CopiedLoads, beside: int) -> None:
    """Give loops their stages; those without room have none."""
    for loop, own in list(copies.by_loop.items()):
        around = sum(
            other.bytes for outer, other in copies.by_loop.items()
            if outer is not loop and outer.is_ancestor(loop)
        )  # fmt: skip
        flying = latency((load.op for load in own.loads), arch)
        own.stages = copy_stages(entry, arch, own.stage, beside + around, flying)
        if own.stages == 0:
            del copies.by_loop[loop]
            for load in own.loads:
                copies.refused[load.op] = "shared memory has no room for two stages"
