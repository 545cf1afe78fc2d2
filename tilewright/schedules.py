"""A kernel under several schedules: all must end, and give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from numpy.typing import NDArray

from tilewright.diagnostic import CompileError
from tilewright.executors import in_order
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.result_difference import first_difference


def under_schedules(
    run: Callable[[int | None], list[NDArray[Any]]],
    schedule: int | None,
    count: int,
    names: Sequence[str],
    executor: Executor | None = None,
    sent: Callable[[int | None], list[NDArray[Any]]] | None = None,
) -> list[NDArray[Any]]:
    """The arrays of a run under one schedule; or, where `count` is not 0, of one in the order of
    the text, after as many under the seeds from `schedule` on have given the same. `names` are
    those of the arrays. An `executor` may make the runs, if its workers can be sent `run` or, in
    its place, `sent`; what fails then is run here once more.

    Raises ExecutionError for the first run that fails or differs, with its seed.
    """
    if not count:
        return run(schedule)
    first = schedule or 0
    seeds = [None, *range(first, first + count)]
    if executor is None:
        results = map(run, seeds)
    else:
        results = in_order(executor, partial(_outcome, sent or run), seeds)
    expected = _arrays(next(results), None, run)
    for seed in seeds[1:]:
        try:
            difference = first_difference(expected, _arrays(next(results), seed, run))
        except ExecutionError as error:
            raise ExecutionError(f"{error}\nnote: under schedule {seed}") from None
        if difference is not None:
            raise ExecutionError(
                f"schedule {seed} expected {names[difference.array]}[{difference.index}] = "
                f"{difference.before} as in the order of the text, got {difference.after} "
                f"({difference.extent})"
            )
    return expected


def _outcome(
    run: Callable[[int | None], list[NDArray[Any]]], seed: int | None
) -> list[NDArray[Any]] | None:
    """The arrays of a run; None where it fails."""
    try:
        return run(seed)
    except (CompileError, ExecutionError):
        return None


def _arrays(
    outcome: list[NDArray[Any]] | None,
    seed: int | None,
    run: Callable[[int | None], list[NDArray[Any]]],
) -> list[NDArray[Any]]:
    """The arrays of a run, which failed elsewhere where there are none: here it says how."""
    return run(seed) if outcome is None else outcome
