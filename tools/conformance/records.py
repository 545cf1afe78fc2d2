"""Kernels of CUDA Tile IR replayed against what a chip left in memory for them.

A record holds the bytecode, the arguments before and after (the project's
`tests/silicon/record_cuda_tile.py` makes them). Every array has to be equal bit for bit, NaN to
NaN, where Tile IR defines the bits; where it does not, kernels that use such an operation stay
within the bound of `BOUNDS`.
"""

import io
import pickle
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Operation

from tilewright import compile, interpret
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import frozen
from tilewright.execution import ExecutionError
from tilewright.launch import ptxas
from tilewright.levels import Level
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray
from tilewright.pipeline import verified
from tilewright.source.diagnostic import CompileError
from tilewright.source.parsing import parse_module
from tilewright.source.printing import ShortPrinter
from tilewright.tile_kernel import DEFAULT_ARCH, TileLaunch, run_tile_kernel

Record = dict[str, Any]


@frozen
class Bound:
    """How far results may be off where Tile IR leaves the bits open: `ulps` of the result's type,
    at the `element` itself or at the `largest` element of the array (sums may cancel)."""

    op: str
    elements: str
    ulps: float
    at: str


_BOUNDS = """
reduce                              f16 bf16          8  largest
reduce                              f32 f64           8  largest
scan                                f16 bf16          4  largest
scan                                f32 f64           8  largest
mmaf                                f16 f32 f64       4  largest
mmaf_scaled                         f32               4  largest
atomic_rmw_tko atomic_red_view_tko  f16 bf16 f32 f64  4  largest
exp exp2 log log2 sin cos           f16 bf16 f32 f64  2  element
tan sinh cosh tanh atan2            f16 bf16 f32 f64  4  element
pow fpowi                           f16 bf16 f32 f64  8  element
rsqrt                               f16 bf16 f32 f64  2  element
libdevice                           f16 bf16 f32 f64  4  element
divf sqrt                           f16 bf16 f32 f64  2  element
"""
BOUNDS = tuple(
    Bound(op, elements, int(ulps), at)
    for ops, elements, ulps, at in (re.split("  +", row) for row in _BOUNDS.strip().splitlines())
    for op in ops.split()
)
"""The order of sums is open, CUDA's functions approximate (ours round the true value once), and so
do `divf` that is approx or full and `sqrt` that is approx."""
BY_OP = {(bound.op, element): bound for bound in BOUNDS for element in bound.elements.split()}
"""The bound of an op on elements of a type."""


@frozen
class UndefinedKernel:
    """A test whose kernel does what Tile IR leaves undefined. `error`: what the error says when it
    is run as it is; `equal`: whether the arrays are as the chip left them with races="ignore"."""

    test: str
    reason: str
    error: str
    equal: bool


UNDEFINED = (
    UndefinedKernel(
        "test_tiled_view.py::test_tiled_view_padding_mode",
        "loads the tile at index 1 of a view that has one tile",
        "expected index 0 below 1",
        equal=True,
    ),
    UndefinedKernel(
        "test_range.py::test_range_negative_step",
        "a `for` with step -2 (xfail in cutile-python)",
        "expected a positive step",
        equal=True,
    ),
    UndefinedKernel(
        "test_atomic.py::test_mixed_scalar_tile_atomic[True]",
        "atomics on elements 1 to 4 of an array of one element",
        "expected an element of argument 0",
        equal=False,
    ),
    UndefinedKernel(
        "test_copy.py::test_array_copy_2d_with_padding[PaddingMode.UNDETERMINED",
        "stores elements of tiles that lie outside of the array, loaded without padding_value",
        "undetermined padding",
        equal=False,
    ),
    UndefinedKernel(
        "cutile_kernels.py::conversions",
        "converts floats to i32 that it does not hold",
        "expected a number that i32 holds",
        equal=True,
    ),
)

