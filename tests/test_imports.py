"""Imports run one way: layout algebra <- atom tables <- dialects <- passes <- lowering <- tools."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("dialects", "passes", "lowering", "tools")

# The layers, lowest first, by folder; a module belongs to the longest prefix that fits it.
LAYERS: tuple[tuple[str, str], ...] = (
    ("algebra", "tilewright.dialects.cute"),
    ("algebra", "tilewright.dialects.frozen"),
    ("algebra", "tilewright.dialects.illegal"),
    ("tables", "tilewright.dialects.cute_nvgpu"),
    ("tables", "tilewright.dialects.math_functions"),
    ("dialects", "tilewright.dialects.cute.ops"),
    ("dialects", "tilewright.dialects.cute.types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.ops"),
    ("dialects", "tilewright.dialects.cute_nvgpu.types"),
    ("dialects", "tilewright.dialects"),
    ("passes", "tilewright.passes"),
    ("lowering", "tilewright.lowering"),
    ("tools", "tilewright.tools"),
)
ORDER = ("algebra", "tables", "dialects", "passes", "lowering", "tools")
# Within a folder: its rooms, each of which knows those before it alone.
ROOMS: dict[str, tuple[str, ...]] = {
    "tilewright.dialects.cute_nvgpu": (
        "fragments",
        "lattice",
        "descriptors",
        "atoms",
        "select",
        "types",
        "ops",
        "dialect",
    ),
    "tilewright": (
        "dialects",
        "passes",
        "lowering",
        "xdsl_patches",
        "source",
        "arguments",
        "simulation",
        "launch",
        "",
        "cutile",
        "cutile_script",
        "cutile_pytest",
        "triton",
        "triton_script",
        "triton_pytest",
        "tools",
    ),
    "tilewright.passes": ("analysis", "cuda_tile", ""),
    "tilewright.passes.cuda_tile": ("layouts", "analysis", "legalization", "scheduling"),
    "tilewright.lowering": ("value_numbering", "ptx", "to_ptx", "emit", "tile", "to_base"),
    "tilewright.lowering.cuda_tile": (
        "kernel",
        "arithmetic",
        "tiles",
        "pipelines",
        "memory",
        "products",
        "control_flow",
        "",
    ),
    "tilewright.lowering.interpreter": (
        "array_types",
        "errors",
        "checks",
        "array_spans",
        "address_windows",
        "share",
        "values",
        "numerics",
        "arithmetic",
        "program",
        "machine",
        "builder",
        "register_builder",
        "ops.base",
        "ops.instructions",
        "ops.tile",
        "timeline",
        "",
    ),
    "tilewright.tools": (
        "output",
        "render_table",
        "web_page",
        "worker",
        "instructions",
        "conformance",
        "language_server",
        "commands",
        "report",
        "playground",
        "",
    ),
}
# Errors with a place in the source, and what checks arguments: raised from passes up, and free of
# everything but xDSL.
EVERYWHERE = {"tilewright.source.checked", "tilewright.source.diagnostic"}


def modules() -> dict[str, Path]:
    """Every module of the mapped folders and of the package itself, by its name."""
    modules: dict[str, Path] = {}
    for folder in (*FOLDERS, "tilewright"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if folder == "tilewright" else ("tilewright", *parts))
            modules[name.removesuffix(".__init__")] = path
    return modules


MODULES = modules()


@cache
def imports(path: Path) -> tuple[tuple[ast.Import | ast.ImportFrom, bool], ...]:
    """The imports of a file, and whether they run when it is imported itself."""
    return tuple(_imports(ast.parse(path.read_text()), now=True))


def _imports(node: ast.AST, *, now: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, now
        elif not isinstance(child, ast.expr):  # no expression imports anything
            late = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or (
                isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            )
            yield from _imports(child, now=now and not late)


@cache
def imported(name: str) -> tuple[tuple[str, bool], ...]:
    """What a module imports (by full name), and whether when it is imported itself."""
    return tuple(_imported(name))


def _imported(name: str) -> Iterator[tuple[str, bool]]:
    for node, now in imports(MODULES[name]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, now
        else:
            assert node.level == 0, f"{name} imports relatively"
            base = node.module or ""
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield full if full in MODULES else base, now


def layer(name: str) -> str | None:
    """The layer of a module, or None outside of them (the public face, `tilewright.*`)."""
    fitting = [
        (len(prefix), layer)
        for layer, prefix in LAYERS
        if name == prefix or name.startswith(f"{prefix}.")
    ]
    if not fitting:
        return None
    # A dialect lists its ops and types, whatever its folder's layer is.
    return "dialects" if name.endswith(".dialect") else max(fitting)[1]


def room(name: str, folder: str) -> int | None:
    """The place of a module among the rooms of a folder, or None outside of it."""
    fitting = [
        (len(prefix), index)
        for index, prefix in enumerate(f"{folder}.{room}".rstrip(".") for room in ROOMS[folder])
        if name == prefix or name.startswith(f"{prefix}.")
    ]
    return max(fitting)[1] if fitting else None


def test_there_are_modules_in_every_layer() -> None:
    assert {layer(name) for name in MODULES} >= set(ORDER)


def test_imports_run_one_way() -> None:
    wrong = [
        f"{name} ({own}) imports {other} ({above})"
        for name in MODULES
        if (own := layer(name))
        for other, _ in imported(name)
        if (above := layer(other)) and ORDER.index(above) > ORDER.index(own)
    ]
    assert not wrong


@pytest.mark.parametrize("folder", ROOMS)
def test_rooms_know_those_before_them(folder: str) -> None:
    wrong: list[str] = []
    for name in MODULES:
        own = room(name, folder)
        if own is not None:
            known = {other for other, early in imported(name) if early}
            back = [other for other in known - EVERYWHERE if (room(other, folder) or 0) > own]
            wrong += [f"{name} imports {other}" for other in back]
    assert not wrong


def test_algebra_and_tables_are_plain_python() -> None:
    """No xDSL in either, not even late; no NumPy in the algebra, and late alone in the tables."""
    wrong: list[str] = []
    for name in MODULES:
        own = layer(name)
        for other, early in imported(name) if own in ("algebra", "tables") else ():
            top = other.split(".")[0]
            if (
                top == "xdsl"
                or (top == "numpy" and (own == "algebra" or early))
                or (top == "tilewright" and layer(other) not in ("algebra", "tables"))
            ):
                wrong.append(f"{name} imports {other}{' when it is imported' * early}")
    assert not wrong


def test_layers_know_nothing_of_the_public_face() -> None:
    wrong = [
        f"{name} imports {other}"
        for name in MODULES
        if layer(name) not in (None, "tools")
        for other, _ in imported(name)
        if other.split(".")[0] == "tilewright" and layer(other) is None and other not in EVERYWHERE
    ]
    assert not wrong


def test_the_interpreter_imports_no_pass_and_no_lowering() -> None:
    """A fault that both shared would be on both sides of every comparison."""
    wrong = [
        f"{name} imports {other}"
        for name in MODULES
        if name.startswith("tilewright.lowering.interpreter")
        for other, _ in imported(name)
        if other.startswith(("tilewright.passes", "tilewright.lowering"))
        and not other.startswith("tilewright.lowering.interpreter")
    ]
    assert not wrong


def test_no_import_is_part_of_a_circle() -> None:
    """Not even a late one, or one for types alone. The package itself is the face of all."""
    known = {
        name: {other for other, _ in imported(name)} & MODULES.keys() - {name, "tilewright"}
        for name in MODULES
    }
    while leaves := {name for name, others in known.items() if not others}:
        known = {name: others - leaves for name, others in known.items() if others}
    assert not known


def python_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    tops = (*FOLDERS, "tilewright", "tests", "benchmarks", "examples")
    return [path for top in tops for path in (ROOT / top).rglob("*.py")]


def test_nobody_imports_the_folders_by_their_bare_names() -> None:
    """`dialects` beside `tilewright.dialects` would be a second copy of every class."""
    wrong: list[str] = []
    bare = re.compile(rf"\b(import|from)\s([^\n]*[\s,])?({'|'.join(FOLDERS)})\b")
    for path in python_files():
        for node, _ in imports(path) if bare.search(path.read_text()) else ():
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if not node.level
                else []
            )
            wrong += [f"{path}: {name}" for name in names if name.split(".")[0] in FOLDERS]
    assert not wrong


@pytest.mark.parametrize(
    "module, heavy",
    [
        *product(
            ("tilewright", "tilewright.dialects.cute", "tilewright.dialects.cute_nvgpu.atoms.atom"),
            [("xdsl", "numpy", "ml_dtypes")],
        ),
        ("tilewright.tools.tilewright_opt", ("numpy", "tilewright.lowering.interpreter")),
    ],
)
def test_light_imports(module: str, heavy: tuple[str, ...]) -> None:
    """The package, its layouts and its atoms come without xDSL and without NumPy, and what reads,
    checks and prints IR without the interpreter."""
    found = f"import sys; sys.exit(', '.join({set(heavy)} & set(sys.modules)) or None)"
    run = subprocess.run(
        [sys.executable, "-c", f"import {module}; {found}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
