"""Copies of boxes, mbarriers and warp specialisation of `cute_nvgpu` to `ptx`."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute.atoms import SMEM_ALIGN
from tilewright.dialects.cute_nvgpu.ops import tma, warp_specialization
from tilewright.dialects.ptx import bulk_copy
from tilewright.dialects.ptx import warp_specialization as ptx_warps
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_cluster import in_cluster
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


def _coordinates(given: Sequence[SSAValue], to: Conversion) -> list[SSAValue]:
    return [to.narrow(to[coordinate]) for coordinate in reversed(given)]


@lowers(tma.TmaLoadOp)
def _load(op: tma.TmaLoadOp, to: Conversion) -> None:
    dest = _box_address(op, op.dest, op.dest_indices, to)
    barrier, offset = locate(op, to.tile(op.barrier), op.barrier_indices, to)
    barrier = to.plus(barrier, to.const(offset, "b32"), "u32")
    hint = to.given(op.cache_hint)
    coordinates = _coordinates(op.coordinates, to)
    mask = to.given(op.mask)
    pair = UnitAttr() if op.rank is not None else None
    if op.rank is not None:
        barrier = in_cluster(barrier, to[op.rank], to)
    to.add(
        bulk_copy.TensorLoadOp(
            dest, to[op.map], coordinates, barrier, cache_hint=hint, mask=mask, pair=pair
        )
    )


@lowers(tma.TmaStoreOp)
def _store(op: tma.TmaStoreOp, to: Conversion) -> None:
    source = _box_address(op, op.source, op.source_indices, to)
    hint = to.given(op.cache_hint)
    to.add(
        bulk_copy.TensorStoreOp(
            to[op.map], _coordinates(op.coordinates, to), source, cache_hint=hint
        )
    )


@lowers(tma.TmaReduceOp)
def _reduce(op: tma.TmaReduceOp, to: Conversion) -> None:
    source = _box_address(op, op.source, op.source_indices, to)
    hint = to.given(op.cache_hint)
    coordinates, kind = _coordinates(op.coordinates, to), op.kind.data.value
    to.add(bulk_copy.TensorReduceOp(to[op.map], coordinates, source, kind, cache_hint=hint))


# Warps


@lowers(warp_specialization.SetmaxnregOp)
def _setmaxnreg(op: warp_specialization.SetmaxnregOp, to: Conversion) -> None:
    kernel = next(x for x in ancestors(op) if isinstance(x, func.FuncOp | gpu.FuncOp))
    if "gpu.known_block_size" not in kernel.attributes:
        raise OpError(
            op,
            f"'{op.name}' expected a kernel with gpu.known_block_size, got none (ptxas ignores it "
            "where it does not know the registers at entry)",
        )
    to.add(ptx_warps.SetmaxnregOp(op.action.data, op.registers.value.data))
