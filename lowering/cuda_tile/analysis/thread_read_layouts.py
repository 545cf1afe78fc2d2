"""The layouts in which threads read stages that `wgmma` cannot read.

What MMAs of warps multiply and is converted first goes to the fragments, where registers suffice.
A goes to the registers from where the MMA takes it. What is laid down anew along K, and lies along
the other dimension, is read with K along the lanes: of 16 bytes each, from rows that the swizzle
keeps apart, and written as whole rows; of words two of K at a time, so that eight lanes read and
sixteen write different banks:

    32 elements of K x 4 of N:  threads (k0..k4, ...)               registers (n0, n1, ...)
    words:                      threads (k1, k2, n2, k3, k4, ...)   registers (n0, n1, k0, ...)
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.analysis.cost_model import holds_fragments, is_asynchronous
from tilewright.lowering.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.lowering.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.lowering.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout, blocked, dim_bits, log2
from tilewright.lowering.cuda_tile.layouts.mma_layouts import MmaLayouts, Multiplication, atom_of
from tilewright.lowering.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.lowering.cuda_tile.layouts.shared_order import CHUNK
from tilewright.lowering.cuda_tile.layouts.warpgroup_layouts import warpgroup_layouts

_WORD, _PAIRED = 4, 3


def thread_read_layouts(
    plan: Pipelines, thread_bits: int, arch: Target | None
) -> dict[Operation, TileLayout]:
    """The layouts of the loads that threads read, where one is better than a load's own."""
    return {
        load.op: layout
        for pipeline in plan.by_loop.values()
        for group in pipeline.groups
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
    size, atom = order.order.size, atom_of(product)
    for name, operand in (("A", product.lhs), ("B", product.rhs)):
        source = loaded_by(operand)
        if source is None or source.load is not load:
            continue
        if not is_asynchronous(product, arch):
            if source.converted and atom is not None:
                fragments = MmaLayouts.of(product, atom, thread_bits)
                own, sums = fragments.layout(name), fragments.layout("C").count
                element = bytes_of(scalar_type(product, element_of(operand)))
                if holds_fragments(sums, own.count * element):
                    yield own.renumbered(source.bits)
            return
        if name == "A" and source.converted and size > 1 and layouts is not None:
            yield layouts.layout("A").renumbered(source.bits)
            return
        depth = dim_bits(shape_of(operand))[-1 if name == "A" else -2]
        along_k = [source.bits[bit] for bit in depth]
        if set(order.run) <= set(along_k):
            return
        first = [*order.run[: log2(CHUNK // size)]]
        rest = sorted(bit for bit in source.bits.values() if bit not in (*first, *along_k))
        if size == _WORD and len(along_k) > _PAIRED and len(rest) > 1:
            pair, one, two, *along_k = along_k
            first, along_k = [*first, pair], [one, two, rest.pop(0), *along_k]
        dealt = [*first, *along_k, *rest]
        yield blocked(dealt, thread_bits, max(0, min(len(first), len(dealt) - thread_bits)))
        return
