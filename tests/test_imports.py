"""Imports run one way: layout algebra <- atom tables <- dialects <- passes <- lowering <- tools."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("dialects", "passes", "lowering", "tools")

# The layers, lowest first; a module belongs to the last entry whose prefix fits it.
LAYERS: tuple[tuple[str, str], ...] = (
    ("algebra", "tilewright.dialects.cute"),
    ("tables", "tilewright.dialects.cute_nvgpu"),
    ("dialects", "tilewright.dialects.cuda_tile"),
    ("dialects", "tilewright.dialects.cute.argument"),
    ("dialects", "tilewright.dialects.cute.dialect"),
    ("dialects", "tilewright.dialects.cute.ops"),
    ("dialects", "tilewright.dialects.cute.pipeline_types"),
    ("dialects", "tilewright.dialects.cute.tensor_types"),
    ("dialects", "tilewright.dialects.cute.tiled_types"),
    ("dialects", "tilewright.dialects.cute.tma_types"),
    ("dialects", "tilewright.dialects.cute.types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.atom_syntax"),
    ("dialects", "tilewright.dialects.cute_nvgpu.atom_types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.attributes"),
    ("dialects", "tilewright.dialects.cute_nvgpu.copy_types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.dialect"),
    ("dialects", "tilewright.dialects.cute_nvgpu.ops"),
    ("dialects", "tilewright.dialects.cute_nvgpu.smem_desc_view"),
    ("dialects", "tilewright.dialects.cute_nvgpu.tma_types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.umma_types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.wgmma_types"),
    ("dialects", "tilewright.dialects.cute_nvgpu.wmma_types"),
    ("dialects", "tilewright.dialects.gpu"),
    ("dialects", "tilewright.dialects.ptx"),
    ("passes", "tilewright.passes"),
    ("lowering", "tilewright.lowering"),
    ("tools", "tilewright.tools"),
)
ORDER = ("algebra", "tables", "dialects", "passes", "lowering", "tools")
# Errors with a place in the source: raised from passes up, and free of everything but xDSL.
EVERYWHERE = {"tilewright.diagnostic"}


def modules() -> dict[str, Path]:
    """Every module of the mapped folders and of the package itself, by its name."""
    found: dict[str, Path] = {}
    for folder in (*FOLDERS, "tilewright"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if folder == "tilewright" else ("tilewright", *parts))
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imported(name: str) -> Iterator[tuple[str, bool]]:
    """What a module imports (by full name), and whether when it is imported itself."""
    tree = ast.parse(MODULES[name].read_text())
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        and (not isinstance(node, ast.If) or "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name, id(node) not in late
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            base = node.module or ""
            for each in node.names:
                full = f"{base}.{each.name}"
                yield full if full in MODULES else base, id(node) not in late


def layer(name: str) -> str | None:
    """The layer of a module, or None outside of them (the public face, `tilewright.*`)."""
    found = [
        (len(prefix), each)
        for each, prefix in LAYERS
        if name == prefix or name.startswith(f"{prefix}.")
    ]
    return max(found)[1] if found else None


def test_there_are_modules_in_every_layer() -> None:
    assert {layer(name) for name in MODULES} >= set(ORDER)


@pytest.mark.parametrize("name", [each for each in MODULES if layer(each)])
def test_imports_run_one_way(name: str) -> None:
    own = layer(name)
    assert own is not None
    for other, _ in imported(name):
        above = layer(other)
        if above is None:
            continue
        assert ORDER.index(above) <= ORDER.index(own), f"{name} ({own}) imports {other} ({above})"


@pytest.mark.parametrize("name", [each for each in MODULES if layer(each) in ("algebra", "tables")])
def test_algebra_and_tables_are_plain_python(name: str) -> None:
    """No xDSL in either, not even late; no NumPy in the algebra, and late alone in the tables."""
    for other, early in imported(name):
        top = other.split(".")[0]
        assert top != "xdsl", f"{name} imports {other}"
        if layer(name) == "algebra":
            assert top != "numpy", f"{name} imports {other}"
        assert top != "numpy" or not early, f"{name} imports {other} when it is imported"
        assert top != "tilewright" or layer(other) in ("algebra", "tables"), (name, other)


@pytest.mark.parametrize("name", [each for each in MODULES if layer(each)])
def test_layers_know_nothing_of_the_public_face(name: str) -> None:
    if layer(name) == "tools":
        return
    for other, _ in imported(name):
        if other.split(".")[0] == "tilewright" and layer(other) is None:
            assert other in EVERYWHERE, f"{name} imports {other}"


@pytest.mark.parametrize(
    "name", [each for each in MODULES if each.startswith("tilewright.lowering.interpreter")]
)
def test_the_interpreter_imports_no_pass(name: str) -> None:
    for other, _ in imported(name):
        assert not other.startswith("tilewright.passes"), f"{name} imports {other}"


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
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom) and not node.level
                else []
            )
            wrong += [f"{path}: {each}" for each in names if each.split(".")[0] in FOLDERS]
    assert not wrong


@pytest.mark.parametrize(
    "module", ["tilewright", "tilewright.dialects.cute", "tilewright.dialects.cute_nvgpu.atom"]
)
def test_light_imports(module: str) -> None:
    """The package, its layouts and its atoms come without xDSL and without NumPy."""
    heavy = (
        "import sys; sys.exit(', '.join({'xdsl', 'numpy', 'ml_dtypes'} & set(sys.modules)) or None)"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"import {module}; {heavy}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
