"""A kernel under several schedules: all must end, and give the same bits."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from io import StringIO

from tilewright.executors import in_order
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.share import OUTPUT
from tilewright.result_difference import first_difference
from tilewright.source.diagnostic import CompileError, ExecutionError

Run = Callable[[int | None], list[AnyArray]]
"""A run under a schedule, or in the order of the text: its arrays."""


def under_schedules(
    run: Run,
    schedule: int | None,
    count: int,
    names: Sequence[str],
    executor: Executor | None = None,
    sent: Run | None = None,
) -> list[AnyArray]:
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
    results: Iterator[list[AnyArray]] = map(run, seeds)
    if executor is not None:
        results = _elsewhere(executor, sent or run, seeds, run)
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


def _outcome(run: Run, seed: int | None) -> tuple[list[AnyArray], str] | None:
    """The arrays of a run, and what it prints; None where it fails."""
    token = OUTPUT.set(text := StringIO())
    try:
        return run(seed), text.getvalue()
    except (CompileError, ExecutionError):
        return None
    finally:
        OUTPUT.reset(token)


def _elsewhere(
    executor: Executor, sent: Run, seeds: Sequence[int | None], run: Run
) -> Iterator[list[AnyArray]]:
    """The arrays of runs by an executor, whose texts are printed here; a run that fails there is
    run here, too, which says how."""
    outcomes = in_order(executor, partial(_outcome, sent), seeds)
    for seed, outcome in zip(seeds, outcomes, strict=True):
        if outcome is None:
            yield run(seed)
        else:
            print(outcome[1], end="")
            yield outcome[0]
