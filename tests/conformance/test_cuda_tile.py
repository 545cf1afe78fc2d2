"""The runner of CUDA Tile IR's lit files tells what passes from what fails, and why."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).with_name("cuda_tile.py")

PRINTED = """\
// RUN: cuda-tile-opt %s | FileCheck %s
// CHECK: %[[X:.+]] = iota : tile<4xi32>
// CHECK: negi %[[X]] : tile<4xi32>
cuda_tile.module @m {
  entry @f() {
    %x = cuda_tile.iota : !cuda_tile.tile<4xi32>
    %y = negi %x : tile<4xi32>
  }
}
"""
DIAGNOSED = """\
// RUN: cuda-tile-opt %s -verify-diagnostics -split-input-file
cuda_tile.module @m {
  entry @f() {
    // expected-error @below {{expects result type to be 1-d tile}}
    %x = iota : tile<4x4xi32>
  }
}
// -----
cuda_tile.module @m {
  entry @f() {
    %x = iota : tile<4xi32>
  }
}
"""
ROUND_TRIP = PRINTED.replace(
    "cuda-tile-opt %s", "cuda-tile-translate -test-cudatile-roundtrip -no-implicit-module %s"
)
CANONICAL = PRINTED.replace("opt %s", "opt %s --canonicalize").replace(
    "// CHECK: negi %[[X]]", "// CHECK-NOT: negi"
)

PASSING = {
    "printed": PRINTED,
    "diagnosed": DIAGNOSED,
    "bytecode": ROUND_TRIP,
    "canonical": CANONICAL.replace("CHECK: %", "CHECK-NOT: %").replace("%[[X:.+]] = iota", "iota"),
}
FAILING = {
    "another_text": PRINTED.replace("CHECK: negi", "CHECK: absi"),
    "missed_error": DIAGNOSED.replace("tile<4x4xi32>", "tile<4xi32>"),
    "unexpected_error": DIAGNOSED.replace("4xi32>\n  }\n}\n", "4xf32>\n  }\n}\n"),
    "other_line": DIAGNOSED.replace("error @below", "error @above"),
    "parse_error": PRINTED.replace("negi %x :", "negi %x"),
    "unknown_pass": PRINTED.replace("opt %s", "opt %s --no-such-pass"),
    "unknown_tool": PRINTED.replace("cuda-tile-opt", "their-opt"),
    "bytecode_differs": ROUND_TRIP.replace("CHECK: negi", "CHECK: absi"),
}


def run(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The runner on a checkout of these files. By itself: NVIDIA's testing ops stay out of ours."""
    tests = folder / "test" / "Dialect"
    tests.mkdir(parents=True)
    for name, text in files.items():
        (tests / f"{name}.mlir").write_text(text)
    command = [sys.executable, str(RUNNER), str(folder), "--list-failures"]
    return subprocess.run(command, capture_output=True, text=True)


def test_files_pass(tmp_path: Path) -> None:
    ran = run(tmp_path, PASSING)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 passed    0 failed" in ran.stdout
    assert "1 errors expected" in ran.stdout


def test_failures_are_named(tmp_path: Path) -> None:
    ran = run(tmp_path, FAILING | {"good": PRINTED})
    assert ran.returncode == 1, ran.stderr
    named = re.findall(r"^Dialect/(\w+)\.mlir: ", ran.stdout, re.MULTILINE)
    assert sorted(named) == sorted(FAILING)
    assert f"1 passed    {len(FAILING)} failed" in ran.stdout


def test_no_files(tmp_path: Path) -> None:
    ran = run(tmp_path, {})
    assert ran.returncode == 2 and "error: no lit files below" in ran.stderr
