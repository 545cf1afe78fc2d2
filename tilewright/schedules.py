"""A kernel under several schedules: all must end, and give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from numpy.typing import NDArray

from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.result_difference import first_difference


def under_schedules(
    run: Callable[[int | None], list[NDArray[Any]]],
    schedule: int | None,
    count: int,
    names: Sequence[str],
    executor: Executor | None = None,
) -> list[NDArray[Any]]:
    """The arrays of a run under one schedule; or, where `count` is not 0, of one in the order of
    the text, after as many under the seeds from `schedule` on have given the same. `names` are
    those of the arrays. An `executor` may make the runs, if its workers can be sent `run`.

    Raises ExecutionError for the first run that fails or differs, with its seed.
    """
    if not count:
        return run(schedule)
    first = schedule or 0
    seeds = [None, *range(first, first + count)]
    results = map(run, seeds) if executor is None else executor.map(run, seeds)
    expected = next(results)
    for seed in seeds[1:]:
        try:
            difference = first_difference(expected, next(results))
        except ExecutionError as error:
            raise ExecutionError(f"{error}\nnote: under schedule {seed}") from None
        if difference is not None:
            raise ExecutionError(
                f"schedule {seed} expected {names[difference.array]}[{difference.index}] = "
                f"{difference.before} as in the order of the text, got {difference.after} "
                f"({difference.extent})"
            )
    return expected
