"""All mutants of the examples and of small kernels:

    python tests/mutation/run.py [--example gemm_sm90] [--level atom]

Prints a table by kind and every mutant that nothing catches; `--report` writes docs/hazards.md.
Verdicts can be kept in a file (`--verdicts FILE`): those that it has are not asked for again, so
that what `--seconds` has left undone is done by the next run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
import warnings

# Every process judges by itself: the arithmetic is not to spread over threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import as_completed
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from level_above import mutants_at, rule_at
from mutants import Mutant, kind_of, mutants
from subjects import SUBJECTS, Array, Level
from verdicts import (
    CRASHED,
    EQUIVALENT,
    MISSED,
    STATICALLY,
    VERDICTS,
    WRONG,
    Verdict,
    judge,
    judge_statically,
)
from xdsl.dialects.builtin import ModuleOp

from tilewright.executors import add_executor_option, executor_of
from tilewright.passes.check_hazards import UnprovenWarning

LEVELS: tuple[Level, ...] = ("tile", "atom", "ptx")
BATCH = 20
"""Mutants that a process judges at a time, of one kernel at one level, which it runs once."""


@cache
def subject_at(example: str, level: Level) -> tuple[ModuleOp, list[Mutant], list[Array]]:
    """A kernel at a level, its mutants, and what it gives unmutated."""
    subject = SUBJECTS[example]
    module, _ = subject.module(example, level)
    return module, mutants(example, level, module), subject.run(module)


def verdicts_on(
    example: str, level: Level, chosen: Iterable[int], statically: bool, until: float
) -> list[Verdict]:
    """The verdicts on some mutants, by their numbers, as far as one gets by a time."""
    found: list[Verdict] = []
    for number in chosen:
        if time.time() > until:
            break
        verdict = _verdict_on(example, level, number, statically)
        found += [] if verdict is None else [verdict]
    return found


def _verdict_on(example: str, level: Level, number: int, statically: bool) -> Verdict | None:
    subject = SUBJECTS[example]
    if statically:
        module, named = mutants_at(example, level)
        return judge_statically(list(named.values())[number], module, subject, level)
    module, every, right = subject_at(example, level)
    return judge(every[number], module, subject, level, right)


def numbers_of(example: str, level: Level, known: set[str], share: float) -> list[int]:
    """The mutants that are to be judged."""
    names = mutants_at(example, level)[1]
    every = [number for number, name in enumerate(names) if name not in known]
    random.Random(f"{example} {level}").shuffle(every)
    return every[: round(share * len(every))]


def by_rule(verdict: Verdict) -> Verdict:
    """The verdict on a mutant that was missed, by the rules as they are now."""
    if verdict.outcome != MISSED:
        return verdict
    example, level = verdict.name.split("/")[:2]
    assert level in LEVELS
    module, named = mutants_at(example, level)
    mutated = named[verdict.name].of(module)
    rule = rule_at(verdict.name, mutated) if mutated else ""
    return replace(verdict, outcome=EQUIVALENT, why=rule) if rule else verdict


def table(verdicts: Iterable[Verdict]) -> list[str]:
    """Rows of a Markdown table: kinds of mutants by what becomes of them."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        for row in (kind_of(verdict.kind), "**all**"):
            counts[row][verdict.outcome] += 1
    rows = [f"| kind | mutants | {' | '.join(VERDICTS)} |", "|---" * (len(VERDICTS) + 2) + "|"]
    for kind in sorted(counts, key=lambda kind: (kind == "**all**", kind)):
        numbers = [counts[kind].total(), *(counts[kind][verdict] for verdict in VERDICTS)]
        rows.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    return rows


def coverage(verdicts: list[Verdict]) -> list[str]:
    """How many of all mutants the verdicts are on."""
    places = [(name, level) for name, subject in SUBJECTS.items() for level in subject.levels]
    total = sum(len(mutants_at(*place)[1]) for place in places)
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    other = len(verdicts) - outcomes[EQUIVALENT]
    share = 100 * outcomes[STATICALLY] / max(other, 1)
    return [
        f"{len(verdicts)} of {total} mutants judged (an edit that changes nothing is none). "
        f"{outcomes[EQUIVALENT]} are equivalent; of the other {other}, {share:.1f} % are caught "
        "statically.",
        "",
    ]


