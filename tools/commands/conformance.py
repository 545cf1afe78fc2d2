"""Judge tilewright by what it did not make: ptxas, the PTX ISA, and what chips computed.

  tilewright conformance lattice --family mma --target sm_90a
  tilewright conformance lattice --sample 5000 --seed 3         spread over all families and targets
  tilewright conformance operands --target sm_100a
  tilewright conformance records RECORDS.tar                    or a folder of records
  tilewright conformance records RECORDS.tar --level ptx --arch sm_90a
  tilewright conformance records RECORDS.tar --assemble sm_90a,sm_120a
  tilewright conformance records RECORDS.tar --text

lattice: is what check-ptx takes what the PTX ISA lists and ptxas assembles? Every tensor-core
instruction, as the product of its qualifiers, legal and illegal, for every target: some 3.8
million points a target, half an hour of two cores. Prints a line for a family and target: points,
legal ones, the percentage on which all agree, forms that ptxas takes beyond the ISA.

operands: the same of instructions beside the tensor cores', with right and wrong operands: some
36,000 a target.

records: kernels of Tile IR, run on the arguments that a chip had, must leave in memory what it
left: bit for bit where Tile IR defines the bits, else within a bound. By default the interpreter
runs the Tile IR; --level compiles it first, --level device launches it on the GPU. --assemble
compiles and asks ptxas, --text prints, reads and compares the bytecode: both run nothing.

The exit status is 1 where anything differs. --executor says who works; the results are the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor, Executor
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.executors import add_executor_option, in_order
from tilewright.progress import ProgressBar
from tilewright.tools.commands.input import (
    InputError,
    UsageError,
    add_options,
    chosen_executor,
    read_target,
)
from tilewright.tools.conformance.documented_targets import KNOWN
from tilewright.tools.conformance.lattice import FAMILIES

if TYPE_CHECKING:
    from tilewright.tools.conformance.records import Record, Replayed

LEVELS = ("program", "tile", "atom", "ptx", "device")
OPTIONS = {
    "lattice": ("family", "target", "sample", "seed", "list"),
    "operands": ("target", "sample", "seed"),
    "records": ("files", "only", "level", "arch", "assemble", "text", "list"),
}
"""The options that each judge has."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
judge: what judges
files FILE: records: tar files or folders
--family FAMILY: lattice: these instructions only, such as mma or wgmma
--target TARGET: lattice, operands: these targets only
--sample N: lattice, operands: about N, not all
--seed N: lattice, operands: of the sample (0)
--only TEXT: records: those whose name contains TEXT
--level: records: what is run (program)
--arch TARGET: records: the chip that computes
--assemble TARGETS: records: assemble for sm_90a,...
--text: records: print and read again
--list: print every point that differs, and records that are within their bounds
""",
        judge={"choices": OPTIONS},
        files={"nargs": "*"},
        family={"action": "append", "choices": FAMILIES},
        target={"action": "append", "choices": KNOWN},
        sample={"type": int},
        seed={"type": int},
        level={"choices": LEVELS},
    )
    add_executor_option(parser, "processes")


def run(options: argparse.Namespace) -> None:
    own = OPTIONS[options.judge]
    for name in chain(*OPTIONS.values()):
        if name not in own and getattr(options, name) not in (None, False, []):
            option = name if name == "files" else f"--{name}"
            raise UsageError(f"expected no {option} for {options.judge}")
    if options.judge == "records" and not options.files:
        raise UsageError("expected a FILE of records, got none")
    judge = {"lattice": _lattice, "operands": _operands, "records": _records}[options.judge]
    if options.judge != "records" or options.assemble:
        from tilewright.launch.ptxas import find_ptxas

        find_ptxas()
    with chosen_executor(options.executor) as executor:
        try:
            agree = judge(options, executor)
        except BrokenExecutor as error:
            raise InputError(f"expected workers that go on to the end, got: {error}") from None
    if not agree:
        sys.exit(1)


def _lattice(options: argparse.Namespace, executor: Executor) -> bool:
    """Print the table; true where there is no disagreement."""
    from tilewright.tools.conformance.lattice import compare_all, sampled, table, whole

    families, targets = options.family or list(FAMILIES), tuple(options.target or KNOWN)
    if options.sample is None:
        tasks = list(whole(families, targets))
    else:
        tasks = list(sampled(families, targets, options.sample, options.seed or 0))
    with closing(ProgressBar("tasks")) as progress:
        tallies = compare_all(tasks, executor, progress.update)
    print(*table(tallies), sep="\n")
    wrong = [point for tally in tallies.values() for point in tally.disagreements]
    if options.list:
        print(*wrong, sep="\n")
    return not wrong


def _operands(options: argparse.Namespace, executor: Executor) -> bool:
    """Print every instruction that is judged wrongly, and how many are not."""
    from tilewright.tools.conformance.listed_operands import sample

    wrong = count = 0
    targets: list[str] = options.target or list(KNOWN)
    number = 1 << 30 if options.sample is None else -(-options.sample // len(targets))
    samples = ((sample(number, options.seed or 0, name), name) for name in targets)
    with closing(ProgressBar("targets")) as progress:
        for done, (asked, said) in enumerate(in_order(executor, _asked, samples), 1):
            print(*said, sep="\n", end="\n" * bool(said))
            wrong, count = wrong + len(said), count + asked
            progress.update(done, len(targets))
    print(f"{count} instructions of {len(targets)} targets, {wrong} disagreements")
    return not wrong


def _asked(lines_target: tuple[list[str], str]) -> tuple[int, list[str]]:
    from tilewright.tools.conformance.listed_operands import disagreements

    return len(lines_target[0]), disagreements(*lines_target)


def _records(options: argparse.Namespace, executor: Executor) -> bool:
    """Print what differs, and how many records do not; true where all is as on the chip."""
    from tilewright.tools.conformance import records

    archs: list[str] = [] if options.assemble is None else options.assemble.split(",")
    for name in (*archs, *([options.arch] if options.arch else [])):
        read_target(name)
    if options.text:
        judge = partial(_judged, "reread", {})
    elif archs:
        judge = partial(_judged, "assembled", {"archs": archs})
    else:
        settings = {"level": options.level or "program", "arch": options.arch}
        judge = partial(_judged, "replay", settings)
    verdicts, begun = Counter[str](), time.perf_counter()
    chosen = list(_chosen(options.files, options.only or ""))
    with closing(ProgressBar("records")) as progress:
        for name, test, outcome in in_order(executor, judge, chosen):
            verdicts[outcome.verdict] += 1
            if outcome.verdict == records.FAILED or (options.list and outcome.lines):
                progress.close()
                share = f" ({outcome.share:.2f} of the bound)" if outcome.share else ""
                print(f"{outcome.verdict}: {name} {test}{share}")
                print(*(f"    {line}" for line in outcome.lines), sep="\n")
            progress.update(verdicts.total(), len(chosen))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"{verdicts.total()} records: {counts}; {time.perf_counter() - begun:.1f} s")
    return bool(verdicts) and not verdicts[records.FAILED]


def _chosen(files: Iterable[str], only: str) -> Iterable[tuple[str, Record]]:
    """The records of the files whose test or name contains `only`. Raises InputError."""
    from tilewright.tools.conformance.records import RecordError, records

    for file in files:
        try:
            yield from (
                (name, record) for name, record in records(Path(file))
                if only in record["test"] or only in name
            )  # fmt: skip
        except RecordError as error:
            raise InputError(f"cannot read '{file}': {error}") from None


def _judged(
    how: str, settings: Mapping[str, object], named: tuple[str, Record]
) -> tuple[str, str, Replayed]:
    from tilewright.tools.conformance import records

    name, record = named
    return name, record["test"], getattr(records, how)(name, record, **settings)
