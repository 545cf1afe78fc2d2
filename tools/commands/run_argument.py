"""The ARGs of `tilewright run`: what a kernel's parameters get, from files, shapes and numbers."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.arguments.dtypes import DTYPE_NAMES, DTYPES, ML_FLOATS, random_array
from tilewright.arguments.parameters import Parameter
from tilewright.arguments.tensor_map import TensorMap, TensorMapError
from tilewright.dialects.frozen import frozen
from tilewright.execution import argument_names, kernel_signature
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.tools.commands.input import InputError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_FORMS = "IN.npy, OUT.npy=SHAPE:DTYPE or OUT.npy=@IN.npy"
_SHAPE = re.compile(r"\d+(x\d+)*(:\w+)?")
"""An array of random elements: its shape and, where the type does not say it, its dtype."""
_BOX = re.compile(r"\d+(x\d+)*(:\d+)?")
_NUMBER = re.compile(r"[+-]?\d.*")


@frozen
class KernelArgument:
    """One argument: its value and, where the kernel's result is kept, the path for it; the name of
    its parameter. That of a struct has arguments as `parts`."""

    value: AnyArray | TensorMap | dict[int, Any] | int | float
    output: str | None = None
    name: str = ""
    parts: tuple[KernelArgument, ...] = ()

    @property
    def arrays(self) -> list[KernelArgument]:
        """Those of it, or of its parts, whose arrays the run gives back."""
        if isinstance(self.value, np.ndarray | TensorMap):
            return [self]
        return [array for part in self.parts for array in part.arrays]


def read_arguments(
    options: argparse.Namespace,
    source: ModuleOp | str | bytes,
    name: str,
    *,
    lengths: bool = True,
    files: bool = True,
) -> list[KernelArgument]:
    """The `arguments` of a `kernel`, one for each parameter, all by their place or all by their
    names; what is random is of a `seed`, a number may be an array's length only with `lengths`, and
    an array a file's only with `files`. Raises InputError and CompileError."""
    parameters = kernel_signature(source, options.kernel, name)
    names = argument_names(source, options.kernel, name)
    texts = _by_parameter(options.arguments, names)
    generator = np.random.default_rng(options.seed)
    try:
        arguments = _flat(texts, parameters, names, generator, lengths, files)
    except InputError:
        own = len(names) < len(parameters)
        if own and [name for name, _ in texts if name] != names[: len(texts)]:
            raise InputError(_wrong_count(texts, names)) from None
        raise
    arrays = [array for argument in arguments for array in argument.arrays]
    paths = [os.path.realpath(array.output) for array in arrays if array.output is not None]
    for number, path in enumerate(paths):
        if path in paths[:number]:
            raise InputError(f"two arguments write '{path}'")
    return arguments