def report(verdicts: list[Verdict]) -> str:
    """docs/hazards.md: how many of the mutants there are were judged, and what became of them."""
    lines = ["# Hazards, by mutation", "", INTRODUCTION, *coverage(verdicts), *table(verdicts), ""]
    for level in LEVELS:
        own = [each for each in verdicts if each.name.split("/")[1] == level]
        if own:
            lines += [f"## Level {level}", "", *table(own), ""]
    rules = Counter(each.why for each in verdicts if each.outcome == EQUIVALENT)
    lines += ["## Equivalent, by rule", ""]
    lines += [f"- {rule}: {count}" for rule, count in sorted(rules.items())]
    for outcome in (MISSED, WRONG, CRASHED):
        names = sorted(each.name for each in verdicts if each.outcome == outcome)
        lines += ["", f"## {outcome.capitalize()}: {len(names)}", ""]
        lines += [f"- `{name}`" for name in names]
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
Every synchronising op of the kernels in `examples/` is removed, moved past its neighbours,
taken out of its branch, or has its counts, bytes, parities, stages or guard changed, and swizzles,
numbers of pipelines, rings' numbers of stages and the warps of roles are, at every level, one at a
time. So are those of the small kernels of `tests/mutation/correct` that say their block. Ops come
twice, in half a warp, or for the threads of the branch before them alone; an mbarrier is made anew
behind a wait, a cluster's barrier goes whole, tensor memory is given back at once, groups are
empty, scopes and spaces of fences are narrower and wider, another mbarrier (of a pipeline in
lockstep, or of the next stage), CTA or allocation is meant, and the parity of the last round is the
other one. This page is written by
`python tests/mutation/run.py --jobs 64 --report docs/hazards.md`; a sample is part of the tests.
Where fewer mutants were judged than there are, they are a random share.

A mutant is *caught statically* by the passes of `tw.compile`, which look at every level in the same
way, *caught when run* by `tw.interpret` in the order of the text or *on a schedule* with one of two
seeds, *equivalent* by a rule of `tests/mutation/equivalences.py`. It is *missed* where
every run gives the kernel's result and no rule says that it must, which does not say that it is
wrong; *not proven* where that is so and the check, which proves the kernel, says that it does not
prove the mutant; *wrong* where a run gives something else without an error, but *not stored* where
a guard is changed and what differs is what was there before the launch, on every schedule: which
results are stored is a matter of data. Guards of stores and coordinates of copies are not mutated:
they synchronise nothing.

The static check (`passes/analysis/hazards`) follows the kernel once for all threads of a cluster,
without its data: loops of unknown length go round every stage of the longest ring twice and once
more, and once only, those of Tile IR not at all too, with and without the round that was taken out
of them. That is the first cluster of the grid; then others are, until each branch around what
synchronises has gone every way that a block takes it: blocks are tried that a number of the kernel
names, one before and one behind, along each axis and along all, in grids that end with them or one
later, each block on its own. `gpu.known_grid_size` says what grid there is. Threads of a warp that
do the same are a role, wherever in the text; roles run against each other under vector clocks. An
access is over for those who know its completion event:
an arrival or a barrier of its thread, the phase of an mbarrier that a copy or a `tcgen05.commit`
arrives at, the wait for its group. A wait for a parity learns of the least that any schedule would
tell it, an arrival must be behind the phase before, and a phase may not complete before all who
wait for the one before have seen it: so one order of running stands for every alignment of phases,
and whatever two accesses meet in it without a path between them is an error that names both, their
threads and rounds, and the nearest legal order. What threads wrote and the async proxy accesses
needs a `fence.proxy.async` of the threads that wrote, before the barrier; the PTX ISA's wording may
allow it elsewhere on the way, and the check asks for what the interpreter does. Instructions of
`ptx` are rows of the same engine: their registers are followed as numbers of all threads, shared
memory is one array of bytes, tensor memory has the columns that `tcgen05.alloc` would find free,
and threads that part between blocks meet again where all ways do.

Of what a thread starts by tcgen05 those pairs are in order without a wait that the PTX ISA lists,
and a `tcgen05.cp` behind an MMA: an MMA follows one to the same accumulator, and may not write what
one in flight reads.

An mbarrier is accessed by whoever arrives or looks: `mbarrier.inval` has to be behind all of them,
and behind the phase of the last copy. Shared memory of another CTA, by `cluster.map` or `mapa`, is
that CTA's own: who accesses it knows of something that the CTA has done, so that it has begun, and
the CTA does not end before it knows that the access is over. What the CTA wrote, or copies brought
it, is known behind a wait of scope `cluster` for its arrival. Instructions of whole warps
(`.sync.aligned`, `elect.sync`, `shfl.sync`, MMAs, barriers) are in no branch or round that some of
its threads take alone; `elect.sync`, `shfl.sync` and `bar.warp.sync` wait for no thread that has
left the others to end. `ld.global.nc` is of nothing that its block of the text writes by the same
register. Atomic operations on shared memory and strong accesses may come beside each
other, and beside no others. A permit to allocate tensor memory is given up behind every allocation
of the CTA.

