"""Every op of Tile IR on every target: python tests/sweep/run.py --executor processes:16

    --op mmaf --type f16    of these ops, of points with these types of elements
    --arch sm_90a           on this target, or on several
    --level tile            at this level, or at several (ptx); chip: on the GPU of this machine,
                            whose target --arch says
    --all                   the whole product, not points in which every two of its parts meet
    --sample 500            about so many points, as many of each op
    --part 2/5              every fifth point, from the second on
    --seconds 3600          begin nothing after so many
    --no-ptxas              the levels alone

Points come from the definitions of the ops (`points`). Prints every kind of difference, refusal,
crash and warning once, with the first point that shows it, and a line for each op once it is
done. Exit status 1 where there was any, 2 for wrong options.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from judge import TARGETS, tried
from point import Point
from points import pairs, points, swept

from tilewright.executors import add_executor_option, executor_of, in_order

LEVELS = ("tile", "atom", "ptx", "chip")
BATCH, PRODUCTS = 32, 2
"""Points that a worker tries at once, and of products, of which each takes as long: ptxas is called
once for all."""


@dataclass(frozen=True)
class Batch:
    """Points of an op that a worker tries at once, from the target of its number on."""

    op: str
    number: int
    points: Sequence[Point]


def _points(options: argparse.Namespace, name: str) -> tuple[str, list[Point]]:
    chosen = points(name) if options.all else pairs(name, options.seed)
    wanted = set(options.type or ())
    left = [point for point in chosen if not wanted or wanted & point.elements]
    if options.sample is not None:
        most = -(-options.sample // len(options.op or swept()))
        left = random.Random(options.seed).sample(left, min(most, len(left)))
    part, parts = options.part
    return name, left[part - 1 :: parts]


def _batches(executor: Executor, options: argparse.Namespace) -> Iterator[Batch]:
    # Products take longest.
    names = sorted(options.op or swept(), key=lambda name: "mma" in name)
    for name, left in in_order(executor, partial(_points, options), names):
        size = PRODUCTS if "mma" in name else BATCH
        for number, start in enumerate(range(0, len(left), size)):
            yield Batch(name, number, left[start : start + size])


def _tried(options: argparse.Namespace, batch: Batch) -> tuple[Batch, float, list[Any]]:
    started = time.process_time()
    if options.until is not None and time.time() > options.until:
        return replace(batch, points=()), 0.0, []
    archs = options.arch or TARGETS
    first = batch.number % len(archs)
    wrong = tried(
        batch.points, archs[first:] + archs[:first], options.level or ["ptx"], not options.no_ptxas
    )
    return batch, time.process_time() - started, wrong


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    return int(part), int(parts)


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
    parser.add_argument("--part", type=_part, default=(1, 1))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--no-ptxas", action="store_true")
    parser.add_argument("--failures", type=Path, default=Path("build/sweep/failures.jsonl"))
    add_executor_option(parser, "processes:2")
    options = parser.parse_args()
    options.until = options.seconds and time.time() + options.seconds
    options.failures.parent.mkdir(parents=True, exist_ok=True)
    counts, seconds = Counter[str](), defaultdict[str, float](float)
    failed, reasons = Counter[str](), Counter[tuple[str, str]]()

    def summary(name: str) -> None:
        print(f"{name:28} {counts[name]:6} points {failed[name]:6} failures "
              f"{seconds[name]:7.1f} s", flush=True)  # fmt: skip

    with executor_of(options.executor) as executor, options.failures.open("w") as file:
        batches = _batches(executor, options)
        for batch, spent, wrong in in_order(executor, partial(_tried, options), batches):
            if batch.op not in counts and counts:
                summary([*counts][-1])
            counts[batch.op] += len(batch.points)
            seconds[batch.op] += spent
            for case, arch, reason in wrong:
                failed[case.op] += 1
                kind = case.op, reason.partition(", argument")[0]
                if not reasons[kind]:
                    print(f"{case.op} on {arch}: {reason}\n    {case.name}", flush=True)
                reasons[kind] += 1
                line = {"arch": arch, "name": case.name, "reason": reason, "text": case.text}
                file.write(json.dumps(line) + "\n")
                file.flush()
    for name in [*counts][-1:]:
        summary(name)
    print(
        f"{len(counts)} ops, {counts.total()} points, {len(options.arch or TARGETS)} targets: "
        f"{failed.total()} failures of {len(reasons)} kinds"
    )
    sys.exit(bool(reasons))


if __name__ == "__main__":
    main()
