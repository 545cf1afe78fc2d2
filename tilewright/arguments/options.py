"""The options of public functions: the arguments that are one thing wherever they are taken.

Most say by their annotation what they may be (`checked.py`): a new option is a parameter, and a row
here where that is not all.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.extents import Extents, checked_extents
from tilewright.dialects.cute_nvgpu.atoms.atom import Atom, AtomError
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorMapError
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.illegal import Error, told
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.source.checked import (
    Function,
    Rule,
    checking,
    instance_of,
    items,
    number_from,
    require,
)
from tilewright.source.diagnostic import ArgumentError, ExecutionError

if TYPE_CHECKING:
    pass


class AtomArgumentError(AtomError, ArgumentError):
    """An argument that a function of atoms does not take."""


class TensorMapArgumentError(TensorMapError, ArgumentError):
    """An argument that a tensor map does not take."""


def array(given: Any) -> AnyArray:
    """An array of numbers. Raises TypeError or ValueError."""
    import numpy as np

    numbers = np.asarray(given)
    # Those of ml_dtypes are registered with NumPy, and of no kind.
    require(numbers.dtype.kind in "biufc" or numbers.dtype.isbuiltin == 2)
    return numbers


_FILE = re.compile(r"example:\w+|[^\s\"%]+\.(mlir|ttir|ptx|tileirbc)")
"""The name of a file, or of an example, in place of its text."""


def _module(given: Any) -> Any:
    require(isinstance(given, str | bytes | ModuleOp))
    require(not (isinstance(given, str) and _FILE.fullmatch(given)))
    return given


def _its_text(given: Any) -> str | None:
    if isinstance(given, str):
        return f"the text of '{given}'"
    return "its read_text()" if hasattr(given, "read_text") else None


def _arguments(given: Any) -> Sequence[Any]:
    require(isinstance(given, Sequence))
    return items(given)


def _extents(what: str, given: Any) -> Extents:
    require(1 <= len(items(given)) <= 3)
    x, y, z = (*map(index, given), 1, 1)[:3]
    require(min(x, y, z) >= 1)
    return checked_extents(what, (x, y, z))


def _progress(given: Any) -> Callable[[int, int], None]:
    require(callable(given))

    def called(done: int, total: int) -> None:
        try:
            given(done, total)
        except Exception as error:
            raise ExecutionError(f"progress({done}, {total}) raised {told(error)}") from error

    return called


CHECKS = ("padding", "unwritten", "nan", "integers")


def _checks(given: Any) -> frozenset[str]:
    words = given.split(",") if isinstance(given, str) else list(given)
    require(set(words) - {""} <= set(CHECKS))
    return frozenset(words) - {""}


_MODULE = "MLIR text, Tile IR bytecode or an xDSL ModuleOp"
_EXTENTS = "up to three positive integers"
_ARRAYS = (
    "a", "b", "c", "x", "values", "metadata", "scale_a_data", "scale_b_data", "smem", "tmem",
    "a_desc", "b_desc", "scale_d", "disable_output_lane",
)  # fmt: skip

RULES: Mapping[str, Rule] = {
    "module_or_text": Rule(_MODULE, _module, _its_text),
    "arch": Rule("the name of a target such as 'sm_90a'", lambda given: target(given).name),
    "args": Rule("a list of arguments", _arguments),
    "grid": Rule(_EXTENTS, partial(_extents, "grid")),
    "block": Rule(_EXTENTS, partial(_extents, "block")),
    "schedule": number_from(0, "a seed"),
    "seed": number_from(0, "a seed"),
    "schedules": number_from(0),
    "max_steps": number_from(1),
    "check": Rule(f"words of {', '.join(CHECKS)} with commas between them", _checks),
    "progress": Rule("a function of two numbers", _progress),
    "atom": instance_of(Atom, words="an MMA atom (tilewright.atom)"),
    **dict.fromkeys(_ARRAYS, Rule("an array of numbers", array)),
}
"""The rules of options, by name."""


def option_type(name: str) -> Callable[[str], str]:
    """The `type` of a command's option that is one of these, whose text it stays."""

    def read(text: str) -> str:
        try:
            RULES[name].value(name, text, (ArgumentError, TargetError))
        except Error as error:
            raise ArgumentTypeError(str(error)) from None
        return text

    return read


def checked(
    error: type[ValueError] = ArgumentError, /, **own: Rule
) -> Callable[[Function], Function]:
    """`checking` by the rules of options, before which a function may have rows of its `own`.
    Raises `error`, an ArgumentError for a grid or a block, and TargetError."""
    return checking({**RULES, **own}, (error, ArgumentError, TargetError))
