"""Launches of cuTile kernels: on the CPU, on the GPU, and in place of cuTile's own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from importlib import import_module
from typing import Any, TypeVar, Unpack, cast
from unittest import mock

from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.options import checked
from tilewright.cutile import relaunch
from tilewright.cutile.gpu import BlockSchedule, compiled, microseconds, start
from tilewright.cutile.parameters import CutileParameter, as_array, parameters_of
from tilewright.cutile.rules import GRID, KERNEL, KERNEL_OR_BYTECODE
from tilewright.kernel import Kernel
from tilewright.launch.kernel import Extents
from tilewright.launch.launcher import device_arch, device_capability, stream_handle
from tilewright.pipeline import verified
from tilewright.source.diagnostic import ArgumentError, CompileError, Diagnostic
from tilewright.tile_kernel import (
    DEFAULT_ARCH,
    InterpretOptions,
    TileLaunch,
    find_entry,
    run_in_place,
)

_ENTRY = "k"
_VERSION = "13.4"
_MODULES: dict[tuple[Any, str], ModuleOp] = {}
_KERNELS: dict[tuple[Any, str, str, int], Kernel] = {}
_OF_THE_GPU = frozenset(["stream", "arch", "programmatic_dependent_launch"])
"""The options of a launch on the GPU."""

_Launching = TypeVar("_Launching", bound=Callable[..., None])
_Export = Callable[[Any, Any], bytes]
"""The bytecode of a kernel for a signature."""


def _relaunching(launching: _Launching) -> _Launching:
    """Let a launch that is like one before go without checks."""

    @wraps(launching)
    def launch(*given: Any, **options: Any) -> None:
        if len(given) == 3 and options.keys() <= _OF_THE_GPU:
            arch, stream = options.get("arch"), options.get("stream")
            programmatic = options.get("programmatic_dependent_launch", False)
            ready = relaunch.ready_launch(*given, arch, programmatic)
            if ready is not None:
                stream = _current_stream() if stream is None else stream
                ready.start(stream_handle(stream))
                return
        launching(*given, **options)

    return cast("_Launching", launch)


@_relaunching
@checked(kernel=KERNEL_OR_BYTECODE, grid=GRID)
def launch(
    grid: Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    arch: str | None = None,
    stream: Any = None,
    programmatic_dependent_launch: bool = False,
    **options: Unpack[InterpretOptions],
) -> None:
    """Run a `@ct.kernel` for a grid of up to three extents, in place, where its arrays are.

    On NumPy arrays, arrays of ml_dtypes or CPU torch tensors, tuples and lists of them, it runs
    here, `arch` and the options `numerics`, `races`, `padding`, `max_steps` and `progress` being
    those of `tilewright.interpret`: by default with what a GPU computes, bit for bit, and a bar on
    a terminal for what takes longer than two seconds. On arrays on the GPU (torch, CuPy,
    `__cuda_array_interface__`, DLPack) it is compiled for `arch`, by default that GPU's target, and
    launched on a stream (of torch, CuPy, or the driver's number of one), by default torch's current
    one where torch is imported; it is not waited for. With `programmatic_dependent_launch` it may
    start before the kernel in front of it on the stream has ended: it has to wait for that itself,
    and what it reads before is its own concern.
    In place of a kernel its bytecode will do, compiled before by cuTile or who else follows its
    calling convention; `args` are then without its constants.

    Raises CompileError where cuTile or tilewright rejects the kernel, ArgumentError for wrong
    arguments, ExecutionError for what no kernel may do, at the Python line that does it,
    `tilewright.LaunchError` where the GPU's driver refuses.
    """
    extents = cast("Extents", grid)
    parameters = _parameters(kernel, args)
    places = {
        isinstance(array, ArrayArgument) for parameter in parameters for array in parameter.arrays()
    }
    if len(places) > 1:
        raise ArgumentError("expected all arrays on the GPU or all on the CPU, got both")
    if True in places:
        stream = _current_stream() if stream is None else stream
        _start(extents, kernel, args, arch, stream, programmatic_dependent_launch, _bytecode)
        return
    if isinstance(kernel, bytes):
        entry = find_entry(verified(kernel, "bytecode")[0], None)
    else:
        entry = find_entry(_module(kernel, parameters), _ENTRY)
    flat = [part for parameter in parameters for part in parameter.flat()]
    run_in_place(entry, TileLaunch(extents, arch=arch or DEFAULT_ARCH, **options), flat)


@checked(kernel=KERNEL_OR_BYTECODE)
def compile(kernel: Any, args: Sequence[Any], arch: str | None = None) -> Kernel:
    """A kernel as it is compiled for these arguments, on the GPU or not, and a target, by default
    that of this machine's GPU: its PTX, and remarks. Of arrays is assumed what cuTile assumes: that
    addresses, strides and sizes go on being multiples of 16 where they are.

    Raises CompileError, TargetError, ArgumentError, and LaunchError without `arch` or GPU."""
    return _compiled(kernel, _parameters(kernel, args), arch)


@checked(kernel=KERNEL)
def module(kernel: Any, args: Sequence[Any]) -> ModuleOp:
    """The Tile IR of a kernel, as it is compiled for these arguments."""
    return _module(kernel, parameters_of(kernel, args)).clone()


@checked(kernel=KERNEL)
def bytecode(kernel: Any, args: Sequence[Any]) -> bytes:
    """The Tile IR bytecode of a kernel, as it is compiled for these arguments."""
    return _bytecode(kernel, signature(kernel, args))


@checked(kernel=KERNEL)
def signature(kernel: Any, args: Sequence[Any]) -> Any:
    """The signature of these arguments for cuTile: cuda.tile.compilation's KernelSignature."""
    return _signature(parameters_of(kernel, args))


def _parameters(kernel: Any, args: Sequence[Any]) -> list[CutileParameter]:
    """The parameters of a kernel, or of bytecode."""
    if not isinstance(kernel, bytes):
        return parameters_of(kernel, args)
    return [
        CutileParameter(f"argument {i}", None, as_array(argument))
        for i, argument in enumerate(args)
    ]


def _flat(kernel: Any, args: Sequence[Any]) -> list[Any]:
    """The flat parameters that arguments are."""
    return [part for parameter in _parameters(kernel, args) for _, part in parameter.flat()]


@dataclass(slots=True)
class Launches:
    """How many launches were asked for in place of cuTile's."""

    count: int = 0


@checked()
@contextmanager
def on_cpu(*, arch: str = DEFAULT_ARCH, **options: Unpack[InterpretOptions]) -> Generator[Launches]:
    """Let `ct.launch` run kernels here, whatever the stream, with these options of `launch`;
    `ct.tune` compiles its configs, which take no time, and takes the first that compiles."""

    def here(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], /, **_: Any
    ) -> None:
        del stream
        launch(grid, kernel, args, arch=arch, **options)

    def untimed(_: Any, grid: Any, kernel: Any, args: Sequence[Any], *__: Any) -> float:
        del grid
        bytecode(kernel, args)
        return 0.0

    with _launching(here, untimed) as launches:
        yield launches


