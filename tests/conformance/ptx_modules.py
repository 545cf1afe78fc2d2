"""PTX of other compilers: read, checked, written again, assembled, and executed against what a chip
left.

    python tests/conformance/ptx_modules.py FOLDER [--list] [--table]

FOLDER has `*.ptx` and, where kernels were run, `cases.pkl.xz`: lzma of a pickle of {name of a file
without `.ptx`: [{kernel, grid, block, before: arguments, after: arrays as the chip left them, or
None for a number}]}; bytes are a struct. Each file is read, verified and checked; ptxas has to take
the text that tilewright writes of it, and what nvdisasm says of both is compared, kernel by kernel;
kernels with cases are interpreted, and every byte has to be the chip's. Prints what is refused or
differs, and the counts, with `--table` as a row of docs/ptx_input.md. The exit status is 1 where a
text is refused by ptxas or a result differs.
"""

from __future__ import annotations

import argparse
import lzma
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch.ptxas import assemble, find_ptxas
from tilewright.lowering.ptx.text import module_text
from tilewright.passes.check_hazards import UnprovenWarning
from tilewright.pipeline import PIPELINE, run_pipeline, verified
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import parse_module
from tilewright.source.verification import verify

_ADDRESS = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")


def machine_code(text: str, arch: str) -> dict[str, list[str]]:
    """The instructions of each kernel, without the names of labels and the places of constants;
    nothing where ptxas refuses the text, or there is no nvdisasm."""
    report, beside = assemble(text, arch), find_ptxas().with_name("nvdisasm")
    tool = str(beside) if beside.is_file() else shutil.which("nvdisasm")
    if not report.ok or tool is None:
        return {}
    code: dict[str, list[str]] = {}
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(report.cubin)
        file.flush()
        shown = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=True)
    for line in shown.stdout.splitlines():
        if (start := re.match(r"\.text\.(\S+):", line)) is not None:
            lines = code.setdefault(start[1], [])
        elif (match := _ADDRESS.match(line)) is not None:
            lines.append(re.sub(r"`\([^)]*\)|c\[0x4\]\[0x[0-9a-f]+\]", "", match[1]))
    return code


ASSEMBLIES = 8
"""How often two texts are assembled at most: of a text of Blackwell's ptxas 13.5 makes one of two
machine codes or more, by where its own memory lies (`setarch -R` leaves it one)."""


def other_machine_code(texts: tuple[str, str], arch: str, counts: Counter[str]) -> Iterator[str]:
    """The kernels of a text that become no machine code that those of another one become."""
    codes = tuple(machine_code(text, arch) for text in texts)
    for code, whose in zip(codes, ("", " of what is written"), strict=True):
        counts[f"instructions{whose}"] += sum(map(len, code.values()))
    counts["kernels"] += len(codes[0])
    seen = [{name: {tuple(lines)} for name, lines in code.items()} for code in codes]
    for again in range(ASSEMBLIES):
        differing = [name for name in seen[0] if seen[0][name].isdisjoint(seen[1].get(name, ()))]
        if not differing or again + 1 == ASSEMBLIES:
            yield from differing
            return
        for known, text in zip(seen, texts, strict=True):
            for name, lines in machine_code(text, arch).items():
                known[name].add(tuple(lines))


def executed(text: str, case: dict[str, Any], **options: Any) -> str | None:
    """Why a run differs from the chip's, or None."""
    args: list[Any] = []
    for given in case["before"]:
        value = np.frombuffer(given, np.uint8) if isinstance(given, bytes) else given
        is_array = isinstance(value, np.ndarray)
        args.append(value.view(f"u{value.itemsize}") if is_array else value.item())
    grid, block = ((*case[name], 1, 1)[:3] for name in ("grid", "block"))
    try:
        results = tw.interpret(
            text, case["kernel"], grid=grid, block=block, args=args, arch="sm_90a", **options
        )
    except (tw.CompileError, tw.ExecutionError) as error:
        return str(error).partition("\n")[0]
    after = [array for array in case["after"] if array is not None]
    for place, (result, chip) in enumerate(zip(results, after, strict=False)):
        wrong = int((result.view(np.uint8) != chip.view(np.uint8)).sum())
        if wrong:
            return f"{wrong} bytes of array {place} differ"
    return None


def checked(text: str, name: str, arch: str) -> str | None:
    """What `tilewright check` finds wrong in a text, or None."""
    stages = [stage for stage in PIPELINE if "-check-" in stage.name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnprovenWarning)
            run_pipeline(verified(text, name)[0], arch, text, stages=stages)
    except tw.CompileError as error:
        return str(error).partition("\n")[0]
    return None


def judged(path: Path, cases: list[dict[str, Any]], counts: Counter[str], *, listed: bool) -> None:
    """Count what becomes of a file, and say what is wrong."""
    text = path.read_text()
    arch = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    assert arch is not None, path
    counts["files"] += 1
    doing = "read"
    try:
        module = parse_module(text, path.name)
        verify(module, text)
        counts["read"] += 1
        doing = "written"
        if (why := checked(text, path.name, arch[1])) is not None:
            print(why)
        counts["checks find nothing"] += why is None
        again = module_text(module, target(arch[1]))
    except (tw.CompileError, OpError) as error:
        counts[f"not {doing}"] += 1
        print(str(error).partition("\n")[0])
        return
    if not assemble(again, arch[1]).ok:
        counts["not assembled"] += 1
        print(f"{path.name}: ptxas refuses what was written of it")
    for kernel in other_machine_code((text, again), arch[1], counts):
        counts["kernels of other machine code"] += 1
        if listed:
            print(f"{path.name}: {kernel} has other machine code")
    for case in cases:
        why = executed(text, case)
        counts["runs equal" if why is None else "runs that differ"] += 1
        if why is not None:
            print(f"{path.name}: {case['kernel']}: {why}")


def _row(name: str, counts: Counter[str]) -> str:
    """A row of the table in docs/ptx_input.md."""
    total, other = counts["kernels"], counts["kernels of other machine code"]
    theirs, ours = (counts[f"instructions{which}"] for which in ("", " of what is written"))
    cells = (name, counts["files"], counts["read"], counts["checks find nothing"],
             f"{total - other} of {total}", f"{theirs}, {ours}")  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name kernels of other machine code")
    parser.add_argument("--table", action="store_true", help="print the counts as a row of a table")
    options = parser.parse_args()
    record = options.folder / "cases.pkl.xz"
    cases = pickle.loads(lzma.decompress(record.read_bytes())) if record.exists() else {}
    counts = Counter[str]()
    for path in sorted(options.folder.glob("*.ptx")):
        judged(path, cases.get(path.stem, []), counts, listed=options.list)
    print(_row(options.folder.name, counts) if options.table else
          ", ".join(f"{count} {what}" for what, count in counts.items()))  # fmt: skip
    sys.exit(1 if counts["not assembled"] or counts["runs that differ"] else 0)


if __name__ == "__main__":
    main()
