"""`tilewright.interpret`: run a kernel on the CPU, at the level it is written or at a lower one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, Literal, cast

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.arguments.binding import Binding
from tilewright.arguments.extents import Extents, check_launch, checked_extents
from tilewright.arguments.interpreted import interpreted_values
from tilewright.arguments.options import checked
from tilewright.arguments.parameters import (
    Parameter,
    kernel_parameters,
    kernels_of,
    own_parameters,
    symbol_of,
)
from tilewright.arguments.shipped import ShippedArguments
from tilewright.dialects.cuda_tile.accuracy import Accuracy
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import known_extents
from tilewright.dialects.ptx.control_flow import EntryOp, block_ctas
from tilewright.levels import Level, ModuleLevels, levels_of, lowest_target
from tilewright.lowering.interpreter.breakpoints import Breakpoints
from tilewright.lowering.interpreter.checks import asking, check_written
from tilewright.lowering.interpreter.kernel import Watcher, run_kernel
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.runners import Engine, is_installed
from tilewright.lowering.interpreter.share import Elsewhere, Share, refuse_text
from tilewright.lowering.interpreter.timeline.record import Timeline
from tilewright.lowering.ptx.registers import RegisterNames
from tilewright.passes.analysis.written_parameters import written_parameters
from tilewright.pipeline import (
    is_tile_ir,
)
from tilewright.shares import shared_out
from tilewright.source.checked import Rule, items, require
from tilewright.source.diagnostic import ArgumentError, ExecutionError
from tilewright.source.guard import guard
from tilewright.source.recursion import deep_recursion
from tilewright.tile_kernel import (
    DEFAULT_ARCH,
    Padding,
    Races,
    TileLaunch,
    chosen_kernel,
    entry_parameters,
    find_entry,
    negative_places,
    python_names,
    run_tile_kernel,
)

__all__ = ["ExecutionError", "Parameter", "Timeline", "interpret", "kernel_signature"]

Dim = Sequence[int]


def _watchers(given: Any) -> Sequence[Any]:
    watchers = tuple(items(given))
    for watcher in watchers:
        require(callable(getattr(watcher, "watch", None)) and hasattr(watcher, "level"))
    return watchers


_WATCHERS = Rule("a list of what watches runs, as Timeline does", _watchers)


@frozen
class Run:
    """The results of a run: its memref arguments, and how many operations of single threads it
    took."""

    arrays: list[NDArray[Any]]
    lane_operations: int


@checked(watchers=_WATCHERS)
def interpret(
    module_or_text: ModuleOp | str | bytes,
    kernel: str | None = None,
    *,
    grid: Dim,
    block: Dim | None = None,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact", "fast"] = "hardware",
    arch: str | None = None,
    level: Level | None = None,
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
    schedule: int | None = None,
    max_steps: int | None = None,
    races: Races | None = None,
    check: str | Collection[str] | None = None,
    padding: Padding = "undetermined",
    executor: Executor | None = None,
    watchers: Sequence[Watcher] = (),
    accuracy: Accuracy = "libdevice",
    engine: Engine = "numpy",
) -> list[NDArray[Any]]:
    """Run a kernel on the CPU and return its arrays, in order, as they are after the run.

    `args`: a C-contiguous NumPy array for each memref, an array of any strides for each
    `!cute.memref`, a `TensorMap` of an array for each `tma_descriptor`, a number for each scalar
    and a tuple for each struct, in order, of PTX's bytes a dict of what begins at which of them:
    arrays for pointers, `TensorMap`s, numbers of NumPy, `bytes`; inputs are not modified. Arrays
    that overlap are one memory, and one that is read-only may not be written. An array of unsigned
    integers stands for raw bits of any element type of its width. `grid` and `block` are (x, y, z).
    `kernel` may be left out where there is one.
    By default the IR runs as it is; `level="atom"` lowers tiles to atoms first, and `level="ptx"`
    everything to instructions. A kernel that was lowered from the tile level takes the arguments
    that it had there. `numerics="hardware"` computes MMAs as
    the chip `arch` does (by default the lowest target that the kernel needs), "exact" rounds the
    mathematical result once. `progress(done, total)` is called as CTAs finish. Threads run in the
    order of the text where they may or, with a seed as `schedule`, in a random one, in which copies
    and MMAs complete late: what depends on an order that nothing asks for shows under some seed.
    `max_steps` bounds the ops that the gangs of a wave of CTAs run; the error of a kernel that
    takes more names the loop that it was in.
    `races` says what becomes of races on global memory: "error" by default, "warn" or "ignore". A
    run in which nothing can end a loop that spins is an error too.
    `check` says what is looked for besides, nothing by default: "nan", the first NaN or infinity
    that no operand of the op that makes it has; "unwritten", elements of outputs, arrays that the
    compiled kernel may write, that no block wrote; "integers", shifts of `arith` by the width or
    more (a division by zero is an error anyway); "padding" asks nothing more, as nothing that is
    undefined may be used.
    `executor`: the CTAs are shared out to its workers, processes here or on other machines; what is
    returned, raised or printed is the same without it. `watchers` watch it run:
    a `tilewright.Timeline` gets what the first CTAs' warps do and when, by a model of the chip, at
    level "ptx" and in the order of the text; `Breakpoints` show values where threads come to lines.
    `engine` says what executes instructions at level "ptx": "numpy" (by default) one after the
    other for all threads, "compiled" native code (the extra `fast`), "auto" that once a run has
    taken long where the extra is installed.

    CUDA Tile IR, as text, module or bytecode, is the level "program": `args` are the entry's flat
    parameters, an array of any dtype for a pointer to its first element; there is no `block`, which
    follows from the entry. Any other level is that of the kernel that it is compiled to for `arch`;
    `numerics="fast"` multiplies matrices by f32 BLAS; with "hardware" functions such as `exp` have
    the bits of compiled kernels, by `accuracy` those of CUDA's "libdevice" or of `math`, more
    "exact" (docs/math.md). `races`, "error" by default, are
    conflicting accesses that no token and no atomic orders, and what Tile IR leaves undefined.
    `check` says what is looked for, "padding,integers" by default: "padding", values that loads
    give where nothing determines them, such as beyond a tensor without a padding value, and that
    reach a store, a branch, an index or an address (without it, by `padding="zeros"`, and at any
    other level, which has no such check, they are zeros); "integers", results of arithmetic that
    Tile IR leaves undefined; and as below "nan" and "unwritten".
    `max_steps` bounds the iterations of loops, at each of which `progress` is called, too.

    Raises CompileError for wrong IR, TargetError for an unknown arch, ArgumentError for wrong
    arguments, and ExecutionError for what no kernel may do: an access out of bounds or misaligned,
    a data race, use of an undefined register, a barrier that not all reach.
    """
    settings: dict[str, Any] = dict(
        grid=grid, block=block, args=args, numerics=numerics, arch=arch, level=level, name=name,
        schedule=schedule, max_steps=max_steps, check=check, padding=padding, accuracy=accuracy,
        engine=engine,
    )  # fmt: skip
    if engine == "compiled" and not is_installed():
        raise ArgumentError(
            "expected llvmlite for engine 'compiled', which is not installed; nearest legal: "
            "engine 'auto', or pip install 'tilewright[fast]'"
        )
    if watchers and executor is not None:
        raise ArgumentError(f"expected no executor for a run that is watched, got {executor}")
    if any(watcher.level == "ptx" for watcher in watchers):
        if schedule is not None or level not in (None, "ptx"):
            raise ArgumentError(
                "expected level 'ptx' and no schedule for a timeline, got "
                f"level={level!r}, schedule={schedule}"
            )
        settings["level"] = "ptx"
    elsewhere = None
    if executor is not None:
        text = str(module_or_text) if isinstance(module_or_text, ModuleOp) else module_or_text
        shipped = {**settings, "args": ShippedArguments(args)}
        again = partial(_interpret_share, text, kernel, **shipped)
        elsewhere = shared_out(executor, again, progress)
    return _interpret(
        module_or_text, kernel, **settings, races=races, progress=progress, elsewhere=elsewhere,
        watchers=watchers,
    )  # fmt: skip


def _interpret_share(
    text: str | bytes, kernel: str | None, share: Share, *, args: ShippedArguments, **settings: Any
) -> list[NDArray[Any]]:
    """A share of a run. In it all is an error that is one in any run."""
    settings["args"] = args.args
    return _interpret(text, kernel, **settings, races="error", share=share, say=refuse_text)


def _interpret(
    module_or_text: ModuleOp | str | bytes,
    kernel: str | None,
    *,
    block: Extents | None,
    level: Level | None,
    name: str,
    schedule: int | None,
    races: Races | None,
    check: Collection[str] | None,
    padding: Padding,
    accuracy: Accuracy,
    engine: Engine,
    watchers: Sequence[Watcher] = (),
    **settings: Any,
) -> list[NDArray[Any]]:
    """`interpret`, or a share of it: the other settings are `run`'s, and those of `TileLaunch`."""
    levels = levels_of(module_or_text, name, accuracy, negative_places(settings["args"]))
    module = levels.module
    settings |= {"races": races or "error", "source": levels.source}
    if is_tile_ir(module) and level not in (None, "program") and "padding" in (check or ()):
        raise ArgumentError(
            f"expected level 'program' for check 'padding', got level '{level}' (where loads "
            "beyond a tensor give zeros)"
        )
    if is_tile_ir(module) and block is not None:
        raise ArgumentError(f"expected no block for Tile IR, got {block}")
    if is_tile_ir(module) and level not in (None, "program"):
        settings["arch"] = settings["arch"] or DEFAULT_ARCH
        entry = find_entry(module, kernel, name)
        settings["parameters"] = entry_parameters(entry, settings["args"])
        module, _ = levels.at("ptx" if level == "ptx" else "tile", settings["arch"])
        entry = find_kernel(module, kernel, name)
        block = cast("Extents", known_extents(entry, "gpu.known_block_size"))
    elif is_tile_ir(module):
        breakpoints = [watcher for watcher in watchers if isinstance(watcher, Breakpoints)]
        if len(breakpoints) < len(watchers):
            raise ArgumentError(
                "expected Breakpoints to watch blocks of Tile IR, which are whole, got another "
                "watcher; nearest legal: level 'tile', 'atom' or 'ptx'"
            )
        if schedule is not None:
            raise ArgumentError(
                f"expected no schedule for Tile IR, whose blocks run one by one, got {schedule}"
            )
        grid, args = settings.pop("grid"), settings.pop("args")
        settings["arch"] = settings["arch"] or DEFAULT_ARCH
        settings |= {"padding": padding} if check is None else {"padding": padding, "check": check}
        launch = TileLaunch(grid, breakpoints=breakpoints, **settings)
        return run_tile_kernel(module, kernel, launch, args, name)
    if level == "program" or settings["numerics"] == "fast":
        option = "level 'program'" if level == "program" else "numerics 'fast'"
        raise ArgumentError(f"expected Tile IR for {option}, got none")
    if block is None:
        raise ArgumentError("expected a block, got none (only Tile IR kernels have none)")
    return run(
        module, kernel, block=block, level=level or "tile", name=name, schedule=schedule,
        watchers=watchers, levels=levels, engine=engine, check=check or (), **settings,
    ).arrays  # fmt: skip


