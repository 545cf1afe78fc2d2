"""Every op of Tile IR with the types, attributes and shapes that it takes, by its definition."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from fold_points import folds
from point import Frame, Point, verified
from surroundings import Surroundings
from swept_shapes import BY_HAND, SHAPES
from tile_points import framed, tile_of, typings
from view_points import accesses, extents

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, NUMBERS
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.operation import OPS, CudaTileOp
from tilewright.dialects.cuda_tile.ops.views import Extents, MakeView, ViewAccess


def _constants(op: type[CudaTileOp]) -> Iterator[Frame]:
    rng = np.random.default_rng(3)
    for shape, element in product(SHAPES, NUMBERS):
        if (tile := tile_of(shape, element)) is not None:
            dtype, bits = dtype_of(element), ELEMENT_OF[element].bits
            words = rng.integers(0, 256, (tile.elements, dtype.itemsize), np.uint8)
            words &= (1 << min(bits, 8)) - 1
            lists = [ElementsAttr.of_array(tile, some.view(dtype)) for some in (words, words[:1])]
            yield Point(op, (), (tile,)), [{"value": elements} for elements in lists]


def _frames(op: type[CudaTileOp], few: random.Random | None = None) -> Iterator[Frame]:
    if issubclass(op, Aggregate):
        return folds(op)
    if issubclass(op, ViewAccess | Extents):
        return (accesses if issubclass(op, ViewAccess) else extents)(op, few)
    if op is ConstantOp:
        return _constants(op)
    return (frame for types in typings(op) for frame in framed(op, types))


def points(name: str) -> Iterator[Point]:
    """All points of an op."""
    for frame, choices in _frames(swept()[name]):
        for properties in choices:
            if (point := verified(frame, properties)) is not None:
                yield point


def swept() -> dict[str, type[CudaTileOp]]:
    """The ops that have points, by name."""
    named = {op.name.removeprefix("cuda_tile."): op for op in OPS}
    return {name: op for name, op in named.items()
            if name not in BY_HAND and not issubclass(op, MakeView)}  # fmt: skip


IDLE = 1000
"""So many frames without a new pair end the search for others."""
TRIES = 6
"""Surroundings of which a point has the best."""


def pairs(name: str, seed: int = 0) -> list[Point]:
    """Points of an op such that, nearly, every two of the parts by which points differ meet."""
    rng = random.Random(f"{name} {seed}")
    frames = list(_frames(swept()[name], rng))
    rng.shuffle(frames)
    numbers: dict[Any, int] = {}
    seen: set[tuple[int, int]] = set()
    chosen, idle = list[Point](), 0
    for frame, choices in frames:
        idle += 1
        if idle > IDLE:
            break
        for properties in rng.sample(choices, min(3, len(choices))):
            point = replace(frame, properties=tuple(properties.items()))
            parts = [numbers.setdefault(part, len(numbers)) for part in point.features()]
            met = {(a, b) for i, a in enumerate(parts) for b in parts[: i + 1]}
            if not met <= seen and (whole := verified(frame, properties)) is not None:
                seen.update(met)
                idle = 0
                chosen.append(whole)
    return placed(chosen, rng)


def placed(points: Iterable[Point], rng: random.Random) -> list[Point]:
    """Points with surroundings, of several the ones by which most new pairs of a part of these and
    one of the point meet."""
    met, whole = set[Any](), list[Point]()
    for point in points:
        alone = issubclass(point.op, ViewAccess | Extents)
        some = [Surroundings.drawn(rng, alone) for _ in range(TRIES)]
        new = [{*product(around.parts, point.features())} - met for around in some]
        most = max(range(TRIES), key=lambda n: len(new[n]))
        met |= new[most]
        whole.append(replace(point, around=some[most]))
    return whole