@checked()
@contextmanager
def on_gpu(*, arch: str | None = None) -> Generator[Launches]:
    """Let `ct.launch` compile kernels by tilewright, for `arch` or the GPU's target, and launch
    them on the GPU of this machine, and `ct.tune` time what they take there, without a limit of
    time. Arrays of NumPy are copied to the GPU and back."""

    @checked(kernel=KERNEL_OR_BYTECODE, grid=GRID)
    def first(
        grid: Sequence[int], kernel: Any, args: Sequence[Any], stream: Any, programmatic: bool
    ) -> None:
        extents = cast("Extents", grid)
        _start(extents, kernel, args, arch, stream, programmatic, _bytecode_aloud)

    def there(
        stream: Any, grid: Any, kernel: Any, args: Any, /,
        programmatic_dependent_launch: bool = False, **_: Any,
    ) -> None:  # fmt: skip
        programmatic = programmatic_dependent_launch
        ready = relaunch.ready_launch(grid, kernel, args, arch, programmatic)
        if ready is None:
            first(grid, kernel, args, stream, programmatic)
        else:
            ready.start(stream_handle(stream))

    def measured(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], *options: Any
    ) -> float:
        flush = bool(options and options[-1])  # behind the limit of time, where there is one
        return microseconds(lambda: there(stream, grid, kernel, args), stream, flush=flush)

    with _launching(there, measured) as launches:
        yield launches


@contextmanager
def _launching(launching: Any, measure: Measure) -> Generator[Launches]:
    """Let cuTile launch, and measure launches, by other functions than its own."""
    ct, launches = _cuda_tile(), Launches()

    def counting(*args: Any, **options: Any) -> None:
        launches.count += 1
        launching(*args, **options)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(ct, "launch", counting))
        if hasattr(ct, "__path__"):
            stack.enter_context(mock.patch.object(ct.kernel, "_compile", _compile))
            tune = import_module("cuda.tile.tune._tune")
            for name in ("_benchmark", "benchmark_with_timeout"):
                stack.enter_context(mock.patch.object(tune, name, measure))
        yield launches


def _compile(kernel: Any, signature: Any, context: Any, capability: Any = None) -> bytes:
    """In place of cuTile's own: the bytecode, which is what is compiled."""
    del context, capability
    return _bytecode(kernel, signature)


def _current_stream() -> Any:
    """The stream of torch that launches go to; None, the default one, where torch is not used."""
    torch: Any = sys.modules.get("torch")
    return None if torch is None else torch.cuda.current_stream()