@deep_recursion()
def run(
    module: ModuleOp,
    kernel: str | None = None,
    *,
    grid: Extents,
    block: Extents,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact"] = "hardware",
    arch: str | None = None,
    level: Level = "tile",
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
    source: str | None = None,
    schedule: int | None = None,
    max_steps: int | None = None,
    races: Races = "error",
    share: Share | None = None,
    elsewhere: Elsewhere | None = None,
    say: Callable[[str], Any] | None = None,
    watchers: Sequence[Watcher] = (),
    levels: ModuleLevels | None = None,
    parameters: Sequence[Parameter] | None = None,
    engine: Engine = "numpy",
    check: Collection[str] = (),
) -> Run:
    """`interpret` of a verified module below the program level, with the count of operations: an op
    executed by one thread is one. `source` is its text, `levels` what it may be lowered to;
    `parameters` are those of the entry of Tile IR that it was."""
    op = find_kernel(module, kernel, name)
    chip = lowest_target(module) if arch is None else target(arch).name
    x, y, z = grid
    ctas = checked_extents("grid", (x * block_ctas(op), y, z))
    launch = Launch(ctas, block, numerics, chip, source, progress)
    memory, symbol = GlobalMemory(), symbol_of(op)
    known_block = known_extents(op, "gpu.known_block_size")
    known_cluster = known_extents(op, "gpu.known_cluster_size")
    launch.schedule, launch.max_steps, launch.races = schedule, max_steps, races
    launch.share, launch.say = share, say or launch.say
    launch.cluster = check_launch(symbol, ctas, block, known_block, known_cluster)
    binding = Binding(parameters or kernel_parameters(op), args, memory)
    for host_block in binding.host.blocks:
        if host_block.read_only is not None:
            memory.protect(host_block.address, host_block.read_only)
    if elsewhere is not None and "unwritten" not in check:
        buffers = [buffer.data for buffer in memory.allocations]
        executed = elsewhere(buffers, launch.ctas)
        if executed is not None:
            return Run(_results(binding, memory), executed)
    levels, given = levels or ModuleLevels(module, source, name), op
    if level == "atom" or (level == "ptx" and not isinstance(op, EntryOp)):
        module, launch.arch = levels.at(level, arch)
    op = find_kernel(module, symbol, name)
    with guard("interpret", module, source, name), asking(check):
        registers = RegisterNames(op.body).registers if isinstance(op, EntryOp) else None
        values = interpreted_values(op, binding)
        executed = run_kernel(op, launch, memory, values, registers, watchers, engine)
    if "unwritten" in check:
        if not isinstance(given, EntryOp):
            given = find_kernel(levels.at("ptx", arch)[0], symbol, name)
        outputs = list(_outputs(given, binding.parameters))
        check_written(op, binding.unwritten(outputs, launch.written), source)
    return Run(_results(binding, memory), executed)


