"""NVIDIA's own suite of cuTile Python by tilewright: a table by file of what passes.

    python tests/gpu/cutile_suite.py cutile-python --jobs 12     # on the GPU, tileiras beside it
    python tests/gpu/cutile_suite.py cutile-python --cpu         # on the CPU

`cutile-python` is a checkout of https://github.com/NVIDIA/cutile-python; pytest, pytest-benchmark
and, for more than one job, pytest-xdist are needed. Of a file it shows how many tests that launch
kernels pass, how many without one, and, where tileiras is, how many of those that pass under it
fail here: of these there may be none (`--names` shows them). On the CPU 95 % of what launches has
to pass.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

OURS = ("-p", "tilewright.cutile_pytest", "--tilewright")
CPU_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test: of which file, whether it passed, and whether it launched kernels."""

    file: str
    passed: bool
    launches: bool


def run(checkout: Path, jobs: int, more: Sequence[str]) -> dict[str, Outcome]:
    """The outcomes of the suite's tests by name, without those that are skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "--tb=line", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
        options += ["-o", "python_files=test_*.py", "-o", "junit_family=xunit1"]
        options += ["-n", str(jobs)] if jobs > 1 else []
        command = [sys.executable, "-m", "pytest", *more, *options, f"--junitxml={report}", "."]
        subprocess.run(command, cwd=checkout / "test", check=False)
        return outcomes(report.read_text())


def outcomes(report: str) -> dict[str, Outcome]:
    """The outcomes in a report of pytest, in JUnit's form."""
    tests: dict[str, Outcome] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        file = Path(case.get("file") or case.get("name", "")).name
        passed = case.find("failure") is None and case.find("error") is None
        counted = case.find("properties/property[@name='tilewright']")
        launches = counted is not None and counted.get("value") != "0"
        tests[f"{file}::{case.get('classname')}::{case.get('name')}"] = Outcome(
            file, passed, launches
        )
    return tests


def table(ours: dict[str, Outcome], theirs: dict[str, Outcome]) -> str:
    """The table by file; `theirs` is what tileiras makes of the same tests, if anything."""
    rows: dict[str, Counter[str]] = {}
    for name, outcome in ours.items():
        for file in (outcome.file, "all"):
            row = rows.setdefault(file, Counter())
            kind = "launched" if outcome.launches else "other"
            row[kind] += 1
            row[f"{kind} passed"] += outcome.passed
            row["tileiras"] += name in theirs and theirs[name].passed
            row["lost"] += name in theirs and theirs[name].passed and not outcome.passed
    lines = ["| file | launch, pass | others, pass | under tileiras | of these fail here |"]
    lines.append("|---|---|---|---|---|")
    for file, row in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = [f"{row[f'{kind} passed']} of {row[kind]}" for kind in ("launched", "other")]
        lines.append(f"| {file} | {' | '.join(cells)} | {row['tileiras']} | {row['lost']} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the suite; the exit status is 1 where more fails than may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--cpu", action="store_true", help="on the CPU, without tileiras")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--names", action="store_true", help="show what fails")
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, default=[], help="its own options")
    options = parser.parse_args(arguments)
    checkout: Path = options.checkout.resolve()
    where = "cpu" if options.cpu else "gpu"
    ours = run(checkout, options.jobs, [*OURS, where, *options.pytest])
    theirs = {} if options.cpu else run(checkout, options.jobs, options.pytest)
    print(table(ours, theirs))
    lost = [name for name, outcome in ours.items() if not outcome.passed]
    if not options.cpu:
        lost = [name for name in lost if name in theirs and theirs[name].passed]
    if options.names:
        print(*lost, sep="\n")
    if not options.cpu:
        return int(bool(lost))
    launched = [outcome for outcome in ours.values() if outcome.launches]
    return int(sum(outcome.passed for outcome in launched) < CPU_SHARE * len(launched))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