Of global memory it sees two things. An argument of the tile level that threads access and that
`make_tma_copy` makes a tensor map of is one array (`cute.from` and `cute.arguments` say so at the
lower levels): its elements, as far as they are the same for all arguments of the kernel, need a
barrier or a wait between the two, `fence.proxy.async` without a space behind what threads wrote,
and `cp.async.bulk.wait_group` without `read` behind what a copy wrote. Of a pointer and a map that
nothing says are one it sees nothing: run it with both over one array. Strong accesses, `.relaxed`
and stronger, to the same bytes must have scopes that have both threads in them, where addresses are
computed from one pointer: in a cluster unless something orders them, between blocks of a kernel
that is not one of clusters and asks for its block, or says what grid it has. Where a kernel has
fences between threads, releases or acquires, what one of these blocks writes and another one reads
needs a release of the one behind it and an acquire of the other before it, of the scope `gpu`;
where some scope is narrower, so does what a thread of a cluster writes and another one reads that
no barrier orders, of the scope that has both in it. Which flag belongs to what is not asked, nor
what copies and `multimem` do. How often a loop waits for a flag says nothing. A try of an mbarrier
whose answer something reads counts as the one that ends the loop.

What it does not see: ways that thread 0 of no block above takes in its first round of the loops
around a branch, what else blocks do to each other (weak accesses alone), the data (a store whose
guard is wrong, values that two threads of one op write to one element) and, but for the above,
coordinates in global memory. Accesses of threads whose place or condition memory gives are taken to
be to all that they may be to: where that meets nothing they are proven. What else depends on
numbers from memory is not, nor is a copy into
shared memory over what threads have read with no `fence.proxy.async` behind it (on an H200 arrivals
and barriers overtake an `ldmatrix` in flight, see [decisions](decisions.md)), a launch of more than
40,000 events, or a function whose accesses to shared memory make more than 2,097,152 pairs:
`tw.compile(unproven="error")` refuses them. """


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--example", choices=SUBJECTS, action="append")
    parser.add_argument("--level", choices=LEVELS, action="append")
    add_executor_option(parser, "processes:2")
    parser.add_argument("--share", type=float, default=1.0, help="of the mutants; 0: none")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no new mutant after that")
    parser.add_argument("--static", action="store_true", help="the static check alone: no run")
    parser.add_argument("--verdicts", type=Path, help="a file of verdicts, read and added to")
    parser.add_argument("--report", type=Path, help="the page to write")
    options = parser.parse_args()
    until = time.time() + options.seconds
    warnings.simplefilter("ignore", UnprovenWarning)
    verdicts: list[Verdict] = []
    if options.verdicts and options.verdicts.exists():
        lines = options.verdicts.read_text().splitlines()
        verdicts = [Verdict(**json.loads(line)) for line in lines]
        verdicts = [by_rule(verdict) for verdict in verdicts]
    known = {verdict.name for verdict in verdicts}
    with executor_of(options.executor) as pool:
        work: list[tuple[str, Level, list[int]]] = []
        for example in options.example or SUBJECTS:
            for level in SUBJECTS[example].levels:
                if options.level and level not in options.level:
                    continue
                chosen = numbers_of(example, level, known, options.share)
                work += [
                    (example, level, chosen[first : first + BATCH])
                    for first in range(0, len(chosen), BATCH)
                ]
        random.Random(0).shuffle(work)
        batches = [pool.submit(verdicts_on, *part, options.static, until) for part in work]
        for batch in as_completed(batches):
            try:
                found = batch.result()
            except Exception as error:  # A process that died: its mutants are not judged.
                print(f"not judged: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            verdicts += found
            if options.verdicts:
                with options.verdicts.open("a") as file:
                    file.writelines(json.dumps(asdict(each)) + "\n" for each in found)
    verdicts.sort(key=lambda verdict: verdict.name)
    print("\n".join(table(verdicts)))
    for verdict in verdicts:
        if verdict.outcome in (MISSED, WRONG, CRASHED):
            print(f"{verdict.outcome}: {verdict.name} {verdict.why}")
    if options.report:
        options.report.write_text(report(verdicts))


if __name__ == "__main__":
    main()
