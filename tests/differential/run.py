"""Programs in any number: python tests/differential/run.py --count 100000 --jobs 16

    --kind scalars          of this kind alone, or of several
    --seconds 3600          as many as an hour allows, instead of or beside --count
    --ptxas PATH            the assembler that reads them (or none: the levels alone)
    --level chip            kernels of tiles on the GPU of this machine, or at `tile` or `atom`, or
                            at several; --arch sm_90a for this target instead of their own

Prints every kind of difference as it comes, in the end a line for each kind of program, and how
often and where each difference came. The failures file has a line for each program, --save the
first one of each difference, shrunk; exit status 1 where there was any.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE / folder)
    for folder in ("../lowering/interpreter", "../lowering/tile", "../passes", "../sampling")
]

from campaign import Campaign, add_options  # noqa: E402
from kinds import KINDS  # noqa: E402
from tiles import ARCHS, tried_at  # noqa: E402
from trial import differences, smallest  # noqa: E402

from tilewright.launch.ptxas import VARIABLE, find_ptxas  # noqa: E402

NONE = "none"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser, "programs", "differential")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--ptxas", help="path of the assembler, or none")
    parser.add_argument("--save", type=Path, default=Path("build/differential"))
    parser.add_argument("--level", choices=("tile", "atom", "ptx", "chip"), action="append")
    parser.add_argument("--arch", choices=sorted(set(ARCHS)))
    options = parser.parse_args()
    if options.ptxas not in (None, NONE):
        os.environ[VARIABLE] = options.ptxas
    assembles = options.ptxas != NONE
    print(f"ptxas: {find_ptxas() if assembles else NONE}")
    setup = partial(tried_at, options.level or ["ptx"], options.arch)
    campaign = Campaign(partial(differences, assembles=assembles), options, setup=setup)
    reasons = campaign.run(options.kind or list(KINDS))
    setup()
    options.save.mkdir(parents=True, exist_ok=True)
    for (kind, difference), seeds in campaign.seeds.items():
        path = options.save / f"{kind}_{seeds[0]}.mlir"
        path.write_text(smallest(kind, seeds[0], difference))
        print(path)
    sys.exit(bool(reasons))


if __name__ == "__main__":
    main()
