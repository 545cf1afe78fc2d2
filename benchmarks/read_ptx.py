"""How fast PTX is read: lines a second of processor time.

python benchmarks/read_ptx.py [--profile] [FILE ...]

A row for each file, else for the kernels that nvcc compiled for sm_90a (the fixture
tests/silicon/fixtures/cuda_kernels.tar.xz); the best of 12 times.
"""

import argparse
import cProfile
import tarfile
import time
from pathlib import Path

from tilewright.source.parsing import parse_module

KERNELS = Path(__file__).parents[1] / "tests" / "silicon" / "fixtures" / "cuda_kernels.tar.xz"


def _kernels() -> str:
    with tarfile.open(KERNELS) as tar:
        member = tar.extractfile("kernels_sm_90a.ptx")
        assert member is not None
        return member.read().decode()


def _seconds(text: str) -> float:
    start = time.process_time()
    parse_module(text)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    options = parser.parse_args()
    texts = {path.name: path.read_text() for path in options.files}
    print("| text | lines | s | lines/s |\n|---|---|---|---|")
    for name, text in (texts or {KERNELS.name: _kernels()}).items():
        lines, best = text.count("\n"), min(_seconds(text) for _ in range(12))
        print(f"| {name} | {lines} | {best:.3f} | {lines / best:,.0f} |", flush=True)
        if options.profile:
            with cProfile.Profile() as profile:
                parse_module(text)
            profile.print_stats("tottime")


if __name__ == "__main__":
    main()
