"""The patch files for xDSL: each applies to the version that is installed, and brings a test that
fails without it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xdsl

from tilewright.xdsl_patches import repairs, speed

FOLDER = Path(speed.__file__).parent / "upstream"
NAMES = sorted(path.stem for path in FOLDER.glob("*.patch"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of xDSL's sources."""
    root = tmp_path_factory.mktemp("upstream")
    package = Path(xdsl.__file__).parent
    shutil.copytree(package, root / "xdsl")
    return root


def apply(sources: Path, name: str, *how: str) -> None:
    command = ["git", "apply", *how, str(FOLDER / f"{name}.patch")]
    # Not a part of a repository around the temporary folder.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(sources.parent)}
    subprocess.run(command, cwd=sources, env=environment, check=True)


def failing(sources: Path) -> set[str]:
    """The patches of which a test fails."""
    path = os.pathsep.join(filter(None, (str(sources), os.environ.get("PYTHONPATH"))))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "tests"],
        cwd=sources,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode in (0, 1), run.stdout
    return set(re.findall(r"^FAILED tests/test_(\w+)\.py", run.stdout, re.MULTILINE))


def test_each_patch_has_its_file():
    assert sorted([*repairs.PATCHES, *speed.PATCHES]) == NAMES


def test_each_applies_and_its_test_asks_for_it(sources: Path):
    for name in NAMES:
        apply(sources, name, "--check")
        apply(sources, name, "--include=tests/*")
    assert failing(sources) == {*NAMES}
    for name in NAMES:
        # Some change the same place: what is around it need not be as it was.
        apply(sources, name, "-C0", "--include=xdsl/*")
    assert failing(sources) == set()
