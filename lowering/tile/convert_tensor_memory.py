"""Tensors in tensor memory: their columns, and where their elements are.

One warp allocates; the address goes through shared memory to all threads, behind a barrier of the
CTA. What is not given back explicitly is at the end of the kernel.
"""

from typing import Any

from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType as LineType
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.ops.memory import AllocOp, DeallocOp
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tensor_memory import LANE_STRIDE, allocated_columns
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr
from tilewright.dialects.cute.types.tensors import MemRefType, element_type
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import WARP
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.cute_nvgpu.ops import cluster, tcgen05_sync, tmem
from tilewright.lowering.emit.mbarriers import shared_words
from tilewright.lowering.tile.kernel import KernelLowering, lowers, offset_of
from tilewright.lowering.tile.places import Memory
from tilewright.source.diagnostic import OpError

_TMEM = SpaceAttr(Space.TMEM)


def in_tensor_memory(value: SSAValue) -> bool:
    """A value is a tensor in tensor memory."""
    return isinstance(value.type, MemRefType) and value.type.tensor.space == "tmem"


def allocate(op: AllocOp, kernel: KernelLowering) -> None:
    """Columns for a tensor, known to all threads of the CTA."""
    _check_together(op, kernel)
    assert isinstance(op.result.type, MemRefType)
    tensor, emitter = op.result.type.tensor, kernel.emitter
    columns = allocated_columns(tensor)
    slot = shared_words(emitter, i32, 1)
    at = emitter.constant(0, None)

    def by_one_warp() -> None:
        emitter.add(tmem.AllocOp(slot, [at], columns, cta_group=op.cta_group))
        if _is_last(op):
            emitter.add(tmem.RelinquishAllocPermitOp(cta_group=op.cta_group))

    kernel.emitter.when(_first_warp(kernel), by_one_warp)
    _synchronise(kernel, op.cta_group)
    emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
    whole = tmem.allocation_type(
        columns, element_type(tensor.element) if tensor.bits == CELL_BITS else i32
    )
    base = emitter.emit(tmem.RetrieveOp(slot, [at], whole))
    base.name_hint = op.result.name_hint
    allocated = Tensor(tensor.element, "tmem", tensor.align, tensor.layout, Memory(base, "tmem"), 0)
    kernel[op.result] = Typed("memref", allocated)


def _check_together(op: Operation, kernel: KernelLowering) -> None:
    """The CTA synchronises, and its first warp is the one that allocates."""
    if kernel.emitter.block is not kernel.entry:
        raise OpError(
            op,
            f"'{op.name}' of tensor memory expected every thread of the CTA to execute it, got a "
            "branch or a loop; nearest legal: the kernel's own block",
        )
    size = kernel.block_size
    if size is None or size[0] % WARP or any(extent != 1 for extent in size[1:]):
        raise OpError(
            op,
            f"'{op.name}' of tensor memory expected whole warps along x, as gpu.known_block_size "
            f"says, got {size}; nearest legal: array<i32: 128, 1, 1>",
        )


def _is_last(op: AllocOp) -> bool:
    """A kernel allocates no more tensor memory behind an op."""
    following = op.next_op
    while following is not None:
        if isinstance(following, AllocOp) and in_tensor_memory(following.result):
            return False
        following = following.next_op
    return True


def _first_warp(kernel: KernelLowering) -> SSAValue:
    emitter = kernel.emitter
    thread = emitter.of_launch(gpu.ThreadIdOp)
    return emitter.compare("lt", thread, WARP)


def _synchronise(kernel: KernelLowering, ctas: int) -> None:
    kernel.emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
    if ctas == 1:
        kernel.emitter.add(gpu.BarrierOp())
    else:
        kernel.emitter.add(cluster.ArriveOp())
        kernel.emitter.add(cluster.WaitOp())


@lowers
def _dealloc(op: DeallocOp, kernel: KernelLowering) -> None:
    _check_together(op, kernel)
    assert isinstance(op.source.owner, AllocOp)
    _give_back([kernel.tensor(op.source).base.value], op.source.owner.cta_group, kernel)


def deallocate_rest(source: Any, kernel: KernelLowering) -> None:
    """At the end of a kernel, whose ops those of a block are: what it has not given back."""
    rest = [
        op
        for op in source.ops
        if isinstance(op, AllocOp)
        and in_tensor_memory(op.result)
        and not any(isinstance(use.operation, DeallocOp) for use in op.result.uses)
    ]
    if rest:
        tensors = [kernel.tensor(op.result).base.value for op in rest]
        _give_back(tensors, max(op.cta_group for op in rest), kernel)


def _give_back(tensors: list[SSAValue], ctas: int, kernel: KernelLowering) -> None:
    def by_one_warp() -> None:
        kernel.emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        for tensor in tensors:
            kernel.emitter.add(tmem.DeallocOp(tensor, cta_group=ctas))

    _synchronise(kernel, ctas)
    kernel.emitter.when(_first_warp(kernel), by_one_warp)


# --- elements -------------------------------------------------------------------------------------


def tile_of(
    tensor: Tensor, first: int, extents: tuple[int, int], step: int, kernel: KernelLowering
) -> tuple[SSAValue, list[SSAValue]]:
    """Lanes and elements of a tensor from one of them on, as a memref and the indices of its first:
    of cells the whole allocation's; `step` is how far apart neighbours in a lane are."""
    base, lane, column, _ = _cell(tensor, first)
    cell = [kernel.index(lane), kernel.index(column)]
    if tensor.bits == CELL_BITS:
        return base, cell
    layout = Layout(extents, (LANE_STRIDE * CELL_BITS // tensor.bits, step))
    type_ = LineType(element_type(tensor.element), extents, LayoutType.get(layout), _TMEM)
    tile = kernel.emitter.once(
        ("tmem", base, *cell, type_), lambda: tmem.SliceOp(base, cell, type_)
    )
    return tile, [kernel.emitter.constant(0, None)] * 2


def _cell(tensor: Tensor, first: int) -> tuple[SSAValue, Scalar, Scalar, Scalar]:
    """The allocation, and of an element the lane, the column and its place in the cell."""
    offset, per_cell = offset_of(tensor, first), CELL_BITS // tensor.bits
    lane, inside = (f(offset, LANE_STRIDE * per_cell) for f in (scalar.div, scalar.mod))
    column, place = (f(inside, per_cell) for f in (scalar.div, scalar.mod))
    return tensor.base.value, lane, column, place


def tensor_operand(
    atom: UmmaAtom, which: Operand, tensor: Tensor, first: int, kernel: KernelLowering
) -> tuple[SSAValue, int]:
    """An operand of an atom from an element of a tensor on, and its id, which has to be known: the
    element's place in its cell, of metadata the column of a pair."""
    base, lane, column, place = _cell(tensor, first)
    if which == "E" and len(atom.row.selectors) > 1:
        place = scalar.mod(column, len(atom.row.selectors))
        column = scalar.sub(column, place)
    if not isinstance(place, int):
        raise LayoutError(f"expected {which} at a known place of a cell or a pair, got {tensor}")
    cell = [kernel.index(lane), kernel.index(column)]
    layout = atom.cta_layout(which)
    shape = [layout[mode].size() for mode in range(2)]
    type_ = LineType(element_type(tensor.element), shape, LayoutType.get(layout), _TMEM)
    if base.type == type_:
        return base, place
    sliced = kernel.emitter.once(
        ("tmem", base, *cell, type_), lambda: tmem.SliceOp(base, cell, type_)
    )
    return sliced, place
