"""From TTIR to Tile IR: milliseconds of the processor for Triton's fused-attention tutorial.

    python benchmarks/triton_translation.py CHECKOUT [--require MS]     # of triton-lang/triton

A row for the forward kernel, causal or not: the least of 20 times of reading the text,
as if no line of it had been read before, of verifying it, of each pass, and of all. With --require
the exit status is 1 where all take longer. Needs torch beside the extra `triton`.
"""

import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import torch  # pyright: ignore
from measured import parser, show
from triton_gpu import loaded

from tilewright.pipeline import TRITON_STAGES, run_pipeline
from tilewright.source import parsing
from tilewright.source.verification import verify
from tilewright.triton_script import stand_in

ROUNDS = 20
STEPS = ("read", "verify", *(stage.name for stage in TRITON_STAGES))


def texts(checkout: Path) -> Iterator[tuple[str, str]]:
    """The tutorial's TTIR, of its one configuration for tests."""
    os.environ["PYTEST_VERSION"] = ""
    with stand_in(gpu=False, races="ignore"):
        for causal in (False, True):
            tutorial = loaded(checkout, "06-fused-attention", f"causal={causal}")
            tutorial.attention(*torch.randn(3, 1, 1, 128, 64).half(), causal, 0.5, False)
            (kernels, *_), *_ = tutorial._attn_fwd.fn.device_caches.values()
            (kernel,) = kernels.values()
            yield f"_attn_fwd, {causal=}", kernel.asm["ttir"]


def seconds(text: str) -> list[float]:
    """The time of each step, once."""
    parsing.READ.clear()
    ticks = [time.process_time()]
    module = parsing.parse_module(text)
    ticks.append(time.process_time())
    verify(module)
    ticks.append(time.process_time())
    for stage in TRITON_STAGES:
        run_pipeline(module, "", stages=(stage,))
        ticks.append(time.process_time())
    return [after - before for before, after in pairwise(ticks)]


def main() -> int:
    options = parser(__doc__)
    options.add_argument("checkout", type=Path)
    options.add_argument("--require", type=float, metavar="MS")
    chosen = options.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name, text in texts(chosen.checkout):
        times = [seconds(text) for _ in range(ROUNDS)]
        least = [1e3 * min(step) for step in zip(*times, strict=True)]
        rows[name] = dict(zip(STEPS, least, strict=True))
        rows[name]["all"] = 1e3 * min(map(sum, times))
    show(chosen, rows, (
        f"{name}: {', '.join(f'{step} {ms:.1f}' for step, ms in row.items())} ms"
        for name, row in rows.items()
    ))  # fmt: skip
    most = max(row["all"] for row in rows.values())
    return int(chosen.require is not None and most > chosen.require)


if __name__ == "__main__":
    sys.exit(main())
