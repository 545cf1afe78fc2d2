"""Every op of Tile IR on every target: python tests/sweep/run.py --executor processes:16

    --op mmaf --type f16    of these ops, of points with these types of elements
    --arch sm_90a           on this target, or on several
    --level tile            at this level, or at several (ptx)
    --all                   the whole product, not points in which every two of its parts meet
    --sample 500            about so many points, as many of each op
    --seconds 3600          begin nothing after so many
    --no-ptxas              the levels alone

Points come from the definitions of the ops (`points`). Prints every kind of difference, refusal,
crash and warning once, with the first point that shows it, then a line for each op. Exit status
1 where there was any, 2 for wrong options.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from judge import TARGETS, Case, case_of, tried
from points import Point, pairs, points, swept

from tilewright.executors import add_executor_option, executor_of, in_order

LEVELS = ("tile", "atom", "ptx")
BATCH = 16
"""Points that a worker tries at once: a call of ptxas costs half a second."""


def _points(options: argparse.Namespace, name: str) -> Iterator[Point]:
    chosen = points(name) if options.all else pairs(name, options.seed)
    wanted = set(options.type or ())
    left = [point for point in chosen if not wanted or wanted & point.elements]
    if options.sample is not None:
        most = -(-options.sample // len(options.op or swept()))
        left = random.Random(options.seed).sample(left, min(most, len(left)))
    yield from left


def _cases(options: argparse.Namespace, counts: Counter[str]) -> Iterator[tuple[Case, ...]]:
    """Batches of cases, ops in turn."""
    started = time.monotonic()
    for name in options.op or swept():
        left = list(_points(options, name))
        for start in range(0, len(left), BATCH):
            some = left[start : start + BATCH]
            if options.seconds and time.monotonic() - started > options.seconds:
                return
            counts[name] += len(some)
            yield tuple(map(case_of, some))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--op", choices=swept(), action="append", metavar="OP")
    parser.add_argument("--type", action="append")
    parser.add_argument("--arch", choices=TARGETS, action="append")
    parser.add_argument("--level", choices=LEVELS, action="append")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--no-ptxas", action="store_true")
    parser.add_argument("--failures", type=Path, default=Path("build/sweep/failures.jsonl"))
    add_executor_option(parser, "processes:2")
    options = parser.parse_args()
    options.failures.parent.mkdir(parents=True, exist_ok=True)
    archs, counts = options.arch or TARGETS, Counter[str]()
    judge = partial(
        tried, archs=archs, levels=options.level or ["ptx"], assembles=not options.no_ptxas
    )
    failed, reasons = Counter[str](), Counter[tuple[str, str]]()
    with executor_of(options.executor) as executor, options.failures.open("w") as file:
        for wrong in in_order(executor, judge, _cases(options, counts)):
            for case, arch, reason in wrong:
                failed[case.op] += 1
                kind = case.op, reason.partition(", argument")[0]
                if not reasons[kind]:
                    print(f"{case.op} on {arch}: {reason}\n    {case.name}", flush=True)
                reasons[kind] += 1
                line = {"arch": arch, "name": case.name, "reason": reason, "text": case.text}
                file.write(json.dumps(line) + "\n")
    for name, count in counts.items():
        print(f"{name:28} {count:6} points {failed[name]:6} failures")
    print(
        f"{len(counts)} ops, {counts.total()} points, {len(archs)} targets: {failed.total()} "
        f"failures of {len(reasons)} kinds"
    )
    sys.exit(bool(reasons))


if __name__ == "__main__":
    main()
