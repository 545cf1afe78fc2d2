"""Launches of cuTile kernels: on the CPU, on the GPU, and in place of cuTile's own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, Unpack, cast
from unittest import mock

from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.options import checked
from tilewright.cutile import relaunch
from tilewright.cutile.compiler_errors import compiler_errors
from tilewright.cutile.gpu import BlockSchedule, compiled, scheduled, start
from tilewright.cutile.parameters import CutileParameter, as_array, flat_of, parameters_of
from tilewright.cutile.rules import GRID, KERNEL, KERNEL_OR_BYTECODE
from tilewright.cutile.tuning import Export, Measure, exported, microseconds, modelled, tuning
from tilewright.dialects.cuda_tile.accuracy import Accuracy, set_accuracy
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
_MODULES: dict[tuple[Any, ...], ModuleOp] = {}
_KERNELS: dict[tuple[Any, ...], Kernel] = {}
_OF_THE_GPU = frozenset(["stream", "arch", "accuracy", "programmatic_dependent_launch"])
"""The options of a launch on the GPU."""


class _Target(NamedTuple):
    """The target of a kernel, by default that of this machine's GPU, and its functions' bits."""

    arch: str | None = None
    accuracy: Accuracy = "libdevice"


_Launching = TypeVar("_Launching", bound=Callable[..., None])
_Export = Callable[[Any, Any], bytes]
"""The bytecode of a kernel for a signature."""


def _relaunching(launching: _Launching) -> _Launching:
    """Let a launch that is like one before go without checks."""

    @wraps(launching)
    def launch(*given: Any, **options: Any) -> None:
        if len(given) == 3 and options.keys() <= _OF_THE_GPU:
            stream = options.get("stream")
            to = _Target(options.get("arch"), options.get("accuracy", "libdevice"))
            programmatic = options.get("programmatic_dependent_launch", False)
            again = relaunch.known_launch(*given, to, programmatic)
            if again is not None:
                stream = _current_stream() if stream is None else stream
                template, addresses = again
                template.start(addresses, stream_handle(stream))
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
    accuracy: Accuracy = "libdevice",
    stream: Any = None,
    programmatic_dependent_launch: bool = False,
    **options: Unpack[InterpretOptions],
) -> None:
    """Run a `@ct.kernel` for a grid of up to three extents, in place, where its arrays are.

    On NumPy arrays, arrays of ml_dtypes or CPU torch tensors, tuples and lists of them, it runs
    here, `arch` and the options `numerics`, `races`, `check`, `max_steps`, `progress` and
    `accuracy` being those of `tilewright.interpret`: by default with what a GPU computes, bit for
    bit, and a bar on a terminal for what takes longer than two seconds. On arrays on the GPU
    (torch, CuPy, `__cuda_array_interface__`, DLPack) it is compiled for `arch`, by default that
    GPU's target, with that `accuracy`, and launched on a stream (of torch, CuPy, or the driver's
    number of one), by default torch's current one where torch is imported; it is not waited for.
    With `programmatic_dependent_launch` it may start before the kernel in front of it on the stream
    has ended: it has to wait for that itself, and what it reads before is its own concern.
    Bytecode of cuTile's calling convention will do for a kernel, `args` being without constants.

    Raises CompileError where cuTile or tilewright rejects the kernel, ArgumentError for wrong
    arguments, ExecutionError for what no kernel may do, at the Python line that does it,
    `tilewright.LaunchError` where the GPU's driver refuses.
    """
    extents = cast("Extents", grid)
    parameters = _parameters(kernel, args)
    places = {
        isinstance(array, ArrayArgument): parameter.name
        for parameter in parameters
        for array in parameter.arrays()
    }
    if len(places) > 1:
        raise ArgumentError(
            "expected all arrays on the GPU or all on the CPU, got both: "
            f"'{places[True]}' there and '{places[False]}' here"
        )
    if True in places:
        stream = _current_stream() if stream is None else stream
        to = _Target(arch, accuracy)
        _start(extents, kernel, args, to, stream, programmatic_dependent_launch, _bytecode)
        return
    entry = find_entry(_module(kernel, parameters, accuracy), None)
    run_in_place(
        entry, TileLaunch(extents, arch=arch or DEFAULT_ARCH, **options), flat_of(parameters)
    )


@checked(kernel=KERNEL_OR_BYTECODE)
def compile(
    kernel: Any,
    args: Sequence[Any],
    arch: str | None = None,
    *,
    accuracy: Accuracy = "libdevice",
) -> Kernel:
    """A kernel as it is compiled for these arguments, on the GPU or not, and a target, by default
    that of this machine's GPU: its PTX, and remarks. Of arrays is assumed what cuTile assumes: that
    addresses, strides and sizes go on being multiples of 16 where they are. `accuracy` is that of
    `tilewright.compile`.

    Raises CompileError, TargetError, ArgumentError, and LaunchError without `arch` or GPU."""
    return _compiled(kernel, _parameters(kernel, args), _Target(arch, accuracy))


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
    return [part for _, part in flat_of(_parameters(kernel, args))]


@dataclass(slots=True)
class Launches:
    """How many launches were asked for in place of cuTile's."""

    count: int = 0


