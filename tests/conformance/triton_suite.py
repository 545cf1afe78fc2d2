"""Triton's own language tests by tilewright, on the CPU beside Triton's interpreter, on the GPU
beside Triton's compiler.

    python tests/conformance/triton_suite.py CHECKOUT                # of triton-lang/triton
    python tests/conformance/triton_suite.py CHECKOUT --every 60 --file test_core.py
    python tests/conformance/triton_suite.py CHECKOUT --keep FOLDER    # goes on where it was ended
    python tests/conformance/triton_suite.py CHECKOUT --gpu --jobs 14

Prints a row of a table for each file: the tests that launch a kernel here and read no ttgir, llir
or PTX, how many of them pass with `-p tilewright.triton_pytest` and with TRITON_INTERPRET=1, and
the seconds of the CPU that those took which pass in both. With --pairs both take a sample's tests,
or those of --file, in turn, ours also as a second run that finds kernels kept; the exit status is 1
where ours take longer in all the first time. "Front end" is what Triton took from Python to TTIR.
On the GPU the tests are those that launch and pass by Triton's compiler, and those that read its
ttgir, llir, PTX or cubin and fail here are a column of their own. Needs torch, triton and pytest.
The exit status is 1 where fewer than 90 % pass here, 95 % on the GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path("unit/language")
STAGE = re.compile(r"""asm\[\s*["'](ttgir|llir|ptx|cubin|sass)""")
LOST = re.compile("CUDA error|CUDA_ERROR|an illegal memory access")
"""What the errors of tests say whose process has lost the GPU, perhaps by a test before them."""
READ = "Unknown key: "
"""What the error of a test says that asks for the text of a stage that is not run here."""
REFUSED = "CompileError: "
"""What the error of a test says whose kernel is refused before it is launched."""
RESULT = re.compile("not close|[Mm]ismatch|Not equal to tolerance|compiler_error|CompileError|CUDA")
"""What the errors of tests say that fail by what a kernel leaves, or that it is refused, whatever
texts they read else."""
OURS = ["-p", "tilewright.triton_pytest"]
THEIRS = ["--device", "cpu"]
INTERPRETED = {"TRITON_INTERPRET": "1"}
CPU_HEAD = ("file", "launching tests", "pass", "TRITON_INTERPRET=1", "seconds", "interpreter's",
            "front end")  # fmt: skip
GPU_HEAD = ("file", "launch and pass by Triton", "pass", "fail that read its text")
SAMPLE = (
    "test_where[1-float32]",
    "test_bin_op[1-float32-float16-+]",
    "test_bitwise_op[1-int32-int8-&0]",
    "test_compare_op[1-int16-int8-!=-real-real]",
    "test_math_op[float32-log2-x]",
    "test_broadcast[int64]",
    "test_cast[1-int16-int8-False-1024]",
    "test_masked_load[1-float16-512-1-0]",
    "test_reduce1d[1-min-int32-512]",
    "test_reduce[1-max-float32-shape104-2-False]",
    "test_scan2d[cumsum-int32-shape132-0-False-4]",
    "test_trans_4d[perm6-shape1-int8]",
    "test_dot3d[1-2-64-64-64-32-32-float16-float16]",
    "test_histogram[8-512]",
    "test_gather[src_shape1-indices_shape1-0]",
    "test_join",
    "test_shift_op[1-int8-uint32->>]",
)
"""Tests of test_core.py that pass in both, of each kind that it has many of; the first pays for
what is loaded once."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test: whether it passes, its seconds of the CPU, its launches, what it fails with, and the
    seconds of Triton's front end."""

    passed: bool
    seconds: float
    launches: int
    why: str
    front_end: float = 0


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests below a folder of a checkout, which run in so many processes at a time, each of a
    part of so many tests at most; what pytest reports of a part is kept in `reports`, and a part
    whose report is there is not run again."""

    root: Path
    reports: Path
    jobs: int
    part: int

    def run_in_parts(
        self, tests: Sequence[str], how: Sequence[str], **environment: str
    ) -> dict[str, Outcome]:
        """The outcomes of tests, by name, so many parts at a time; of those whose GPU was lost when
        each runs by itself."""
        with ThreadPoolExecutor(self.jobs) as pool:
            count = max(self.jobs, len(tests) // self.part)
            run = partial(self.run, how=how, **environment)
            parts = pool.map(run, [tests[i::count] for i in range(count)])
            outcomes = {name: result for part in parts for name, result in part.items()}
            lost = [one for one in tests if (result := outcomes.get(one.partition("::")[2]))
                    and not result.passed and LOST.search(result.why)]  # fmt: skip
            for again in pool.map(run, [[test] for test in lost]):
                outcomes |= again
        return outcomes

    def run(
        self, tests: Sequence[str], how: Sequence[str], **environment: str
    ) -> dict[str, Outcome]:
        """The outcomes of tests, by name."""
        if not tests:
            return {}
        key = hashlib.sha256(repr((tests, how, environment)).encode()).hexdigest()
        report, chosen = self.reports / f"{key}.xml", self.reports / f"{key}.tests"
        if not report.exists():
            chosen.write_text("\n".join(tests))
            options = ["-p", "no:cacheprovider", "-W", "ignore", *how, f"--junitxml={report}"]
            self.pytest(*options, "-p", "cpu_seconds", f"@{chosen}", **environment)
        if not report.exists():
            return {}
        cases = ElementTree.parse(report).iter("testcase")
        return {str(case.get("name")): outcome(case) for case in cases}

    def pytest(self, *arguments: str, **environment: str) -> str:
        """The text that pytest prints; tests import one another from their folder, and are named by
        their paths below the root, whatever lies above. One thread computes, so that seconds of
        the CPU compare, and every kernel is new."""
        folders = (str(self.root / TESTS), str(Path(__file__).parent), os.environ.get("PYTHONPATH"))
        path = os.pathsep.join(filter(None, folders))
        named = [f"--rootdir={self.root}", f"--confcutdir={self.root}", "-c", os.devnull]
        command = [sys.executable, "-m", "pytest", "-q", *named]
        own = {"OMP_NUM_THREADS": "1", "TRITON_ALWAYS_COMPILE": "1", "PYTHONPATH": path,
               "PYTHONHASHSEED": "0"}  # fmt: skip
        return subprocess.run(
            [*command, *arguments], cwd=self.root, env={**os.environ, **own, **environment},
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip

    def collected(self, file: str) -> list[str]:
        """The tests of a file, by name."""
        listed = self.pytest("--collect-only", *OURS, str(TESTS / file))
        return [line for line in listed.splitlines() if "::" in line]


def outcome(case: ElementTree.Element) -> Outcome:
    """What pytest reports of a test."""
    wrong = [problem for kind in ("failure", "error", "skipped") for problem in case.iter(kind)]
    said = {one.get("name"): one.get("value") or "0" for one in case.iter("property")}
    why = " ".join(str(problem.get("message")) for problem in wrong)
    seconds, front_end = (float(said.get(name, 0)) for name in ("seconds", "front_end"))
    return Outcome(not wrong, seconds, int(said.get("launches", 0)), why, front_end)


def readers(file: Path) -> set[str]:
    """The tests of a file that read the text of a stage of Triton's own, or its machine code."""
    functions = re.split(r"^def (?=test_)", file.read_text(), flags=re.MULTILINE)[1:]
    return {text.partition("(")[0] for text in functions if STAGE.search(text)}


def on_gpu(suite: Suite, name: str, tests: Sequence[str]) -> tuple[list[float], list[str]]:
    """Print a file's row of the GPU's table: the tests that launch and pass by Triton's compiler,
    but those that read its text and fail here, how many of them pass here, and what fails."""
    theirs = suite.run_in_parts(tests, ["-p", "triton_launches"])
    launching = [test for test in theirs if theirs[test].passed and theirs[test].launches]
    chosen = [test for test in tests if test.partition("::")[2] in set(launching)]
    ours = suite.run_in_parts(chosen, [*OURS, "--tilewright", "gpu"])
    nothing = Outcome(False, 0, 0, "the process of the test died")
    wrong = {test: ours.get(test, nothing).why for test in launching
             if not ours.get(test, nothing).passed}  # fmt: skip
    texts = readers(suite.root / TESTS / name)
    reading = {test for test, why in wrong.items()
               if test.partition("[")[0] in texts and not RESULT.search(why)}  # fmt: skip
    count = len(launching) - len(reading)
    print(f"| {name} | {count} | {len(launching) - len(wrong)} | {len(reading)} |", flush=True)
    return [count, len(launching) - len(wrong)], [
        f"    {test}{' (reads)' * (test in reading)}: {why[:300]}" for test, why in wrong.items()
    ]  # fmt: skip


def on_cpu(suite: Suite, name: str, tests: Sequence[str]) -> tuple[list[float], list[str]]:
    """Print a file's row of the CPU's table: the tests that launch and read no text of a stage that
    is not run here, how many of them pass here and by Triton's interpreter, and what fails."""
    ours = suite.run_in_parts(tests, OURS)
    launching = {
        test: result
        for test, result in ours.items()
        if (result.launches or REFUSED in result.why) and READ not in result.why
    }
    chosen = [test for test in tests if test.partition("::")[2] in launching]
    theirs = suite.run_in_parts(chosen, THEIRS, **INTERPRETED)
    passed = [test for test, result in launching.items() if result.passed]
    there = [test for test in launching if test in theirs and theirs[test].passed]
    both = set(passed) & set(there)
    seconds = [sum(results[test].seconds for test in both) for results in (ours, theirs)]
    front = sum(ours[test].front_end for test in both)
    row = [len(launching), len(passed), len(there), *seconds, front]
    print(f"| {name} | {' | '.join(map(shown, row))} |", flush=True)
    return row, [
        f"    {test}: {result.why[:300]}"
        for test, result in launching.items() if not result.passed
    ]  # fmt: skip


def shown(number: float) -> str:
    """A number of tests, or seconds."""
    return f"{number}" if isinstance(number, int) else f"{number:.1f}"


def in_pairs(suite: Suite, rounds: int, tests: Sequence[str]) -> bool:
    """Print the least seconds of the tests that launch and pass in both, by their functions: here,
    a second time, and by Triton's interpreter, which run in turn; whether ours are fewer in all the
    first time."""
    texts = {"TRITON_CACHE_DIR": str(suite.reports / "texts")}
    ways = (OURS, texts), (OURS, {**texts, "TRITON_ALWAYS_COMPILE": "0"}), (THEIRS, INTERPRETED)
    least: dict[str, list[float]] = {}
    count: dict[str, int] = {}
    for i in range(rounds):
        folder = suite.reports / f"{i}"
        folder.mkdir(exist_ok=True)
        for way, (how, variables) in enumerate(ways):
            # by the interpreter there are no others: pytest stops where one is not there
            chosen = tests if way < 2 else [x for x in tests if x.partition("::")[2] in least]
            results = replace(suite, reports=folder).run(chosen, how, **variables)
            for name, result in results.items():
                if result.passed and (result.launches or way == 2):
                    row = least.setdefault(name, [inf] * 4)
                    row[way] = min(result.seconds, row[way])
                    row[3] = row[3] if way else min(result.front_end, row[3])
    rows: dict[str, list[float]] = {}
    for name, row in least.items():
        if inf not in row:
            for of in (name.partition("[")[0], "all"):
                rows[of] = [*map(sum, zip(row, rows.get(of, [0] * 4), strict=True))]
                count[of] = count.get(of, 0) + 1
    print("| test | of them | seconds | of the front end | the second time | interpreter's |")
    print("|---|---|---|---|---|---|")
    for of in sorted(rows, key="all".__eq__):
        first, second, theirs, front = rows[of]
        print(f"| {of} | {count[of]} | {first:.3f} | {front:.3f} | {second:.3f} | {theirs:.3f} |")
    return rows["all"][0] <= rows["all"][2]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth test only")
    parser.add_argument("--file", action="append", help="these files only")
    parser.add_argument("--gpu", action="store_true", help="on the GPU, beside Triton's compiler")
    parser.add_argument("--pairs", type=int, metavar="ROUNDS", help="seconds of a sample, in turn")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--part", type=int, default=100, help="tests of a process")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where reports stay")
    parser.add_argument("--list", action="store_true", help="print what fails here, and why")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = (options.checkout / "python" / "test").resolve()
        suite = Suite(root, (options.keep or Path(folder)).resolve(), options.jobs, options.part)
        suite.reports.mkdir(parents=True, exist_ok=True)
        files = options.file or sorted(path.name for path in (root / TESTS).glob("test_*.py"))
        if options.pairs:
            chosen = [str(TESTS / "test_core.py::") + name for name in SAMPLE]
            if options.file:
                chosen = [one for name in files for one in suite.collected(name)[:: options.every]]
            return int(not in_pairs(suite, options.pairs, chosen))
        judge, head, share = (on_gpu, GPU_HEAD, 0.95) if options.gpu else (on_cpu, CPU_HEAD, 0.9)
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        rows: list[list[float]] = []
        for name in files:
            row, wrong = judge(suite, name, suite.collected(name)[:: options.every])
            rows.append(row)
            if options.list:
                print(*wrong, sep="\n", end="\n" * bool(wrong), flush=True)
        sums = [*map(sum, zip(*rows, strict=True))]
        print(f"| all | {' | '.join(map(shown, sums))} |")
        return int(sums[1] < share * sums[0])


if __name__ == "__main__":
    sys.exit(main())
