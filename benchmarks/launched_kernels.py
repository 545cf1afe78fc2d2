"""The cuTile kernels whose launches are timed and tested."""

import cuda.tile as ct


@ct.kernel
def add(a, b, c, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (T,)) + ct.load(b, (i,), (T,)))


@ct.kernel
def product(a, b, c, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((T, T), 0, ct.float32)
    for k in range(ct.num_tiles(a, 1, (T, T))):
        total = ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, j), (T, T)), total)
    ct.store(c, (i, j), total.astype(c.dtype))
