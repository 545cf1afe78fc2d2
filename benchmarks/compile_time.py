"""From IR to PTX in one warm process: every example, and how the time grows with the kernel; or
cuTile's samples from their bytecode, as `cutile_gpu.py FOLDER --prepare` writes it.

python benchmarks/compile_time.py [--json] [--cases FOLDER] [--only WORD ...]
"""

import pickle
import time
from collections.abc import Sequence
from pathlib import Path

from measured import best_time, parser, show

import tilewright as tw

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = {"sm80": "sm_80", "sm90": "sm_90a", "sm100": "sm_100a", "sm120": "sm_120a"}
"""The target of an example, by a part of its name; of others it is sm_80."""
SIZES = (100, 1_000, 10_000)
ROUNDS = 7

_FRAGMENT = "!cute_nvgpu.fragment<{}>"
_ATOM = "<16x8x16, elem_type = (bf16, bf16, f32)>"


def straight_line(ops: int) -> str:
    """A kernel of about `ops` ops: MMAs on one accumulator, and the arithmetic between them."""
    a, b, c = (_FRAGMENT.format(fragment) for fragment in ("8xbf16", "4xbf16", "4xf32"))
    lines = [
        "func.func @k(%p: memref<?xf32>, %x: i32, %h: bf16, %f: f32) attributes {gpu.kernel} {",
        "  %zero = arith.constant 0 : index",
        f"  %a = cute_nvgpu.fragment.splat %h : bf16 -> {a}",
        f"  %b = cute_nvgpu.fragment.splat %h : bf16 -> {b}",
        f"  %d0 = cute_nvgpu.fragment.splat %f : f32 -> {c}",
        "  %x0 = arith.addi %x, %x : i32",
    ]
    for i in range(1, ops // 4 + 1):
        lines += [
            f"  %d{i} = cute_nvgpu.sm80.mma %a, %b, %d{i - 1} {_ATOM} : ({a}, {b}, {c}) -> {c}",
            f"  %y{i} = arith.muli %x{i - 1}, %x : i32",
            f"  %z{i} = arith.xori %y{i}, %x{i - 1} : i32",
            f"  %x{i} = arith.addi %z{i}, %y{i} : i32",
        ]
    last = ops // 4
    lines += [
        f"  %r = arith.sitofp %x{last} : i32 to f32",
        f"  %e = cute_nvgpu.fragment.extract %d{last}[0] : {c} -> f32",
        "  %s = arith.addf %r, %e : f32",
        "  memref.store %s, %p[%zero] : memref<?xf32>",
        "  func.return",
        "}",
    ]
    return "\n".join(lines)


def seconds(code: str | bytes, arch: str = "sm_80") -> float:
    """CPU time of the best of ROUNDS compilations, after one that warms up."""
    tw.compile(code, arch)
    return best_time(ROUNDS, lambda: tw.compile(code, arch), time.process_time)


def _example(name: str) -> float:
    """Seconds for an example as text."""
    arch = next((arch for part, arch in TARGETS.items() if f"_{part}" in name), "sm_80")
    return seconds((EXAMPLES / f"{name}.mlir").read_text(), arch)


def cases(folder: Path, only: Sequence[str]) -> dict[str, float]:
    """Seconds for each prepared case, by its name."""
    stored = [pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pkl"))]
    named = {f"{row['case'].sample} {row['case'].configuration}": row for row in stored}
    return {
        name: seconds(row["bytecode"], "sm_90a")
        for name, row in named.items()
        if not only or any(word in name for word in only)
    }


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--cases", type=Path, metavar="FOLDER", help="of prepared cases of cuTile")
    words.add_argument("--only", nargs="*", default=[], help="words in a case's name")
    options = words.parse_args()
    if options.cases is not None:
        times = cases(options.cases, options.only)
        show(options, times, (f"{name}: {took * 1e3:.0f} ms" for name, took in times.items()))
        return
    names = sorted(path.stem for path in EXAMPLES.glob("*.mlir"))
    examples = {name: _example(name) for name in names}
    growth = {ops: seconds(straight_line(ops)) for ops in SIZES}
    lines = [f"examples/{name}.mlir: {took * 1e3:.0f} ms" for name, took in examples.items()]
    lines += [
        f"{ops:>6} ops: {took * 1e3:7.1f} ms, {took / ops * 1e6:5.0f} us an op"
        for ops, took in growth.items()
    ]
    show(options, examples | {"straight_line": growth}, lines)


if __name__ == "__main__":
    main()
