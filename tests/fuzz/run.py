"""Mutants in any number: python tests/fuzz/run.py --count 1000000 --jobs 16

    --entry opt --assemble  of this entry point, or of several; what compiles goes to ptxas
    --seconds 3600          as many as an hour allows, instead of or beside --count

Prints every kind of broken promise once, with the seeds that show it first, and in the end a line
for each entry point; the failures file has a line for each mutant. Exit status 1 where there was
any. `--keep` writes the first mutant of each kind to corpus/.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "../sampling"), str(HERE / "../tilewright")]

from answers import Broken  # noqa: E402
from campaign import Campaign, add_options  # noqa: E402
from entries import ENTRIES, ON_DEMAND, trial  # noqa: E402

CORPUS = HERE / "corpus"
MEMORY = 4 << 30
"""What a process may take: a mutant that asks for more breaks its promise, not the machine."""


def broken(entry: str, seeds: Sequence[int]) -> list[tuple[int, str]]:
    """What is broken among these seeds."""
    found: list[tuple[int, str]] = []
    for seed in seeds:
        try:
            trial(entry, seed)
        except Broken as error:
            found.append((seed, str(error)))
    return found


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser, "mutants", "fuzz")
    parser.add_argument("--entry", choices=ENTRIES, action="append")
    parser.add_argument("--assemble", action="store_true", help="what compiles must assemble")
    parser.add_argument("--keep", action="store_true", help="the first of each kind to corpus/")
    options = parser.parse_args()
    entries = options.entry or [entry for entry in ENTRIES if entry not in ON_DEMAND]
    if options.assemble:
        entries += [entry for entry in ON_DEMAND if entry not in entries]
    campaign = Campaign(broken, options, batch=50, setup=limit)
    reasons = campaign.run(entries)
    if options.keep:
        for (entry, kind), seeds in campaign.seeds.items():
            keep(entry, seeds[0], kind)
    sys.exit(bool(reasons))


if __name__ == "__main__":
    main()
