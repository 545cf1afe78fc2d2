"""cuTile's samples on the GPU of this machine: compiled by us, by tileiras, and the libraries.

    python benchmarks/cutile_gpu.py FOLDER --prepare --checkout CUTILE [--tileiras PATH]  # anywhere
    python benchmarks/cutile_gpu.py FOLDER [--only WORD ...] [--json] [--all]  # the GPU
    python benchmarks/cutile_gpu.py FOLDER [--only WORD ...] --check               # cutile_check.py

`--prepare` writes the bytecode of every sample, configuration by configuration, and the cubin that
tileiras makes of it where there is one. The run compiles the bytecode, launches both, and checks
what they leave against torch. Time is device time by CUDA events, the L2 flushed before each, the
medians of turns of all configurations, ours and theirs, and the library, with a rest before each;
the best one counts (`--all` prints each). What memory bounds is timed with an L2 that reads have
flushed, too, and has no lines to write back: the last column is ours of the library then.
"""

import math
import multiprocessing
import pickle
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import cutile_cases
from cutile_libraries import expected, library
from cutile_problems import Case, Matrix, Problem
from device_time import Launch, checked, launch_of, medians
from measured import parser, show

import tilewright as tw
from tilewright.cutile.gpu import BlockSchedule, compiled, launched, scheduled
from tilewright.launch.ptxas import assembled

ARCH = "sm_90a"
"""The target of the cubins of tileiras."""


def prepare(folder: Path, checkout: Path, tileiras: str | None, only: list[str]) -> None:
    """Write one file a case."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for number, case in enumerate(cutile_cases.cases()):
            if not _chosen(case, only):
                continue
            code = cutile_cases.bytecode(case, checkout)
            cubin = None
            if tileiras is not None:
                cubin = cutile_cases.cubin(code, tileiras, ARCH.rstrip("a"), Path(scratch))
            row = {"case": case, "bytecode": code, "cubin": cubin}
            (folder / f"{number:03}.pkl").write_bytes(pickle.dumps(row))
            print(f"{case.sample} {case.configuration}: {'no ' if cubin is None else ''}cubin")


def _chosen(case: Case, only: list[str]) -> bool:
    name = f"{case.sample} {case.configuration}"
    return not only or any(word in name for word in only)


# --- the GPU --------------------------------------------------------------------------------------


class Bench:
    """Arrays of a problem on the GPU, and launches on them; those that other configurations made,
    by place and kind, are theirs, too."""

    def __init__(self, case: Case, problem: Problem, made: dict[Any, Any]) -> None:
        import torch

        self.torch, self.case, self.problem = torch, case, problem
        torch.manual_seed(0)
        for key in enumerate(problem.arguments):
            if key not in made:
                made[key] = self._array(key[1]) if isinstance(key[1], Matrix) else key[1]
        self.arguments = [made[key] for key in enumerate(problem.arguments)]
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        self.grid = _grid(case, problem, sms)

    def _array(self, matrix: Matrix) -> Any:
        torch = self.torch
        if matrix.below:
            count = math.prod(matrix.shape)
            numbers = torch.randperm(count) if matrix.shuffled else torch.arange(count)
            return (numbers * matrix.below // count).to(torch.int32).reshape(matrix.shape).cuda()
        order = matrix.order or tuple(range(len(matrix.shape)))
        dense = [matrix.shape[dim] for dim in order]
        array = torch.randn(dense, device="cuda").to(getattr(torch, matrix.element))
        return array.permute([order.index(dim) for dim in range(len(order))])

    @property
    def flat(self) -> list[Any]:
        """The kernel's flat parameters."""
        values: list[Any] = []
        for argument in self.arguments:
            if hasattr(argument, "shape"):
                values += [argument, *argument.shape, *argument.stride()]
            else:
                values.append(argument)
        return values

    def results(self) -> list[Any]:
        """The arrays that the kernel writes."""
        return [
            array for matrix, array in zip(self.problem.arguments, self.arguments, strict=True)
            if isinstance(matrix, Matrix) and matrix.result
        ]  # fmt: skip

    def ours(self, kernels: Sequence[tw.Kernel], room: int | None = None) -> Launch:
        """A launch of our kernel, and of that for its last blocks, of so many CTAs at most where
        they take blocks in turn."""
        grids = launched([kernel.entry() for kernel in kernels], self.grid, room)
        launches = [
            launch_of(kernel, [*map(dense, self.flat), *told], grid, programmatic=number > 0)
            for number, (kernel, (grid, told)) in enumerate(zip(kernels, grids, strict=True))
        ]
        return lambda: [launch() for launch in launches]

    def theirs(self, kernel: tw.Kernel, cubin: bytes) -> Launch:
        """A launch of tileiras's cubin, which knows its own threads."""
        from tilewright.launch import launcher

        module = launcher.call("cuModuleLoadData", cubin)
        flat = self.flat
        types = [type_ for _, type_ in kernel.entry().parameters[: len(flat)]]
        function = launcher.function(module, "k", types, 0)
        values = [_bits(value, type_) for value, type_ in zip(flat, types, strict=True)]
        stream = self.torch.cuda.current_stream().cuda_stream
        return lambda: function.start(values, self.grid, (1, 1, 1), stream)


