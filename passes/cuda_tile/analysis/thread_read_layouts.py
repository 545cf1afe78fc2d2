"""The layouts in which threads read stages that `wgmma` cannot read.

What MMAs of warps multiply and is computed first, element by element or of parts that are joined,
goes to the fragments, where registers suffice.
A goes to the registers from where the MMA takes it. What is laid down anew along K, and lies along
the other dimension, is read with K along the lanes: of 16 bytes each, from rows that the swizzle
keeps apart, and written as whole rows:

    32 elements of K x 4 of N:  threads (k0..k4, ...)  registers (n0, n1, ...)
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.passes.cuda_tile.analysis.cost_model import holds_fragments, is_asynchronous
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import FINDERS
from tilewright.passes.cuda_tile.layouts.layouts import (
    TileLayout,
    blocked,
    dim_bits,
    joined_bits,
    log2,
    permutation_of,
)
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    MmaLayouts,
    Multiplication,
    atom_of,
    multiplications,
)
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import warpgroup_layouts


def thread_read_layouts(
    plan: Pipelines, thread_bits: int, arch: Target | None
) -> dict[Operation, TileLayout]:
    """The layouts of the loads that threads read, where one is better than a load's own."""
    return {
        load.op: layout
        for _, group in plan.groups
        if group.by_threads and isinstance(group.product, MmaFOp | MmaIOp)
        for load in group.loads
        for layout in thread_read_layout(load.op, load.order, group.product, thread_bits, arch)
    }


def thread_read_layout(
    load: Operation, order: MatrixOrder, product: Multiplication, thread_bits: int,
    arch: Target | None,
) -> Iterator[TileLayout]:  # fmt: skip
    """The layout of a load whose tile lies in an order, if there is a better one."""
    scaled = isinstance(product, MmaFScaledOp)
    layouts = None if scaled else warpgroup_layouts(product, thread_bits, arch)
    size = order.order.size
    by_warps = not is_asynchronous(product, arch)
    for name, operand in () if by_warps else (("A", product.lhs), ("B", product.rhs)):
        source = loaded_by(operand)
        if source is None or source.load is not load:
            continue
        if name == "A" and source.converted and size > 1 and layouts is not None:
            yield layouts.layout("A").renumbered(source.bits)
            return
        depth = dim_bits(shape_of(operand))[-1 if name == "A" else -2]
        along_k = [source.bits[bit] for bit in depth]
        if set(order.run) <= set(along_k):
            return
        first = [*order.run[: log2(CHUNK // size)]]
        rest = [bit for bit in source.bits.values() if bit not in (*first, *along_k)]
        dealt = [*first, *along_k, *sorted(rest)]
        yield blocked(dealt, thread_bits, max(0, min(len(first), len(dealt) - thread_bits)))
        return


def fragment_layouts(
    entry: EntryOp, staged: Container[Operation], thread_bits: int, arch: Target | None
) -> dict[Operation, TileLayout]:
    """The layouts of staged loads whose tiles become operands of MMAs of warps."""
    return {
        load: layout
        for product in multiplications(entry)
        if not is_asynchronous(product, arch)
        for load, layout in _sources(product, thread_bits)
        if load in staged
    }


def _sources(product: Multiplication, thread_bits: int) -> Iterator[tuple[Operation, TileLayout]]:
    """The loads whose elements operands are computed of, each of its own, and where the MMA has
    these."""
    if (atom := atom_of(product)) is None:
        return
    fragments = MmaLayouts.of(product, atom, thread_bits)
    pending: list[tuple[SSAValue, TileLayout, bool]] = []
    for name, operand in (("A", product.lhs), ("B", product.rhs)):
        own, sums = fragments.layout(name), fragments.layout("C").count
        size = bytes_of(scalar_type(product, element_of(operand)))
        if holds_fragments(sums, own.count * size):
            pending.append((operand, own, False))
    while pending:
        value, layout, computed = pending.pop()
        match value.owner:
            case LoadViewTkoOp() | LoadPtrTkoOp() as load:
                if computed:
                    yield load, layout
            case core.ReshapeOp() as moved:
                pending.append((moved.source, layout, computed))
            case core.PermuteOp() as moved:
                pending.append((moved.source, layout.renumbered(permutation_of(moved)), computed))
            case core.CatOp() as joined if joined_bits(joined)[0] in layout.registers:
                part = layout.renumbered(joined_bits(joined)[1])
                pending += [(x, part, True) for x in joined.operands]
            case PureOp() as op if type(op) not in FINDERS and not op.regions:
                same = (x for x in op.operands if shape_of(x) == shape_of(value))
                pending += [(x, layout, True) for x in same]
            case _:
                pass