def _flat(
    texts: Sequence[tuple[str, str]],
    parameters: Sequence[Parameter],
    names: Sequence[str],
    generator: np.random.Generator,
    lengths: bool,
    files: bool,
) -> list[KernelArgument]:
    """Arguments in order, each with its parameter's name. Where they are fewer than the parameters,
    and of bytecode, whose parameters have no names and may be parts of what Python passes, an array
    stands for its shape and its strides, too."""
    unnamed = all(parameter.name == f"arg{i}" for i, parameter in enumerate(parameters))
    whole = unnamed and len(texts) < len(parameters)
    own = whole and len(names) < len(parameters)
    wrong_count = InputError(_wrong_count(texts, names if own else list(map(str, parameters))))
    if len(texts) > len(parameters) or (len(texts) < len(names) and not whole):
        raise wrong_count
    arguments: list[KernelArgument] = []
    for number, (name, text) in enumerate(texts, 1):
        if len(arguments) >= len(parameters):
            raise wrong_count
        parameter = parameters[len(arguments)]
        if own and name:
            parameter = replace(parameter, name=name)
        reader = _Reader(f"argument {number} ({parameter})", parameter, files)
        if not lengths and text.isdecimal() and parameter.element is not None:
            raise InputError(f"{reader.where}: expected {_FORMS}, got '{text}', which is no file")
        arguments.append(replace(reader.read(text, generator), name=parameter.name))
        array = arguments[-1].value
        if whole and isinstance(array, np.ndarray):
            strides = (step // array.itemsize for step in array.strides)
            arguments += map(KernelArgument, (*array.shape, *strides))
    if len(arguments) < len(parameters):
        raise wrong_count
    return arguments


def _by_parameter(texts: Sequence[str], names: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Arguments in the order of the parameters, with their names, by which they may be given; of
    more arguments than names they are empty."""
    pairs = [(name, argument) for name, _, argument in (text.partition("=") for text in texts)]
    if not any(name in names and argument for name, argument in pairs):
        return list(zip_longest(names[: len(texts)], texts, fillvalue=""))
    by_name = dict(pairs)
    for name, argument in pairs:
        if name not in names or argument != by_name[name]:
            raise InputError(f"expected each of {', '.join(names)} once, by its name, got '{name}'")
    return [(name, by_name[name]) for name in names if name in by_name]


def _wrong_count(texts: Sequence[tuple[str, str]], spelled: Sequence[str]) -> str:
    signature = f"the kernel takes {len(spelled)} arguments ({', '.join(spelled)})"
    if len(texts) < len(spelled):
        given = {name for name, _ in texts}
        missing = ", ".join(one for one in spelled if one.partition(":")[0] not in given)
        return f"{signature}, got {len(texts)}; missing: {missing}"
    extra = ", ".join(f"'{text}'" for _, text in texts[len(spelled) :])
    return f"{signature}, got {len(texts)}; too many: {extra}"


_POINTER = Parameter("", "u64")


@frozen
class _Reader:
    """Reads the ARG of one parameter; `where` names both in every error. Without `files` a file is
    none."""

    where: str
    parameter: Parameter
    files: bool

    def read(self, text: str, generator: np.random.Generator) -> KernelArgument:
        if self.parameter.text.startswith("bytes"):
            return self._struct(text, generator)
        array, _, box = text.rpartition("#")
        if array and not self._is_file(text):
            return self._mapped(replace(self, parameter=_POINTER).read(array, generator), box)
        if self.parameter.element is None and not self._is_address(text):
            return KernelArgument(self._scalar(text, self.parameter.text))
        if "=" not in text or self._is_file(text):
            return KernelArgument(self._value(self._input(text, generator)))
        if "=@" in text:
            output, _, source = text.partition("=@")
            array = self._load(source)
        else:
            output, _, spec = text.rpartition("=")
            array = self._zeros(spec)
        if not output:
            raise self._error(f"expected {_FORMS}, got '{text}'")
        return KernelArgument(self._value(array), output)

    def _struct(self, text: str, generator: np.random.Generator) -> KernelArgument:
        """The parts of a struct, each behind the byte that it begins with: `0:a.npy,8:i32=5`."""
        pairs = [
            (first, part) for first, _, part in (one.partition(":") for one in text.split(","))
        ]
        parts: dict[int, KernelArgument] = {}
        for first, part in pairs:
            if not first.isdecimal() or int(first) in parts:
                raise self._error(f"expected parts such as 0:IN.npy,8:i32=5, got '{text}'")
            name, _, number = part.partition("=")
            parts[int(first)] = (
                KernelArgument(np.dtype(DTYPE_NAMES[name]).type(self._scalar(number, name)))
                if name in DTYPE_NAMES
                else replace(self, parameter=_POINTER).read(part, generator)
            )
        named = [replace(part, name=f"{self.parameter.name}[{at}]") for at, part in parts.items()]
        values = {first: part.value for first, part in parts.items()}
        return KernelArgument(values, parts=tuple(named))

    def _mapped(self, array: KernelArgument, text: str) -> KernelArgument:
        """The tensor map of an array: `64x32`, a box, or `64x32:128`, with a swizzle."""
        box, _, swizzle = text.partition(":")
        if not _BOX.fullmatch(text) or not isinstance(array.value, np.ndarray):
            raise self._error(f"expected ARRAY#BOX or ARRAY#BOX:SWIZZLE, got '#{text}'")
        extents = [int(extent) for extent in box.split("x")]
        try:
            return replace(
                array, value=TensorMap(array.value, box=extents, swizzle=int(swizzle or 0))
            )
        except TensorMapError as error:
            raise self._error(str(error)) from None

    def _input(self, text: str, generator: np.random.Generator) -> AnyArray:
        """An array from a file, of zeros, or of random elements."""
        if text.startswith("zeros:"):
            return self._zeros(text.removeprefix("zeros:"))
        if self._is_file(text) or not _SHAPE.fullmatch(text):
            return self._load(text)
        zeros = self._zeros(text)
        return random_array(zeros.shape, zeros.dtype, generator)

    def _value(self, array: AnyArray) -> AnyArray | TensorMap:
        """The array, or where the parameter is a tensor map, one of it."""
        box, element = self.parameter.box, self.parameter.element
        if box is None:
            return self.parameter.arranged(array)
        try:
            return TensorMap(
                array,
                box=box.shape,
                swizzle=box.swizzle,
                swizzle_atom=box.swizzle_atom,
                element=element,
            )
        except TensorMapError as error:
            raise self._error(str(error)) from None

    def _error(self, message: str) -> InputError:
        return InputError(f"{self.where}: {message}")

    def _is_address(self, text: str) -> bool:
        """A parameter of the `ptx` level, which knows no memrefs, gets a buffer."""
        return self.parameter.text == "u64" and (":" in text or not _NUMBER.fullmatch(text))

    # Scalars

    def _scalar(self, text: str, type_text: str) -> int | float:
        if not type_text.lstrip("bt").startswith("f"):
            return self._integer(text, type_text)
        try:
            return float(text)
        except ValueError:
            raise self._error(f"expected a number for {type_text}, got '{text}'") from None

    def _integer(self, text: str, type_text: str) -> int:
        # MLIR's i32, si32, ui32 and index, PTX's b32, s32 and u32
        digits = re.search(r"\d+$", type_text)
        bits = 64 if digits is None else int(digits[0])
        low = 0 if type_text.startswith("u") else -(1 << (bits - 1))
        high = (1 << (bits - 1 if type_text.startswith(("s", "index")) else bits)) - 1
        try:
            value = {"true": 1, "false": 0}.get(text) if bits == 1 else None
            value = int(text, 0) if value is None else value
        except ValueError:
            raise self._error(f"expected an integer for {type_text}, got '{text}'") from None
        if not low <= value <= high:
            raise self._error(f"expected an integer of {low} to {high}, got {value}")
        return value

    # Memrefs

    def _is_file(self, text: str) -> bool:
        return self.files and os.path.exists(text)

    def _load(self, path: str) -> AnyArray:
        if not self.files:
            raise self._error(f"expected SHAPE:DTYPE or zeros:SHAPE (no file here), got '{path}'")
        try:
            with open(path, "rb") as stream:
                array: AnyArray = np.lib.format.read_array(stream, allow_pickle=False)
        except FileNotFoundError:
            raise self._error(f"expected {_FORMS}, got '{path}', which is no file") from None
        except OSError as error:
            raise self._error(f"cannot read '{path}': {error.strerror or error}") from None
        except Exception as error:
            # NumPy reads the header as Python's code: there is no end to what it may raise.
            brief = str(error).partition("\n")[0] or type(error).__name__
            raise self._error(f"'{path}' is no .npy file of numbers ({brief})") from None
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
        return self._checked(self._as_element(array, path), f"'{path}'")

    def _legal(self) -> tuple[str, ...]:
        """NumPy's names of the dtypes that the parameter takes, the usual one first."""
        element = self.parameter.element
        if element is None:
            return tuple(dict.fromkeys(DTYPE_NAMES.values()))
        if element not in DTYPES:
            raise self._error(f"no .npy file can hold elements of {element}")
        return DTYPES[element]

    def _as_element(self, array: AnyArray, path: str) -> AnyArray:
        """The array as the parameter's element type; raw bits count where NumPy lacks a name."""
        legal = self._legal()
        if array.dtype.name in legal:
            return array
        wanted, raw = legal[0], ()
        if self.parameter.element in ML_FLOATS:
            bits = 8 * np.dtype(wanted).itemsize
            raw = (f"uint{bits}", f"void{bits}")
            if array.dtype.name in raw:
                return array.view(wanted)
        shown = " or ".join((*legal, *raw))
        raise self._error(f"expected dtype {shown}, got {array.dtype.name} in '{path}'")

    def _zeros(self, spec: str) -> AnyArray:
        shape_text, _, name = spec.partition(":")
        legal = self._legal()
        if not name and self.parameter.element is None:
            raise self._error(f"expected SHAPE:DTYPE, since the type names none, got '{spec}'")
        if not re.fullmatch(r"(?:\d{1,18}(?:x\d{1,18})*)?", shape_text):
            raise self._error(f"expected SHAPE:DTYPE such as 256x256:f32, got '{spec}'")
        if name and DTYPE_NAMES.get(name) not in legal:
            choices = " or ".join(short for short in DTYPE_NAMES if DTYPE_NAMES[short] in legal)
            raise self._error(f"expected DTYPE {choices}, got '{name}'")
        shape = tuple(map(int, shape_text.split("x"))) if shape_text else ()
        try:
            array = np.zeros(shape, dtype=DTYPE_NAMES[name] if name else legal[0])
        except (ValueError, MemoryError):
            raise self._error(f"expected a shape that fits into memory, got {shape_text}") from None
        return self._checked(array, shape_text or "a scalar")

    def _checked(self, array: AnyArray, what: str) -> AnyArray:
        """The array, where it has the memref's rank and static extents."""
        match = re.match(r"memref<((?:(?:\?|\d+)x)*)", self.parameter.text)
        if match is None or match[1] == "?x":  # an address, behind which any shape may lie
            return array
        extents = match[1].split("x")[:-1]
        fits = len(extents) == array.ndim and all(
            wanted in ("?", str(extent))
            for wanted, extent in zip(extents, array.shape, strict=True)
        )
        if not fits:
            wanted = "x".join(extents) or "()"
            shape = "x".join(map(str, array.shape)) or "()"
            raise self._error(f"expected shape {wanted}, got {shape} ({what})")
        return array
