"""A class name means one thing, and a variable is called after what it is."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("dialects", "passes", "lowering", "tools", "tilewright", "benchmarks", "examples")


@cache
def sources() -> dict[Path, str]:
    """Every file of ours, and its text."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return {path.relative_to(ROOT): path.read_text() for path in paths}


def nodes(written: str) -> Iterator[tuple[Path, ast.AST]]:
    """What names or says something, with its file, in the files that have what is `written`."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.arg | ast.Name | ast.Expr
    for path, text in sources().items():
        if re.search(written, text):
            yield from (
                (path, node) for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)
            )


EMPTY_WORDS = {"found", "held", "each"}


def test_a_class_name_means_one_thing():
    """Ops and types of dialects are called after these, whatever the dialect."""
    classes = re.compile(r"^class (\w+)", re.MULTILINE)
    names = Counter(
        name
        for path, text in sources().items()
        for name in classes.findall(text)
        if not name.endswith("Op" if path.parts[0] != "dialects" else ("Op", "Type"))
    )
    assert not {name for name, count in names.items() if count > 1}


def test_variables_are_called_after_the_thing():
    empty = [
        f"{path}:{node.lineno} {name}"
        for path, node in nodes(rf"\b({'|'.join(EMPTY_WORDS)})\b")
        for name in (
            [node.id]
            if isinstance(node, ast.Name)
            else [node.arg]
            if isinstance(node, ast.arg)
            else [node.name]
            if isinstance(node, ast.FunctionDef)
            else []
        )
        if name in EMPTY_WORDS
    ]
    assert not empty


def test_docstrings_begin_with_what_the_thing_is():
    asking = [
        f"{path}:{node.lineno}"
        for path, node in nodes(r"""["'](\\\n)?(What|Whether) """)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and str(node.value.value).startswith(("What ", "Whether "))
    ]
    assert not asking
