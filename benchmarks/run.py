"""`make bench`: every benchmark that needs no GPU, one after the other.

python benchmarks/run.py
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "startup.py",
    "check_ptx.py",
    "compile_time.py",
    "hazards.py",
    "python_to_ptx.py",
    "cute_ops.py",
    "tileir_bytecode.py",
    "layout_algebra.py",
    "interpret_gemm.py",
    "executor.py",
    "mma_numerics.py",
)


def main() -> None:
    for script in SCRIPTS:
        print(f"== {script.removesuffix('.py')}", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).parent / script)], check=True)
        print()


if __name__ == "__main__":
    main()