@checked()
@contextmanager
def on_cpu(
    *,
    arch: str = DEFAULT_ARCH,
    accuracy: Accuracy = "libdevice",
    **options: Unpack[InterpretOptions],
) -> Generator[Launches]:
    """Let `ct.launch` run kernels here, whatever the stream, with these options of `launch`;
    `ct.tune` ranks its configs by a latency model of `arch`, which it warns of, and runs none."""

    def here(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], /, **_: Any
    ) -> None:
        del stream
        launches.count += 1
        launch(grid, kernel, args, arch=arch, accuracy=accuracy, **options)

    launches = Launches()
    with _launching(here, modelled(compiled_launch, arch), lambda *_: None):
        yield launches


def compiled_launch(kernel: Any, args: Sequence[Any]) -> tuple[bytes, list[Any]]:
    """The bytecode and the flat parameters of a launch on a GPU."""
    assumed = _signature(_parameters(kernel, args), aligned=True)
    return _bytecode(kernel, assumed), _flat(kernel, args)


@checked()
@contextmanager
def on_gpu(*, arch: str | None = None, accuracy: Accuracy = "libdevice") -> Generator[Launches]:
    """Let `ct.launch` compile kernels by tilewright, for `arch` or the GPU's target, and launch
    them on the GPU of this machine, and `ct.tune` time what they take there. Arrays of NumPy are
    copied to the GPU and back. `accuracy` is that of `tilewright.compile`."""
    to = _Target(arch, accuracy)

    @checked(kernel=KERNEL_OR_BYTECODE, grid=GRID)
    def first(
        grid: Sequence[int], kernel: Any, args: Sequence[Any], stream: Any, programmatic: bool
    ) -> None:
        extents = cast("Extents", grid)
        _start(extents, kernel, args, to, stream, programmatic, _bytecode_aloud)

    def started(stream: Any, grid: Any, kernel: Any, args: Any, programmatic: bool = False) -> None:
        again = relaunch.known_launch(grid, kernel, args, to, programmatic)
        if again is None:
            first(grid, kernel, args, stream, programmatic)
        else:
            template, addresses = again
            template.start(addresses, stream_handle(stream))

    def measured(stream: Any, grid: Any, kernel: Any, args: Any, flush: bool = True, /) -> float:
        return microseconds(lambda: started(stream, grid, kernel, args), stream, flush=flush)

    def there(
        stream: Any, grid: Any, kernel: Any, args: Any, /,
        programmatic_dependent_launch: bool = False, **_: Any,
    ) -> None:  # fmt: skip
        launches.count += 1
        started(stream, grid, kernel, args, programmatic_dependent_launch)

    @checked(kernel=KERNEL_OR_BYTECODE, grid=GRID)
    def exporting(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], flush: bool = True, /
    ) -> bytes | None:
        del stream
        extents, parameters = cast("Extents", grid), _parameters(kernel, args)
        _, chosen, _ = _chosen(extents, kernel, parameters, to, _bytecode_aloud)
        return exported(chosen[0], flat_of(parameters), extents, flush)

    launches = Launches()
    with _launching(there, measured, exporting):
        yield launches


@contextmanager
def _launching(launching: Any, measure: Measure, export: Export) -> Generator[None]:
    """Let cuTile launch, and measure launches, by other functions than its own."""
    ct = _cuda_tile()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(ct, "launch", launching))
        if hasattr(ct, "__path__"):
            stack.enter_context(mock.patch.object(ct.kernel, "_compile", _compile))
            cext = import_module("cuda.tile._cext")
            stack.enter_context(mock.patch.object(cext, "launch", launching))
            stack.enter_context(tuning(measure, export))
        yield


def _compile(kernel: Any, signature: Any, context: Any, capability: Any = None) -> bytes:
    """In place of cuTile's own: the bytecode, which is what is compiled, after cuTile's checks of
    what a GPU of that capability has."""
    del context
    return _bytecode(kernel, signature, capability and "sm_{}{}".format(*capability))


def _current_stream() -> Any:
    """The stream of torch that launches go to; None, the default one, where torch is not used."""
    torch: Any = sys.modules.get("torch")
    return None if torch is None else torch.cuda.current_stream()


