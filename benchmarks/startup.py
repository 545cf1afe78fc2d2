"""How long the package and the command take to start: best of several fresh processes.

python benchmarks/startup.py [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROUNDS = 7
COMMAND = str(Path(sysconfig.get_path("scripts")) / "tilewright")
CASES: dict[str, list[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import tilewright'": [sys.executable, "-c", "import tilewright"],
    "the first atom of a mnemonic": [
        sys.executable,
        "-c",
        "from tilewright.dialects.cute_nvgpu.atoms.lookup import parse\n"
        "parse('mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32')",
    ],
    "tilewright --help": [COMMAND, "--help"],
    "tilewright atoms": [COMMAND, "atoms"],
}


def seconds(command: list[str]) -> float:
    """The best of ROUNDS runs."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    results = {name: seconds(command) for name, command in CASES.items()}
    if parser.parse_args().json:
        print(json.dumps(results))
        return
    for name, took in results.items():
        print(f"{name:34} {took * 1e3:7.0f} ms")


if __name__ == "__main__":
    main()
