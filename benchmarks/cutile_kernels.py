"""cuTile kernels that the samples lack: softmax and RMSNorm of rows. Needs PyPI cuda-tile."""

import cuda.tile as ct  # pyright: ignore

Int = ct.Constant[int]


@ct.kernel
def softmax(x, y, T: Int):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T)).astype(ct.float32)
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (i, 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(y.dtype))


@ct.kernel
def rms_norm(x, w, y, eps: float, T: Int):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T)).astype(ct.float32)
    scale = ct.rsqrt(ct.sum(row * row, axis=1, keepdims=True) / T + eps)
    weight = ct.load(w, (0,), (T,)).reshape((1, T)).astype(ct.float32)
    ct.store(y, (i, 0), (row * scale * weight).astype(y.dtype))
