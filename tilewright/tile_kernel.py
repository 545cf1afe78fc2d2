"""CUDA Tile IR kernels: `tilewright.interpret` at the program level."""

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.arguments.parameters import Parameter, symbol_of
from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.module import NEGATIVE, EntryOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.kernel import PlacedArguments, run_kernel
from tilewright.lowering.interpreter.cuda_tile.machine import Padding, Races, RaceWarning
from tilewright.lowering.interpreter.cuda_tile.machine import TileLaunch as TileLaunch
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
    return chosen_kernel(descendants(module, EntryOp), kernel, name)


def chosen_kernel(kernels: Sequence[_Op], kernel: str | None, name: str) -> _Op:
    """That of a name, or the only one. Raises CompileError."""
    chosen = [op for op in kernels if kernel in (None, symbol_of(op))]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(map(symbol_of, kernels))
    names = names or "none (nearest legal: func.func @k() attributes {gpu.kernel} { ... })"
    wanted = "one kernel" if kernel is None else f"a kernel '{kernel}'"
    raise CompileError(Diagnostic(f"expected {wanted}, got {names}", name))


def entry_parameters(entry: EntryOp, args: Sequence[Any] = ()) -> list[Parameter]:
    """The flat parameters of an entry: pointers and numbers; of these arguments, as Python has
    them named."""
    parameters: list[Parameter] = []
    names = flat_names(entry, args) if args else None
    negative: Any = entry.attributes.get(NEGATIVE)
    for i, argument in enumerate(entry.body.block.args):
        assert isinstance(argument.type, TileType)
        element = argument.type.element_type
        name = names[i] if names else argument.name_hint or f"arg{i}"
        natural = negative is not None and i not in negative.get_values()
        parameters.append(Parameter(name, shown(element), element, natural=natural))
    return parameters


@lru_cache(maxsize=8)
def python_names(entry: EntryOp) -> list[str]:
    """The names of the parameters of the Python function that an entry is of, but for constants, by
    how their types are called; none where its file is not here."""
    place = at(entry.location, "")
    if place.text is None or not str(place.file).endswith(".py"):
        return []
    with suppress(OSError, SyntaxError):
        nodes = list(ast.walk(ast.parse(Path(str(place.file)).read_text())))
        assigned = [node for node in nodes if isinstance(node, ast.Assign)]
        aliases = {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in assigned}
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and node.lineno == place.line:
                types = {
                    one.arg: ast.unparse(one.annotation or ast.Pass()) for one in node.args.args
                }
                return [
                    name for name, type_ in types.items()
                    if "Const" not in type_ + aliases.get(type_, "")
                ]  # fmt: skip
    return []


def flat_names(entry: EntryOp, args: Sequence[Any]) -> list[str] | None:
    """The names in Python of an entry's flat parameters: that of an array is its shape's and its
    strides', too. None where these arguments are not laid out so."""
    names: list[str] = []
    for name in python_names(entry):
        array = args[len(names)] if len(names) < len(args) else None
        names += [name] * (1 + 2 * getattr(array, "ndim", 0))
    return names if names and len(names) == len(args) else None


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
    entry, values = find_entry(module, kernel, name), list(flat_arguments(args))
    return run_entry(entry, launch, values, flat_names(entry, values)).results()


def flat_arguments(args: Sequence[Any]) -> Iterator[Any]:
    """Arguments as the flat parameters of an entry: a descriptor that Triton's host makes, a tuple
    of an array, its shape, its strides in elements, the block, and "nan" where that pads it, is a
    pointer, whether it pads so, the shape, the strides."""
    for argument in args:
        parts = argument if is_tuple(argument) else ()
        if len(parts) > 3 and all(isinstance(part, list | tuple) for part in parts[1:3]):
            array, shape, strides, _, *padding = parts
            yield from (array, padding == ["nan"], *shape, *strides)
        else:
            yield argument


def negative_places(args: Sequence[Any]) -> tuple[int, ...]:
    """The places of negative integers among the flat parameters of an entry."""
    flat = enumerate(flat_arguments(args))
    return tuple(i for i, one in flat if isinstance(one, int | np.integer) and one < 0)


def run_entry(
    entry: EntryOp, launch: TileLaunch, args: Sequence[Any], names: Sequence[str] | None
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
