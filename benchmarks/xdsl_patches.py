"""The gain of each of our patches of xDSL: CPU time without it over the time with all of them, of
parsing, verification, the construction of ops and whole compilations, in fresh processes.

python benchmarks/xdsl_patches.py [--json] [--rounds N] [--only PATCH ...]
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measured import best_time, parser, show
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block

import tilewright as tw
from tilewright.source.parsing import parse_module
from tilewright.xdsl_patches import speed

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = {"tile_attention_sm90": "sm_90a", "gemm_sm100": "sm_100a"}
OPS = 5_000
ALL = "all"


def _construct() -> None:
    a, b = AnyOp(result_types=[i32, i32]).results
    block = Block()
    for _ in range(OPS):
        block.add_op(AddiOp(a, b))


def _seconds(rounds: int) -> dict[str, float]:
    """CPU time of each kind of work, with the patches that are in the table."""
    texts = {name: (EXAMPLES / f"{name}.mlir").read_text() for name in KERNELS}
    modules = [parse_module(text) for text in texts.values()]
    works: dict[str, Callable[[], object]] = {
        "parse": lambda: [parse_module(text) for text in texts.values()],
        "verify": lambda: [module.verify() for module in modules],
        "construct": _construct,
    }
    for name, arch in KERNELS.items():
        works[name] = lambda text=texts[name], arch=arch: tw.compile(text, arch)
    for work in works.values():
        work()
    return {name: best_time(rounds, work, time.process_time) for name, work in works.items()}


def _measured(patch: str, rounds: int) -> dict[str, float]:
    """The times of a process without a patch."""
    command = [sys.executable, __file__, "--without", patch, "--rounds", str(rounds)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--rounds", type=int, default=5, help="of processes, and in each of them")
    words.add_argument("--only", nargs="*", default=list(speed.PATCHES), choices=speed.PATCHES)
    words.add_argument("--without", metavar="PATCH", help="measure here: without `all` of none")
    options = words.parse_args()
    if options.without is not None:
        if options.without != ALL:
            del speed.PATCHES[options.without]
        print(json.dumps(_seconds(options.rounds)))
        return
    least: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for patch in (ALL, *options.only):
            times = _measured(patch, options.rounds)
            best = least.setdefault(patch, times)
            best.update((work, min(best[work], took)) for work, took in times.items())
    whole = least.pop(ALL)
    ratios: dict[str, Any] = {
        patch: {work: took / whole[work] for work, took in times.items()}
        for patch, times in least.items()
    }
    show(options, ratios, (
        f"without {patch:22}" + ", ".join(f"{work} {ratio:.2f}" for work, ratio in of.items())
        for patch, of in ratios.items()
    ))  # fmt: skip


if __name__ == "__main__":
    main()
