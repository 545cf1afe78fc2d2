"""Triton's kernels replayed against what a chip left in memory for them.

    python tests/conformance/triton_records.py FOLDER                # of records/ and ttir/
    python tests/conformance/triton_records.py RECORDS.tar TTIR.tar.xz --jobs 2
    python tests/conformance/triton_records.py FOLDER --kernel test_atomic --list
    python tests/conformance/triton_records.py FOLDER --compile sm_100a     # ptxas has to be silent
    python tests/conformance/triton_records.py FOLDER --level ptx           # its instructions here
    python tests/conformance/triton_records.py FOLDER --level gpu           # by this machine's

A record is what a launch was: the TTIR, the memory before and after, the arguments. All of the
memory has to be equal bit for bit, NaN to NaN, but where an op leaves bits open: sums whose order
is open, functions that approximate (`BOUNDS` of tools/conformance/records.py, the ops
being those of the Tile IR that the kernel becomes; folds by `SUMS`). Prints a line for each class
of failures, the kernels that are refused by name, and the counts. The exit status is 1 where a
record fails, or more than 3 % are refused.
"""

from __future__ import annotations

import argparse
import io
import lzma
import re
import sys
import tarfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from triton_compiled import apart, complaints, run_on_gpu

from tilewright import CompileError, ExecutionError, interpret
from tilewright.dialects.cute_nvgpu.lattice.data_movement import OF_BLOCKS
from tilewright.pipeline import verified
from tilewright.tile_kernel import (
    DEFAULT_ARCH,
    TileLaunch,
    flat_arguments,
    negative_places,
    run_tile_kernel,
)
from tilewright.tools.conformance.records import (
    BY_OP,
    Bound,
    PlainUnpickler,
    Record,
    UndefinedKernel,
    difference,
    excess,
    open_ops,
)

