"""cuTile kernels that the samples lack, as users write them. Needs PyPI cuda-tile."""

import cuda.tile as ct  # pyright: ignore
import numpy as np

Int = ct.Constant[int]
LOG2E = 1.4426950408889634


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


# --- attention ------------------------------------------------------------------------------------


@ct.kernel
def attention_backward(q, k, v, o, lse, delta, dk, dv, dq, scale: float, D: Int, T: Int):
    """Of T keys and values, then of T queries; `o` is the gradient of the result, `lse` in bits."""
    i, head = ct.bid(0), ct.bid(1)
    factor = scale * LOG2E
    keys, values = rows(k, head, i, D, T), rows(v, head, i, D, T)
    of_keys, of_values = ct.zeros((T, D), ct.float32), ct.zeros((T, D), ct.float32)
    for j in range(ct.cdiv(q.shape[1], T)):
        queries, outer = rows(q, head, j, D, T), rows(o, head, j, D, T)
        scores = ct.mma(keys, ct.transpose(queries), ct.zeros((T, T), ct.float32))
        p = ct.exp2(scores * factor - ct.load(lse, (head, j), (1, T)))
        of_values = ct.mma(p.astype(q.dtype), outer, of_values)
        of_p = ct.mma(values, ct.transpose(outer), ct.zeros((T, T), ct.float32))
        of_scores = p * (of_p - ct.load(delta, (head, j), (1, T)))
        of_keys = ct.mma(of_scores.astype(q.dtype), queries, of_keys)
    ct.store(dk, (head, i, 0), (of_keys * scale).astype(dk.dtype).reshape((1, T, D)))
    ct.store(dv, (head, i, 0), of_values.astype(dv.dtype).reshape((1, T, D)))
    queries, outer = rows(q, head, i, D, T), rows(o, head, i, D, T)
    bits = ct.load(lse, (head, i), (1, T)).reshape((T, 1))
    less = ct.load(delta, (head, i), (1, T)).reshape((T, 1))
    of_queries = ct.zeros((T, D), ct.float32)
    for j in range(ct.cdiv(k.shape[1], T)):
        keys, values = rows(k, head, j, D, T), rows(v, head, j, D, T)
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((T, T), ct.float32))
        of_p = ct.mma(outer, ct.transpose(values), ct.zeros((T, T), ct.float32))
        of_scores = ct.exp2(scores * factor - bits) * (of_p - less)
        of_queries = ct.mma(of_scores.astype(q.dtype), keys, of_queries)
    ct.store(dq, (head, i, 0), (of_queries * scale).astype(dq.dtype).reshape((1, T, D)))


def rows(x, head, i, D, T):
    return ct.load(x, (head, i, 0), (1, T, D)).reshape((T, D))


@ct.kernel
def decode_attention(q, k, v, out, lse, scale: float, G: Int, D: Int, T: Int):
    """One token of G heads for each of keys; blocks side by side have a part of these each."""
    part, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = ct.load(q, (batch, head, 0, 0), (1, 1, G, D)).reshape((G, D))
    state = begun(G, D)
    share = ct.cdiv(ct.cdiv(k.shape[2], T), ct.num_blocks(0))
    for j in range(part * share, min(part * share + share, ct.cdiv(k.shape[2], T))):
        keys = ct.load(k, (batch, head, j, 0), (1, 1, T, D)).reshape((T, D))
        values = ct.load(v, (batch, head, j, 0), (1, 1, T, D)).reshape((T, D))
        state = attended(query, keys, values, state, scale * LOG2E)
    finish(state, out, lse, (batch, head, part), G, D)


@ct.kernel
def paged_attention(q, k, v, table, out, lse, scale: float, G: Int, D: Int, T: Int):
    """The same, where a table says in which pages of T keys those of a sequence are."""
    part, head, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    query = ct.load(q, (batch, head, 0, 0), (1, 1, G, D)).reshape((G, D))
    state = begun(G, D)
    share = ct.cdiv(table.shape[1], ct.num_blocks(0))
    for j in range(part * share, min(part * share + share, table.shape[1])):
        page = ct.load(table, (batch, j), shape=())
        keys = ct.load(k, (page, head, 0, 0), (1, 1, T, D)).reshape((T, D))
        values = ct.load(v, (page, head, 0, 0), (1, 1, T, D)).reshape((T, D))
        state = attended(query, keys, values, state, scale * LOG2E)
    finish(state, out, lse, (batch, head, part), G, D)


def begun(G, D):
    most = ct.full((G, 1), -np.inf, ct.float32)
    return most, ct.zeros((G, 1), ct.float32), ct.zeros((G, D), ct.float32)


def attended(query, keys, values, state, factor):
    most, total, sums = state
    zeros = ct.zeros((query.shape[0], keys.shape[0]), ct.float32)
    scores = ct.mma(query, ct.transpose(keys), zeros) * factor
    more = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
    p, less = ct.exp2(scores - more), ct.exp2(most - more)
    total = total * less + ct.sum(p, axis=1, keepdims=True)
    return more, total, ct.mma(p.astype(values.dtype), values, sums * less)


def finish(state, out, lse, place, G, D):
    most, total, sums = state
    ct.store(out, (*place, 0, 0), (sums / total).reshape((1, 1, 1, G, D)))
    ct.store(lse, (*place, 0), (ct.log2(total) + most).reshape((1, 1, 1, G)))


# --- products -------------------------------------------------------------------------------------


