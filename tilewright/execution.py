"""`tilewright.interpret`: run a kernel on the CPU, at the level it is written or at a lower one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, get_args

from numpy.typing import NDArray
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Operation

from tilewright.compiler import lower_tiles, run_pipeline, verified
from tilewright.diagnostic import CompileError, Diagnostic, OpError
from tilewright.dialects.cute_nvgpu.lattice.cluster import MAX_CLUSTER
from tilewright.dialects.cute_nvgpu.lattice.targets import lowest, target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.kernel_arguments import (
    KernelParameter,
    bind,
    kernel_parameters,
    lowered,
    results,
)
from tilewright.lowering.interpreter import run_kernel
from tilewright.lowering.interpreter.arithmetic.mma import NUMERICS
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.machine import Launch
from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import is_kernel
from tilewright.parsing import op_diagnostic
from tilewright.passes.check_target import required_targets

__all__ = ["ExecutionError", "KernelParameter", "interpret", "kernel_signature"]

Level = Literal["tile", "atom", "ptx"]
LEVELS: tuple[Level, ...] = get_args(Level)
Dim = Sequence[int]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: its memref arguments, and how many operations of single threads it took."""

    arrays: list[NDArray[Any]]
    lane_operations: int


def interpret(
    module_or_text: ModuleOp | str,
    kernel: str | None = None,
    *,
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact"] = "hardware",
    arch: str | None = None,
    level: Level = "tile",
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
    schedule: int | None = None,
    max_steps: int | None = None,
    races: Literal["error", "warn", "ignore"] = "ignore",
) -> list[NDArray[Any]]:
    """Run a kernel on the CPU and return its arrays, in order, as they are after the run.

    `args`: a C-contiguous NumPy array for each memref, an array of any strides for each
    `!cute.memref`, a `TensorMap` of an array for each `tma_descriptor`, a number for each scalar
    and a tuple for each struct, in order; inputs are not modified. An array of unsigned integers
    stands for raw bits of any element type of its width. `grid` and `block` are (x, y, z). `kernel`
    may be left out where there is one.
    By default the IR runs as it is; `level="atom"` lowers tiles to atoms first, and `level="ptx"`
    everything to instructions. A kernel that was lowered from the tile level takes the arguments
    that it had there. `numerics="hardware"` computes MMAs as
    the chip `arch` does (by default the lowest target that the kernel needs), "exact" rounds the
    mathematical result once. `progress(done, total)` is called as CTAs finish. Threads run in the
    order of the text where they may or, with a seed as `schedule`, in a random one, in which copies
    and MMAs complete late. `max_steps` bounds the ops that the threads run, together or apart.
    `races` says what becomes of races on global memory: "error", "warn" or "ignore".

    Raises CompileError for wrong IR, TargetError for an unknown arch, and ExecutionError for wrong
    arguments or what no kernel may do: an access out of bounds or misaligned, a data race, use of
    an undefined register, a barrier that not all reach.
    """
    return run(
        module_or_text,
        kernel,
        grid=grid,
        block=block,
        args=args,
        numerics=numerics,
        arch=arch,
        level=level,
        name=name,
        progress=progress,
        schedule=schedule,
        max_steps=max_steps,
        races=races,
    ).arrays


def run(
    module_or_text: ModuleOp | str,
    kernel: str | None = None,
    *,
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact"] = "hardware",
    arch: str | None = None,
    level: Level = "tile",
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
    schedule: int | None = None,
    max_steps: int | None = None,
    races: Literal["error", "warn", "ignore"] = "ignore",
) -> Run:
    """`interpret`, with the count of operations: an op executed by one thread is one."""
    if numerics not in NUMERICS:
        raise ExecutionError(f"expected numerics of {', '.join(NUMERICS)}, got '{numerics}'")
    if level not in LEVELS:
        raise ExecutionError(f"expected level of {', '.join(LEVELS)}, got '{level}'")
    module, source = verified(module_or_text, name)
    op = find_kernel(module, kernel, name)
    chip = arch or _lowest_target(module)
    target(chip)
    launch = Launch(_dim("grid", grid), _dim("block", block), numerics, chip, source, progress)
    _check_block(op, launch)
    launch.cluster = _cluster(op, launch)
    launch.schedule, launch.max_steps, launch.races = schedule, max_steps, races
    memory, symbol = GlobalMemory(), _symbol(op)
    try:
        if level != "tile":
            lower_tiles(module, chip, source)
            op = find_kernel(module, symbol, name)
        values = bind(op, args, memory)
        if level == "ptx" and not isinstance(op, EntryOp):
            run_pipeline(module, chip, source)
            op = find_kernel(module, symbol, name)
            values = [lowered(value) for value in values]
        executed = run_kernel(op, launch, memory, values)
    except OpError as error:
        raise CompileError(op_diagnostic(error, source)) from None
    return Run(results(args, memory), executed)


