"""Programs in any number: python tests/differential/run.py --count 100000 --jobs 2 [--kind copies]

Prints every kind of difference as it comes, and in the end with how often it came and where, and
saves the first program of each, shrunk, to --save; exit status 1 where there was any.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / folder) for folder in ("../lowering/interpreter", "../lowering/tile")]

from kinds import KINDS  # noqa: E402
from trial import differences, smallest  # noqa: E402

BATCH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="programs of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", type=Path, default=Path("build/differential"))
    options = parser.parse_args()
    seen: dict[tuple[str, str], list[int]] = defaultdict(list)
    end = options.first + options.count
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = [
            (kind, pool.submit(differences, kind, range(first, min(first + BATCH, end))))
            for kind in options.kind or KINDS
            for first in range(options.first, end, BATCH)
        ]
        for done, (kind, future) in enumerate(futures, 1):
            for seed, difference in future.result():
                if (kind, difference) not in seen:
                    print(f"{kind}, seed {seed}: {difference}", flush=True)
                seen[kind, difference].append(seed)
            print(f"{done} of {len(futures)} batches", end="\r", file=sys.stderr, flush=True)
    options.save.mkdir(parents=True, exist_ok=True)
    for (kind, difference), seeds in sorted(seen.items(), key=lambda item: -len(item[1])):
        print(f"{kind}: {len(seeds)} x {difference} (seeds {', '.join(map(str, seeds[:3]))})")
        path = options.save / f"{kind}_{seeds[0]}.mlir"
        path.write_text(smallest(kind, seeds[0], difference))
        print(f"  {path}")
    kinds = len(options.kind or KINDS)
    print(f"{kinds} kinds, {options.count} programs each, {len(seen)} kinds of difference")
    sys.exit(bool(seen))


if __name__ == "__main__":
    main()
