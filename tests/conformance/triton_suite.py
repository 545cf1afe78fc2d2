"""Triton's own language tests by tilewright, on the CPU beside Triton's interpreter, on the GPU
beside Triton's compiler.

    python tests/conformance/triton_suite.py CHECKOUT                # of triton-lang/triton
    python tests/conformance/triton_suite.py CHECKOUT --every 60 --file test_core.py
    python tests/conformance/triton_suite.py CHECKOUT --gpu --jobs 14

Prints a row of a table for each file: the tests that launch a kernel here and read no ttgir, llir
or PTX, how many of them pass with `-p tilewright.triton_pytest` and with TRITON_INTERPRET=1, and
the seconds that those took which pass in both. On the GPU the tests are those that launch and pass
by Triton's compiler, and those that read its ttgir, llir, PTX or cubin and fail here are a column
of their own. Needs torch, triton and pytest. The exit status is 1 where fewer than 90 % pass here,
95 % on the GPU.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path("unit/language")
PART = 100
"""The tests that share a process, at most."""
STAGE = re.compile(r"""asm\[["'](ttgir|llir|ptx|cubin|sass)""")
LOST = re.compile("CUDA error|CUDA_ERROR|an illegal memory access")
"""What the errors of tests say whose process has lost the GPU, perhaps by a test before them."""
READ = "Unknown key: "
"""What the error of a test says that asks for the text of a stage that is not run here."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test: whether it passes, its seconds, its launches, and what it fails with."""

    passed: bool
    seconds: float
    launches: int
    why: str


def run_in_parts(
    root: Path, tests: Sequence[str], how: Sequence[str], jobs: int, **environment: str
) -> dict[str, Outcome]:
    """The outcomes of tests, by name, so many parts at a time; of those whose GPU was lost when
    each runs by itself."""
    with ThreadPoolExecutor(jobs) as pool:
        count = max(jobs, len(tests) // PART)
        parts = pool.map(lambda i: run(root, tests[i::count], how, **environment), range(count))
        outcomes = {name: result for part in parts for name, result in part.items()}
        lost = [one for one in tests if (result := outcomes.get(one.partition("::")[2]))
                and not result.passed and LOST.search(result.why)]  # fmt: skip
        for again in pool.map(lambda test: run(root, [test], how), lost):
            outcomes |= again
    return outcomes


def run(
    root: Path, tests: Sequence[str], how: Sequence[str], **environment: str
) -> dict[str, Outcome]:
    """The outcomes of tests, by name."""
    if not tests:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        report, chosen = Path(folder) / "report.xml", Path(folder) / "tests"
        chosen.write_text("\n".join(tests))
        options = ["-p", "no:cacheprovider", "-W", "ignore", *how, f"--junitxml={report}"]
        pytest(root, *options, f"@{chosen}", **environment)
        if not report.exists():
            return {}
        cases = ElementTree.parse(report).iter("testcase")
        return {str(case.get("name")): outcome(case) for case in cases}


def pytest(root: Path, *arguments: str, **environment: str) -> str:
    """The text that pytest prints; tests import one another from their folder, and are named by
    their paths below the root, whatever lies above."""
    path = os.pathsep.join(filter(None, (str(root / TESTS), os.environ.get("PYTHONPATH"))))
    named = [f"--rootdir={root}", f"--confcutdir={root}", "-c", os.devnull]
    command = [sys.executable, "-m", "pytest", "-q", *named]
    return subprocess.run(
        [*command, *arguments], cwd=root, env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip


def outcome(case: ElementTree.Element) -> Outcome:
    """What pytest reports of a test."""
    wrong = [problem for kind in ("failure", "error", "skipped") for problem in case.iter(kind)]
    counts = [one.get("value") for one in case.iter("property") if one.get("name") == "launches"]
    why = " ".join(str(problem.get("message")) for problem in wrong)
    return Outcome(
        not wrong, float(case.get("time") or 0), int(counts[0] or 0) if counts else 0, why
    )


def collected(root: Path, file: Path) -> list[str]:
    """The tests of a file, by name."""
    listed = pytest(root, "--collect-only", "-p", "tilewright.triton_pytest", str(file))
    return [line for line in listed.splitlines() if "::" in line]


def readers(file: Path) -> set[str]:
    """The tests of a file that read the text of a stage of Triton's own, or its machine code."""
    functions = re.split(r"^def (?=test_)", file.read_text(), flags=re.MULTILINE)[1:]
    return {text.partition("(")[0] for text in functions if STAGE.search(text)}


def on_gpu(root: Path, name: str, tests: Sequence[str], jobs: int) -> tuple[int, int, list[str]]:
    """Print a file's row of the GPU's table: the tests that launch and pass by Triton's compiler,
    but those that read its text and fail here, how many of them pass here, and what fails."""
    theirs = run_in_parts(root, tests, ["-p", "triton_launches"], jobs)
    launching = [test for test in theirs if theirs[test].passed and theirs[test].launches]
    chosen = [test for test in tests if test.partition("::")[2] in set(launching)]
    ours = run_in_parts(
        root, chosen, ["-p", "tilewright.triton_pytest", "--tilewright", "gpu"], jobs
    )
    nothing = Outcome(False, 0, 0, "the process of the test died")
    wrong = {test: ours.get(test, nothing).why for test in launching
             if not ours.get(test, nothing).passed}  # fmt: skip
    reading = {test for test in wrong if test.partition("[")[0] in readers(root / TESTS / name)}
    count = len(launching) - len(reading)
    print(f"| {name} | {count} | {len(launching) - len(wrong)} | {len(reading)} |", flush=True)
    return count, len(launching) - len(wrong), [
        f"    {test}{' (reads)' * (test in reading)}: {why[:300]}" for test, why in wrong.items()
    ]  # fmt: skip


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth test only")
    parser.add_argument("--file", action="append", help="these files only")
    parser.add_argument("--gpu", action="store_true", help="on the GPU, beside Triton's compiler")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--list", action="store_true", help="print what fails here, and why")
    options = parser.parse_args()
    root = (options.checkout / "python" / "test").resolve()
    files = options.file or sorted(path.name for path in (root / TESTS).glob("test_*.py"))
    whole = [0, 0]
    if options.gpu:
        print("| file | launch and pass by Triton | pass | fail that read its text |")
        print("|---|---|---|---|")
        for name in files:
            tests = collected(root, TESTS / name)[:: options.every]
            count, passed, wrong = on_gpu(root, name, tests, options.jobs)
            whole = [whole[0] + count, whole[1] + passed]
            if options.list:
                print(*wrong, sep="\n", flush=True)
        print(f"| all | {whole[0]} | {whole[1]} | |")
        return int(whole[1] < 0.95 * whole[0])
    print("| file | launching tests | pass | TRITON_INTERPRET=1 | seconds | interpreter's |")
    print("|---|---|---|---|---|---|")
    for name in files:
        tests = collected(root, TESTS / name)[:: options.every]
        ours = run_in_parts(root, tests, ["-p", "tilewright.triton_pytest"], options.jobs)
        launching = {
            test: result
            for test, result in ours.items()
            if result.launches and READ not in result.why
        }
        chosen = [test for test in tests if test.partition("::")[2] in launching]
        theirs = run_in_parts(root, chosen, ["--device", "cpu"], options.jobs, TRITON_INTERPRET="1")
        passed = [test for test, result in launching.items() if result.passed]
        there = [test for test in launching if test in theirs and theirs[test].passed]
        both = set(passed) & set(there)
        seconds = [sum(results[test].seconds for test in both) for results in (ours, theirs)]
        print(f"| {name} | {len(launching)} | {len(passed)} | {len(there)} "
              f"| {seconds[0]:.1f} | {seconds[1]:.1f} |", flush=True)  # fmt: skip
        if options.list:
            wrong = (pair for pair in launching.items() if not pair[1].passed)
            print(*(f"    {test}: {result.why[:300]}" for test, result in wrong), sep="\n")
        whole = [whole[0] + len(launching), whole[1] + len(passed)]
    return int(whole[1] < 0.9 * whole[0])


if __name__ == "__main__":
    sys.exit(main())
