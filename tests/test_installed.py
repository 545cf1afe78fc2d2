"""The package as `pip install .` leaves it: a wheel in an environment of its own, started in the
root of the tree, where the folder `tilewright/` comes before the installed package."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
MAPPED: dict[str, str] = SETTINGS["package-dir"]


def package_name(folder: Path) -> str:
    """The package that a folder of the tree is."""
    top, *inner = folder.relative_to(ROOT).parts
    [mapped] = (name for name, place in MAPPED.items() if place == top)
    return ".".join([mapped, *inner])


def test_the_package_list_is_the_trees() -> None:
    folders = {path.parent for top in MAPPED.values() for path in (ROOT / top).rglob("*.py")}
    assert sorted(SETTINGS["packages"]) == sorted(map(package_name, folders))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, and what it needs from ours."""
    folder = tmp_path_factory.mktemp("installed")
    tree = folder / "tree"
    for name in MAPPED.values():
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    build = "import setuptools.build_meta as build; build.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=tree, check=True, capture_output=True)
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    [wheel] = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    # A folder named by a .pth has no .pth files of its own read: our editable install stays out.
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin" / "python"


def run(python: Path, cwd: Path, *words: str) -> str:
    """What a command of the environment prints; it succeeds."""
    done = subprocess.run([python, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WHERE = (
    "import tilewright.passes, tilewright.lowering, tilewright.tools.tilewright, "
    "tilewright.dialects.cute as cute; print(tilewright.__file__, cute.__file__)"
)


def test_started_in_the_root_it_is_the_tree(python: Path) -> None:
    printed = run(python, ROOT, "-c", WHERE).split()
    assert printed == [
        str(ROOT / "tilewright/__init__.py"),
        str(ROOT / "dialects/cute/__init__.py"),
    ]


def test_started_elsewhere_it_is_the_installed_package(python: Path, tmp_path: Path) -> None:
    packages = python.parents[1] / "lib"
    for path in map(Path, run(python, tmp_path, "-c", WHERE).split()):
        assert path.is_relative_to(packages)


def test_pytest_runs_in_the_root(python: Path) -> None:
    options = ("-rp", "-p", "no:cacheprovider")
    file = "tests/dialects/cute/test_int_tuple.py"
    assert f"PASSED {file}" in run(python, ROOT, "-m", "pytest", *options, file)
