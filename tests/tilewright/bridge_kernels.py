"""cuTile kernels that take what kernels may take, for the tests of `tilewright.cutile`. Needs PyPI
cuda-tile; `record_bridge.py` records what it makes of them, for the tests that do not."""

from __future__ import annotations

from typing import Annotated, Any

import cuda.tile as ct

Int = ct.Constant[int]


@ct.kernel
def add(a, b, c, T: Int):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (T,)) + ct.load(b, (i,), (T,)))


@ct.kernel
def everywhere_at_once(a, c, T: Int):
    ct.store(c, (0,), ct.load(a, (ct.bid(0),), (T,)))


@ct.kernel
def of_pair(pair, c, scale: tuple[float, Int]):
    tile = ct.load(pair[0], (0,), (16,)) + ct.load(pair[1], (0,), (16,))
    ct.store(c, (0,), tile * scale[0] + scale[1])


@ct.kernel
def of_list(arrays, total):
    result = ct.zeros((4, 8), dtype=ct.float32)
    for i in range(len(arrays)):
        tile = ct.load(arrays[i], (0, 0), (4, 8))
        result += tile
        ct.store(arrays[i], (0, 0), -tile)
    ct.store(total, (0, 0), result)


@ct.kernel
def of_static_shape(
    a: Annotated[Any, ct.ArrayAnnotation(static_shape_dims=(0,))], c: ct.IndexedWithInt64
):
    ct.store(c, (0,), ct.load(a, (0,), (a.shape[0],)))
