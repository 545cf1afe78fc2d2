"""NVIDIA's cuTile samples run as they stand on the CPU, or with `--gpu` on this machine's GPU, each
by its own correctness check.

    python tests/conformance/cutile_samples.py CHECKOUT [NAME ...]
    python tests/conformance/cutile_samples.py CHECKOUT --gpu

CHECKOUT is one of github NVIDIA/cutile-python; needs torch beside the extra `cutile`, and `gpu`.
Each sample runs by `python -m tilewright.cutile_script`; the exit status is 1 where one fails. What
it compares with is torch, on the CPU (tilewright/cutile/device.py says how) or on the GPU.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample, how many checks it makes, and what `cutile_script` is told."""

    name: str
    checks: int
    options: tuple[str, ...] = ()


SAMPLES = (
    Sample("VectorAddition", 4),
    Sample("Transpose", 3),
    Sample("MatMul", 4),
    Sample("BatchMatMul", 2),
    Sample("LayerNorm", 1),
    Sample("FFT", 1),
    Sample("MoE", 1),
    Sample("BlockScaledMatMul", 1, ("--capability", "10.0")),
    Sample("AttentionFMHA", 3),
)
_PASSED = "Correctness check passed"


def verdict(sample: Sample, checkout: Path, how: Sequence[str]) -> tuple[bool, str]:
    """Whether a sample passes its check, and what it said where not."""
    script = checkout / "samples" / f"{sample.name}.py"
    command = [sys.executable, "-m", "tilewright.cutile_script", *how, *sample.options]
    done = subprocess.run(
        [*command, str(script), "--correctness-check"], capture_output=True, text=True, check=False
    )
    passed = done.stdout.count(_PASSED)
    if done.returncode == 0 and passed == sample.checks:
        return True, ""
    said = done.stderr.strip().splitlines()[-3:] or done.stdout.strip().splitlines()[-3:]
    return False, f"{passed} of {sample.checks} checks passed\n" + "\n".join(said)


def main() -> int:
    """Run the samples and print a line each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", help="samples to run; all of them if none is named")
    parser.add_argument("--numerics", choices=("hardware", "exact", "fast"))
    parser.add_argument("--gpu", action="store_true", help="on the GPU of this machine")
    options = parser.parse_args()
    unknown = set(options.names) - {sample.name for sample in SAMPLES}
    if unknown or not (options.checkout / "samples").is_dir():
        parser.error(f"expected a checkout and samples of it, got {options.checkout} {unknown}")
    how = ("--numerics", options.numerics) if options.numerics else ()
    how += ("--gpu",) if options.gpu else ()
    failed = 0
    for sample in SAMPLES:
        if options.names and sample.name not in options.names:
            continue
        begun = time.perf_counter()
        passed, said = verdict(sample, options.checkout, how)
        failed += not passed
        seconds = time.perf_counter() - begun
        word = f"passed ({sample.checks} checks)" if passed else f"FAILED: {said}"
        print(f"{sample.name:18} {seconds:6.1f} s  {word}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
