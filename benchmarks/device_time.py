"""Launches on the GPU of this machine, of kernels and of cuBLAS, and their device time by CUDA
events."""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import truediv
from typing import Any, TypeVar

import tilewright as tw

FLUSHED = 1 << 28
TURNS, FEW, MANY = 6, 4, 16
"""The turns of launches, and how many a turn has, as many as take a millisecond."""
REST, LONGEST = 2, 0.05
"""The part of what launches take that a GPU rests before, and the seconds at most: an H200 that is
busy for 60 to 110 ms meets its cap on power, and is up to a fifth slower."""
Launch = Callable[[], Any]
Name = TypeVar("Name")


def launch_of(
    kernel: tw.Kernel, args: Sequence[Any], grid: tuple[int, ...], *,
    threads: int | None = None, programmatic: bool = False,
) -> Launch:  # fmt: skip
    """A launch of the only kernel, of so many threads where it does not say them itself."""
    import torch

    from tilewright.arguments.binding import Binding
    from tilewright.launch.launcher import device_memory

    entry = kernel.entry()
    function, block = kernel.load(entry), entry.block or (threads or 1,)
    values = entry.values(Binding(entry.arguments, list(args), device_memory(), on_gpu=True))
    stream = torch.cuda.current_stream().cuda_stream
    return lambda: function.start(values, grid, block, stream, programmatic=programmatic)


def cublas(a: Any, b: Any, out: Any = None) -> Launch:
    """A launch of cuBLAS, of fp8 with fast accumulation: C = A B."""
    import torch

    if a.element_size() > 1:
        return lambda: torch.matmul(a, b, out=out)
    one = torch.ones((), device="cuda")
    options = {"out_dtype": torch.bfloat16, "use_fast_accum": True}
    return lambda: torch._scaled_mm(a, b, one, one, **options)


@cache
def _flush() -> Any:
    import torch

    return torch.empty(FLUSHED // 4, dtype=torch.int32, device="cuda")


def milliseconds(launch: Launch, *, clean: bool = False) -> float:
    """The median device time of some launches, the L2 flushed before each: what flushes it runs
    longer than the host takes to launch, so that no time of the host's is between the events. Every
    second time it is flushed twice: of any kernel's launches those that are even in number from the
    first one of the process on, or those that are odd, take half a microsecond longer. A `clean` L2
    is flushed by reads, and has no lines that the kernel's own drive back to memory. The GPU rests
    before, so that no launch has less of the clock for those in front of it; the host, which takes
    longer to launch behind a pause, does not."""
    launch()
    one = _timed(launch)
    launches = min(max(int(1 / one), FEW), MANY)
    until = time.perf_counter() + min(REST * launches * one / 1e3, LONGEST)
    while time.perf_counter() < until:
        pass
    flush = _flush().amax if clean else _flush().zero_
    times: list[float] = []
    for number in range(launches):
        for _ in range(1 + number % 2):
            flush()
        times.append(_timed(launch))
    return statistics.median(times)


def _timed(launch: Launch) -> float:
    import torch

    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record()
    launch()
    after.record()
    after.synchronize()
    return before.elapsed_time(after)


def in_turns(names: Iterable[Name]) -> Iterator[Name]:
    """Names in turns, each shuffled anew: nothing is to come behind something more often than
    others."""
    every, shuffled = [*names], random.Random(0)
    for _ in range(TURNS):
        yield from shuffled.sample(every, len(every))


def medians(launches: dict[Name, Launch], *, clean: bool = False) -> dict[Name, float]:
    """The median device times of launches in turns, without what whole turns are slower by."""
    times: dict[Name, list[float]] = {name: [] for name in launches}
    for name in in_turns(launches):
        times[name].append(milliseconds(launches[name], clean=clean))
    paces = [statistics.geometric_mean(turn) for turn in zip(*times.values(), strict=True)]
    pace = statistics.median(paces)
    return {name: pace * statistics.median(map(truediv, own, paces)) for name, own in times.items()}


def checked(launch: Launch, results: Sequence[Any], reference: Any, bound: float = 1e-2) -> Launch:
    """A launch whose first result is right: so near to the reference, by the norm. Integers are
    zeros before, as those that a kernel counts."""
    import torch

    for result in results:
        result.fill_(float("nan") if result.is_floating_point() else 0)
    launch()
    want, norm = reference.float(), torch.linalg.norm
    error = (norm(results[0].float() - want) / norm(want)).item()
    assert error < bound, f"wrong result, by {error}"
    return launch
