"""RUN lines have the same outcome whether commands start warm or as processes from their files."""

from __future__ import annotations

import json
import multiprocessing
import re
import shutil
import sys
from pathlib import Path

import lit.main
import pytest
import warm_shell
from covering import THOROUGH
from warm_shell import is_script

FOLDER = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent

MODULE = "builtin.module {\n}\n// CHECK: builtin.module\n"
LARGE = "".join(f'"test.op"() {{number = {i} : i64}} : () -> ()\n' for i in range(1600))
CASES = {
    "a pipe": ("PASS", "// RUN: tilewright-opt %s | tilewright-opt | filecheck %s", MODULE),
    "no match": ("FAIL", "// RUN: tilewright-opt %s | filecheck %s", "// CHECK: nowhere\n"),
    "an error": ("FAIL", "// RUN: tilewright-opt %s", "oops\n"),
    "not": ("PASS", "// RUN: not tilewright-opt %s 2>&1 | filecheck %s", "oops // CHECK: ^\n"),
    "not of what works": ("FAIL", "// RUN: not tilewright-opt %s", MODULE),
    "wrong usage": ("FAIL", "// RUN: tilewright-opt --frobnicate %s", MODULE),
    "more than a pipe holds": (
        "PASS",
        "// RUN: tilewright-opt %s > %t\n// RUN: tilewright-opt %s | tilewright-opt | diff %t -",
        LARGE,
    ),
    "a difference": ("FAIL", "// RUN: tilewright-opt %s | diff %s -", MODULE),
    "ptxas refuses": ("FAIL", "// RUN: %ptxas sm_80 %s", "oops\n"),
    "ptxas": ("PASS", "// RUN: %ptxas sm_80 %s", ".version 7.0\n.target sm_80\n"),
    "nothing of ours": ("PASS", "// RUN: test -f %s", ""),
    "nothing at all": ("FAIL", "// RUN: frobnicate %s", ""),
    "one line fails": ("FAIL", "// RUN: diff %s %s\n// RUN: tilewright-opt %t.no", ""),
}


COLD = {"not", "one line fails"}
"""What runs as processes from files too, as lit itself starts them: a pipe that passes and a line
that fails; all of it with TILEWRIGHT_THOROUGH=1."""


@pytest.mark.parametrize("options", [(), ("-D", "cold=1")], ids=["warm", "cold"])
def test_outcomes(options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names = COLD if options and not THOROUGH else set(CASES)
    cases = {name: case for name, case in CASES.items() if name in names}
    for name, (_, run, text) in cases.items():
        (tmp_path / f"{name}.mlir".replace(" ", "_")).write_text(f"{run}\n{text}")
    (tmp_path / "lit.cfg.py").write_text(
        f"lit_config.load_config(config, {str(FOLDER / 'lit.cfg.py')!r})\n"
        f"config.test_source_root = config.test_exec_root = {str(tmp_path)!r}\n"
    )
    results = tmp_path / "results.json"
    # In a copy of this process, which has imported most of what lit will: nothing comes ahead.
    monkeypatch.setattr(warm_shell, "PACKAGES", ())
    monkeypatch.setattr(warm_shell, "EXAMPLES", ())
    arguments = ["lit", "-q", "-j1", *options, "-o", str(results), str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    copy = multiprocessing.get_context("fork").Process(target=lit.main.main)
    copy.start()
    copy.join()
    found = {
        Path(test["name"]).stem.split(" :: ")[-1].replace("_", " "): test["code"]
        for test in json.loads(results.read_text())["tests"]
    }
    assert found == {name: code for name, (code, _, _) in cases.items()}


def test_what_starts_warm():
    """Every command of the RUN lines but another's program; `not` and `diff` are lit's own."""
    lines = [
        line
        for path in FOLDER.rglob("*.mlir")
        for line in re.findall(r"^// RUN: (.*)", path.read_text(), re.MULTILINE)
    ]
    unquoted = (re.sub(r"'[^']*'|\"[^\"]*\"", "", line) for line in lines)
    commands = {part.split()[0] for line in unquoted for part in re.split(r"\|+|&&", line)}
    installed = {name: shutil.which(name, path=str(TOOLS)) for name in commands}
    warm = {name for name, path in installed.items() if path is not None and is_script(path)}
    assert warm == {"filecheck", "tilewright-opt", "xdsl-opt"}
    assert commands - warm == {"not", "diff", "%ptxas", "grep", "sed"}
