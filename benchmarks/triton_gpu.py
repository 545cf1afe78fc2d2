"""Triton kernels on the GPU of this machine: compiled by Triton, by us, and the libraries.

    python benchmarks/triton_gpu.py CHECKOUT [--only WORD ...] [--json]     # of triton-lang/triton
    python benchmarks/triton_gpu.py CHECKOUT --libraries                    # triton_libraries.py
    python benchmarks/triton_gpu.py CHECKOUT --all                          # one mean over both

Each tutorial's own function, and those of libraries of Triton kernels, run as they are imported,
once under Triton and once under `tilewright.triton.on_gpu()`, autotuning included (100 ms for
each configuration, by both); results are compared with torch's, or Triton's where there is no
function of torch. Time is device time by CUDA events of a CUDA graph of the call, the L2 flushed
before each, the median of turns of all three. The last line is the geometric mean of ours over
Triton's, and the least. Kernels are compiled in `--jobs` processes before anything is timed: the
caches on disk have them then.
"""

import importlib
import importlib.util
import math
import os
import statistics
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext, redirect_stdout, suppress
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch  # pyright: ignore
import triton  # pyright: ignore
from device_time import in_turns, milliseconds
from measured import parser, show
from triton_tutorials import Work, works

import tilewright as tw
from tilewright.dialects.frozen import entity, factory

TUTORIALS = Path("python", "tutorials")
SHARES = 3
TUNED = {"warmup": 25, "rep": 100}
"""The milliseconds for which `triton.autotune` times a configuration."""


def loaded(checkout: Path, tutorial: str, by: str) -> Any:
    """A tutorial's module, without its tables; what its own tests launch is not tuned."""
    path = checkout / TUTORIALS / f"{tutorial}.py"
    spec = importlib.util.spec_from_file_location(f"{tutorial}, {by}", path)
    assert spec is not None and spec.loader is not None
    module, report = importlib.util.module_from_spec(spec), triton.testing.perf_report
    triton.testing.perf_report = lambda *_: lambda _: SimpleNamespace(run=lambda **_: None)
    try:
        with patch.object(triton.testing, "do_bench", once):
            spec.loader.exec_module(module)
    finally:
        triton.testing.perf_report = report
    for value in vars(module).values():
        if isinstance(value, triton.runtime.Autotuner):
            value.cache.clear()
    return module


