"""softmax(Q K') V, forward, a block of queries against one block of keys after another.

Q (batch, queries, depth), K and V (batch, keys, depth) and O are row-major, `keep` (batch, keys) is
1 for keys that count and 0 for those that do not, at least one of them counting. The greatest
score of each row so far, and the sum of its exponentials, change with each block; what was
accumulated shrinks with them. `scale` has the factor log2(e) in it. Where it is `causal`, a query
sees the keys up to its own number.
"""

from math import inf

from tile_frontend.kernel import kernel
from tile_frontend.language import COLUMNS, ROWS, Array, dot, load, program, steps, store, zeros
from tile_frontend.masks import columns, iota, where
from xdsl.ir import SSAValue

FAR = 1e30
"""How far below the others a score is that does not count: what lies beyond the last key does
not, because it is kept by 0."""


@kernel(
    grid=lambda q, k, v, keep, o, scale, rows, **_: (-(-q.shape[1] // rows), q.shape[0]),
    warps=(4, 1), rows=64, keys=64, depth=64, causal=False,
)  # fmt: skip
def attention(
    q: Array, k: Array, v: Array, keep: Array, o: Array, scale: SSAValue,
    rows: int, keys: int, depth: int, causal: bool,
) -> None:  # fmt: skip
    i, z = program("x"), program("y")
    query = load(q[z], (rows, depth), (i, 0))
    out = zeros(rows, depth)
    top, total = out.rows(-inf), out.rows(0.0)
    for step in steps(k.extent(1), keys, stages=2):
        scores = zeros(rows, keys)
        dot(query, load(k[z], (keys, depth), (step, 0)).T, scores)
        scores = scores * scale + (columns(keep[z], step, scores) - 1.0) * FAR
        if causal:
            seen = iota(COLUMNS, step, scores) <= iota(ROWS, i, scores)
            scores = where(seen, scores, -inf)
        higher = top.max(scores.reduced("max"))
        weights = (scores - higher).exp2()
        shrunk = (top - higher).exp2()
        total[:] = total * shrunk + weights.reduced("add")
        top[:] = higher
        out[:] = out * shrunk
        dot(weights.to("bf16"), load(v[z], (keys, depth), (step, 0)), out)
    store(o[z], (i, 0), out / total)