MAX_REFUSED = 0.03
OF_THE_MOMENT = re.compile(rf"%({'|'.join(OF_BLOCKS)})\b")
"""Special registers whose value no run has twice: such a kernel is run, and that is all."""
DTYPES: dict[str, Any] = {
    "fp16": np.float16,
    "fp32": np.float32,
    "fp64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e5": ml_dtypes.float8_e5m2,
}
"""The dtypes of Triton's names of element types; the others are compared as bytes."""
SUMS = re.compile(r'"tt\.(reduce|scan)"')
REORDERED = "tt.cat "
"""The op whose result's order is open: its kernels' results are compared sorted."""
UNDEFINED = (
    UndefinedKernel(
        "test_core.py::test_atomic_cas[int64-1-release]",
        "takes a lock without an acquire, so that the next holder's loads are in no order",
        "expected no other block to access",
        equal=True,
    ),
    UndefinedKernel(
        "test_annotations.py::test_int_annotation",
        "stores beyond a tensor of one element, at 1 or 3",
        "expected an element of argument 0",
        equal=False,
    ),
    *(
        UndefinedKernel(
            test,
            "every program stores the same elements",
            "expected no other block to access",
            equal=True,
        )
        for test in ("test_core.py::test_clamp", "test_decorator.py::test_triton_heuristic")
    ),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a record came to: `equal`, `within bounds`, `of the moment`, `undefined`, `refused` or
    `failed`, and why."""

    name: str
    kind: str
    why: str = ""
    seconds: float = 0.0


def files(paths: Sequence[Path], folder: str) -> Iterator[tuple[str, bytes]]:
    """The files of a folder, in the folder itself or in tars, with their stems."""
    for path in paths:
        if path.is_dir():
            for file in sorted((path / folder).iterdir()):
                yield file.name.partition(".")[0], file.read_bytes()
            continue
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.startswith(f"{folder}/") and (content := tar.extractfile(member)):
                    yield Path(member.name).name.partition(".")[0], content.read()


def record_of(data: bytes) -> Record:
    """A record, of which nothing but plain values is read."""
    return PlainUnpickler(io.BytesIO(lzma.decompress(data))).load()


def flat(argument: Record, memory: Sequence[NDArray[np.uint8]]) -> Iterator[Any]:
    """The parameters of a `tt.func` that an argument is."""
    match argument["kind"]:
        case "tensor":
            yield memory[argument["storage"]][argument["offset"] :]
        case "descriptor":
            (base,) = flat({**argument["base"], "kind": "tensor"}, memory)
            yield (base, *(argument[key] for key in ("shape", "strides", "block_shape", "padding")))
        case "tuple":
            for item in argument["items"]:
                yield from flat(item, memory)
        case "scalar":
            yield argument["value"] & 1 if argument.get("type") == "u1" else argument["value"]
        case _:
            return


def tensors(argument: Record) -> Iterator[Record]:
    """The tensors of an argument, each with the type of its elements."""
    if argument["kind"] == "descriptor":
        yield {**argument["base"], "type": re.findall(r"<(\w+)", argument["type"])[0]}
    for item in argument.get("items", ()):
        yield from tensors(item)
    if argument["kind"] == "tensor":
        yield argument


def bounds_of(text: str, module: Any) -> list[Bound]:
    """The bounds of a kernel: of its Tile IR's ops, and of folds that became other ops."""
    bounds = open_ops(module)
    if SUMS.search(text) and "arith.addf" in text:
        bounds += [BY_OP["reduce", element] for element in ("f16", "f32")]
    return list(dict.fromkeys(bounds))


def replay(name: str, record: Record, text: str, level: str = "program") -> Verdict:
    """Run a record's kernel at a level and compare all memory."""
    start = time.perf_counter()
    undefined = next((known for known in UNDEFINED if name.startswith(known.test)), None)
    try:
        if undefined is not None:
            try:
                run(record, text, "error", level)
            except ExecutionError as error:
                if level == "program" and undefined.error not in str(error):
                    raise
                if not undefined.equal:
                    return Verdict(name, "undefined", undefined.reason)
        bounds, memory = run(record, text, "error" if undefined is None else "ignore", level)
    except CompileError as error:
        return Verdict(name, "refused", str(error))
    except Exception as error:
        return Verdict(name, "failed", f"{type(error).__name__}: {error}")
    if OF_THE_MOMENT.search(text):
        return Verdict(name, "of the moment")
    lines = list(differences(record, memory, bounds, in_order=REORDERED not in text))
    seconds = time.perf_counter() - start
    if any(share > 1 for share, _ in lines):
        return Verdict(name, "failed", "; ".join(line for _, line in lines), seconds)
    return Verdict(name, "within bounds" if lines else "equal", "", seconds)


def compiled(name: str, record: Record, text: str, arch: str) -> Verdict:
    """Compile a record's kernel, and ask ptxas."""
    start = time.perf_counter()
    try:
        why = complaints(text, record["ttir"], arch)
    except CompileError as error:
        return Verdict(name, "refused", str(error))
    except Exception as error:
        return Verdict(name, "failed", f"{type(error).__name__}: {error}")
    return Verdict(name, "failed" if why else "silent", why, time.perf_counter() - start)


def launched(name: str, record: Record, text: str) -> Verdict:
    """`replay` by the GPU."""
    try:
        return apart(replay, name, record, text, "gpu")
    except RuntimeError as error:
        return Verdict(name, "failed", str(error))


def run(
    record: Record, text: str, races: Any, level: str
) -> tuple[list[Bound], list[NDArray[np.uint8]]]:
    """Run a record's kernel: the bounds of its results, and the memory as it is then."""
    memory = [np.frombuffer(octets, np.uint8).copy() for octets in record["before"]]
    args = [value for argument in record["args"] for value in flat(argument, memory)]
    module, source = verified(text, record["ttir"], negative_places(args))
    # A load of Triton's on NVIDIA's chips leaves zeros where its mask is false.
    launch = TileLaunch(
        tuple(record["grid"]),
        races=races,
        check=("padding", "integers"),
        source=source,
        say=lambda _: None,
    )
    if level == "gpu":
        results = iter(run_on_gpu(text, record["ttir"], launch.grid, args))
    elif level == "ptx":
        how: dict[str, Any] = {"level": level, "arch": DEFAULT_ARCH, "races": races}
        results = iter(interpret(text, grid=launch.grid, args=[*flat_arguments(args)], **how))
    else:
        results = iter(run_tile_kernel(module, None, launch, args))
    for value in args:
        view = value[0] if isinstance(value, tuple) else value
        if isinstance(view, np.ndarray):
            view[...] = next(results)
    return bounds_of(text, module), memory


def differences(
    record: Record, memory: Sequence[NDArray[np.uint8]], bounds: list[Bound], *, in_order: bool
) -> Iterator[tuple[float, str]]:
    """The storages that are not what the chip left: the error as a part of what the bounds allow,
    and a line."""
    types: dict[int, str] = {}
    for argument in record["args"]:
        for tensor in tensors(argument):
            types.setdefault(tensor["storage"], tensor["type"].lstrip("*"))
    for i, (before, after) in enumerate(zip(record["before"], record["after"], strict=True)):
        dtype = np.dtype(DTYPES.get(types.get(i, ""), np.uint8))
        left = np.frombuffer(before if after is None else after, np.uint8)
        whole = len(left) - len(left) % dtype.itemsize
        got, want = memory[i][:whole].view(dtype), left[:whole].view(dtype)
        if not in_order:
            got, want = np.sort(got), np.sort(want)
        differ = difference(got, want)
        if differ.any():
            share, where = excess(got, want, bounds), int(np.argmax(differ))
            yield (
                share,
                (
                    f"values: {int(differ.sum())} of {want.size} {dtype} differ, the first at "
                    f"{where}: {got[where]} for {want[where]}, {share:.3g} of the bound"
                ),
            )


def class_of(why: str) -> str:
    """A failure's message without its numbers and places."""
    line = next((line for line in why.splitlines() if line.strip()), why)
    line = re.sub(r"\S+?:\d+:\d+: ", "", line)
    return re.sub(r"\d[\w.+-]*", "N", line)[:150]


def main() -> int:
    """Replay, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--kernel", default="", help="those whose test has this in its name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compile", metavar="ARCH", help="compile, and run ptxas, only")
    parser.add_argument("--level", choices=("program", "ptx", "gpu"), default="program")
    parser.add_argument("--list", action="store_true", help="every record, with its reason")
    options = parser.parse_args()
    texts = {name: data.decode() for name, data in files(options.paths, "ttir")}
    chosen = [
        (record["test"], record, texts[record["ttir"]])
        for _, data in files(options.paths, "records")
        if options.kernel in (record := record_of(data))["test"]
    ]
    judge = launched if options.level == "gpu" else partial(replay, level=options.level)
    if options.compile:
        judge = partial(compiled, arch=options.compile)
    with ProcessPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(judge, *zip(*chosen, strict=True)))
    return summary(verdicts, everything=options.list)


def summary(verdicts: Sequence[Verdict], *, everything: bool) -> int:
    """Print what came of all; the exit status."""
    classes: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        classes[verdict.kind, class_of(verdict.why)].append(verdict)
    for (kind, why), members in sorted(classes.items(), key=lambda item: -len(item[1])):
        if kind in ("refused", "failed"):
            print(f"{len(members):4} {kind}: {why}\n       such as {members[0].name}")
        if kind == "refused" or everything:
            print(
                *(
                    f"       {verdict.name} {verdict.why if everything else ''}"
                    for verdict in members
                ),
                sep="\n",
            )
    counts = defaultdict(int)
    for verdict in verdicts:
        counts[verdict.kind] += 1
    seconds = sum(verdict.seconds for verdict in verdicts)
    print(
        f"{len(verdicts)} records, {seconds:.1f} s: ",
        ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())),
    )
    return int(counts["failed"] > 0 or counts["refused"] > MAX_REFUSED * len(verdicts))


if __name__ == "__main__":
    sys.exit(main())