_DTYPES: dict[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


class PlainUnpickler(pickle.Unpickler):
    """Reads plain dicts, lists, numbers, strings and bytes, nothing else."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"a record holds no {module_name}.{global_name}")


class RecordError(Exception):
    """A file that is no record: the reason."""


FIELDS = {"test", "bytecode", "sig", "grid", "before", "after"}


def records(path: Path) -> Iterator[tuple[str, Record]]:
    """The records of a tar file or a folder, with their names. Raises RecordError."""
    try:
        if path.is_dir():
            for file in sorted(path.glob("*.pkl")):
                yield file.stem, _record(file.read_bytes())
            return
        with tarfile.open(path) as tar:
            for member in sorted(tar.getmembers(), key=lambda member: member.name):
                if (content := tar.extractfile(member)) is not None:
                    yield Path(member.name).stem, _record(content.read())
    except (OSError, tarfile.TarError) as error:
        raise RecordError(str(error)) from None


def _record(data: bytes) -> Record:
    try:
        record: Record = PlainUnpickler(io.BytesIO(data)).load()
        missing = FIELDS - record.keys()
    except Exception as error:  # unpickling what is no pickle raises anything
        raise RecordError(f"expected a record, got: {error}") from None
    if missing:
        raise RecordError(f"expected a record with {', '.join(sorted(missing))}")
    return record


def array_of(packed: dict[str, Any]) -> AnyArray:
    """The elements of a recorded tensor, from its first to its last in memory."""
    name = packed["dtype"].removeprefix("torch.")
    dtype = np.dtype(_DTYPES.get(name, name))
    return np.frombuffer(zlib.decompress(packed["data"]) if packed["data"] else b"", dtype).copy()


def arguments(record: Record) -> tuple[list[Any], list[int]]:
    """The entry's flat parameters, and which of the Python arguments its arrays are."""
    constraints = re.findall(r"\b(Constant|Array|Scalar)Constraint\(", record["sig"])
    flat: list[Any] = []
    arrays: list[int] = []
    given: list[Any] = record["before"]
    for i, (kind, argument) in enumerate(zip(constraints, given, strict=True)):
        if kind == "Constant":
            continue
        if not hasattr(argument, "keys"):
            flat.append(argument)
            continue
        arrays.append(i)
        flat += [array_of(argument), *argument["shape"], *argument["stride"]]
    return flat, arrays


def open_ops(module: ModuleOp) -> list[Bound]:
    """The bounds of a kernel's operations whose bits Tile IR leaves open, without repetition."""
    return list(dict.fromkeys(bound for op in module.walk() for bound in _bounds_of(op)))


def _bounds_of(op: Operation) -> list[Bound]:
    short = op.name.removeprefix("cuda_tile.")
    rounding = op.properties.get("rounding_mode")
    if short in ("divf", "sqrt") and str(rounding).split("<")[-1].rstrip(">") not in (
        "approx",
        "full",
    ):
        return []
    if short in ("reduce", "scan"):
        summing = {"cuda_tile.addf", "cuda_tile.mulf", "cuda_tile.fma", "cuda_tile.subf"}
        if not any(inner.name in summing for inner in op.walk()):
            return []
    values = [*op.results, *op.operands]
    names = {shown(value.type.element_type) for value in values if isinstance(value.type, TileType)}
    return [bound for name in sorted(names) if (bound := BY_OP.get((short, name))) is not None]


def difference(got: AnyArray, want: AnyArray) -> BoolArray:
    """Where two arrays of one type differ in a bit; NaN equals NaN."""
    words = np.dtype(f"u{want.dtype.itemsize}")
    differ = got.view(words) != want.view(words)
    if want.dtype.kind not in "iub":
        wide = [array.astype(np.float64) for array in (got, want)]
        differ &= ~(np.isnan(wide[0]) & np.isnan(wide[1]))
    return differ


def excess(got: AnyArray, want: AnyArray, bounds: list[Bound]) -> float:
    """The largest error as a part of what the bounds together allow: up to 1 is within them."""
    if not bounds or want.dtype.kind in "iub":
        return np.inf
    values = [array.astype(np.float64) for array in (got, want)]
    finite = np.isfinite(values[0]) & np.isfinite(values[1])
    if (~finite & difference(got, want)).any():
        return np.inf
    error = np.abs(values[0] - values[1])[finite]
    size = np.abs(values[1])[finite]
    at = {"element": size, "largest": np.full(size.shape, size.max(initial=0.0))}
    allowed = np.zeros(size.shape)
    for bound in bounds:
        allowed += bound.ulps * _ulp(at[bound.at], want.dtype)
    return float((error / allowed).max(initial=0.0))


def _ulp(size: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[np.float64]:
    any_ml_dtypes: Any = ml_dtypes
    info = any_ml_dtypes.finfo(dtype)
    exponent = np.maximum(np.frexp(size)[1] - 1, info.minexp)
    return np.ldexp(1.0, exponent - info.nmant)


FAILED = "FAILED"


@dataclass(slots=True)
class Replayed:
    """The outcome of a replay: a verdict, and lines that say more."""

    verdict: str
    lines: list[str]
    share: float = 0.0


def replay(
    name: str, record: Record, level: Level | Literal["device"] = "program", arch: str | None = None
) -> Replayed:
    """Run a record's kernel and compare its arrays."""
    undefined = next((known for known in UNDEFINED if record["test"].startswith(known.test)), None)
    compiled = level != "program"
    if undefined is not None and compiled and not undefined.equal:
        return Replayed("undefined", [])
    if undefined is not None and not compiled:
        try:
            _run(name, record, "error")
        except ExecutionError as error:
            if undefined.error not in str(error):
                return Replayed(FAILED, [f"expected '{undefined.error}', got {error}"])
        else:
            return Replayed(FAILED, [f"expected '{undefined.error}', got no error"])
        if not undefined.equal:
            return Replayed("undefined", [])
    try:
        races = "ignore" if undefined else "error"
        module, arrays, results = _run(name, record, races, level, arch)
    except Exception as error:
        return Replayed(FAILED, [f"{type(error).__name__}: {error}"])
    bounds, share, lines = open_ops(module), 0.0, list[str]()
    for i, got in zip(arrays, results, strict=True):
        want = array_of(record["after"][i])
        differ = difference(got, want)
        if not differ.any():
            continue
        share = max(share, excess(got, want, bounds))
        where = int(np.argmax(differ))
        lines.append(
            f"argument {i}: {int(differ.sum())} of {want.size} {want.dtype} differ, "
            f"the first at {where}: {got[where]} for {want[where]}"
        )
    if undefined is not None:
        right = not lines if undefined.equal else True
        return Replayed("undefined" if right else FAILED, [] if right else lines)
    if not lines:
        return Replayed("equal", [])
    if share > 1:
        used = ", ".join(f"{bound.op} {bound.ulps}" for bound in bounds) or "none"
        return Replayed(FAILED, [*lines, f"{share:.3g} of the bound ({used})"], share)
    return Replayed("within bounds", lines, share)


def _run(
    name: str,
    record: Record,
    races: Any,
    level: Level | Literal["device"] = "program",
    arch: str | None = None,
) -> tuple[ModuleOp, list[int], list[AnyArray]]:
    module, _ = verified(record["bytecode"], name)
    flat, arrays = arguments(record)
    x, y, z, *_ = (*record["grid"], 1, 1)
    grid, chip = (x, y, z), arch or str(record.get("arch", DEFAULT_ARCH))
    if level == "device":
        kernel = compile(module, chip, name=name)
        block = kernel.entry("k").block
        assert block is not None
        return module, arrays, kernel.launch(*flat, grid=grid, block=block)
    if level != "program":
        results = interpret(
            module, "k", grid=grid, args=flat, level=level, arch=chip, races=races, name=name
        )
        return module, arrays, results
    launch = TileLaunch(grid, arch=chip, races=races)
    return module, arrays, run_tile_kernel(module, "k", launch, flat, name)


def assembled(name: str, record: Record, archs: list[str]) -> Replayed:
    """Compile a record's kernel, and assemble the PTX."""
    for arch in archs:
        try:
            ptx = compile(record["bytecode"], arch, name=name).ptx
        except Exception as error:
            return Replayed(FAILED, [f"{arch}: {type(error).__name__}: {error}"])
        report = ptxas.assemble(ptx, arch)
        complaints = [*report.errors, *report.warnings]
        if complaints or not report.ok:
            return Replayed(FAILED, [f"{arch}: {line}" for line in complaints])
    return Replayed("assembles", [])


def reread(name: str, record: Record) -> Replayed:
    """Print a record's module in both forms, and see whether what is read of them is the same."""
    module = read_bytecode(record["bytecode"], name).clone()
    for kept in module.walk():
        # Text has no empty hints, and no list that says of no dimension that it is in bounds.
        if str(kept.properties.get("optimization_hints")) == "#cuda_tile.optimization_hints<>":
            del kept.properties["optimization_hints"]
        flags = kept.properties.get("inbounds")
        if isinstance(flags, DenseArrayBase) and not any(flags.get_values()):
            del kept.properties["inbounds"]
    want = write_bytecode(module)
    lines: list[str] = []
    for form in ("custom", "generic"):
        output = io.StringIO()
        ShortPrinter(output, print_generic_format=form == "generic", print_debuginfo=True).print_op(
            module
        )
        try:
            if write_bytecode(parse_module(output.getvalue(), name)) != want:
                lines.append(f"the {form} form gives other bytecode")
        except CompileError as error:
            lines.append(f"the {form} form is not read: {error}")
    return Replayed(FAILED if lines else "the same from both texts", lines)
