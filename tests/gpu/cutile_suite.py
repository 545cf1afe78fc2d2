"""NVIDIA's own suite of cuTile Python by tilewright: a table by file of what passes.

    python tests/gpu/cutile_suite.py cutile-python --jobs 12     # on the GPU, tileiras beside it
    python tests/gpu/cutile_suite.py cutile-python --cpu         # on the CPU

`cutile-python` is a checkout of https://github.com/NVIDIA/cutile-python; pytest, pytest-benchmark,
pytest-env (without which JAX takes the GPU's memory) and, for more than one job, pytest-xdist are
needed. Of a file it shows how many tests that launch kernels pass, and how many without one. Those
that fail run again under tileiras: of those that pass there may be none but `OF_TILEIRAS`, and each
has to run there (`--names` shows them, and what else fails). On the CPU 95 % of what launches has
to pass.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

OURS = ("-p", "tilewright.cutile_pytest", "--tilewright")
CPU_SHARE = 0.95
OF_TILEIRAS = {
    "test_bytecode.py::test_write_simple_module": "cuTile's launch gets tileiras' machine code",
    "test_debug.py::test_crash_dump_enabled_by_env": "the dump that cuTile makes of its failure",
    "test_jax.py": "XLA launches tileiras' machine code, and is refused",
}
"""Tests of tileiras itself, or files of them, and why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test: of which file, whether it passed, and whether it launched kernels."""

    file: str
    passed: bool
    launches: bool


def run(
    checkout: Path, jobs: int, more: Sequence[str], tests: Sequence[str] = (".",)
) -> dict[str, Outcome]:
    """The outcomes of tests of the suite by name, without those that are skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "--tb=line", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
        options += ["-o", "python_files=test_*.py", "-o", "junit_family=xunit1"]
        options += ["-n", str(jobs)] if jobs > 1 else []
        command = [sys.executable, "-m", "pytest", *more, *options, f"--junitxml={report}"]
        subprocess.run([*command, *tests], cwd=checkout / "test", check=False)
        return outcomes(report.read_text())


def outcomes(report: str) -> dict[str, Outcome]:
    """The outcomes in a report of pytest, in JUnit's form; of a file that is not read its own."""
    tests: dict[str, Outcome] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        name = case.get("name", "")
        file = Path(case.get("file", "")).name
        _, _, group = case.get("classname", "").partition(f"{Path(file).stem}.")
        passed = case.find("failure") is None and case.find("error") is None
        counted = case.find("properties/property[@name='tilewright']")
        launches = counted is not None and counted.get("value") != "0"
        parts = (file, *filter(None, group.split(".")), name)
        test = "::".join(parts) if case.get("classname") else file
        tests[test] = Outcome(file, passed, launches)
    return tests


def table(ours: dict[str, Outcome], lost: Collection[str]) -> str:
    """The table by file; `lost` fail here alone."""
    rows: dict[str, Counter[str]] = {}
    for name, outcome in ours.items():
        for file in (outcome.file, "all"):
            row = rows.setdefault(file, Counter())
            kind = "launched" if outcome.launches else "other"
            row[kind] += 1
            row[f"{kind} passed"] += outcome.passed
            row["lost"] += name in lost
    lines = ["| file | launch, pass | others, pass | pass under tileiras alone |"]
    lines.append("|---|---|---|---|")
    for file, row in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = [f"{row[f'{kind} passed']} of {row[kind]}" for kind in ("launched", "other")]
        lines.append(f"| {file} | {' | '.join(cells)} | {row['lost']} |")
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
    failed = [name for name, outcome in ours.items() if not outcome.passed]
    theirs = {} if options.cpu or not failed else run(checkout, 1, options.pytest, failed)
    unknown = [] if options.cpu else [name for name in failed if name not in theirs]
    lost = [name for name in failed if name in theirs and theirs[name].passed]
    print(table(ours, lost))
    if unknown:
        print("did not run under tileiras:", *unknown)
    if options.names:
        print(*(f"{name}{' (tileiras passes)' * (name in lost)}" for name in failed), sep="\n")
    if not options.cpu:
        return int(
            any(not OF_TILEIRAS.keys() & {name, ours[name].file} for name in (*lost, *unknown))
        )
    launched = [outcome for outcome in ours.values() if outcome.launches]
    return int(sum(outcome.passed for outcome in launched) < CPU_SHARE * len(launched))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
