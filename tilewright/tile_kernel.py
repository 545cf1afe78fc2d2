"""CUDA Tile IR kernels: `tilewright.interpret` at the program level."""

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.arguments.parameters import Parameter, symbol_of
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.kernel import PlacedArguments, run_kernel
from tilewright.lowering.interpreter.cuda_tile.machine import Launch as TileLaunch
from tilewright.lowering.interpreter.cuda_tile.machine import Padding, Races, RaceWarning
from tilewright.progress import ProgressBar
from tilewright.source.diagnostic import CompileError, Diagnostic, OpError, at
from tilewright.source.verification import op_diagnostic

__all__ = [
    "DEFAULT_ARCH", "InterpretOptions", "Padding", "RaceWarning", "Races", "TileLaunch",
    "chosen_kernel", "entry_parameters", "find_entry", "python_names", "run_entry", "run_in_place",
    "run_tile_kernel",
]  # fmt: skip

_Op = TypeVar("_Op", bound=Operation)

DEFAULT_ARCH = "sm_90a"
"""The chip whose arithmetic matrix products follow where none is named: it has judged it."""


class InterpretOptions(TypedDict, total=False):
    """How launches run here: options of `tilewright.interpret`, with its defaults but for
    `progress`, which is a bar on a terminal for what takes longer than two seconds."""

    numerics: Numerics
    races: Races
    check: str | Collection[str]
    padding: Padding
    max_steps: int | None
    progress: Callable[[int, int], None] | None


def find_entry(module: ModuleOp, kernel: str | None, name: str = "<string>") -> EntryOp:
    """The entry of that name, or the only one. Raises CompileError."""
    return chosen_kernel([op for op in module.walk() if isinstance(op, EntryOp)], kernel, name)


def chosen_kernel(kernels: Sequence[_Op], kernel: str | None, name: str) -> _Op:
    """That of a name, or the only one. Raises CompileError."""
    chosen = [op for op in kernels if kernel in (None, symbol_of(op))]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(map(symbol_of, kernels))
    names = names or "none (nearest legal: func.func @k() attributes {gpu.kernel} { ... })"
    wanted = "one kernel" if kernel is None else f"a kernel '{kernel}'"
    raise CompileError(Diagnostic(f"expected {wanted}, got {names}", name))


def entry_parameters(entry: EntryOp) -> list[Parameter]:
    """The flat parameters of an entry: pointers and numbers."""
    parameters: list[Parameter] = []
    for i, argument in enumerate(entry.body.block.args):
        assert isinstance(argument.type, TileType)
        element = argument.type.element_type
        parameters.append(Parameter(argument.name_hint or f"arg{i}", shown(element), element))
    return parameters


def python_names(entry: EntryOp) -> list[str]:
    """The names of the parameters of the Python function that an entry is of, those of constants
    too; none where its file is not here."""
    place = at(entry.location, "")
    if place.text is None or not str(place.file).endswith(".py"):
        return []
    with suppress(SyntaxError):
        for node in ast.walk(ast.parse(Path(str(place.file)).read_text())):
            if isinstance(node, ast.FunctionDef) and node.lineno == place.line:
                return [argument.arg for argument in node.args.args]
    return []


def run_tile_kernel(
    module: ModuleOp,
    kernel: str | None,
    launch: TileLaunch,
    args: Sequence[Any],
    name: str = "<string>",
) -> list[NDArray[Any]]:
    """Run an entry on its flat parameters. Returns the arrays, in order, as they are after.

    Raises CompileError, TargetError and ExecutionError as `tilewright.interpret` does.
    """
    entry = find_entry(module, kernel, name)
    return run_entry(entry, launch, list(flat_arguments(args))).results()


def flat_arguments(args: Sequence[Any]) -> Iterator[Any]:
    """Arguments as the flat parameters of an entry: a descriptor that Triton's host makes, a tuple
    of an array, its shape, its strides in elements, the block, and "nan" where that pads it, is a
    pointer, whether it pads so, the shape, the strides."""
    for argument in args:
        if not is_tuple(argument):
            yield argument
            continue
        array, shape, strides, _, *padding = argument
        yield from (array, padding == ["nan"], *shape, *strides)


def run_entry(
    entry: EntryOp, launch: TileLaunch, args: Sequence[Any], names: Sequence[str] | None = None
) -> PlacedArguments:
    """Run an entry on its flat parameters, `names` in diagnostics. Raises as `run_tile_kernel`."""
    try:
        return run_kernel(entry, launch, args, names)
    except OpError as error:
        raise CompileError(op_diagnostic(error, launch.source)) from None


def run_in_place(entry: EntryOp, launch: TileLaunch, parameters: Sequence[tuple[str, Any]]) -> None:
    """Run an entry on its flat parameters, which have names, and write what it leaves back to the
    arrays; on a terminal a bar shows how far it is, unless the launch says whom to tell."""
    with closing(ProgressBar("blocks")) as bar:
        watched = replace(launch, progress=launch.progress or bar.update)
        names, values = [name for name, _ in parameters], [value for _, value in parameters]
        run_entry(entry, watched, values, names).write_back()
