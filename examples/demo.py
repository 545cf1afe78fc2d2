"""The whole way of examples/gemm_sm80.mlir: verified, compiled, assembled, executed, compared.

    python examples/demo.py [M N K]

Writes build/gemm_sm80.ptx. Where there is a GPU, the kernel is launched there too.
"""

import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch, device_name
from tilewright.launch.ptxas import assemble

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "examples" / "gemm_sm80.mlir"
OUTPUT = ROOT / "build" / "gemm_sm80.ptx"
ARCH = "sm_80"
TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
TILE = 64


def arguments(m: int, n: int, k: int) -> list[Any]:
    """A, B, C and the extents; rows of A and B are padded to whole 16 bytes."""
    rng = np.random.default_rng(0)
    lda, ldb = -(-k // 8) * 8, -(-n // 8) * 8
    a = np.full((m, lda), np.nan, dtype=ml_dtypes.bfloat16)
    b = np.full((k, ldb), np.nan, dtype=ml_dtypes.bfloat16)
    a[:, :k] = rng.standard_normal((m, k))
    b[:, :n] = rng.standard_normal((k, n))
    return [a, b, np.zeros((m, n), np.float32), m, n, k, lda, ldb, n]


def main() -> None:
    m, n, k = (int(size) for size in (sys.argv[1:4] or (300, 280, 264)))
    console = Console()
    table = Table(title=f"examples/gemm_sm80.mlir: bf16 GEMM, M = {m}, N = {n}, K = {k}")
    table.add_column("step")
    table.add_column("result")
    text, args = SOURCE.read_text(), arguments(m, n, k)
    launch: dict[str, Any] = {"grid": (-(-n // TILE), -(-m // TILE), 1), "block": (128, 1, 1)}
    product = args[0][:, :k].astype(np.float64) @ args[1][:, :n].astype(np.float64)

    start = time.perf_counter()
    kernel = tw.compile(text, ARCH, name=str(SOURCE.relative_to(ROOT)), verify_each=True)
    took = time.perf_counter() - start
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(kernel.ptx)
    table.add_row("verified for", ARCH)
    lines = kernel.ptx.count("\n")
    table.add_row(
        "PTX written to", f"{OUTPUT.relative_to(ROOT)} ({lines} lines, {took * 1e3:.0f} ms)"
    )
    assemble_everywhere(kernel, table, console)
    results = interpret_levels(text, args, launch, console)
    for level, result in results.items():
        error = np.abs(result - product).max()
        table.add_row(f"interpreter, {level} level", f"max error against NumPy float64 {error:.1e}")
    same = np.array_equal(results["atom"].view(np.uint32), results["ptx"].view(np.uint32))
    table.add_row("atom and ptx level", "equal bit for bit" if same else "DIFFERENT")
    table.add_row("GPU", escape(launch_on_gpu(text, args, launch)))
    console.print(table)
    sys.exit(0 if same else 1)


def assemble_everywhere(kernel: tw.Kernel, table: Table, console: Console) -> None:
    """ptxas' verdict for every target; the details for the first."""
    with console.status("ptxas"):
        reports = {arch: assemble(kernel.ptx, arch) for arch in TARGETS}
    rejected = [arch for arch, report in reports.items() if not report.ok or report.warnings]
    first = reports[TARGETS[0]].kernels["gemm"]
    table.add_row(
        "ptxas",
        f"{first.registers} registers, {first.shared_bytes} bytes of shared memory, "
        f"{first.spill_stores} spill stores, {first.spill_loads} spill loads",
    )
    verdict = "accepted without a warning for " + ", ".join(TARGETS)
    table.add_row("", f"REJECTED for {', '.join(rejected)}" if rejected else verdict)


def interpret_levels(
    text: str, args: list[Any], launch: dict[str, Any], console: Console
) -> dict[str, Any]:
    """C by the interpreter, at the level it is written at and as PTX instructions."""
    results: dict[str, Any] = {}
    with Progress(console=console, transient=True) as progress:
        for level in ("atom", "ptx"):
            task = progress.add_task(f"interpreting at the {level} level")
            results[level] = tw.interpret(
                text,
                "gemm",
                args=args,
                level=level,
                progress=lambda done, total, task=task: progress.update(
                    task, completed=done, total=total
                ),
                **launch,
            )[2]
    return results


def launch_on_gpu(text: str, args: list[Any], launch: dict[str, Any]) -> str:
    """The launch's result against the interpreter's for that chip, or why there is none."""
    try:
        arch = device_arch()
    except LaunchError as error:
        return f"not launched: {error}"
    on_chip = tw.compile(text, arch).launch(*args, **launch)[2]
    here = tw.interpret(text, "gemm", args=args, arch=arch, **launch)[2]
    same = np.array_equal(on_chip.view(np.uint32), here.view(np.uint32))
    return f"{device_name()}: {'equals' if same else 'DIFFERS FROM'} the interpreter, bit for bit"


if __name__ == "__main__":
    main()
