"""Seconds of the processor from TTIR to machine code, by us and by Triton's compiler.

    python benchmarks/triton_compile_time.py CHECKOUT [--only WORD ...]     # of triton-lang/triton
    python benchmarks/triton_compile_time.py CHECKOUT --libraries --arch sm_100a

The kernels that the works of triton_gpu.py launch, each configuration that autotuning tries, one
after the other by both, with one ptxas, whose time counts. A row for a kernel has the means of its
configurations, the last one those of all kernels; kernels that one of both refuses are named.
Needs torch beside the extra `triton`, no GPU: nothing is launched.
"""

import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import torch  # pyright: ignore
import triton  # pyright: ignore
import triton_libraries
import triton_tutorials
from measured import parser, show
from triton.backends.compiler import GPUTarget  # pyright: ignore
from triton_gpu import Modules
from triton_tutorials import Work

import tilewright as tw
from tilewright.launch.ptxas import assemble, find_ptxas
from tilewright.triton.gpu import of_whole_shapes
from tilewright.triton_script import stand_in

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Compilation(NamedTuple):
    """A kernel as Triton compiles it, with the options of its launch, and as we do."""

    name: str
    ttir: str
    options: dict[str, Any]
    ours: bytes


def timed(call: Callable[[], Any], quantiles: Sequence[float], **_: Any) -> list[float]:
    """The clock of `triton.autotune`: every configuration is compiled, and as quick."""
    call()
    return [1.0] * len(quantiles)


def texts(works: list[Work], checkout: Path) -> list[Compilation]:
    """The texts that compiling the kernels of works begins with."""
    kernels: dict[bytes, Compilation] = {}

    def told(
        *, src: Any, metadata: dict[str, Any], metadata_group: dict[str, Any], **_: Any
    ) -> None:
        ttir, ours = (metadata_group[f"{src.name}.{x}"] for x in ("ttir", "tilewright"))
        options = {name: metadata[name] for name in OPTIONS if metadata[name] is not None}
        text = Compilation(
            metadata["name"], ttir.read_text(), options, of_whole_shapes(ours.read_bytes())
        )
        kernels.setdefault(b"%r %b" % (options["num_stages"], text.ours), text)

    modules, empty = Modules(checkout), partial(patch.object, torch, new=torch.empty)
    with (
        stand_in(gpu=False, races="ignore"),
        patch.object(triton.knobs.compilation, "listener", told),
        patch.object(triton._C.libtriton.nvidia.cublas, "CublasLt"),
        patch.object(torch, "allclose", return_value=True),  # tutorials look at what they launch
        empty("rand"),
        empty("randn"),
    ):
        driver: Any = triton.runtime.driver.active
        driver.run = lambda *_: None
        driver.utils.load_binary = lambda *_: (None, None, 0, 0, 1024)
        driver.get_benchmarker = lambda: timed
        for work in works:
            try:
                work.call(modules.module(work.home, "Triton"), *work.arguments())
            except Exception as error:
                print(f"{work.name}: {type(error).__name__}: {error}", file=sys.stderr)
    return list(kernels.values())


def by_us(text: Compilation, arch: str) -> None:
    """Compile a kernel."""
    assemble(tw.compile(text.ours, arch).ptx, arch, verbose=False)


def by_triton(text: Compilation, arch: str) -> None:
    """Compile a kernel by Triton's own compiler."""
    target = GPUTarget("cuda", int(arch.strip("sm_af")), 32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{text.name}.ttir")
        path.write_text(text.ttir)
        triton.compile(str(path), target=target, options=text.options)


WAYS = {"ours": by_us, "Triton": by_triton}


def seconds(text: Compilation, arch: str) -> dict[str, float]:
    """The seconds of the processor that each takes, ptxas included."""
    taken: dict[str, float] = {}
    for by, compiled in WAYS.items():
        before = os.times()
        try:
            compiled(text, arch)
        except Exception as error:
            print(f"{text.name}, {by}: {type(error).__name__}: {error}", file=sys.stderr)
            return {}
        taken[by] = sum(os.times()[:4]) - sum(before[:4])
    return taken


def lines(rows: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    """Of each kernel the means of its configurations, and those of all kernels."""
    means = {name: [statistics.fmean(row[by] for row in own) for by in WAYS]
             for name, own in rows.items()}  # fmt: skip
    means["mean"] = [statistics.fmean(column) for column in zip(*means.values(), strict=True)]
    for name, (ours, theirs) in means.items():
        yield f"{name:44} {ours:8.3f} {theirs:8.3f} s {ours / theirs:6.2f}"


def main() -> None:
    """Measure and print the table."""
    words = parser(__doc__)
    words.add_argument("checkout", type=Path)
    words.add_argument("--libraries", action="store_true", help="those of triton_libraries.py")
    words.add_argument("--arch", default="sm_90a")
    words.add_argument("--only", nargs="*", default=[], help="words in a work's name")
    options = words.parse_args()
    home = triton_libraries if options.libraries else triton_tutorials
    works = [work for work in home.works()
             if not options.only or any(word in work.name for word in options.only)]  # fmt: skip
    os.environ |= {
        "TRITON_ALWAYS_COMPILE": "1",
        "TRITON_PTXAS_PATH": str(find_ptxas()),
        "TRITON_PTXAS_BLACKWELL_PATH": str(find_ptxas()),
        "TILEWRIGHT_CACHE_MIB": "0",
    }
    kernels, rows = texts(works, options.checkout), defaultdict[str, list[dict[str, float]]](list)
    for text in kernels[:1]:
        seconds(text, options.arch)  # what the first of a process loads is not of a kernel
    for text in kernels:
        if taken := seconds(text, options.arch):
            rows[text.name].append(taken)
    show(options, rows, lines(rows))


if __name__ == "__main__":
    main()
