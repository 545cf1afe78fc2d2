"""Rules of the ops that move elements within tiles: reshape, permute, cat, extract, pack, ..."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.core import (
    BroadcastOp,
    CatOp,
    ExtractOp,
    GetNumTileBlocksOp,
    GetTileBlockIdOp,
    InsertOp,
    IotaOp,
    PackOp,
    PermuteOp,
    ReshapeOp,
    UnpackOp,
)
from tilewright.dialects.cuda_tile.ops.scalar_programs import SpecialRegisterTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.cuda_tile import conversions
from tilewright.lowering.interpreter.cuda_tile.blocks import Compute, acts, computes
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import (
    operand_element,
    result_element,
)
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.values import spread


def shape_of(op: Operation, operand: int | None = None) -> tuple[int, ...]:
    """The shape of the first result, or of an operand."""
    type_ = op.results[0].type if operand is None else op.operands[operand].type
    assert isinstance(type_, TileType)
    return type_.shape


@computes
def _reshape(op: ReshapeOp) -> Compute:
    shape = shape_of(op)

    def run(x: Tile) -> Tile:
        return x.reshape(len(x), *shape)

    return run


@computes
def _broadcast(op: BroadcastOp) -> Compute:
    shape = shape_of(op)

    def run(x: Tile) -> Tile:
        return np.broadcast_to(x, (len(x), *shape))

    return run


@computes
def _permute(op: PermuteOp) -> Compute:
    order: Any = op.permutation
    axes = [0, *(1 + axis for axis in order.get_values())]

    def run(x: Tile) -> Tile:
        return x.transpose(axes)

    return run


@computes
def _cat(op: CatOp) -> Compute:
    dim: Any = op.dim
    axis = 1 + int(dim.value.data)

    def run(x: Tile, y: Tile) -> Tile:
        rows = max(len(x), len(y))
        return np.concatenate([spread(tile, rows) for tile in (x, y)], axis=axis)

    return run


@computes
def _iota(op: IotaOp) -> Compute:
    tile = np.arange(shape_of(op)[0]).astype(result_element(op).dtype)[None]
    return lambda: tile


@computes
def _pack(op: PackOp) -> Compute:
    return partial(conversions.packed, operand_element(op))


@computes
def _unpack(op: UnpackOp) -> Compute:
    return partial(conversions.unpacked, result_element(op))


def _part(
    op: Operation, indices: tuple[Tile, ...], whole: tuple[int, ...], part: tuple[int, ...]
) -> tuple[int, Callable[[Any], tuple[Any, ...]]]:
    """Where each block's part lies: for how many blocks indices say it (1 for all alike), and the
    index of it in their tiles, by the numbers of the rows. A fault where it lies outside."""
    starts: list[Any] = []
    for axis, (index, size, extent) in enumerate(zip(indices, whole, part, strict=True)):
        number = as_unsigned(index).astype(np.int64)
        if (row := first_of(number >= size // extent)) is not None:
            raise Fault(
                f"expected index {axis} below {size // extent}, got {number[row]}",
                row if len(number) > 1 else None,
            )
        starts.append(number * extent)
    count = max(map(len, starts), default=1)
    if count == 1:
        begin = [int(start[0]) for start in starts]
        cut = tuple(slice(b, b + n) for b, n in zip(begin, part, strict=True))
        return 1, lambda _: (slice(None), *cut)
    one = [1] * len(part)
    steps = np.ogrid[tuple(slice(extent) for extent in part)]
    places = [start.reshape(-1, *one) + step for start, step in zip(starts, steps, strict=True)]
    return count, lambda rows: (rows.reshape(-1, *one), *places)


@computes
def _extract(op: ExtractOp) -> Compute:
    whole, part = shape_of(op, 0), shape_of(op)

    def run(source: Tile, *indices: Tile) -> Tile:
        _, place = _part(op, indices, whole, part)
        return source[place(np.arange(len(source)))]

    return run


@computes
def _insert(op: InsertOp) -> Compute:
    part, whole = shape_of(op, 0), shape_of(op, 1)

    def run(source: Tile, destination: Tile, *indices: Tile) -> Tile:
        count, place = _part(op, indices, whole, part)
        rows = max(len(source), len(destination), count)
        result = np.array(np.broadcast_to(destination, (rows, *whole)))
        result[place(np.arange(rows))] = source
        return result

    return run


@acts(GetTileBlockIdOp)
def _block_id(op: Operation) -> Compute:
    def run(frame: Frame) -> tuple[Tile, ...]:
        width, height, _ = frame.gang.machine.grid
        x, rest = frame.blocks % width, frame.blocks // width
        ids = (x, rest % height, rest // height)
        return tuple(
            axis[:1].astype(np.int32) if (axis == axis[0]).all() else axis.astype(np.int32)
            for axis in ids
        )

    return run


@acts(GetNumTileBlocksOp)
def _block_count(op: Operation) -> Compute:
    def run(frame: Frame) -> tuple[Tile, ...]:
        return tuple(np.full(1, extent, np.int32) for extent in frame.gang.machine.grid)

    return run


@acts
def _special_register(op: SpecialRegisterTkoOp) -> Compute:
    """Each block has a multiprocessor for itself; time goes on by one with each look at it."""
    register, element = op.register.data, result_element(op)

    def run(frame: Frame, token: int = 0) -> tuple[Tile, int]:
        machine = frame.gang.machine
        if register == "smid":
            return frame.blocks.astype(np.int32), token
        machine.looks += 1
        time = machine.looks >> (32 if register.endswith("_hi") else 0)
        return np.full(1, time, f"int{element.bits}"), token

    return run
