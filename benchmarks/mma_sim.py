"""`tilewright.simulate` beside MMA-Sim (github.com/microsoft/MMA-Sim), on one core.

    python benchmarks/mma_sim.py PATH_TO_MMA_SIM_CHECKOUT [--count N] [--json]

Both compute m16n8k16 f16 MMAs with f32 accumulation as Hopper does, from the same random inputs;
their results must be equal. MMA-Sim needs torch, and is timed on a few MMAs.
"""

import os

# One core: set before NumPy and torch load their BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from typing import Any

import numpy as np
from measured import parser, show
from numpy.typing import NDArray

import tilewright as tw

MNEMONIC = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
QUALIFIER = "m16n8k16.f32.f16.f16.f32"
PEER_MMAS = 50
BATCH = 50_000


def matrices(count: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A [count, 16, 16] and B [count, 16, 8] in f16, C [count, 16, 8] in f32."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal((count, 16, width)) for width in (16, 8, 8))
    return a.astype(np.float16), b.astype(np.float16), c.astype(np.float32)


def fragment(atom: Any, operand: str, matrix: NDArray[Any]) -> NDArray[np.uint32]:
    """The register words of matrices: uint32 [count, 32, words]."""
    coords = atom.coords(operand)
    rows, columns = coords[..., 0], coords[..., 1]
    elements = matrix[:, columns, rows] if operand == "B" else matrix[:, rows, columns]
    return np.ascontiguousarray(elements).view(np.uint32)


def ours(count: int) -> tuple[float, NDArray[Any]]:
    """Seconds for one MMA, and D of the first ones, [PEER_MMAS, 16, 8]."""
    atom = tw.atom(MNEMONIC)
    a, b, c = matrices(BATCH)
    words = {
        name.lower(): fragment(atom, name, matrix)
        for name, matrix in zip("ABC", (a, b, c), strict=True)
    }
    first = tw.simulate(
        atom, **{name: array[:PEER_MMAS] for name, array in words.items()}, arch="sm_90a"
    )
    rounds = max(count // BATCH, 1)
    start = time.perf_counter()
    for _ in range(rounds):
        tw.simulate(atom, **words, arch="sm_90a")
    seconds = (time.perf_counter() - start) / (rounds * BATCH)
    d = np.empty((PEER_MMAS, 16, 8), dtype=np.float32)
    coords = atom.coords("D")
    d[:, coords[..., 0], coords[..., 1]] = first.view(np.float32)
    return seconds, d


def peer(checkout: str) -> tuple[float, NDArray[Any]]:
    """The same of MMA-Sim."""
    sys.path.insert(0, checkout)
    import torch
    from mmasim.simulator.nv_ptx import mma

    torch.set_num_threads(1)
    instruction = mma("Hopper", QUALIFIER)
    a, b, c = (torch.from_numpy(matrix[:PEER_MMAS].copy()) for matrix in matrices(BATCH))
    instruction(a[0], b[0], c[0])
    start = time.perf_counter()
    results = [instruction(a[i], b[i], c[i]).numpy() for i in range(PEER_MMAS)]
    return (time.perf_counter() - start) / PEER_MMAS, np.stack(results)


def main() -> None:
    words = parser(__doc__)
    words.add_argument("checkout", help="a checkout of MMA-Sim")
    words.add_argument("--count", type=int, default=1_000_000, help="how many MMAs of ours")
    options = words.parse_args()
    their_seconds, theirs = peer(options.checkout)
    our_seconds, mine = ours(options.count)
    result = {
        "mma-sim, us an MMA": round(their_seconds * 1e6, 1),
        "tilewright, us an MMA": round(our_seconds * 1e6, 3),
        f"tilewright, s for {options.count}": round(our_seconds * options.count, 2),
        "ratio": round(their_seconds / our_seconds),
        "equal bits": bool((theirs.view(np.uint32) == mine.view(np.uint32)).all()),
    }
    show(options, result, (f"{name:<32}{value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
