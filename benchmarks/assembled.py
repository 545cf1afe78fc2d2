"""The verdict of ptxas on cuTile's samples on every target: warnings, spills and registers.

    python benchmarks/assembled.py CASES [--only WORD ...] [--arch TARGET ...]
    python benchmarks/assembled.py --kind tile_gemms [--count 300] [--first 0]      # generated ones

`CASES` is a folder that `cutile_gpu.py --prepare` wrote. A line for each kernel and target that
spills or is warned of (`--all`: for each), then their number; exit status 1 for warnings.
"""

from __future__ import annotations

import json
import pickle
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measured import parser

import tilewright as tw
from tilewright.executors import add_executor_option, executor_of, in_order
from tilewright.launch.ptxas import assemble

ARCHS = (
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a",
)  # fmt: skip
KINDS = "tiles", "tile_gemms", "tile_attention", "tile_products", "tile_scaled", "tile_rows"
ROOT = Path(__file__).resolve().parents[1]

Source = tuple[str, bytes | str, str]
"""A kernel's name and code, and a target."""


def said(source: Source) -> dict[str, Any]:
    """The verdict on a kernel, as a row."""
    name, code, arch = source
    try:
        report = assemble(tw.compile(code, arch).ptx, arch)
    except tw.CompileError as error:
        return {"name": name, "arch": arch, "warnings": [str(error)], "spill_stores": 0}
    row = {"name": name, "arch": arch, "spill_stores": 0}
    row["warnings"] = [*report.errors, *report.warnings, *report.mended]
    for kernel in report.kernels.values():
        row |= asdict(kernel)
    return row


def cases(folder: Path, only: list[str], archs: list[str]) -> Iterator[Source]:
    """Prepared cases, on each target."""
    for path in sorted(folder.glob("*.pkl")):
        stored = pickle.loads(path.read_bytes())
        name = f"{path.stem} {stored['case'].sample} {stored['case'].configuration}"
        if not only or any(word in name for word in only):
            yield from ((name, stored["bytecode"], arch) for arch in archs)


def programs(kind: str, seeds: range, archs: list[str]) -> Iterator[Source]:
    """Generated kernels, each on a target of its own, or on these."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
    sys.path[:0] = [str(ROOT / folder) for folder in settings["ini_options"]["pythonpath"]]
    from kinds import drawn  # pyright: ignore[reportMissingImports]

    for seed in seeds:
        program: Any = drawn(kind, seed)[0]
        yield from ((f"{kind} {seed}", program.text, arch) for arch in archs or [program.arch])


def line(row: dict[str, Any]) -> str:
    text = f"{row['name']} {row['arch']}"
    if "registers" in row:
        text += f": {row['registers']} registers, {row['spill_stores']} bytes spilled"
    return "; ".join((text, *row["warnings"]))


def main() -> None:
    words = parser(__doc__)
    words.add_argument("cases", type=Path, nargs="?", help="a folder of prepared cases")
    words.add_argument("--only", nargs="*", default=[], help="words in a case's name")
    words.add_argument("--arch", nargs="*", default=[], choices=ARCHS)
    words.add_argument("--kind", choices=KINDS, help="of generated programs")
    words.add_argument("--count", type=int, default=300)
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--all", action="store_true", help="a line for each kernel")
    add_executor_option(words, "processes:2")
    options = words.parse_args()
    sources = list[Source]()
    if options.cases is not None:
        sources += cases(options.cases, options.only, options.arch or list(ARCHS))
    if options.kind is not None:
        seeds = range(options.first, options.first + options.count)
        sources += programs(options.kind, seeds, options.arch)
    counts = Counter[str]()
    with executor_of(options.executor) as pool:
        for row in in_order(pool, said, sources):
            ills = [ill for ill in ("warnings", "spill_stores") if row[ill]]
            counts.update(("assembled", *ills))
            if options.json:
                print(json.dumps(row), flush=True)
            elif ills or options.all:
                print(line(row), flush=True)
    if not options.json:
        print(f"{counts['assembled']} assembled, {counts['warnings']} with warnings, "
              f"{counts['spill_stores']} spill")  # fmt: skip
    sys.exit(counts["warnings"] > 0)


if __name__ == "__main__":
    main()
