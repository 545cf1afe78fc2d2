"""A grid shared out to the workers of an executor: processes here, or any number of machines."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from typing import Any

from tilewright.executors import workers_of
from tilewright.lowering.interpreter.array_types import UInt8Array
from tilewright.lowering.interpreter.share import Elsewhere, Share, merge
from tilewright.source.diagnostic import CompileError, ExecutionError

LOG = logging.getLogger("tilewright.executor")
"""Says why the CTAs of a grid were not shared out."""

RunShare = Callable[[Share], Any]
"""Runs a share of a kernel's grid, and notes in it what it did; a worker can be sent it."""


def shared_out(
    executor: Executor, run: RunShare, progress: Callable[[int, int], None] | None
) -> Elsewhere:
    """How a grid is shared out to an executor. What a worker cannot do, or did wrong, is done again
    in one place: whatever is to be said of it is said there, and why to `LOG`. Raises
    ExecutionError where a worker dies."""

    def elsewhere(buffers: Sequence[UInt8Array], ctas: int) -> int | None:
        try:
            shares, why = _shares(executor, run, progress, ctas)
        except BrokenExecutor as error:
            raise ExecutionError(
                f"expected an executor whose workers go on to the end, got: {error}"
            ) from None
        if shares and not merge(buffers, shares):
            shares, why = [], "one share of the CTAs accesses what another one writes"
        if not shares:
            LOG.info("all CTAs run in one place: %s", why)
            return None
        return sum(share.executed for share in shares)

    return elsewhere


def _shares(
    executor: Executor, run: RunShare, progress: Callable[[int, int], None] | None, ctas: int
) -> tuple[list[Share], str]:
    """The shares of so many CTAs after their runs, in order; none where one fails, and why."""
    count = min(workers_of(executor), ctas)
    if count < 2:
        return [], f"{ctas} CTAs, {workers_of(executor)} workers"
    futures = [executor.submit(_run, run, Share(number, count)) for number in range(count)]
    shares: list[Share] = []
    for future in as_completed(futures):
        share = future.result()
        if isinstance(share, str):
            for other in futures:
                other.cancel()
            return [], share
        shares.append(share)
        if progress is not None:
            progress(sum(share.ctas for share in shares), ctas)
    return sorted(shares, key=lambda share: share.number), ""


def _run(run: RunShare, share: Share) -> Share | str:
    """The share after its run; why it fails, where it does."""
    try:
        run(share)
    except (CompileError, ExecutionError) as error:
        return str(error)
    return share
