"""Launches of Triton kernels here, in place of Triton's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from math import inf
from threading import local
from typing import Any, Unpack, cast
from unittest import mock

from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.extents import Extents
from tilewright.arguments.options import RULES, checked
from tilewright.compiler import compile as compile_module
from tilewright.cutile.device import HOPPER, Capability
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import SHARED_MEMORY
from tilewright.dialects.illegal import Error, told
from tilewright.kernel import Kernel
from tilewright.modelled_time import modelled_microseconds
from tilewright.pipeline import verified
from tilewright.source.checked import Rule, items, require
from tilewright.source.diagnostic import ArgumentError
from tilewright.tile_kernel import DEFAULT_ARCH, InterpretOptions, TileLaunch, run_in_place
from tilewright.triton.front_end import quick_front_end
from tilewright.triton.host import HostDriver, HostKernel, backend, passes_where_wanted
from tilewright.triton.items import are_apart, reached
from tilewright.triton.kept_texts import kept_texts
from tilewright.triton.parameters import (
    GRID,
    as_pointer,
    check_arguments,
    flat,
    for_launch,
)


def _capability(given: Any) -> Capability:
    major, minor = items(given)
    require(10 * major + minor in SHARED_MEMORY)
    return major, minor


_CAPABILITY = Rule("a compute capability, such as (9, 0)", _capability)


@checked(capability=_CAPABILITY)
@contextmanager
def on_cpu(
    *,
    arch: str = DEFAULT_ARCH,
    capability: Capability = HOPPER,
    **options: Unpack[InterpretOptions],
) -> Generator[None]:
    """Let launches of `@triton.jit` functions run here, on torch tensors of the CPU and arrays of
    NumPy, in place; `arch` and the options are those of `tilewright.cutile.launch`. Kernels are
    specialized for a GPU of `capability`. `triton.autotune` takes the configuration that is the
    quickest by a latency model of `arch`, which it warns of, and runs it alone.

    A launch raises CompileError for a kernel that is refused, at its Python line, ArgumentError for
    wrong arguments, ExecutionError for what no kernel may do; Triton's own errors are as they are.
    """

    def run(kernel: HostKernel, grid: Extents, parameters: Sequence[tuple[str, Any]]) -> None:
        blocks = RULES["grid"].value("grid", grid, (ArgumentError,))
        names, values = [name for name, _ in parameters], [value for _, value in parameters]
        entry, values = kernel.of_launch(grid, values), kernel.placed(values)
        launch = TileLaunch(blocks, arch=arch, **options)
        run_in_place(entry, launch, [*zip(names, values, strict=True)])

    def time(kernel: HostKernel, grid: Extents, parameters: Sequence[tuple[str, Any]]) -> float:
        values = [value for _, value in parameters]
        try:
            module: Any = kernel.viewed.get_toplevel_object()
            return modelled_microseconds(module, grid, values, arch)
        except Error:  # what is wrong with it shows where it runs, if it does
            return inf

    with _active(run, time, capability):
        yield


@contextmanager
def on_gpu() -> Generator[None]:
    """Let `@triton.jit` functions be compiled by tilewright for the GPU of this machine, and
    launched there as Triton launches them. What a process has compiled by Triton itself stays.

    A launch raises CompileError for a kernel that is refused, at its Python line, TargetError for a
    GPU that is unknown, `tilewright.LaunchError` where its driver refuses; Triton's own errors are
    as they are."""
    registered: Any = import_module("triton.backends")
    driver: Any = import_module("triton.runtime.driver").driver
    function: Any = import_module("triton.runtime.jit").JITFunction
    kernel: Any = import_module("triton.compiler").CompiledKernel
    with (
        mock.patch.dict(registered.backends),
        mock.patch.object(driver, "_active", None),
        mock.patch.object(function, "run", function.run),
        mock.patch.object(kernel, "__getitem__", kernel.__getitem__),
    ):
        driver.set_active(import_module("tilewright.triton.driver").Driver(apart=True))
        yield


@contextmanager
def _active(run: Any, time: Any, capability: Capability) -> Generator[None]:
    """Let Triton compile for a driver of ours, and take arrays of NumPy."""
    registered: Any = import_module("triton.backends")
    driver: Any = import_module("triton.runtime.driver").driver
    function: Any = import_module("triton.runtime.jit").JITFunction
    source: Any = import_module("triton.compiler").ASTSource
    tuner: Any = import_module("triton.runtime.autotuner").Autotuner
    mlir: Any = import_module("triton.compiler.compiler").ir
    ours = HostDriver(run, time, 10 * capability[0] + capability[1])
    # Triton asks for one back end of a target.
    replaced = {"tilewright": registered.Backend(compiler=backend(), driver=type(ours))}
    launch, kept_by = function.run, source.hash

    def in_its_file(self: Any) -> str:
        """The name that Triton keeps a kernel by, and the file, as texts name its lines."""
        return f"{kept_by(self)}-{inspect.getfile(self.fn.fn)}"

    def with_arrays(self: Any, *args: Any, grid: Any, **named: Any) -> Any:
        check_arguments(self, args, named)
        grid = GRID.value("grid", grid, (ArgumentError,))
        pointers = {name: as_pointer(value) for name, value in named.items()}
        return launch(self, *map(as_pointer, args), grid=grid, **pointers)

    with (
        mock.patch.dict(registered.backends, replaced, clear=True),
        mock.patch.object(driver, "_active", ours),
        mock.patch.object(function, "run", with_arrays),
        # whatever clock a kernel brings, launches would take this machine's time
        mock.patch.object(tuner, "do_bench", property(lambda _: ours.get_benchmarker())),
        mock.patch.object(source, "hash", in_its_file),
        mock.patch.object(mlir, "context", _kept(mlir.context)),
        kept_texts(),
        quick_front_end(),
        passes_where_wanted(),
    ):
        yield


_OF_THREAD = local()


def _kept(make: Callable[[], Any]) -> Callable[[], Any]:
    """The context of MLIR that a thread made first: Triton loads its dialects into each, and drops
    it, which takes as long as the passes of a small kernel."""

    def context() -> Any:
        if not hasattr(_OF_THREAD, "context"):
            _OF_THREAD.context = make()
        return _OF_THREAD.context

    return context


def module(kernel: Any, /, *args: Any, **named: Any) -> ModuleOp:
    """The Tile IR of a `@triton.jit` function, as it is compiled for these arguments and options;
    of one that `triton.autotune` decorates, by its first configuration.

    Raises CompileError at the Python line of what is refused, ArgumentError for another function.
    """
    return _module(kernel, args, named)[0]


def _module(kernel: Any, args: Sequence[Any], named: dict[str, Any]) -> tuple[ModuleOp, str]:
    """The Tile IR of a function, and its name."""
    if not hasattr(kernel, "warmup"):
        raise ArgumentError(f"expected a @triton.jit function, got {told(kernel)}")
    with _active(None, None, HOPPER):
        compiled: Any = kernel.warmup(*map(as_pointer, args), grid=(1,), **named)
    if isinstance(compiled, list):  # of `triton.autotune`, one of each configuration
        compiled = cast("list[Any]", compiled)[0]
    given = {**dict(zip(kernel.arg_names, args, strict=False)), **named}
    rows = ((name, type_, given.get(name, 0)) for name, type_ in compiled.src.signature.items())
    values = [value for row in rows for _, value in flat(*row, lambda _, one: reached(one))]
    memories = [value for value in values if isinstance(value, range)]
    apart = are_apart(range(len(memories)), memories)
    code = for_launch(compiled.kernel, values, apart=apart)
    return verified(code, compiled.name)[0], compiled.name


def compile(kernel: Any, /, *args: Any, arch: str = DEFAULT_ARCH, **named: Any) -> Kernel:
    """A `@triton.jit` function as tilewright compiles it for these arguments and options, and a
    target. Raises as `module` does, and TargetError."""
    traced, name = _module(kernel, args, named)
    return compile_module(traced, arch, name=name)
