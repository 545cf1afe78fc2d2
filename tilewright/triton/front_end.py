"""Triton's front end from Python to TTIR, which asks the same of Python again and again: for each
node of a kernel's text it sets filters of warnings, of each call of its own functions it asks for
the signature, it tokenizes a file to find a function's text, which it parses to find what it
depends on and to compile it, and copies all globals of its module; of each kernel it makes classes
of the same names, and compiles a text that binds arguments; for each tuple it writes the name of
its type. Here these are answered once, and names are written where they are wanted."""

from __future__ import annotations

import collections
import inspect
import re
import warnings
from _thread import RLock
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from importlib import import_module
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any
from unicodedata import normalize
from unittest import mock

_python: Any = inspect
_signature = lru_cache(maxsize=1024)(inspect.signature)


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function; of a method those of its function, `self` too."""
    return _signature(getattr(function, "__func__", function))


_arguments_of_call = FunctionType(
    _python.getcallargs.__code__,
    {**vars(inspect), "getfullargspec": lru_cache(maxsize=1024)(inspect.getfullargspec)},
)
"""`inspect.getcallargs`, which asks once for what a function takes."""

_BLOCKS: dict[tuple[str, int], tuple[list[str], list[str]]] = {}
"""The lines of a file and of the function that begins at one of them."""


def _source_lines(function: Any) -> tuple[list[str], int]:
    """`inspect.getsourcelines`, which looks once for the end of a function."""
    if not isinstance(function := inspect.unwrap(function), FunctionType):
        return inspect.getsourcelines(function)
    lines, start = inspect.findsource(function)
    key = function.__code__.co_filename, start
    if key not in _BLOCKS or _BLOCKS[key][0] is not lines:
        _BLOCKS[key] = lines, inspect.getblock(lines[start:])
    return [*_BLOCKS[key][1]], start + 1


@lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    return compile(text, "<string>", "exec")


def _execute(text: str, names: dict[str, Any]) -> None:
    exec(_compiled(text), names)


_own_namedtuple: Any = collections.namedtuple
_class_of = lru_cache(maxsize=64)(_own_namedtuple)


def _namedtuple(name: str, fields: Any, *, module: Any = None, **options: Any) -> Any:
    """`collections.namedtuple`, which makes classes of Triton's names once."""
    module = module or _python.currentframe().f_back.f_globals.get("__name__", "__main__")
    if module.startswith("triton."):
        return _class_of(name, tuple(fields), module=module)
    return _own_namedtuple(name, fields, module=module, **options)


def _instead(module: Any, **others: Any) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(module), **others})


@contextmanager
def quick_front_end() -> Generator[None]:
    """Let what Triton's front end asks be answered once."""
    generator: Any = import_module("triton.compiler.code_generator")
    jit: Any = import_module("triton.runtime.jit")
    function, type_of_tuple = jit.JITFunction, import_module("triton.language").core.tuple_type
    own_parse, own_scope = function.parse, function.get_capture_scope
    translate = generator.ast_to_ttir

    @lru_cache(maxsize=64)
    def parsed(text: str) -> Any:
        return own_parse(SimpleNamespace(_src=text))

    @lru_cache(maxsize=64)
    def words(text: str) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", normalize("NFKC", text)))

    def parse(of: Any) -> Any:
        return parsed(of.src)

    def scope(of: Any) -> dict[str, Any]:
        names = own_scope(of)
        return {name: names[name] for name in words(of.src) & names.keys()}

    def translated(*args: Any, **named: Any) -> Any:
        with warnings.catch_warnings():
            for category in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", category)
            return translate(*args, **named)

    @property
    def name(of: Any) -> str:
        made = SimpleNamespace()
        named(made, of.types, of.fields)
        return made.name

    def typed(of: Any, types: Any, fields: Any = None) -> None:
        of.types, of.fields = types, fields or [""] * len(types)

    named: Any = type_of_tuple.__init__
    # Newer Triton asks for names where they are wanted.
    late: Any = nullcontext()
    if not hasattr(type_of_tuple, "name"):
        late = mock.patch.multiple(type_of_tuple, create=True, __init__=typed, name=name)
    # They are set already: what is called for each node does nothing, and that quickly.
    once = _instead(warnings, catch_warnings=RLock, simplefilter=isinstance)
    asked = _instead(inspect, signature=_signature_of, getcallargs=_arguments_of_call)
    with (
        mock.patch.object(generator, "ast_to_ttir", translated),
        mock.patch.object(generator, "warnings", once),
        mock.patch.object(generator, "inspect", asked),
        mock.patch.object(jit, "inspect", _instead(inspect, getsourcelines=_source_lines)),
        mock.patch.object(jit, "exec", _execute, create=True),
        mock.patch.object(collections, "namedtuple", _namedtuple),
        mock.patch.object(function, "get_capture_scope", scope),
        mock.patch.object(function, "parse", parse),
        late,
    ):
        yield
