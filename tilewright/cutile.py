"""cuTile Python kernels on the CPU: `@ct.kernel` functions on NumPy arrays or CPU torch tensors.

    import cuda.tile as ct
    import tilewright as tw

    tw.cutile.launch((8,), kernel, (a, b, c, 128))      # runs here, in place
    tw.cutile.module(kernel, (a, b, c, 128))            # its Tile IR
    with tw.cutile.on_cpu():
        ct.launch(stream, (8,), kernel, (a, b, c, 128)) # as a script has it

Needs the extra `cutile` (PyPI cuda-tile), no GPU and no tileiras: the kernel goes through bytecode.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.binding import checked_arguments
from tilewright.arguments.extents import checked_extents
from tilewright.cutile_parameters import CutileParameter, as_array, parameters_of
from tilewright.diagnostic import CompileError, Diagnostic
from tilewright.lowering.interpreter.cuda_tile.machine import Launch, Races
from tilewright.pipeline import verified
from tilewright.tile_kernel import DEFAULT_ARCH, find_entry, run_entry

__all__ = ["bytecode", "launch", "module", "on_cpu", "signature"]

Numerics = Literal["hardware", "exact", "fast"]
_ENTRY = "k"
_VERSION = "13.4"
_MODULES: dict[tuple[Any, str], ModuleOp] = {}


def launch(
    grid: Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    numerics: Numerics = "hardware",
    arch: str = DEFAULT_ARCH,
    races: Races = "error",
) -> None:
    """Run a `@ct.kernel` for a grid of up to three extents, on NumPy arrays, arrays of ml_dtypes or
    CPU torch tensors, tuples and lists of them, in place. `numerics`, `arch` and `races` are those
    of `tilewright.interpret`. In place of a kernel its bytecode will do, compiled before by cuTile
    or who else follows its calling convention; `args` are then without its constants.

    Raises CompileError where cuTile rejects the kernel, ExecutionError for what no kernel may do,
    at the Python line that does it.
    """
    extents = checked_extents("grid", grid)
    if isinstance(kernel, bytes):
        entry = find_entry(verified(kernel, "bytecode")[0], None)
        parameters = [
            CutileParameter(f"argument {i}", None, as_array(argument))
            for i, argument in enumerate(checked_arguments(args))
        ]
    else:
        parameters = parameters_of(kernel, args)
        entry = find_entry(_module(kernel, parameters), _ENTRY)
    flat = [part for parameter in parameters for part in parameter.flat()]
    names, values = [name for name, _ in flat], [value for _, value in flat]
    run_entry(entry, Launch(extents, numerics, arch, races), values, names).write_back()


def module(kernel: Any, args: Sequence[Any]) -> ModuleOp:
    """The Tile IR of a kernel, as it is compiled for these arguments."""
    return _module(kernel, parameters_of(kernel, args)).clone()


def bytecode(kernel: Any, args: Sequence[Any]) -> bytes:
    """The Tile IR bytecode of a kernel, as it is compiled for these arguments."""
    return _bytecode(kernel, signature(kernel, args))


def signature(kernel: Any, args: Sequence[Any]) -> Any:
    """The signature of these arguments for cuTile: cuda.tile.compilation's KernelSignature."""
    return _signature(parameters_of(kernel, args))


@contextmanager
def on_cpu(
    *, numerics: Numerics = "fast", arch: str = DEFAULT_ARCH, races: Races = "error"
) -> Generator[None]:
    """Let `ct.launch` run kernels here, whatever the stream."""
    ct = _cuda_tile()

    def here(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], /, **_: Any
    ) -> None:
        del stream
        launch(grid, kernel, args, numerics=numerics, arch=arch, races=races)

    before = ct.launch
    ct.launch = here
    try:
        yield
    finally:
        ct.launch = before


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
        known = _MODULES[key] = verified(_bytecode(kernel, assumed), _name(kernel))[0]
    return known


def _signature(parameters: Sequence[CutileParameter]) -> Any:
    compilation = _compilation()
    arrays = [array for parameter in parameters for array in parameter.arrays()]
    constraints = [parameter.constraint(arrays) for parameter in parameters]
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
    except (_cuda_tile().TileError, OSError) as error:  # OSError: a function without a source file
        raise CompileError(Diagnostic(str(error), _name(kernel))) from None
    return file.getvalue()


def _name(kernel: Any) -> str:
    return str(kernel._annotated_function.pyfunc.__name__)
