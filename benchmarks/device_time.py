"""Device time of launches on the GPU of this machine, by CUDA events."""

import statistics
from collections.abc import Callable
from functools import cache
from typing import Any

LAUNCHES, FLUSHED = 20, 1 << 28


@cache
def _flush() -> Any:
    import torch

    return torch.empty(FLUSHED // 4, dtype=torch.int32, device="cuda")


def milliseconds(launch: Callable[[], Any]) -> float:
    """The median device time of a launch, the L2 flushed before each: what flushes it runs longer
    than the host takes to launch, so that no time of the host's is between the events. Every second
    time it is flushed twice: of any kernel's launches those that are even in number from the first
    one of the process on, or those that are odd, take half a microsecond longer."""
    import torch

    for _ in range(3):
        launch()
    times: list[float] = []
    for number in range(LAUNCHES):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(1 + number % 2):
            _flush().zero_()
        before.record()
        launch()
        after.record()
        after.synchronize()
        times.append(before.elapsed_time(after))
    return statistics.median(times)
