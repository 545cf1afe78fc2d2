"""Mutants in any number: python tests/fuzz/run.py --count 100000 [--entry opt] [--assemble]

Prints every kind of broken promise once, with the seeds that show it first and how often it came;
exit status 1 where there was any. `--keep` writes the first mutant of each kind to corpus/.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from entries import ENTRIES, ON_DEMAND, Broken, trial

CORPUS = Path(__file__).parent / "corpus"
BATCH = 50
MEMORY = 4 << 30
"""What a process may take: a mutant that asks for more breaks its promise, not the machine."""


def batch(entry: str, first: int, count: int) -> list[tuple[str, int]]:
    """What is broken among these seeds: kind and seed."""
    broken: list[tuple[str, int]] = []
    for seed in range(first, first + count):
        try:
            trial(entry, seed)
        except Broken as error:
            broken.append((str(error), seed))
    return broken


def limit() -> None:
    """Bound the memory of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def keep(entry: str, seed: int, kind: str) -> None:
    """The mutant as a file that the tests read from now on."""
    mutated = ENTRIES[entry][0](random.Random(f"{entry} {seed}"))
    name = f"{entry}_{hashlib.sha1(kind.encode()).hexdigest()[:10]}"
    data = mutated if isinstance(mutated, bytes) else mutated.encode(errors="surrogatepass")
    (CORPUS / name).write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="mutants for each entry point")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--entry", choices=ENTRIES, action="append")
    parser.add_argument("--assemble", action="store_true", help="what compiles must assemble")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    entries = options.entry or [entry for entry in ENTRIES if entry not in ON_DEMAND]
    entries += ["assemble"] * options.assemble
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    with ProcessPoolExecutor(options.jobs, initializer=limit) as pool:
        futures = [
            (
                entry,
                pool.submit(batch, entry, first, min(BATCH, options.first + options.count - first)),
            )
            for entry in entries
            for first in range(options.first, options.first + options.count, BATCH)
        ]
        for entry, future in futures:
            for kind, seed in future.result():
                if (entry, kind) not in kinds:
                    print(f"{entry} {seed}: {kind}", file=sys.stderr, flush=True)
                kinds[entry, kind].append(seed)
    for (entry, kind), seeds in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{entry}: {len(seeds)} x {kind} (seeds {', '.join(map(str, seeds[:3]))})")
        if options.keep:
            keep(entry, seeds[0], kind)
    entries = len(options.entry or ENTRIES)
    print(f"{entries} entry points, {options.count} mutants each, {len(kinds)} kinds broken")
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
