"""The layout algebra beside NVIDIA's pycute: µs per call on fresh layouts.

    python benchmarks/layout_algebra.py [--json] [--seconds S]

Every call gets layouts built for it alone, so no cache can help. Building them is left out, then
counted in: ours checks the layout and pairs its leaves, which the algebra then works on; pycute
stores what it is given. Both sides get the same inputs, in alternating rounds, and the best round
of each counts.
Needs the `bench` extra.
"""

import time
from collections.abc import Callable
from typing import Any

import pycute
from measured import parser, show

import tilewright.dialects.cute as cute

# Layouts of GEMM kernels: global and shared tiles, fragments (thread, value), padded and broadcast.
TILES: list[tuple[Any, Any]] = [
    ((128, 64), (1, 128)),
    ((128, 64), (64, 1)),
    ((128, 32), (40, 1)),
    (((8, 16), (64, 1)), ((64, 512), (1, 0))),
    (((8, 8), (8, 8), 2), ((1, 64), (8, 512), 4096)),
    ((64, (8, 4), 3), (8, (1, 512), 2048)),
]
FRAGMENTS: list[tuple[Any, Any]] = [
    (((4, 8), (2, 2)), ((32, 1), (16, 8))),
    (((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128))),
    (((4, 8, 4), (2, 2, 32)), ((128, 1, 16), (64, 8, 512))),
    (((32, 4), (1, 16)), ((1, 32), (0, 128))),
    ((2, 2, 2, 2, 2, 2), (1, 16, 2, 8, 4, 32)),
]
INNER: list[tuple[Any, Any]] = [
    (32, 1),
    ((16, 8), (1, 16)),
    ((8, 16), (64, 1)),
    (((4, 8), (2, 2)), ((2, 64), (1, 8))),
]
DIVISORS: list[tuple[Any, Any]] = [(32, 1), (8, 4), ((8, 2), (1, 64)), ((4, 2), (1, 8))]

REPEATS = 20
"""How often a round goes through the cases."""

Pair = tuple[Any, Any]
Operation = Callable[[Any], Callable[..., Any]]


def operations() -> list[tuple[str, Operation, list[tuple[Pair, ...]], tuple[Any, ...]]]:
    """Name, the function in either module, the layouts of each case, further arguments."""
    single: list[tuple[Pair, ...]] = [(layout,) for layout in TILES + FRAGMENTS]
    return [
        ("coalesce", lambda m: m.coalesce, single, ()),
        ("composition", lambda m: m.composition, legal("composition", INNER), ()),
        ("complement", lambda m: m.complement, single, (1 << 16,)),
        ("right_inverse", lambda m: m.right_inverse, single, ()),
        ("logical_divide", lambda m: m.logical_divide, legal("logical_divide", DIVISORS), ()),
    ]


def legal(operation: str, others: list[Pair]) -> list[tuple[Pair, ...]]:
    """The pairs on which both implementations define the operation."""
    pairs: list[tuple[Pair, ...]] = []
    for a in TILES + FRAGMENTS:
        for b in others:
            try:
                getattr(cute, operation)(cute.Layout(*a), cute.Layout(*b))
                getattr(pycute, operation)(pycute.Layout(*a), pycute.Layout(*b))
            except (cute.LayoutError, AssertionError):
                continue
            pairs.append((a, b))
    return pairs


def round_seconds(
    module: Any, function: Callable[..., Any], cases: list[tuple[Pair, ...]], extra: tuple[Any, ...]
) -> float:
    """Seconds per call over one pass of the cases, each on layouts built before."""
    layout = module.Layout
    calls = [(*(layout(*pair) for pair in case), *extra) for _ in range(REPEATS) for case in cases]
    start = time.perf_counter()
    for arguments in calls:
        function(*arguments)
    return (time.perf_counter() - start) / len(calls)


def round_seconds_built(
    module: Any, function: Callable[..., Any], cases: list[tuple[Pair, ...]], extra: tuple[Any, ...]
) -> float:
    """Seconds per call over one pass of the cases, building each call's layouts counted in."""
    layout = module.Layout
    calls = cases * REPEATS
    start = time.perf_counter()
    if len(cases[0]) == 1:
        for ((shape, stride),) in calls:
            function(layout(shape, stride), *extra)
    else:
        for (shape, stride), (other_shape, other_stride) in calls:
            function(layout(shape, stride), layout(other_shape, other_stride), *extra)
    return (time.perf_counter() - start) / len(calls)


def measure(seconds: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, function, cases, extra in operations():
        row: dict[str, Any] = {"operation": name, "cases": len(cases)}
        for what, once in (("algebra", round_seconds), ("built", round_seconds_built)):
            best = {cute: float("inf"), pycute: float("inf")}
            deadline = time.perf_counter() + seconds
            while time.perf_counter() < deadline:
                for module in best:
                    took = once(module, function(module), cases, extra)
                    best[module] = min(best[module], took)
            ours, theirs = best[cute] * 1e6, best[pycute] * 1e6
            row[what] = {"us": ours, "pycute_us": theirs, "ratio": theirs / ours}
        rows.append(row)
    return rows


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--seconds", type=float, default=2.0, help="time for each operation")
    options = words.parse_args()
    rows = measure(options.seconds)
    columns = f"{'µs ours':>9}{'µs pycute':>11}{'ratio':>7}"
    lines = [f"{'':<22}{'on layouts':>27}{'with building them':>27}",
             f"{'operation':<16}{'cases':>6}{columns}{columns}"]  # fmt: skip
    for row in rows:
        both = _cells(row["algebra"]) + _cells(row["built"])
        lines.append(f"{row['operation']:<16}{row['cases']:>6}{both}")
    show(options, rows, lines)


def _cells(measured: dict[str, float]) -> str:
    ours, theirs, ratio = measured["us"], measured["pycute_us"], measured["ratio"]
    return f"{ours:>9.2f}{theirs:>11.2f}{ratio:>6.1f}x"


if __name__ == "__main__":
    main()
