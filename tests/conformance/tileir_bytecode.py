"""Real bytecode read and written again, judged by NVIDIA's tools where they are given.

    python tests/conformance/tileir_bytecode.py records.tar [--disassembler tileirdisasm]
        [--compiler tileiras] [--every N] [--mutated N]

`records.tar` holds pickled dicts with an entry `bytecode`; a folder of `.tileirbc` files does as
well. Each file has to come back byte for byte; written anew in every version that can hold it, it
has to be read as the same module, and `tileirdisasm -g` (PyPI `nvidia-cuda-tileiras`) has to print
the same text of it, debug info included. With `--compiler` the new files are compiled, every N-th.
`--mutated N` breaks files N times over: each has to give one diagnostic or a module.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp

from tilewright.dialects.cuda_tile.bytecode.error import TooOldError
from tilewright.dialects.cuda_tile.bytecode.layout import layout_of
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.versions import VERSIONS, Version
from tilewright.source.diagnostic import CompileError

sys.path.append(str(Path(__file__).parents[1] / "dialects/cuda_tile/bytecode"))


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents, each content once."""
    seen: set[bytes] = set()
    for name, data in _all_files(path):
        if data not in seen:
            seen.add(data)
            yield name, data


def _all_files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.tileirbc")):
            yield str(file), file.read_bytes()
        return
    with tarfile.open(path) as tar:
        for member in tar:
            if (stream := tar.extractfile(member)) is not None:
                yield member.name, pickle.load(stream)["bytecode"]


class Judge:
    """Counts what holds of files, and prints what does not."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.counts: Counter[str] = Counter()
        self.wrong = 0
        self.folder = Path(tempfile.mkdtemp())

    def hold(self, claim: str, name: str, holds: bool) -> None:
        """Note whether a claim holds of a file."""
        self.counts[claim] += holds
        if not holds:
            self.wrong += 1
            print(f"{name}: not {claim}")

    def judge(self, number: int, name: str, data: bytes) -> None:
        """Judge one file."""
        module = read_bytecode(data, name)
        self.hold("written as it was", name, write_bytecode(module) == data)
        wanted = self.text(data)
        for version in VERSIONS:
            # Read again: a module remembers the order of the file it was read from.
            try:
                new = write_bytecode(_forgetful(module), version)
            except TooOldError:
                self.counts[f"{version} cannot hold it"] += 1
                continue
            again = read_bytecode(new, name)
            same = _comparable(again).is_structurally_equivalent(_comparable(module))
            self.hold(f"read from {version} as it was", name, same)
            if wanted is not None:
                self.hold(f"disassembled from {version} as it was", name, self.text(new) == wanted)
            if self.options.compiler and number % self.options.every == 0:
                self.hold(f"compiled from {version}", name, self.compiles(new, version))

    def text(self, data: bytes) -> str | None:
        """What NVIDIA's disassembler prints, if it is at hand."""
        if self.options.disassembler is None:
            return None
        path = self.folder / "k.tileirbc"
        path.write_bytes(data)
        run = subprocess.run(
            [self.options.disassembler, "-g", path], capture_output=True, text=True, check=False
        )
        return run.stdout + run.stderr

    def compiles(self, data: bytes, version: Version) -> bool:
        """Whether NVIDIA's compiler takes a file."""
        path = self.folder / f"{version}.tileirbc"
        path.write_bytes(data)
        command = [self.options.compiler, "--gpu-name", "sm_90", "-O0", path, "-o", f"{path}.cubin"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def mutate(self, seeds: list[bytes]) -> None:
        """Break files as often as told."""
        from mutations import mutated

        for seed in range(self.options.mutated):
            try:
                read_bytecode(mutated(seed, seeds))
                self.counts["mutated and read"] += 1
            except CompileError as error:
                text = str(error)
                self.hold(
                    "mutated and refused with one diagnostic that names the byte",
                    f"mutation {seed}",
                    text.count("error: ") == 1 and "(at byte " in text,
                )


def _forgetful(module: ModuleOp) -> ModuleOp:
    """A copy, which was read from no file."""
    copy = module.clone()
    (tiles,) = copy.body.block.ops
    assert layout_of(tiles) is None
    return copy


def _comparable(module: ModuleOp) -> ModuleOp:
    """A copy without what older versions leave out: lists of booleans that are all false, and
    hints that are empty."""
    copy = module.clone()
    for op in copy.walk():
        flags = op.properties.get("inbounds")
        if isinstance(flags, DenseArrayBase) and not any(flags.get_values()):
            del op.properties["inbounds"]
        if str(op.properties.get("optimization_hints")) == "#cuda_tile.optimization_hints<>":
            del op.properties["optimization_hints"]
    return copy


def main() -> None:
    parser = argparse.ArgumentParser(description="Real bytecode, read and written again.")
    parser.add_argument("records", type=Path)
    parser.add_argument("--disassembler", help="tileirdisasm")
    parser.add_argument("--compiler", help="tileiras, with its ptxas beside it")
    parser.add_argument("--every", type=int, default=50, help="which files are compiled")
    parser.add_argument("--mutated", type=int, default=0, metavar="N")
    judge = Judge(parser.parse_args())
    seeds: list[bytes] = []
    for number, (name, data) in enumerate(files(judge.options.records)):
        judge.judge(number, name, data)
        seeds.append(data)
    judge.mutate(seeds)
    print(f"{len(seeds)} files")
    for claim, count in sorted(judge.counts.items()):
        print(f"{count:>6} {claim}")
    sys.exit(1 if judge.wrong else 0)


if __name__ == "__main__":
    main()
