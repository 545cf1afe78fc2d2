"""How many MMAs a second the arithmetic computes, by element type, on one core.

    python benchmarks/mma_numerics.py [--json] [--batch N] [--arch sm_90a]

One MMA is the widest dense `mma.sync` (or, for fp8 on Hopper, one m16n8 piece of a `wgmma`) of
its type. A large batch shows the throughput, a batch of 4 the cost of one interpreted instruction.
"""

import os

# One core: set before NumPy loads its BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from measured import best_time, parser, show
from numpy.typing import NDArray

from tilewright.lowering.interpreter.numerics import (
    FORMATS,
    INTEGER_FORMATS,
    NumericsError,
    Unit,
    dot_add,
    encode,
    model_for,
)


@dataclass(frozen=True)
class MmaCase:
    """Element type of A and B, type of C and D, K, and the instruction family."""

    element: str
    result: str
    k: int
    unit: Unit = "mma.sync"
    exact: bool = False


CASES = (
    MmaCase("f16", "f32", 16),
    MmaCase("f16", "f16", 16),
    MmaCase("bf16", "f32", 16),
    MmaCase("tf32", "f32", 8),
    MmaCase("e4m3", "f32", 32),
    MmaCase("e4m3", "f32", 32, "wgmma"),
    MmaCase("f64", "f64", 4),
    MmaCase("s8", "s32", 32),
    MmaCase("b1", "s32", 256),
    MmaCase("f16", "f32", 16, exact=True),
)
M, N = 16, 8


@dataclass(frozen=True)
class Numbers:
    """One line of output."""

    case: str
    numerics: str
    mmas_per_second: float
    microseconds_for_a_batch_of_4: float


def random_words(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Normally distributed elements, as words."""
    if name == "s32":
        return rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    if name in INTEGER_FORMATS:
        return rng.integers(0, 1 << INTEGER_FORMATS[name].bits, shape, dtype=np.uint8)
    return encode(rng.standard_normal(shape), FORMATS[name])


def measure(case: MmaCase, arch: str, batch: int) -> Numbers:
    """Time one case. NumericsError if the chip's arithmetic for it is not known."""
    model = (
        "exact"
        if case.exact
        else model_for(arch, case.element, case.element, case.result, case.unit)
    )
    rng = np.random.default_rng(0)

    def call_on(count: int) -> Callable[[], object]:
        a = random_words(rng, case.element, (count, M, case.k))
        b = random_words(rng, case.element, (count, case.k, N))
        c = random_words(rng, case.result, (count, M, N))
        return lambda: dot_add(
            a, b, c, a_type=case.element, b_type=case.element, c_type=case.result,
            d_type=case.result, model=model,
        )  # fmt: skip

    return Numbers(
        f"{case.unit} m{M}n{N}k{case.k} {case.element} -> {case.result}",
        "exact" if case.exact else arch,
        batch / best_time(3, call_on(batch)),
        1e6 * best_time(200, call_on(4)),
    )


def main() -> None:
    """Measure every case that the chip's table knows and print the results."""
    words = parser(__doc__)
    words.add_argument("--batch", type=int, default=20_000, help="MMAs in the large batch")
    words.add_argument("--arch", default="sm_90a", help="whose arithmetic")
    options = words.parse_args()
    results: list[Numbers] = []
    for case in CASES:
        with suppress(NumericsError):
            results.append(measure(case, options.arch, options.batch))
    lines = (
        f"{line.case:40} {line.numerics:8} {line.mmas_per_second:12,.0f} MMA/s "
        f"{line.microseconds_for_a_batch_of_4:8.1f} us for 4"
        for line in results
    )
    show(options, [asdict(result) for result in results], lines)


if __name__ == "__main__":
    main()
