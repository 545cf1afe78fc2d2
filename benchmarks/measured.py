"""Times and results of benchmarks: the best of several rounds, printed as JSON or as lines."""

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from typing import Any


def best_times(
    rounds: int,
    *runs: Callable[[], object],
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The least seconds that each of some calls takes, in turns: `time.process_time` counts those
    of the processor."""
    least = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = clock()
            run()
            least[i] = min(least[i], clock() - start)
    return least


def best_time(
    rounds: int, run: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """The least seconds that a call takes."""
    return best_times(rounds, run, clock=clock)[0]


def parser(doc: str | None) -> ArgumentParser:
    """The command line of a benchmark: its docstring's first paragraph, and --json."""
    made = ArgumentParser(description=(doc or "").partition("\n\n")[0])
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def show(options: Namespace, results: Any, lines: Iterable[str]) -> None:
    """Print the results: as JSON where that is asked for, or as these lines."""
    print(json.dumps(results) if options.json else "\n".join(lines))