def kernel_signature(
    module_or_text: ModuleOp | str, kernel: str | None = None, name: str = "<string>"
) -> list[KernelParameter]:
    """The parameters of a kernel. Raises CompileError where there is no such kernel."""
    module, _ = verified(module_or_text, name)
    return [each.public for each in kernel_parameters(find_kernel(module, kernel, name))]


# Kernels


def find_kernel(module: ModuleOp, kernel: str | None, name: str) -> Operation:
    """The kernel of that name, or the only one. Raises CompileError."""
    found = [op for op in module.walk() if isinstance(op, EntryOp) or is_kernel(op)]
    chosen = [op for op in found if kernel in (None, _symbol(op))]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(_symbol(op) for op in found) or "none"
    wanted = "one kernel" if kernel is None else f"a kernel '{kernel}'"
    raise CompileError(Diagnostic(f"expected {wanted}, got {names}", name))


def _symbol(op: Operation) -> str:
    assert isinstance(op, EntryOp | func.FuncOp | gpu.FuncOp)
    return op.sym_name.data


def _lowest_target(module: ModuleOp) -> str:
    return lowest(required_targets(module)).name


# The most that any target launches. CUDA C++ Programming Guide, compute capabilities.
_LIMITS = {"grid": ((1 << 31) - 1, 65535, 65535), "block": (1024, 1024, 64)}


def _dim(what: str, dim: Dim) -> tuple[int, int, int]:
    padded = (*dim, 1, 1)[:3] if 1 <= len(dim) <= 3 else ()
    if not padded or any(int(each) != each or each < 1 for each in padded):
        raise ExecutionError(f"expected {what} as up to three positive extents, got {tuple(dim)}")
    x, y, z = (int(each) for each in padded)
    if any(each > limit for each, limit in zip((x, y, z), _LIMITS[what], strict=True)):
        raise ExecutionError(f"expected {what} of at most {_LIMITS[what]}, got {(x, y, z)}")
    return x, y, z


def _check_block(op: Operation, launch: Launch) -> None:
    if launch.threads > 1024:
        raise ExecutionError(f"expected a block of at most 1024 threads, got {launch.threads}")
    known = op.attributes.get("gpu.known_block_size") or op.properties.get("reqntid")
    if known is not None:
        wanted = tuple(known.get_values())  # type: ignore[attr-defined]
        if wanted != launch.block:
            raise ExecutionError(f"'{_symbol(op)}' expected block {wanted}, got {launch.block}")


def _cluster(op: Operation, launch: Launch) -> tuple[int, int, int]:
    """The cluster that a kernel declares: one CTA where it declares none."""
    known = op.attributes.get("gpu.known_cluster_size") or op.properties.get("cluster")
    if not isinstance(known, DenseArrayBase):
        return 1, 1, 1
    extents = tuple(int(each) for each in known.get_values())
    if len(extents) != 3 or min(extents) < 1 or prod(extents) > MAX_CLUSTER:
        raise ExecutionError(
            f"'{_symbol(op)}' expected gpu.known_cluster_size of three extents, at most "
            f"{MAX_CLUSTER} CTAs in all, got {extents}"
        )
    if any(whole % part for whole, part in zip(launch.grid, extents, strict=True)):
        raise ExecutionError(
            f"'{_symbol(op)}' expected a grid of whole clusters of {extents}, got {launch.grid}"
        )
    x, y, z = extents
    return x, y, z
