"""Diagnostics and remarks of the cuTile and Triton kernels of a Python file in an editor.

    # tilewright: a=4096:f32 b=4096:f32 T=128
    @ct.kernel

A comment above a kernel says for what arguments it is compiled: arrays by their shape and dtype,
anything else as Python's literals; several lines are one comment. Of the file nothing runs but what
such kernels refer to: the imports, functions and assignments of those names.
"""

import ast
import inspect
import linecache
import re
import sys
from ast import literal_eval
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np

import tilewright as tw
from tilewright.arguments.dtypes import DTYPE_NAMES
from tilewright.dialects.illegal import Error, told
from tilewright.source.diagnostic import ArgumentError, CompileError, Diagnostic
from tilewright.tile_kernel import DEFAULT_ARCH

_COMMENT = re.compile(r"# tilewright:(.*)")
_TRITON = re.compile(r"^\s*(?:import|from) triton\b", re.MULTILINE)
_ARRAY = re.compile(r"(\d+(?:x\d+)*):(\w+)")


def python_diagnostics(text: str, path: str, arch: str | None) -> Iterator[Diagnostic]:
    """The errors of the kernels of a file that have a comment, and the remarks on those that
    compile for a target, by default sm_90a. Text that is no Python has none: others say so."""
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError):
        return
    lines = text.splitlines(keepends=True)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    comments = {node: _comment(node, lines) for node in functions}
    kernels = [node for node, comment in comments.items() if comment]
    if not kernels:
        return
    # Both front ends read a function's source by its file, which may be older.
    linecache.cache[path] = len(text), None, lines, path
    scope: dict[str, Any] = {"__name__": Path(path).stem, "__file__": path}
    with _beside(path):
        try:
            # What configures kernels of Triton may ask for a GPU.
            with tw.triton.on_cpu() if _TRITON.search(text) else nullcontext():
                exec(compile(_needed(tree, kernels), path, "exec"), scope)
        except (Exception, SystemExit) as error:
            yield from error_places(error, path, kernels[0].lineno, text)
            return
        for node in kernels:
            try:
                yield from _remarks(scope[node.name], comments[node], arch or DEFAULT_ARCH)
            except Exception as error:
                yield from error_places(error, path, node.lineno, text)


def _comment(node: ast.FunctionDef, lines: Sequence[str]) -> list[str]:
    """The words of the comment above a function and its decorators."""
    above = min(part.lineno for part in (node, *node.decorator_list)) - 1
    words: list[str] = []
    while above and (said := _COMMENT.match(lines[above - 1])):
        words[:0] = said[1].split()
        above -= 1
    return words


def _needed(tree: ast.Module, kernels: Sequence[ast.stmt]) -> ast.Module:
    """The statements that bind what some functions refer to, and what these refer to."""
    needed, size = set(kernels), 0
    while len(needed) > size:
        size = len(needed)
        names = set[str]().union(*map(_free, needed))
        needed |= {node for node in tree.body if not names.isdisjoint(_bound(node))}
    return ast.Module([node for node in tree.body if node in needed or _is_future(node)], [])


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _free(statement: ast.stmt) -> set[str]:
    """The names that a statement refers to; a function's own ones left out."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    own = {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - own


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives something to."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


@contextmanager
def _beside(path: str) -> Generator[None]:
    """Import from a file's folder, as Python does for a script; the next time anew."""
    folder, before = str(Path(path).parent), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in sys.modules.keys() - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
                del sys.modules[name]


def _remarks(kernel: Any, words: Sequence[str], arch: str) -> Iterator[Diagnostic]:
    """The remarks on a kernel, compiled for the arguments of its comment."""
    for remark in _compiled(kernel, dict(map(_argument, words)), arch).remarks:
        message = f"{remark.text} [{remark.kind}]"
        yield Diagnostic(message, remark.file, remark.line, remark.column, severity="remark")


def _argument(word: str) -> tuple[str, Any]:
    """The name and the value of an argument of a comment."""
    name, _, value = word.partition("=")
    try:
        if array := _ARRAY.fullmatch(value):
            return name, np.zeros(tuple(map(int, array[1].split("x"))), DTYPE_NAMES[array[2]])
        return name, literal_eval(value)
    except (ValueError, SyntaxError, KeyError):
        raise ArgumentError(
            f"expected NAME=SHAPE:DTYPE or NAME=NUMBER in the comment, got '{word}'"
        ) from None


def _compiled(kernel: Any, arguments: Mapping[str, Any], arch: str) -> Any:
    if hasattr(kernel, "warmup"):
        return tw.triton.compile(kernel, arch=arch, **arguments)
    if not hasattr(kernel, "_annotated_function"):
        raise ArgumentError(f"expected a @ct.kernel or @triton.jit function, got {told(kernel)}")
    function = inspect.signature(kernel._annotated_function.pyfunc)
    return tw.cutile.compile(kernel, function.bind(**arguments).args, arch)


def error_places(error: BaseException, path: str, line: int, text: str) -> Iterator[Diagnostic]:
    """An error at the place in a file that it, or its traceback, names; else at a line."""
    if isinstance(error, CompileError):
        for one in (error.diagnostic, *error.further):
            here = one.file == path and one.line is not None
            yield one if here else Diagnostic(one.message, path, line, 1)
        return
    inner: Any = error
    while hasattr(inner.__cause__, "src"):  # Triton's, of a function that this one calls
        inner = inner.__cause__
    place = getattr(inner, "loc", None)
    while place is not None and place.filename != path:
        place = place.call_site
    if place is not None:
        yield Diagnostic(inner.message, path, place.line, place.col + 1)
    elif (source := getattr(inner, "src", None)) and source in text:
        before, node = text[: text.index(source)].count("\n"), inner.node
        said = inner.error_message or str(inner.__cause__)
        yield Diagnostic(said, path, before + node.lineno, node.col_offset + 1)
    else:
        said = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        frames = [one for one in extract_tb(error.__traceback__) if one.filename == path]
        yield Diagnostic(said, path, (frames[-1].lineno if frames else None) or line, 1)
