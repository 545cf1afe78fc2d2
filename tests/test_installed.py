"""The package as `pip install .` leaves it: a wheel in an environment of its own, started in the
root of the tree, where the folder `tilewright/` comes before the installed package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import tilewright

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
MAPPED: dict[str, str] = SETTINGS["package-dir"]


def package_name(folder: Path) -> str:
    """The package that a folder of the tree is."""
    top, *inner = folder.relative_to(ROOT).parts
    [mapped] = (name for name, place in MAPPED.items() if place == top)
    return ".".join([mapped, *inner])


def test_the_package_list_is_the_trees():
    folders = {path.parent for top in MAPPED.values() for path in (ROOT / top).rglob("*.py")}
    assert sorted(SETTINGS["packages"]) == sorted(map(package_name, folders))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that is built from it alone."""
    folder = tmp_path_factory.mktemp("archives")
    tree = folder / "tree"
    for name in MAPPED.values():
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    build(tree, "sdist")
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    build(folder / sdist.name.removesuffix(".tar.gz"), "wheel")
    return folder


def build(tree: Path, kind: str) -> None:
    """Let a tree's build back end leave an archive beside it, as `pip` does."""
    call = f"import setuptools.build_meta as build; build.build_{kind}('..')"
    subprocess.run([sys.executable, "-c", call], cwd=tree, check=True, capture_output=True)


@pytest.fixture(scope="module")
def python(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, and what it needs from ours."""
    environment = tmp_path_factory.mktemp("installed")
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    [wheel] = archives.glob("*.whl")
    options = ("--no-deps", "--no-index", "--no-compile", "--quiet")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)]
    subprocess.run(pip, check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    # A folder named by a .pth has no .pth files of its own read: our editable install stays out.
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_the_archives_have_the_files_of_the_tree(archives: Path):
    [wheel], [sdist] = archives.glob("*.whl"), archives.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed, tarfile.open(sdist) as source:
        inner = set(packed.namelist())
        outer = {name.partition("/")[2] for name in source.getnames()}
    for top, place in MAPPED.items():
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                under = path.relative_to(ROOT / place).as_posix()
                assert f"{top.replace('.', '/')}/{under}" in inner
                assert f"{place}/{under}" in outer
    version = f"tilewright-{tilewright.__version__}"
    assert wheel.name.startswith(f"{version}-py3-none-any") and sdist.name == f"{version}.tar.gz"


def run(python: Path, cwd: Path, *words: str) -> str:
    """What a command of the environment prints, without a PATH or another variable; it succeeds."""
    done = subprocess.run(
        [python, *words], cwd=cwd, env={"HOME": str(python.parents[1])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WHERE = (
    "import tilewright.passes, tilewright.lowering, tilewright.tools.tilewright, "
    "tilewright.dialects.cute as cute; print(tilewright.__file__, cute.__file__)"
)


def test_started_in_the_root_it_is_the_tree(python: Path):
    printed = run(python, ROOT, "-c", WHERE).split()
    assert printed == [
        str(ROOT / "tilewright/__init__.py"),
        str(ROOT / "dialects/cute/__init__.py"),
    ]


def test_started_elsewhere_it_is_the_installed_package(python: Path, tmp_path: Path):
    packages = python.parents[1] / "lib"
    for path in map(Path, run(python, tmp_path, "-c", WHERE).split()):
        assert path.is_relative_to(packages)


def test_pytest_runs_in_the_root(python: Path):
    options = ("-rp", "-p", "no:cacheprovider")
    file = "tests/dialects/cute/test_int_tuple.py"
    assert f"PASSED {file}" in run(python, ROOT, "-m", "pytest", *options, file)


def test_the_doors_of_the_readme_are_open(python: Path, tmp_path: Path):
    """In an empty folder, with nothing but the wheel and what it needs."""
    page = (ROOT / "README.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for code, shown in examples:
        (tmp_path / "door.py").write_text(code)
        assert run(python, tmp_path, "door.py") == shown
    command = python.with_name("tilewright")
    listed = run(command, tmp_path, "examples")
    names = [path.stem for path in sorted((ROOT / "examples").glob("*.mlir"))]
    assert [line.split()[0] for line in listed.splitlines()] == names
    words = ["run", "example:mma", "--grid", "1", "--block", "32", "1.5", "2.0", "out.npy=32"]
    assert f"$ tilewright {' '.join(words)}\n" in page
    assert run(command, tmp_path, *words) == "out.npy: 32 float32\n"
    text = run(command, tmp_path, "examples", "mma")
    assert text == (ROOT / "examples" / "mma.mlir").read_text()


def test_its_commands_run(python: Path, tmp_path: Path):
    passes = "cute-nvgpu-synthesize-layouts,convert-cute-nvgpu-to-ptx"
    opt = python.with_name("tilewright-opt")
    ptx = run(opt, tmp_path, "example:mma", "-p", passes, "-t", "ptx")
    assert "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in ptx
    shown = run(python.with_name("tilewright"), tmp_path, "--version")
    assert shown.startswith(f"tilewright {tilewright.__version__}\n")
