"""Launches on the GPU of this machine, of kernels and of cuBLAS, and their device time by CUDA
events."""

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import truediv
from typing import Any, TypeVar

import tilewright as tw

FLUSHED = 1 << 28
TURNS, FEW = 6, 4
HEAT, HEATING = 60, 64
"""The milliseconds in which the clock falls to what the cap on power leaves a launch, and the
launches in them at most."""
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


def milliseconds(launch: Launch, launches: int, *, clean: bool = False, hot: bool = False) -> float:
    """The median device time of so many launches, the L2 flushed before each: what flushes it runs
    longer than the host takes to launch, so that no time of the host's is between the events. Every
    second time it is flushed twice: of any kernel's launches those that are even in number from the
    first one of the process on, or those that are odd, take half a microsecond longer. A `clean` L2
    is flushed by reads, and has no lines that the kernel's own drive back to memory. Where they are
    to be `hot`, the launches have the heat of their own before."""
    for _ in range(2):
        launch()
    before = min(int(HEAT / _timed(launch)), HEATING) if hot else 0
    flush = _flush().amax if clean else _flush().zero_
    times: list[float] = []
    for number in range(before + launches):
        for _ in range(1 + number % 2):
            flush()
        times.append(_timed(launch))
    return statistics.median(times[before:])


def _timed(launch: Launch) -> float:
    import torch

    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record()
    launch()
    after.record()
    after.synchronize()
    return before.elapsed_time(after)


def in_turns(names: Iterable[Name], turns: int = TURNS) -> Iterator[Name]:
    """Names in turns, each shuffled: behind what takes little power a GPU is quicker, by 5 to 10 %,
    and nothing is to come behind it more often than others."""
    every, shuffled = [*names], random.Random(0)
    for _ in range(turns):
        yield from shuffled.sample(every, len(every))


def medians(
    launches: dict[Name, Launch], turns: int = TURNS, *, clean: bool = False, hot: bool = False
) -> dict[Name, float]:
    """The median device times of launches in turns, without what whole turns are slower by."""
    times: dict[Name, list[float]] = {name: [] for name in launches}
    for name in in_turns(launches, turns):
        times[name].append(milliseconds(launches[name], FEW, clean=clean, hot=hot))
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