@ct.kernel
def grouped_gemm(a, b, owners, c, M: Int, N: Int, K: Int):
    """Rows, M of each expert or a multiple of that, by the matrices of their experts."""
    n, m = ct.bid(0), ct.bid(1)
    owner = ct.load(owners, (m,), shape=())
    sums = ct.zeros((M, N), ct.float32)
    for k in range(ct.cdiv(a.shape[1], K)):
        left = ct.load(a, (m, k), (M, K), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (owner, k, n), (1, K, N), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(left, right.reshape((K, N)), sums)
    ct.store(c, (m, n), sums.astype(c.dtype))


# --- bound by memory ------------------------------------------------------------------------------


@ct.kernel
def column_sums(x, y, M: Int, N: Int):
    """Of a part of the rows for each block, which another launch adds."""
    j, part = ct.bid(0), ct.bid(1)
    total = ct.zeros((1, N), ct.float32)
    share = ct.cdiv(ct.cdiv(x.shape[0], M), ct.num_blocks(1))
    for i in range(part * share, part * share + share):
        total += ct.sum(ct.load(x, (i, j), (M, N)).astype(ct.float32), axis=0, keepdims=True)
    ct.store(y, (part, j), total)


@ct.kernel
def group_norm(x, w, b, y, eps: float, C: Int, T: Int):
    """Of C channels for each block."""
    group, image = ct.bid(0), ct.bid(1)
    sums, squares = ct.zeros((C, T), ct.float32), ct.zeros((C, T), ct.float32)
    for j in range(ct.cdiv(x.shape[3], T)):
        part = ct.load(x, (image, group, 0, j), (1, 1, C, T)).reshape((C, T)).astype(ct.float32)
        sums += part
        squares += part * part
    count = C * x.shape[3]
    mean = ct.sum(sums) / count
    scale = ct.rsqrt(ct.sum(squares) / count - mean * mean + eps)
    weight = ct.load(w, (group, 0), (1, C)).reshape((C, 1)).astype(ct.float32)
    bias = ct.load(b, (group, 0), (1, C)).reshape((C, 1)).astype(ct.float32)
    for j in range(ct.cdiv(x.shape[3], T)):
        part = ct.load(x, (image, group, 0, j), (1, 1, C, T)).reshape((C, T)).astype(ct.float32)
        part = (part - mean) * scale * weight + bias
        ct.store(y, (image, group, 0, j), part.astype(y.dtype).reshape((1, 1, C, T)))


@ct.kernel
def rope(x, cos, sin, y, D: Int, T: Int):
    """Pairs of a head's halves are turned."""
    i, head = ct.bid(0), ct.bid(1)
    c = ct.load(cos, (i, 0), (T, D // 2)).reshape((1, T, D // 2))
    s = ct.load(sin, (i, 0), (T, D // 2)).reshape((1, T, D // 2))
    a = ct.load(x, (head, i, 0), (1, T, D // 2)).astype(ct.float32)
    b = ct.load(x, (head, i, 1), (1, T, D // 2)).astype(ct.float32)
    ct.store(y, (head, i, 0), (a * c - b * s).astype(y.dtype))
    ct.store(y, (head, i, 1), (b * c + a * s).astype(y.dtype))


@ct.kernel
def cross_entropy(x, targets, loss, T: Int):
    """Of a row for each block, in one pass."""
    i = ct.bid(0)
    most, total = ct.full((1, 1), -np.inf, ct.float32), ct.zeros((1, 1), ct.float32)
    for j in range(ct.cdiv(x.shape[1], T)):
        part = ct.load(x, (i, j), (1, T)).astype(ct.float32) * LOG2E
        more = ct.maximum(most, ct.max(part, axis=1, keepdims=True))
        e = ct.sum(ct.exp2(part - more), axis=1, keepdims=True)
        total, most = total * ct.exp2(most - more) + e, more
    own = ct.gather(x, (i, ct.load(targets, (i,), shape=()))).astype(ct.float32)
    ct.store(loss, (i,), ((ct.log2(total) + most) / LOG2E).reshape((1,)) - own)


@ct.kernel
def top_k(x, values, places, K: Int, T: Int):
    """Of a row for each block, the largest first."""
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T)).astype(ct.float32)
    columns = ct.arange(T, dtype=ct.int32).reshape((1, T))
    for k in range(K):
        place = ct.argmax(row, axis=1, keepdims=True)
        ct.store(values, (i, k), ct.max(row, axis=1, keepdims=True))
        ct.store(places, (i, k), place)
        row = ct.where(columns == place, -np.inf, row)


@ct.kernel
def histogram(x, bins, T: Int):
    """By atomic additions to bins of all blocks."""
    ct.atomic_add(bins, ct.load(x, (ct.bid(0),), (T,)), 1)


@ct.kernel
def cumsum_rows(x, y, T: Int):
    i = ct.bid(0)
    ct.store(y, (i, 0), ct.cumsum(ct.load(x, (i, 0), (1, T)), axis=1))


@ct.kernel
def cumsum_columns(x, y, M: Int, N: Int):
    j = ct.bid(0)
    before = ct.zeros((1, N), ct.float32)
    for i in range(ct.cdiv(x.shape[0], M)):
        part = ct.load(x, (i, j), (M, N))
        ct.store(y, (i, j), ct.cumsum(part, axis=0) + before)
        before += ct.sum(part, axis=0, keepdims=True)
