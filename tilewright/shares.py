"""A grid shared out to the workers of an executor: processes here, or any number of machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.diagnostic import CompileError
from tilewright.executors import workers_of
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.lowering.interpreter.share import Elsewhere, Share, merge

RunShare = Callable[[Share], Any]
"""Runs a share of a kernel's grid, and notes in it what it did; a worker can be sent it."""


def shared_out(
    executor: Executor, run: RunShare, progress: Callable[[int, int], None] | None
) -> Elsewhere:
    """How a grid is shared out to an executor. What a worker cannot do, or did wrong, is done again
    in one place: whatever is to be said of it is said there. Raises ExecutionError where a worker
    dies."""

    def elsewhere(buffers: Sequence[NDArray[np.uint8]], ctas: int) -> int | None:
        try:
            shares = _shares(executor, run, progress, ctas)
        except BrokenExecutor as error:
            raise ExecutionError(
                f"expected an executor whose workers go on to the end, got: {error}"
            ) from None
        if not shares or not merge(buffers, shares):
            return None
        return sum(share.executed for share in shares)

    return elsewhere


def _shares(
    executor: Executor, run: RunShare, progress: Callable[[int, int], None] | None, ctas: int
) -> list[Share]:
    """The shares of so many CTAs after their runs, in order; none where one fails."""
    count = min(workers_of(executor), ctas)
    if count < 2:
        return []
    futures = [executor.submit(_run, run, Share(number, count)) for number in range(count)]
    shares: list[Share] = []
    for future in as_completed(futures):
        share = future.result()
        if share is None:
            for other in futures:
                other.cancel()
            return []
        shares.append(share)
        if progress is not None:
            progress(sum(share.ctas for share in shares), ctas)
    return sorted(shares, key=lambda share: share.number)


def _run(run: RunShare, share: Share) -> Share | None:
    """The share after its run; None where it fails."""
    try:
        run(share)
    except (CompileError, ExecutionError):
        return None
    return share