def _start(
    grid: Extents,
    kernel: Any,
    args: Sequence[Any],
    to: _Target,
    stream: Any,
    programmatic: bool,
    export: _Export,
) -> None:
    parameters = _parameters(kernel, args)
    code, chosen, schedule = _chosen(grid, kernel, parameters, to, export)
    start(chosen, flat_of(parameters), grid, stream, programmatic=programmatic)
    relaunch.remember(kernel, args, to, code, chosen, schedule)


def _chosen(
    grid: Extents, kernel: Any, parameters: list[CutileParameter], to: _Target, export: _Export
) -> tuple[Kernel, Sequence[Kernel], BlockSchedule]:
    """The kernel, and those for the schedule of a grid's blocks."""
    code = _compiled(kernel, parameters, to, export=export)
    chosen = [code]
    schedule = BlockSchedule.of(code, grid, [part for _, part in flat_of(parameters)])
    if schedule != BlockSchedule():
        chosen = scheduled(schedule, partial(_compiled, kernel, parameters, to))
    return code, chosen, schedule


def _compiled(
    kernel: Any,
    parameters: list[CutileParameter],
    to: _Target,
    schedule: Any = None,
    export: _Export | None = None,
) -> Kernel:
    """The kernel, compiled once for what is assumed of its arguments, and for a schedule of its
    blocks."""
    arch = to.arch or device_arch()
    assumed = None if isinstance(kernel, bytes) else _signature(parameters, aligned=True)
    key = (kernel, repr(assumed), arch, to.accuracy, schedule)
    with relaunch.COMPILING:
        known = _KERNELS.get(key)
        if known is None:
            code = (export or _bytecode)(kernel, assumed)
            with compiler_errors():
                made = compiled(code, arch, _name(kernel), schedule, to.accuracy)
            origin = code, _name(kernel), partial(_flat, kernel)
            known = _KERNELS[key] = replace(made, made_from=origin)
    return known


# Kernels


def _cuda_tile() -> Any:
    return import_module("cuda.tile")


def _compilation() -> Any:
    return import_module("cuda.tile.compilation")


def _module(
    kernel: Any, parameters: Sequence[CutileParameter], accuracy: Accuracy = "libdevice"
) -> ModuleOp:
    """The verified module of a kernel, or of bytecode, with functions of an accuracy."""
    assumed = None if isinstance(kernel, bytes) else _signature(parameters)
    key = (kernel, repr(assumed), accuracy)
    known = _MODULES.get(key)
    if known is None:
        with compiler_errors():
            known = verified(_bytecode(kernel, assumed), _name(kernel))[0]
        set_accuracy(known, accuracy)
        _MODULES[key] = known
    return known


def _signature(parameters: Sequence[CutileParameter], *, aligned: bool = False) -> Any:
    compilation = _compilation()
    arrays = [array for parameter in parameters for array in parameter.arrays()]
    constraints = [parameter.constraint(arrays, aligned=aligned) for parameter in parameters]
    convention = compilation.CallingConvention.cutile_python_v2()
    return compilation.KernelSignature(constraints, convention, symbol=_ENTRY)


def _bytecode(kernel: Any, assumed: Any, gpu: str | None = None) -> bytes:
    if isinstance(kernel, bytes):
        return kernel
    file = io.BytesIO()
    try:
        _compilation().export_kernel(
            kernel,
            [assumed],
            file,
            gpu_code=gpu,
            output_format="tileir_bytecode",
            bytecode_version=_VERSION,
        )
    except OSError as error:  # a function without a source file
        raise CompileError(Diagnostic(str(error), _name(kernel))) from None
    except TypeError as error:  # an argument of another kind
        raise ArgumentError(f"'{_name(kernel)}' {error}") from None
    except (AssertionError, SyntaxError):
        message = "expected a function of 'def', which cuTile can read, got one that it cannot"
        raise CompileError(Diagnostic(message, _name(kernel))) from None
    except _cuda_tile().TileInternalError as error:
        error.message = f"{error.message.strip()} {error.__cause__!r} in cuTile's own compiler"
        raise
    return file.getvalue()


def _bytecode_aloud(kernel: Any, assumed: Any) -> bytes:
    """The same through the method by which cuTile compiles, which is ours in `on_gpu`: whoever
    watches it is told."""
    if isinstance(kernel, bytes):
        return kernel
    return kernel._compile(assumed, None, device_capability())


def _name(kernel: Any) -> str:
    if isinstance(kernel, bytes):
        return "bytecode"
    return str(kernel._annotated_function.pyfunc.__name__)
