"""How long the package and the command take to start: best of several fresh processes.

python benchmarks/startup.py [--json]
"""

import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

from measured import best_time, parser, show

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


def main() -> None:
    options = parser(__doc__).parse_args()
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    results = {name: best_time(ROUNDS, partial(run, command)) for name, command in CASES.items()}
    show(options, results, (f"{name:34} {took * 1e3:7.0f} ms" for name, took in results.items()))


if __name__ == "__main__":
    main()
