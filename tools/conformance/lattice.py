"""The verifier against ptxas and the PTX ISA, on every tensor-core instruction or on a sample.

The work is cut into tasks, which the workers of an executor carry out; agreement.py says what is
found of an instruction.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from math import floor

from tilewright.dialects.frozen import frozen
from tilewright.executors import in_order
from tilewright.tools.conformance.agreement import ORACLES, Oracles, Tally, compare
from tilewright.tools.conformance.block_scale_families import BLOCK_SCALE_FAMILIES
from tilewright.tools.conformance.copy_families import COPY_FAMILIES
from tilewright.tools.conformance.documented_targets import KNOWN
from tilewright.tools.conformance.instruction_family import Candidate, Family, spell
from tilewright.tools.conformance.mma_families import MMA_FAMILIES
from tilewright.tools.conformance.sparse_families import SPARSE_FAMILIES
from tilewright.tools.conformance.tmem_families import TMEM_FAMILIES
from tilewright.tools.conformance.umma_families import UMMA_FAMILIES
from tilewright.tools.conformance.wgmma_families import WGMMA_FAMILIES
from tilewright.tools.conformance.wmma_families import WMMA_FAMILIES

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        *MMA_FAMILIES,
        *BLOCK_SCALE_FAMILIES,
        *SPARSE_FAMILIES,
        *COPY_FAMILIES,
        *WMMA_FAMILIES,
        *WGMMA_FAMILIES,
        *TMEM_FAMILIES,
        *UMMA_FAMILIES,
    )
}
"""Every family of tensor-core instructions."""

_SLICE = 32768  # points of one task

Tallies = dict[tuple[str, str], Tally]
"""The tallies, by family and target."""


@frozen
class Task:
    """Some points of a family, for some targets, and who is asked about them: those of the
    `numbers`, or so many of a `sample` with a seed."""

    family: str
    targets: tuple[str, ...]
    oracles: Oracles = ORACLES
    numbers: range = range(0)
    sample: tuple[int, int] | None = None

    def candidates(self, target: str) -> list[Candidate]:
        """The points, spelled."""
        family = FAMILIES[self.family]
        if self.sample is None:
            points = family.points(self.numbers)
        else:
            number, seed = self.sample
            generator = random.Random(f"{seed} {self.family} {target}")
            points = family.sample(generator, number, target)
        return [spell(family, point) for point in points]


def whole(
    families: Sequence[str], targets: tuple[str, ...], oracles: Oracles = ORACLES
) -> Iterator[Task]:
    """The tasks that make up every point of the families."""
    for name in families:
        for start in range(0, len(FAMILIES[name]), _SLICE):
            stop = min(start + _SLICE, len(FAMILIES[name]))
            yield Task(name, targets, oracles, range(start, stop))


def sampled(
    families: Sequence[str],
    targets: Sequence[str],
    number: int,
    seed: int,
    oracles: Oracles = ORACLES,
) -> Iterator[Task]:
    """The tasks that make up `number` points or a few more, spread evenly over the families and
    targets, the same for the same seed."""
    share = -(-number // (len(families) * len(targets)))
    for target in targets:
        for name in families:
            yield Task(name, (target,), oracles, sample=(share, seed))


def carry_out(task: Task) -> Tallies:
    """The tallies of a task."""
    candidates: list[Candidate] = []
    tallies: Tallies = {}
    for target in task.targets:
        if task.sample is not None or not candidates:
            candidates = task.candidates(target)
        for name, tally in compare(candidates, target, task.oracles).items():
            tallies[name, target] = tally
    return tallies


def compare_all(
    tasks: Sequence[Task],
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tallies:
    """The tallies of all tasks together, by the workers of an executor or here."""
    total = Tallies()
    results = map(carry_out, tasks) if executor is None else in_order(executor, carry_out, tasks)
    for done, tallies in enumerate(results, 1):
        for key, tally in tallies.items():
            total.setdefault(key, Tally()).add(tally)
        if progress is not None:
            progress(done, len(tasks))
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
                    f"{floor(tally.agreement * 100) / 100:.2f}",
                    tally.undocumented,
                    len(tally.disagreements),
                )
