"""Rules of the ops that move elements within tiles: reshape, permute, cat, extract, pack, ..."""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.cuda_tile import conversions
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Preparation,
    Rule,
    Step,
    acting,
    computing,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pointwise_rules import (
    operand_element,
    result_element,
)
from tilewright.lowering.interpreter.errors import Fault

Unary = Callable[[Tile], Tile]
Maker = Callable[[Operation], Callable[..., Any]]


def shape_of(op: Operation, operand: int | None = None) -> tuple[int, ...]:
    """The shape of the first result, or of an operand."""
    type_ = op.results[0].type if operand is None else op.operands[operand].type
    assert isinstance(type_, TileType)
    return type_.shape


def _reshape(op: Operation) -> Unary:
    shape = shape_of(op)
    return lambda x: x.reshape(len(x), *shape)


def _broadcast(op: Operation) -> Unary:
    shape = shape_of(op)
    return lambda x: np.broadcast_to(x, (len(x), *shape))


def _permute(op: Operation) -> Unary:
    order: Any = op.properties["permutation"]
    axes = [0, *(1 + axis for axis in order.get_values())]
    return lambda x: x.transpose(axes)


def _cat(op: Operation) -> Callable[..., Any]:
    dim: Any = op.properties["dim"]
    axis = 1 + int(dim.value.data)

    def run(x: Tile, y: Tile) -> Tile:
        rows = max(len(x), len(y))
        return np.concatenate(
            [np.broadcast_to(tile, (rows, *tile.shape[1:])) for tile in (x, y)], axis=axis
        )

    return run


def _iota(op: Operation) -> Callable[..., Any]:
    element = result_element(op)
    tile = np.arange(shape_of(op)[0]).astype(element.dtype)[None]
    return lambda: tile


MAKERS: dict[str, Maker] = {
    "reshape": _reshape,
    "broadcast": _broadcast,
    "permute": _permute,
    "cat": _cat,
    "iota": _iota,
    "pack": lambda op: conversions.packed(operand_element(op)),
    "unpack": lambda op: conversions.unpacked(result_element(op)),
}


def _corners(
    op: Operation, indices: tuple[Tile, ...], whole: tuple[int, ...], part: tuple[int, ...]
) -> list[Any]:
    """Where each block's part begins along each dimension; a fault where it lies outside."""
    starts: list[Any] = []
    for axis, (index, size, extent) in enumerate(zip(indices, whole, part, strict=True)):
        number = as_unsigned(index).astype(np.int64)
        if (number >= size // extent).any():
            row = int(np.argmax(number >= size // extent))
            raise Fault(
                f"expected index {axis} below {size // extent}, got {number[row]}",
                row if len(number) > 1 else None,
            )
        starts.append(number * extent)
    return starts


def _extract(op: Operation, _: Preparation) -> Step:
    whole, part = shape_of(op, 0), shape_of(op)

    def run(source: Tile, *indices: Tile) -> Tile:
        starts = _corners(op, indices, whole, part)
        if all(len(start) == 1 for start in starts):
            begin = [int(start[0]) for start in starts]
            cut = tuple(slice(b, b + n) for b, n in zip(begin, part, strict=True))
            return source[(slice(None), *cut)]
        return _window(source, starts, part)

    return computing(op, run)


def _window(source: Tile, starts: list[Any], part: tuple[int, ...]) -> Tile:
    """A part of every block's tile that begins where `starts` say."""
    rows = max(len(source), *(len(start) for start in starts))
    rank = len(part)
    block = np.arange(rows).reshape(-1, *[1] * rank) if len(source) > 1 else np.zeros((1,), int)
    index: list[Any] = [block]
    for axis, (start, extent) in enumerate(zip(starts, part, strict=True)):
        steps = np.arange(extent).reshape(1, *(extent if i == axis else 1 for i in range(rank)))
        index.append(start.reshape(-1, *[1] * rank) + steps)
    return source[tuple(index)]


def _insert(op: Operation, _: Preparation) -> Step:
    part, whole = shape_of(op, 0), shape_of(op, 1)

    def run(source: Tile, destination: Tile, *indices: Tile) -> Tile:
        starts = _corners(op, indices, whole, part)
        rows = (
            max(len(tile) for tile in (source, destination, *starts))
            if starts
            else max(len(source), len(destination))
        )
        result = np.array(np.broadcast_to(destination, (rows, *whole)))
        if all(len(start) == 1 for start in starts):
            begin = [int(start[0]) for start in starts]
            cut = tuple(slice(b, b + n) for b, n in zip(begin, part, strict=True))
            result[(slice(None), *cut)] = source
            return result
        index: list[Any] = [np.arange(rows).reshape(-1, *[1] * len(part))]
        for axis, (start, extent) in enumerate(zip(starts, part, strict=True)):
            steps = np.arange(extent).reshape(
                1, *(extent if i == axis else 1 for i in range(len(part)))
            )
            index.append(start.reshape(-1, *[1] * len(part)) + steps)
        result[tuple(index)] = source
        return result

    return computing(op, run)


def _block_id(op: Operation, _: Preparation) -> Step:
    def run(frame: Frame) -> tuple[Tile, ...]:
        width, height, _ = frame.gang.machine.grid
        x, rest = frame.blocks % width, frame.blocks // width
        ids = (x, rest % height, rest // height)
        return tuple(
            axis[:1].astype(np.int32) if (axis == axis[0]).all() else axis.astype(np.int32)
            for axis in ids
        )

    return acting(op, run)


def _block_count(op: Operation, _: Preparation) -> Step:
    def run(frame: Frame) -> tuple[Tile, ...]:
        return tuple(np.full(1, extent, np.int32) for extent in frame.gang.machine.grid)

    return acting(op, run)


def _rule(make: Maker) -> Rule:
    return lambda op, _: computing(op, make(op))


RULES: dict[str, Rule] = {
    **{name: _rule(make) for name, make in MAKERS.items()},
    "extract": _extract,
    "insert": _insert,
    "get_tile_block_id": _block_id,
    "get_num_tile_blocks": _block_count,
}