def _outputs(entry: Operation, parameters: Sequence[Parameter]) -> Iterator[str]:
    """The names of the arrays that a compiled kernel, which had these parameters, may write."""
    assert isinstance(entry, EntryOp)
    own = own_parameters(entry)
    for number in written_parameters(entry):
        source = own[number].source
        if source is None:
            yield parameters[number].name
        else:
            field = source.modes if source.part.data == "field" else ()
            name = parameters[source.index.data].name
            yield name + "".join(f"[{place.data}]" for place in field)


def _results(binding: Binding, memory: GlobalMemory) -> list[NDArray[Any]]:
    return binding.results(buffer.data[: buffer.size] for buffer in memory.allocations)


@checked()
@deep_recursion()
def kernel_signature(
    module_or_text: ModuleOp | str | bytes, kernel: str | None = None, name: str = "<string>"
) -> list[Parameter]:
    """The parameters of a kernel. Raises CompileError where there is no such kernel."""
    module = levels_of(module_or_text, name).module
    if is_tile_ir(module):
        return entry_parameters(find_entry(module, kernel, name))
    return kernel_parameters(find_kernel(module, kernel, name))


def declared_block(
    module_or_text: ModuleOp | str | bytes, name: str = "<string>"
) -> Sequence[int] | None:
    """The threads that the kernel of a module declares, a warp where it declares none; None of Tile
    IR. Raises CompileError where there are more kernels."""
    module = levels_of(module_or_text, name).module
    if is_tile_ir(module):
        return None
    kernel = find_kernel(module, None, name)
    return known_extents(kernel, "gpu.known_block_size") or (32,)


def argument_names(
    module_or_text: ModuleOp | str | bytes, kernel: str | None = None, name: str = "<string>"
) -> list[str]:
    """The names by which a kernel's arguments may be given: of a cuTile kernel those in Python."""
    module = levels_of(module_or_text, name).module
    names = python_names(find_entry(module, kernel, name)) if is_tile_ir(module) else []
    return names or [one.name for one in kernel_signature(module_or_text, kernel, name)]


# Kernels


def find_kernel(module: ModuleOp, kernel: str | None, name: str) -> Operation:
    """The kernel of that name, or the only one. Raises CompileError."""
    return chosen_kernel(kernels_of(module), kernel, name)
