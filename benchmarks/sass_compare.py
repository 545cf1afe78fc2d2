"""Machine code of ours beside that of tileiras, which is read and not run: no GPU.

    python benchmarks/sass_compare.py --checkout CUTILE [--only WORD ...] [--arch TARGET ...]
    python benchmarks/sass_compare.py FILE.tileirbc ...

cuTile's samples, or files of bytecode. nvdisasm, and the ptxas of both, lie beside tileiras or on
PATH. A line for each kernel and target, ours/theirs: registers, bytes of local and of shared
memory, mbarriers (a stage in flight has two), and what one warp issues in the busiest loop:
instructions by class, bytes a thread. First
is the ratio of issue slots for each multiplication by MMAs, for each byte that a thread loads where
there are none; of all threads that compute, where TMA brings it, as both then take the same tile
each time. Then the largest ratios, and the class that has most of the difference. Exit status
1 where a kernel is refused.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cutile_cases
from measured import parser, show
from sass import CLASSES, Disassembly, Issued, codes

import tilewright as tw
from tilewright.executors import add_executor_option, executor_of, in_order
from tilewright.launch.ptxas import VARIABLE, assemble

ARCHS = "sm_90a", "sm_100a", "sm_120a"
MOVED = "LDGSTS", "LDS", "STS", "LDG", "STG"
"""The classes whose bytes are shown."""
MOST = 10

Source = tuple[str, bytes, str]
"""A kernel's name and bytecode, and a target."""
Row = dict[str, Any]


def disassembled(cubin: bytes, folder: Path) -> dict[str, Disassembly]:
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    run = subprocess.run(["nvdisasm", path], check=True, capture_output=True, text=True)
    return codes(run.stdout)


def compared(source: Source) -> list[Row]:
    """A row for each kernel of a source, or one with why there is none."""
    name, bytecode, arch = source
    row: Row = {"name": name, "arch": arch}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        theirs = cutile_cases.cubin(bytecode, "tileiras", arch.rstrip("a"), folder)
        try:
            kernel = tw.compile(bytecode, arch)
        except tw.CompileError as error:
            return [row | {"refused": str(error)}]
        report = assemble(kernel.ptx, arch)
        if theirs is None or not report.ok:
            return [row | {"refused": "; ".join(report.errors) or "tileiras has no cubin"}]
        pairs = disassembled(report.cubin, folder), disassembled(theirs, folder)
    dynamic = {entry.name: entry.dynamic_shared_bytes for entry in kernel.entries}
    return [
        row | {"kernel": own} | beside(code, pairs[1][own], dynamic[own])
        for own, code in pairs[0].items()
    ]


def beside(own: Disassembly, other: Disassembly, dynamic: int) -> Row:
    """Pairs of what two kernels take and issue, the ratio of slots, and the class it is most of."""
    pair = Issued.of(own), Issued.of(other)
    row: Row = {
        "registers": (own.registers, other.registers),
        "local": (own.local_bytes, other.local_bytes),
        "shared": (own.shared_bytes + dynamic, other.shared_bytes),
        "mbarriers": (own.mbarriers, other.mbarriers),
        "slots": tuple(one.counts.total() for one in pair),
    }
    for kind in CLASSES:
        row[kind] = tuple((one.bytes if kind in MOVED else one.counts)[kind] for one in pair)
    known = all(one.work for one in pair)
    if known or all(one.threads and not one.counts["MMA"] for one in pair):
        shares = [1 / one.work if known else one.threads for one in pair]
        ours, theirs = (
            {kind: one.counts[kind] * share for kind in CLASSES}
            for one, share in zip(pair, shares, strict=True)
        )
        row["ratio"] = sum(ours.values()) / sum(theirs.values())
        row["most"] = max(CLASSES, key=lambda kind: ours[kind] - theirs[kind])
    return row


def line(row: Row) -> str:
    head = f"{row['arch']} {row['name']}"
    if "refused" in row:
        return f"    - {head}: {row['refused']}"
    cells = [
        f"{key}{' bytes' if key in MOVED else ''} {value[0]}/{value[1]}"
        for key, value in row.items()
        if isinstance(value, tuple) and value != (0, 0)
    ]
    ratio = f"{row['ratio']:5.2f}" if "ratio" in row else "    -"
    return f"{ratio} {head}: {', '.join(cells)}"


def sources(
    files: Sequence[Path], checkout: Path | None, only: Sequence[str], archs: Sequence[str]
) -> Iterator[Source]:
    """Files, and the samples of a checkout, each on all targets."""
    for path in files:
        yield from ((path.name, path.read_bytes(), arch) for arch in archs)
    if checkout is None:
        return
    for case in cutile_cases.cases():
        name = f"{case.sample} {case.configuration}".removeprefix(f"{cutile_cases.OWN} ")
        if not only or any(word in name for word in only):
            bytecode = cutile_cases.bytecode(case, checkout)
            yield from ((name, bytecode, arch) for arch in archs)


def main() -> None:
    words = parser(__doc__)
    words.add_argument("files", type=Path, nargs="*", help="bytecode")
    words.add_argument("--checkout", type=Path, help="a checkout of cutile-python")
    words.add_argument("--only", nargs="*", default=[], help="words in a case's name")
    words.add_argument("--arch", nargs="*", default=ARCHS, choices=ARCHS)
    words.add_argument("--tileiras", type=Path, help="where it is, if not on PATH")
    add_executor_option(words, "processes:2")
    options = words.parse_args()
    if options.tileiras is not None:
        os.environ["PATH"] = f"{options.tileiras.parent}{os.pathsep}{os.environ['PATH']}"
    missing = [tool for tool in ("tileiras", "nvdisasm", "ptxas") if shutil.which(tool) is None]
    if missing:
        words.error(f"expected {', '.join(missing)} on PATH or beside --tileiras, got none")
    os.environ[VARIABLE] = shutil.which("ptxas") or ""
    rows: list[Row] = []
    with executor_of(options.executor) as pool:
        given = sources(options.files, options.checkout, options.only, options.arch)
        for some in in_order(pool, compared, given):
            rows += some
            if not options.json:
                print("\n".join(map(line, some)), flush=True)
    ranked = sorted((row for row in rows if "ratio" in row), key=lambda row: -row["ratio"])
    lines = [f"{row['ratio']:.2f} {row['arch']} {row['name']}: {row['most']}" for row in ranked]
    show(options, rows, ["", *lines[:MOST]])
    sys.exit(any("refused" in row for row in rows))


if __name__ == "__main__":
    main()