def _start(
    grid: Extents,
    kernel: Any,
    args: Sequence[Any],
    arch: str | None,
    stream: Any,
    programmatic: bool,
    export: _Export,
) -> None:
    parameters = _parameters(kernel, args)
    code = chosen = _compiled(kernel, parameters, arch, export=export)
    if (schedule := BlockSchedule.of(code, grid)) != BlockSchedule():
        chosen = _compiled(kernel, parameters, arch, schedule)
    start(chosen, parameters, grid, stream, programmatic=programmatic)
    relaunch.remember(grid, kernel, args, arch, code, chosen, schedule)


def _compiled(
    kernel: Any,
    parameters: list[CutileParameter],
    arch: str | None,
    schedule: Any = None,
    export: _Export | None = None,
) -> Kernel:
    """The kernel, compiled once for what is assumed of its arguments, and for a schedule of its
    blocks."""
    if arch is None:
        arch = device_arch()
    assumed = None if isinstance(kernel, bytes) else _signature(parameters, aligned=True)
    key = (kernel, repr(assumed), arch, schedule)
    with relaunch.COMPILING:
        known = _KERNELS.get(key)
        if known is None:
            code = kernel if isinstance(kernel, bytes) else (export or _bytecode)(kernel, assumed)
            name = "bytecode" if isinstance(kernel, bytes) else _name(kernel)
            with _compiler_errors():
                made_from = (code, name, partial(_flat, kernel))
                known = replace(compiled(code, arch, name, schedule), made_from=made_from)
                _KERNELS[key] = known
    return known


# Kernels


def _cuda_tile() -> Any:
    return import_module("cuda.tile")


def _compilation() -> Any:
    return import_module("cuda.tile.compilation")


def _module(kernel: Any, parameters: Sequence[CutileParameter]) -> ModuleOp:
    assumed = _signature(parameters)
    key = (kernel, repr(assumed))
    known = _MODULES.get(key)
    if known is None:
        with _compiler_errors():
            known = _MODULES[key] = verified(_bytecode(kernel, assumed), _name(kernel))[0]
    return known


def _signature(parameters: Sequence[CutileParameter], *, aligned: bool = False) -> Any:
    compilation = _compilation()
    arrays = [array for parameter in parameters for array in parameter.arrays()]
    constraints = [parameter.constraint(arrays, aligned=aligned) for parameter in parameters]
    convention = compilation.CallingConvention.cutile_python_v2()
    return compilation.KernelSignature(constraints, convention, symbol=_ENTRY)


def _bytecode(kernel: Any, assumed: Any) -> bytes:
    file = io.BytesIO()
    try:
        _compilation().export_kernel(
            kernel,
            [assumed],
            file,
            gpu_code=None,
            output_format="tileir_bytecode",
            bytecode_version=_VERSION,
        )
    except OSError as error:  # a function without a source file
        raise CompileError(Diagnostic(str(error), _name(kernel))) from None
    except TypeError as error:  # an argument of another kind
        raise ArgumentError(f"'{_name(kernel)}' {error}") from None
    except AssertionError:
        message = "expected a function of 'def', which cuTile can read, got one that it cannot"
        raise CompileError(Diagnostic(message, _name(kernel))) from None
    except _cuda_tile().TileInternalError as error:
        # Its words are those of what went wrong there, which may have none.
        error.message = f"{error.message.strip()} {error.__cause__!r} in cuTile's own compiler"
        raise
    return file.getvalue()


@contextmanager
def _compiler_errors() -> Generator[None]:
    """Let what tilewright rejects be an error of cuTile's compiler too, where cuTile is there."""
    try:
        yield
    except CompileError as error:
        exceptions = sys.modules.get("cuda.tile._exception")
        raise error if exceptions is None else _compiler_error(exceptions)(error) from None


@cache
def _compiler_error(exceptions: Any) -> Callable[[CompileError], CompileError]:
    """Makes the CompileError that is one of cuTile's `exceptions` too."""

    class TileCompileError(CompileError, exceptions.TileCompilerExecutionError):
        def __init__(self, error: CompileError):
            CompileError.__init__(self, error.diagnostic, error.further)
            self.loc = exceptions.Loc(self.line or 0, (self.column or 1) - 1, error.diagnostic.file)
            self.compiler_flags, self.compiler_version = "", None

        __str__ = ValueError.__str__

    return TileCompileError


def _bytecode_aloud(kernel: Any, assumed: Any) -> bytes:
    """The same through the method by which cuTile compiles, which is ours in `on_gpu`: whoever
    watches it is told."""
    return kernel._compile(assumed, None, device_capability())


def _name(kernel: Any) -> str:
    return str(kernel._annotated_function.pyfunc.__name__)


Measure = Callable[[Any, Any, Any, Any], float]
"""The microseconds that a launch takes: of the stream, the grid, the kernel and its arguments."""
