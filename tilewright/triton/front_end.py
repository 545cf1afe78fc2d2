"""Triton's front end from Python to TTIR, which asks the same of Python again and again: for each
node of a kernel's text it sets filters of warnings, of each call of its own functions it asks for
the signature, and it parses a text to find what it depends on, and to compile it. Here these are
answered once."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from threading import local
from types import SimpleNamespace
from typing import Any
from unittest import mock


class _Filters(local):
    """The filters of warnings, set for the outermost node; those within find them."""

    depth = 0

    def __enter__(self) -> None:
        if not self.depth:
            self.outer = warnings.catch_warnings()
            self.outer.__enter__()
            for category in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", category)
        self.depth += 1

    def __exit__(self, *raised: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.outer.__exit__(*raised)


_signature = lru_cache(maxsize=1024)(inspect.signature)


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function; of a method those of its function, `self` too."""
    return _signature(getattr(function, "__func__", function))


def _instead(module: Any, **others: Any) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(module), **others})


@contextmanager
def quick_front_end() -> Generator[None]:
    """Let what Triton's front end asks be answered once."""
    generator: Any = import_module("triton.compiler.code_generator")
    function: Any = import_module("triton.runtime.jit").JITFunction
    own, filters = function.parse, _Filters()

    @lru_cache(maxsize=64)
    def parsed(text: str) -> Any:
        return own(SimpleNamespace(_src=text))

    def parse(of: Any) -> Any:
        return parsed(of.src)

    def none(*_: Any) -> None:
        """They are set already."""

    once = _instead(warnings, catch_warnings=lambda: filters, simplefilter=none)
    with (
        mock.patch.object(generator, "warnings", once),
        mock.patch.object(generator, "inspect", _instead(inspect, signature=_signature_of)),
        mock.patch.object(function, "parse", parse),
    ):
        yield
