"""Replay what a chip recorded, or any other tests, on the workers of an executor.

    python tests/sampling/replay.py --executor processes:16
    python tests/sampling/replay.py --executor dask:ADDRESS tests/silicon/test_wgmma_fixtures.py

Prints what failed, and how many did not; the exit status is 1 where any did.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tilewright.executors import add_executor_option, executor_of, workers_of

ROOT = Path(__file__).resolve().parents[2]
PYTEST = (sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "no:cacheprovider")
BATCHES = 4
"""The batches of a worker: some take longer than others."""


def collected(words: Sequence[str]) -> list[str]:
    """The names of the tests."""
    told = subprocess.run(
        [*PYTEST, "--collect-only", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = [line for line in told.stdout.splitlines() if "::" in line]
    if not names:
        sys.exit(told.stdout + told.stderr)
    return names


def replay(names: Sequence[str]) -> tuple[int, str]:
    """Run tests by their names: the exit status, and what was said."""
    run = subprocess.run([*PYTEST, *names], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.returncode, run.stderr + run.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", nargs="*", default=["tests/silicon"])
    add_executor_option(parser, "processes")
    options = parser.parse_args(arguments)
    names = collected(options.tests)
    failed = 0
    with executor_of(options.executor) as executor:
        count = BATCHES * workers_of(executor)
        batches = [names[first::count] for first in range(min(count, len(names)))]
        for status, said in executor.map(replay, batches):
            failed += status != 0
            print(said if status else said.splitlines()[-1] if said else "", flush=True)
    print(f"{len(names)} tests in {len(batches)} batches, of which {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
