"""The host's time of a launch on the GPU of this machine, beside Triton's and torch's.

    python benchmarks/launch_overhead.py [--json] [--profile]

Microseconds a launch, the best of several rounds of many launches that nobody waits for, the rows
in turns, as a machine's speed changes: of an add of three arrays, the same ones, ones that take
turns, new ones, as a cuTile kernel and as Triton's, which Triton launches and which we do, also by
its compiled kernel, and on a new number each time; of a product whose arrays are tensor maps, the
same ones and new ones. `--profile` prints where ours go by cProfile.
"""

import cProfile
import pstats
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import count, cycle
from typing import Any

import cuda.tile as ct  # pyright: ignore
import torch  # pyright: ignore
import triton  # pyright: ignore
import triton.language as tl  # pyright: ignore
from launched_kernels import add, product
from measured import best_time, parser, show

import tilewright as tw

TURNS, ROUNDS, LAUNCHES = 4, 5, 200
SIZE, TILE = 4096, 1024
SIDE, PART = 256, 64


@triton.jit
def triton_add(a, b, c, n, T: tl.constexpr):
    at = tl.program_id(0) * T + tl.arange(0, T)
    inside = at < n
    total = tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside)
    tl.store(c + at, total, mask=inside)


def vectors(many: int) -> list[Any]:
    """Sets of three vectors."""
    return [[torch.ones(SIZE, device="cuda") for _ in range(3)] for _ in range(many)]


def matrices() -> list[Any]:
    """Three matrices."""
    return [torch.ones((SIDE, SIDE), dtype=torch.float16, device="cuda") for _ in range(3)]


def new_matrices(many: int) -> Iterator[list[Any]]:
    """Sets of three matrices, each in a place of its own."""
    step, apart = 1024, SIDE * SIDE
    room = torch.ones(many * step + 3 * apart, dtype=torch.float16, device="cuda")
    places = [[at + i * apart for i in range(3)] for at in range(0, many * step, step)]
    return iter(
        [[room[at : at + apart].view(SIDE, SIDE) for at in places_of] for places_of in places]
    )


def launches() -> dict[str, Callable[[], Any]]:
    """One launch of each row."""
    stream, same, turns = torch.cuda.current_stream(), vectors(1)[0], cycle(vectors(64))
    many = (TURNS * ROUNDS + 2) * LAUNCHES
    maps, new, new_maps = matrices(), iter(vectors(3 * many)), new_matrices(many)
    sizes = count(16, 16)  # as Triton assumes of the first
    grid, blocks = (SIZE // TILE,), (SIDE // PART, SIDE // PART)

    def triton_of(arrays: Any, size: int = SIZE) -> None:
        triton_add[grid](*arrays, size, T=TILE)

    @cache
    def compiled(by: str) -> Any:
        return triton_add[grid](*same, SIZE, T=TILE)[(*grid, 1, 1)]

    def ours_of(arrays: Any) -> None:
        ct.launch(stream, grid, add, (*arrays, TILE))

    def product_of(arrays: Any) -> None:
        ct.launch(stream, blocks, product, (*arrays, PART))

    return {
        "add, torch": lambda: torch.add(same[0], same[1], out=same[2]),
        "add, Triton": lambda: triton_of(same),
        "add, Triton, arrays in turn": lambda: triton_of(next(turns)),
        "add, Triton, new arrays": lambda: triton_of(next(new)),
        "add, Triton, new numbers": lambda: triton_of(same, next(sizes)),
        "add, Triton, compiled": lambda: compiled("Triton")(*same, SIZE, TILE),
        "add, Triton, compiled, new numbers": lambda: compiled("Triton")(*same, next(sizes), TILE),
        "add of Triton, ours": lambda: triton_of(same),
        "add of Triton, ours, arrays in turn": lambda: triton_of(next(turns)),
        "add of Triton, ours, new arrays": lambda: triton_of(next(new)),
        "add of Triton, ours, compiled": lambda: compiled("ours")(*same, SIZE, TILE),
        "add of Triton, ours, compiled, new numbers": lambda: compiled("ours")(
            *same, next(sizes), TILE
        ),
        "add of Triton, ours, new numbers": lambda: triton_of(same, next(sizes)),
        "add, ours": lambda: ours_of(same),
        "add, ours, arrays in turn": lambda: ours_of(next(turns)),
        "add, ours, new arrays": lambda: ours_of(next(new)),
        "three tensor maps, ours": lambda: product_of(maps),
        "three new tensor maps, ours": lambda: product_of(next(new_maps)),
    }


def microseconds(launch: Callable[[], Any]) -> float:
    """The host's time of a launch, of rounds that start with an idle GPU."""

    def many() -> None:
        for _ in range(LAUNCHES):
            launch()

    launch()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(ROUNDS):
        best = min(best, best_time(1, many))
        torch.cuda.synchronize()
    return 1e6 * best / LAUNCHES


def where(name: str) -> AbstractContextManager[None]:
    """Where a row's launches go."""
    return tw.triton.on_gpu() if "of Triton" in name else nullcontext()


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--profile", action="store_true", help="print where ours go")
    options = arguments.parse_args()
    with tw.cutile.on_gpu():
        rows = launches()
        results = dict.fromkeys(rows, float("inf"))
        for name, launch in TURNS * [*rows.items()]:
            with where(name):
                results[name] = min(results[name], microseconds(launch))
        peer = results["add, Triton"]
        show(
            options,
            results,
            [f"{name:42} {us:7.2f} us  {us / peer:5.2f}" for name, us in results.items()],
        )
        for name in [name for name in rows if options.profile and "ours" in name]:
            with where(name), cProfile.Profile() as profile:
                for _ in range(LAUNCHES):
                    rows[name]()
            print(name)
            pstats.Stats(profile).sort_stats("tottime").print_stats(18)
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()