def _grid(case: Case, problem: Problem, sms: int) -> tuple[int, ...]:
    """The blocks of a launch on so many multiprocessors."""
    few, most, *_ = *problem.grid, 1
    if few:
        return (*problem.grid, 1, 1)[:3]
    return min(sms // case.hints.get("num_ctas", 1), most), 1, 1


def compile_ahead(paths: Sequence[Path], arch: str) -> None:
    """Compile what will be measured, in processes, to the cache of compiled kernels."""
    from tilewright.launch import launcher

    context = multiprocessing.get_context("spawn")
    given = arch, launcher.device_arch(), launcher.multiprocessors()
    with ProcessPoolExecutor(mp_context=context) as pool:
        list(pool.map(partial(_compile, given=given), paths))


def _compile(path: Path, given: tuple[str, str, int]) -> None:
    """Compile a case for a target, assembled for that of a device with so many multiprocessors."""
    stored, (arch, own, sms) = pickle.loads(path.read_bytes()), given
    case, code = stored["case"], stored["bytecode"]
    with suppress(tw.CompileError):
        whole = compiled(code, arch)
        schedules = {
            BlockSchedule.of(whole, _grid(case, problem, sms), problem.flat(lambda _: None), sms)
            for problem in case.problems
        }
        for schedule in schedules:
            for kernel in scheduled(schedule, partial(compiled, code, arch, "<bytecode>")):
                assembled(kernel.ptx, own)


def dense(value: Any) -> Any:
    """An array as memory: of a transposed one the memory behind it."""
    if not hasattr(value, "stride"):
        return value
    return value.permute(sorted(range(value.ndim), key=lambda dim: -value.stride(dim)))


def _bits(value: Any, type_: str) -> int:
    import struct

    if hasattr(value, "data_ptr"):
        return value.data_ptr()
    if isinstance(value, float):
        return struct.unpack("I", struct.pack("f", value))[0]
    return int(value) % (1 << int(type_[1:]))


Row = dict[str, Any]


Measured = tuple[dict[str, Any], Problem]
"""A case as it was prepared, and a problem of it."""


def by_work(paths: Sequence[Path]) -> dict[str, list[Measured]]:
    """The configurations of each work."""
    works: dict[str, list[Measured]] = defaultdict(list)
    for path in paths:
        stored = pickle.loads(path.read_bytes())
        case: Case = stored["case"]
        words = takewhile(lambda word: not word[0].isdigit(), case.configuration.split())
        kind = " ".join([case.sample, *words]).removeprefix(f"{cutile_cases.OWN} ")
        for problem in case.problems:
            works[f"{kind} {problem.name}"].append((stored, problem))
    return works


def measure(work: str, configurations: list[Measured], arch: str) -> list[Row]:
    """The rates of a work, a row for each configuration, all of them and the library's measured in
    turns; ours is compiled for `arch`."""
    rows: list[Row] = []
    launches: dict[tuple[str, str], Launch] = {}
    arrays: dict[Any, Any] = {}
    want: Any = None
    for stored, problem in configurations:
        case: Case = stored["case"]
        name = case.configuration
        try:
            whole = compiled(stored["bytecode"], arch)
        except tw.CompileError as error:
            print(f"{case.sample} {name}: {error}", file=sys.stderr)
            continue
        bench = Bench(case, problem, arrays)
        schedule = BlockSchedule.of(whole, bench.grid, bench.flat)
        kernels = scheduled(schedule, partial(compiled, stored["bytecode"], arch, "<bytecode>"))
        if want is None:
            want = expected(bench)
        row: Row = {"work": work, "unit": "TFLOP/s" if problem.operations else "TB/s",
                    "configuration": name}  # fmt: skip
        made = {"ours": lambda bench=bench, kernels=kernels: bench.ours(kernels)}
        if stored["cubin"] is not None:
            made["tileiras"] = lambda bench=bench, stored=stored, whole=whole: bench.theirs(
                whole, stored["cubin"]
            )
        for by, make in made.items():
            try:
                launches[name, by] = checked(make(), bench.results(), want, case.bound)
            except (AssertionError, RuntimeError) as error:
                print(f"{work} {name} {by}: {error}", file=sys.stderr)
        if not rows and (peer := library(bench)) is not None:
            launches[name, "library"], row["which"] = peer
        rows.append(row)
    problem = configurations[0][1]
    done = problem.operations or problem.bytes
    for clean in (False,) if problem.operations else (False, True):
        for (name, by), time in medians(launches, clean=clean).items():
            of = [row for row in rows if by == "library" or row["configuration"] == name]
            for row in of:
                row[f"clean {by}" if clean else by] = done / time / 1e9
    return rows


def table(rows: list[Row]) -> str:
    """The best configuration of each work."""
    rows_of: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        rows_of[row["work"]].append(row)
    heads = f"{'/til.':>6} {'/lib.':>6} {'clean':>6}"
    lines = [f"{'':44} {'ours':>8} {'tileiras':>8} {'library':>8} {heads}"]
    ratios: list[float] = []
    for work, own in rows_of.items():
        best = {name: max((row for row in own if name in row), key=lambda row: row[name],
                default=None) for name in ("ours", "tileiras")}  # fmt: skip
        best["library"] = own[0] if "library" in own[0] else None
        rate = {name: None if row is None else row[name] for name, row in best.items()}
        digits = ".3f" if own[0]["unit"] == "TB/s" else ".1f"
        shown = [f"{format(number, digits) if number else '-':>8}" for number in rate.values()]
        chosen = best["ours"] or {}
        rate |= {name: chosen.get(name) for name in ("clean ours", "clean library")}
        for names in (("ours", "tileiras"), ("ours", "library"), ("clean ours", "clean library")):
            one, peer = map(rate.get, names)
            ratio = one / peer if one and peer else None
            shown.append("     -" if ratio is None else f"{ratio:6.2f}")
            if ratio is not None and "tileiras" in names:
                ratios.append(ratio)
        configuration = chosen.get("configuration", "")
        lines.append(f"{work:44} {' '.join(shown)}  {own[0]['unit']}  {configuration}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"geometric mean of ours / tileiras: {mean:.3f} over {len(ratios)}")
    return "\n".join(lines)


def main() -> None:
    """Prepare, or measure and print the table."""
    words = parser(__doc__)
    words.add_argument("folder", type=Path)
    words.add_argument("--prepare", action="store_true")
    words.add_argument("--checkout", type=Path, help="a checkout of cutile-python")
    words.add_argument("--tileiras", default=shutil.which("tileiras"))
    words.add_argument("--only", nargs="*", default=[], help="words in a case's name")
    words.add_argument("--arch", default=ARCH, help="the target that ours is compiled for")
    words.add_argument("--check", action="store_true",
                       help="at small sizes, against the interpreter, bit for bit")  # fmt: skip
    words.add_argument("--all", action="store_true", help="a line for each configuration")
    options = words.parse_args()
    if options.prepare:
        if options.checkout is None:
            words.error("expected --checkout with --prepare")
        prepare(options.folder, options.checkout, options.tileiras, options.only)
        return
    paths = [
        path for path in sorted(options.folder.glob("*.pkl"))
        if _chosen(pickle.loads(path.read_bytes())["case"], options.only)
    ]  # fmt: skip
    if options.check:
        from cutile_check import check

        sys.exit(not check(paths, options.arch))
    rows: list[Row] = []
    compile_ahead(paths, options.arch)
    for work, configurations in by_work(paths).items():
        for row in measure(work, configurations, options.arch):
            rows.append(row)
            if options.all:
                rates = "  ".join(f"{name} {row[name]:.3f}" for name in
                                  ("ours", "tileiras", "library") if name in row)  # fmt: skip
                print(
                    f"{row['work']:40} {row['configuration']:34} {rates} {row['unit']}", flush=True
                )
    show(options, rows, [table(rows)])


if __name__ == "__main__":
    main()
