"""Copies of boxes, mbarriers and warp specialisation of `cute_nvgpu` to `ptx`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute.atoms import SMEM_ALIGN
from tilewright.dialects.cute_nvgpu.lattice.tma import OWN_MEMORY
from tilewright.dialects.cute_nvgpu.ops import tma, warp_specialization
from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.ptx import bulk_copy
from tilewright.dialects.ptx import warp_specialization as ptx_warps
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_cluster import in_cluster
from tilewright.lowering.to_ptx.convert_instruction import instruction_of
from tilewright.lowering.to_ptx.convert_memref import locate
from tilewright.source.diagnostic import OpError

# Boxes


def _box_address(
    op: Operation, memory: SSAValue, indices: Sequence[SSAValue], to: Conversion
) -> SSAValue:
    """Where a box starts: the hardware swizzles the addresses that it makes, so this is the layout
    without its swizzle. Raises OpError where the start is known not to be aligned."""
    tile = to.tile(memory)
    layout = tile.layout
    plain = layout.outer if isinstance(layout, ComposedLayout) else layout
    start, known = locate(op, replace(tile, layout=plain), indices, to)
    if start is tile.address and tile.address is tile.base and known % SMEM_ALIGN:
        raise OpError(
            op,
            f"'{op.name}' expected a box that starts at a multiple of {SMEM_ALIGN} bytes, "
            f"got byte {known}; nearest legal: byte {round(known / SMEM_ALIGN) * SMEM_ALIGN}",
        )
    return to.plus(start, to.const(known, "b32"), "u32")


def _tensor(op: tma.TmaLoadOp | tma.TmaStoreOp | tma.TmaReduceOp, to: Conversion) -> dict[str, Any]:
    """The fields of a copy that say where in its tensor the box is."""
    coordinates = [to.narrow(to[coordinate]) for coordinate in reversed(op.coordinates)]
    hint = to.given(op.cache_hint)
    return {"map": to[op.map], "coordinates": coordinates, "cache_hint": hint}


@lowers
def _load(op: tma.TmaLoadOp, to: Conversion) -> None:
    dest = _box_address(op, op.dest, op.dest_indices, to)
    barrier, offset = locate(op, to.tile(op.barrier), op.barrier_indices, to)
    barrier = to.plus(barrier, to.const(offset, "b32"), "u32")
    fields = {"dest": dest, "mask": to.given(op.mask), **_tensor(op, to)}
    if op.rank is not None:
        barrier = in_cluster(barrier, to[op.rank], to)
    alone = op.rank is None and op.mask is None
    own = alone and to.arch is not None and to.arch.supports(OWN_MEMORY)
    fields |= {"barrier": barrier, "pair": op.rank is not None, "own": own}
    to.add(instruction_of(op, bulk_copy.TensorLoadOp, fields))


@lowers
def _store(op: tma.TmaStoreOp | tma.TmaReduceOp, to: Conversion) -> None:
    source = _box_address(op, op.source, op.source_indices, to)
    reduces = isinstance(op, tma.TmaReduceOp)
    instruction = bulk_copy.TensorReduceOp if reduces else bulk_copy.TensorStoreOp
    to.add(instruction_of(op, instruction, {"source": source, **_tensor(op, to)}))


# Warps


@lowers
def _setmaxnreg(op: warp_specialization.SetmaxnregOp, to: Conversion) -> None:
    kernel = next(enclosing(op, FunctionOp))
    if "gpu.known_block_size" not in kernel.attributes:
        raise OpError(
            op,
            f"'{op.name}' expected a kernel with gpu.known_block_size, got none (ptxas ignores it "
            "where it does not know the registers at entry)",
        )
    to.add(ptx_warps.SetmaxnregOp(op.action.data, op.registers.value.data))
