"""`cuda.tile.tune` without tileiras: its search, by what runs kernels here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

Measure = Callable[[Any, Sequence[int], Any, Sequence[Any]], Sequence[float]]
"""The microseconds that launches of a kernel take: of the stream, the grid, the kernel and its
arguments."""


def searching(measure: Measure) -> Callable[..., Any]:
    """`cuda.tile.tune.exhaustive_search` by a measure: of untimed kernels the best is the first
    that compiles; their measurements are of no samples, their time NaN.

    Raises ValueError where no config runs, as cuTile's does.
    """

    def search(
        search_space: Sequence[Any],
        stream: Any,
        grid_fn: Callable[[Any], Any],
        kernel: Any,
        args_fn: Callable[[Any], tuple[Any, ...]],
        hints_fn: Callable[[Any], dict[str, Any]] | None = None,
        **_: Any,
    ) -> Any:
        tune = import_module("cuda.tile.tune")
        successes: list[Any] = []
        failures: list[tuple[Any, type[Exception], str]] = []
        for config in search_space:
            tuned = kernel if hasattr(kernel, "replace_hints") else kernel(config)
            try:
                if hints_fn is not None:
                    tuned = tuned.replace_hints(**hints_fn(config))
                samples = measure(stream, grid_fn(config), tuned, args_fn(config))
            except Exception as error:
                failures.append((config, type(error), str(error)))
            else:
                successes.append(tune.Measurement(config=config, **_statistics(samples)))
        if not successes:
            raise ValueError(f"expected a config that compiles, got {failures or 'none at all'}")
        best = min(successes, key=lambda measurement: measurement.mean_us)
        return tune.TuningResult(best=best, successes=tuple(successes), failures=tuple(failures))

    return search


def _statistics(samples: Sequence[float]) -> dict[str, Any]:
    """The mean, and half of its 95% confidence interval."""
    count = len(samples)
    mean = sum(samples) / count if count else float("nan")
    variance = float("nan")
    if count > 1:
        variance = sum((sample - mean) ** 2 for sample in samples) / (count - 1) / count
    return {"mean_us": mean, "num_samples": count, "error_margin_us": 1.96 * variance**0.5}