def launch_of(run: Callable[[], Any], waits: bool) -> tuple[Callable[[], Any], Any]:
    """A call as it is timed, and its result: a CUDA graph of it, or, of one that waits for the GPU,
    itself, with the host's time in between."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    if waits:
        return run, run().clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    graph.replay()
    torch.cuda.synchronize()
    return graph.replay, result.clone()


Row = dict[str, Any]


def ways() -> dict[str, AbstractContextManager[None]]:
    """Who compiles."""
    return {"Triton": nullcontext(), "ours": tw.triton.on_gpu()}


@entity
class Modules:
    """The modules of kernels, by who compiles them: what autotuning finds is a module's own."""

    checkout: Path
    tutorials: dict[tuple[str, str], Any] = factory(dict)
    packages: dict[tuple[str, str], dict[str, Any]] = factory(dict)
    latest: dict[str, str] = factory(dict)

    def module(self, home: str, by: str) -> Any:
        """A module for a compiler."""
        if not home[0].isdigit():
            self.switch(home.partition(".")[0], by)
            return importlib.import_module(home)
        if (home, by) not in self.tutorials:
            self.tutorials[home, by] = loaded(self.checkout, home, by)
        return self.tutorials[home, by]

    def switch(self, package: str, by: str) -> None:
        """Let a package be the one that was imported for a compiler, if one was."""
        own = {name: module for name, module in sys.modules.items()
               if name.partition(".")[0] == package}  # fmt: skip
        self.packages[package, self.latest.get(package, by)] = own
        self.latest[package] = by
        for name in own:
            del sys.modules[name]
        sys.modules.update(self.packages.get((package, by), {}))

    def measure(self, work: Work) -> Row:
        """The rates of a work: the median of turns."""
        torch.manual_seed(0)
        arguments, row = work.arguments(), {"work": work.name, "unit": work.unit}
        library, wanted, launches = work.library, None, dict[str, Callable[[], Any]]()
        if library is not None:
            launches["library"], wanted = launch_of(lambda: library(*arguments), work.waits)
        for by, context in ways().items():
            try:
                with context:
                    module = self.module(work.home, by)
                    launch, result = launch_of(
                        lambda module=module: work.call(module, *arguments), work.waits
                    )
                wanted, norm = result if wanted is None else wanted, torch.linalg.norm
                error = (norm((result - wanted).float()) / norm(wanted.float())).item()
                assert error < work.bound, f"wrong result, by {error}"
                launches[by] = launch
            except Exception as error:
                traceback.print_exc(limit=-4)
                row[f"{by} failed"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        times: dict[str, list[float]] = {by: [] for by in launches}
        for by in in_turns(launches):
            with ways().get(by, nullcontext()):
                times[by].append(milliseconds(launches[by]))
        for by, own in times.items():
            row[by] = work.amount / statistics.median(own) / 1e9
        return row


def works_of(families: str) -> list[Work]:
    """The works of "tutorials", of "libraries", or "all"."""
    every = [] if families == "libraries" else works()
    if families != "tutorials":
        from triton_libraries import works as works_of_libraries

        every += works_of_libraries()
    return every


modules_of = cache(Modules)
"""The modules of a process that compiles."""


def once(call: Callable[[], Any], quantiles: Any = (), **_: Any) -> Any:
    """The clock of `triton.autotune` while nothing is timed: all are as quick."""
    call()
    return [1.0] * len(quantiles) if quantiles else 1.0


def compile_ahead(checkout: Path, families: str, name: str, by: str, share: int) -> None:
    """Call a work once, by a share of the configurations of its kernels, of which all others are
    another's. What fails fails later too."""
    from triton.runtime.autotuner import Autotuner  # pyright: ignore

    work = next(work for work in works_of(families) if work.name == name)
    pruned, run = Autotuner.prune_configs, Autotuner.run

    def shared(tuner: Any, given: Any) -> Any:
        every = pruned(tuner, given)
        return every[share::SHARES] or every[:1]

    def anew(tuner: Any, *given: Any, **named: Any) -> Any:
        tuner.cache.clear()  # what was quickest of another share, or by another compiler
        return run(tuner, *given, **named)

    with (
        suppress(Exception), redirect_stdout(None), ways()[by],
        patch.object(triton.testing, "do_bench", once),
        patch.object(Autotuner, "prune_configs", shared), patch.object(Autotuner, "run", anew),
        patch.object(Autotuner, "check_disk_cache", lambda *given: given[-1]()),
    ):  # fmt: skip
        work.call(modules_of(checkout).module(work.home, by), *work.arguments())
        torch.cuda.synchronize()
    torch.cuda.empty_cache()


def compile_all(checkout: Path, families: str, chosen: list[Work], jobs: int) -> None:
    """Compile the kernels of works in so many processes, those of each module's first work first,
    as others have their kernels."""
    earlier, order = Counter[str](), list[tuple[int, str]]()
    for work in chosen:
        order.append((earlier[work.home], work.name))
        earlier[work.home] += 1
    order.sort(key=lambda one: one[0])
    context = get_context("forkserver")
    context.set_forkserver_preload(["triton_tutorials", "triton_libraries", "tilewright"])
    with ProcessPoolExecutor(jobs, context) as pool:
        for _, name in order:
            for share, by in product(range(SHARES), ways()):
                pool.submit(compile_ahead, checkout, families, name, by, share)


def line(row: Row) -> str:
    """A row of the table."""
    digits = ".3f" if row["unit"] == "TB/s" else ".1f"
    shown = [format(row[by], digits) if by in row else "-" for by in ("ours", "Triton", "library")]
    ratios = [f"{row['ours'] / row[by]:.2f}" if by in row and "ours" in row else "-"
              for by in ("Triton", "library")]  # fmt: skip
    numbers = " ".join(f"{text:>8}" for text in (*shown, *ratios))
    return f"{row['work']:44} {numbers} {row['unit']} {row.get('ours failed', '')}"


def summary(rows: list[Row]) -> str:
    """The mean and the least of ours over Triton's."""
    ratios = {row["work"]: row["ours"] / row["Triton"] for row in rows
              if "ours" in row and "Triton" in row}  # fmt: skip
    if not ratios:
        return "nothing ran by both"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    least = min(ratios, key=lambda work: ratios[work])
    return (
        f"geometric mean of ours / Triton: {mean:.3f} over {len(ratios)} of {len(rows)}; "
        f"the least {ratios[least]:.2f}, {least}"
    )


def main() -> None:
    """Measure and print the table."""
    words = parser(__doc__)
    words.add_argument("checkout", type=Path)
    words.add_argument("--libraries", action="store_true", help="those of triton_libraries.py")
    words.add_argument("--all", action="store_true", help="those, and the tutorials")
    words.add_argument("--only", nargs="*", default=[], help="words in a work's name")
    words.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="1: none before")
    options = words.parse_args()
    families = "all" if options.all else "libraries" if options.libraries else "tutorials"
    chosen = [
        work for work in works_of(families)
        if not options.only or any(word in work.name for word in options.only)
    ]  # fmt: skip
    start = time.perf_counter()
    if options.jobs > 1:
        compile_all(options.checkout, families, chosen, options.jobs)
        print(f"compiled in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    print(f"{'':44} {'ours':>8} {'Triton':>8} {'library':>8} {'/Triton':>8} {'/lib.':>8}",
          file=sys.stderr)  # fmt: skip
    bench, rows = Modules(options.checkout), list[Row]()
    clock = partial(triton.testing.do_bench, **TUNED)
    for work in chosen:
        with patch.object(triton.testing, "do_bench", clock):
            rows.append(bench.measure(work))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    print(f"{summary(rows)}; {time.perf_counter() - start:.0f} s", file=sys.stderr)
    show(options, rows, [*map(line, rows), summary(rows)])


if __name__ == "__main__":
    main()
