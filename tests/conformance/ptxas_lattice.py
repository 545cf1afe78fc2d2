"""The verifier against ptxas and the PTX ISA, on every tensor-core instruction.

    python tests/conformance/ptxas_lattice.py                           # everything
    python tests/conformance/ptxas_lattice.py --family mma --target sm_90a
    python tests/conformance/ptxas_lattice.py --sample 5000 --seed 3    # spread over all of them
    python tests/conformance/ptxas_lattice.py --list-disagreements

Prints a line for every family and target: how many points, how many of them are legal, on how many
of a hundred the three agree (agreement.py says what that means), how many forms ptxas takes that
the ISA does not list. The exit status is 1 where there is a disagreement.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from math import floor

from agreement import ORACLES, Oracles, Tally, compare
from documented_targets import KNOWN
from instruction_family import Candidate, spell
from lattice_families import FAMILIES

from tilewright.executors import add_executor_option, executor_of

_SLICE = 32768  # points of one task

Tallies = dict[tuple[str, str], Tally]
"""What was found, by family and target."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some points of a family, for some targets, and who is asked about them."""

    family: str
    numbers: range
    targets: tuple[str, ...]
    oracles: Oracles


def whole(
    families: Sequence[str], targets: tuple[str, ...], oracles: Oracles = ORACLES
) -> Iterator[Task]:
    """The tasks that make up every point of the families."""
    for name in families:
        for start in range(0, len(FAMILIES[name]), _SLICE):
            stop = min(start + _SLICE, len(FAMILIES[name]))
            yield Task(name, range(start, stop), targets, oracles)


def carry_out(task: Task) -> Tallies:
    family = FAMILIES[task.family]
    candidates = [spell(family, point) for point in family.points(task.numbers)]
    return {
        (name, target): tally
        for target in task.targets
        for name, tally in compare(candidates, target, task.oracles).items()
    }


def sample(families: Sequence[str], target: str, number: int, seed: int) -> list[Candidate]:
    """`number` points of each family, the same for the same seed."""
    found: list[Candidate] = []
    for name in families:
        generator = random.Random(f"{seed} {name} {target}")
        family = FAMILIES[name]
        found += (spell(family, point) for point in family.sample(generator, number, target))
    return found


def compare_sample(
    families: Sequence[str],
    targets: Sequence[str],
    number: int,
    seed: int,
    oracles: Oracles = ORACLES,
) -> Tallies:
    """`number` points or a few more, spread evenly over the families and targets."""
    share = -(-number // (len(families) * len(targets)))
    return {
        (name, target): tally
        for target in targets
        for name, tally in compare(sample(families, target, share, seed), target, oracles).items()
    }


def compare_whole(
    families: Sequence[str],
    targets: tuple[str, ...],
    executor: Executor,
    oracles: Oracles = ORACLES,
) -> Tallies:
    """Every point, task by task; says on stderr how far it is."""
    tasks = list(whole(families, targets, oracles))
    total, began = Tallies(), time.monotonic()
    for done, future in enumerate(as_completed(executor.submit(carry_out, t) for t in tasks), 1):
        for key, tally in future.result().items():
            total.setdefault(key, Tally()).add(tally)
        wrong = sum(len(tally.disagreements) for tally in total.values())
        print(
            f"{done} of {len(tasks)} tasks, {time.monotonic() - began:.0f} s, "
            f"{wrong} disagreements",
            file=sys.stderr,
        )
    return total


def table(tallies: Tallies) -> Iterator[str]:
    """The lines of the table, families and targets in their order."""
    row = "{:<30}{:<10}{:>9}{:>8}{:>9}{:>14}{:>15}"
    yield row.format(
        "family", "target", "points", "legal", "agree %", "undocumented", "disagreements"
    )
    for name in FAMILIES:
        for target in KNOWN:
            tally = tallies.get((name, target))
            if tally is not None:
                yield row.format(
                    name,
                    target,
                    tally.points,
                    tally.legal,
                    _percent(tally.agreement),
                    tally.undocumented,
                    len(tally.disagreements),
                )


def _percent(share: float) -> str:
    """Cut, not rounded: 100.00 is all."""
    return f"{floor(share * 100) / 100:.2f}"


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="ptxas_lattice.py",
        description="Compare check-ptx with ptxas and the PTX ISA on the product of every family.",
    )
    parser.add_argument("--family", action="append", choices=FAMILIES, help="these only")
    parser.add_argument("--target", action="append", choices=KNOWN, help="these only")
    parser.add_argument("--sample", type=int, metavar="N", help="about N points, not all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--list-disagreements", action="store_true", help="print every one")
    add_executor_option(parser, "processes")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, oracles: Oracles = ORACLES) -> int:
    options = _arguments(given)
    families: list[str] = options.family or list(FAMILIES)
    targets: tuple[str, ...] = tuple(options.target or KNOWN)
    if options.sample is not None:
        tallies = compare_sample(families, targets, options.sample, options.seed, oracles)
    else:
        with executor_of(options.executor) as executor:
            tallies = compare_whole(families, targets, executor, oracles)
    print(*table(tallies), sep="\n")
    wrong = [each for tally in tallies.values() for each in tally.disagreements]
    if options.list_disagreements:
        print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
