"""The runner of CuTe IR's lit files tells what passes from what fails, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from cute_ir import commands, judge, lit_files, main, our_options, run_lines

ROUND_TRIP = """\
// RUN: cute-opt -mlir-print-op-generic %s -split-input-file \\
// RUN:   | cute-opt | FileCheck %s

// -----

// CHECK-LABEL: @leaves
func.func @leaves(%s: !cute.shape<"(4,?)">) -> !cute.shape<"4"> {
  // CHECK: %[[R:.+]]:2 = cute.get_leaves(%{{.+}}) : !cute.shape<"(4,?)">
  %m, %n = cute.get_leaves(%s) : !cute.shape<"(4,?)">
  // CHECK: return %[[R]]#0
  return %m : !cute.shape<"4">
}
"""

DIAGNOSED = """\
// RUN: cute-opt %s -split-input-file -verify-diagnostics
func.func @two(%a: !cute.shape<"4">) {
  // expected-error @below {{'cute.size' op inferred type(s) '!cute.int_tuple<"4">'}}
  // expected-error @below {{op failed to infer returned types}}
  %r = cute.size(%a) : (!cute.shape<"4">) -> !cute.int_tuple<"5">
  return
}
func.func @more(%a: !cute.shape<"4">) {
  // expected-error @+1 {{expects mode index in [0, 1) at depth 0, but got 1}}
  %r = cute.size<[1]> (%a) : (!cute.shape<"4">) -> !cute.int_tuple<"5">
  return
}
"""

FAILURES = {
    "FileCheck mismatch": ROUND_TRIP.replace("]]#0", "]]#1"),
    "verifier disagrees": DIAGNOSED.replace("got 1}}", "got 2}}"),
    "cute op or type is missing": ROUND_TRIP.replace("get_leaves(%s)", "get_twigs(%s)"),
    "type text is rejected": ROUND_TRIP.replace('<"(4,?)">) ->', '<"(4,">) ->'),
    "tool not mapped": ROUND_TRIP.replace("cute-opt -mlir", "their-opt -mlir"),
    "option not mapped": ROUND_TRIP.replace("-split-input-file", "-attach=chip"),
    "pass is missing": ROUND_TRIP.replace("-split-input-file", "-no-such-pass"),
    "parse error": ROUND_TRIP.replace("return %m :", "return %m"),
    "no RUN line": ROUND_TRIP.replace("RUN", "WALK"),
}


def checkout(folder: Path, **files: str) -> Path:
    tests = folder / "cutlass_compiler" / "cute_ir" / "test" / "Dialect"
    tests.mkdir(parents=True)
    for name, text in files.items():
        (tests / f"{name}.mlir").write_text(text)
    return folder


def test_run_lines_are_joined_and_mapped() -> None:
    (line,) = run_lines(ROUND_TRIP)
    assert commands(line, "f.mlir") == [
        ["cute-opt", "-mlir-print-op-generic", "f.mlir", "-split-input-file"],
        ["cute-opt"],
        ["FileCheck", "f.mlir"],
    ]
    assert our_options(["-a", "--split-input-file", "f.mlir", "-b"]) == [
        *("--split-input-file", "f.mlir", "-p", "a,b"),
    ]


LOWERED = """\
// RUN: cute-opt -cute-to-base %s | FileCheck %s
// CHECK: func.func @empty(%[[A:.+]]: !llvm.struct<(struct<()>, struct<()>)>) -> i32
func.func @empty(%a: !cute.layout<"4:1">) -> i32 {
  // CHECK-NOT: call @empt
  // CHECK: %[[R:.+]] = call @empty(%[[A]])
  %r = func.call @empty(%a) : (!cute.layout<"4:1">) -> i32
  return %r : i32
}
"""


@pytest.mark.parametrize("text", [ROUND_TRIP, DIAGNOSED, LOWERED])
def test_a_file_passes(tmp_path: Path, text: str) -> None:
    (path,) = lit_files(checkout(tmp_path, file=text))
    assert judge(path).reason is None


@pytest.mark.parametrize("reason", FAILURES)
def test_a_failure_has_its_class(tmp_path: Path, reason: str) -> None:
    (path,) = lit_files(checkout(tmp_path, file=FAILURES[reason]))
    outcome = judge(path)
    assert outcome.reason == reason, outcome.detail


@pytest.mark.parametrize("forbidden", ["%a: !llvm", "return", "%r = call"])
def test_what_is_forbidden_fails(tmp_path: Path, forbidden: str) -> None:
    # Before the match behind, across it and behind the last one.
    swapped = LOWERED.replace("// CHECK-NOT: call @empt\n", "")
    lines = {
        "%a: !llvm": ("// CHECK: func.func", f"// CHECK-NOT: {forbidden}\n// CHECK: -> i32"),
        "return": ("  return", f"  // CHECK-NOT: {forbidden}\n  return"),
        "%r = call": ("  // CHECK: %[[R", f"  // CHECK-NOT: {forbidden}\n  // CHECK: return %[[Q"),
    }
    (path,) = lit_files(checkout(tmp_path, file=swapped.replace(*lines[forbidden], 1)))
    assert judge(path).reason == "FileCheck mismatch"


def test_the_table_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = checkout(tmp_path, good=ROUND_TRIP, bad=FAILURES["FileCheck mismatch"])
    assert main([str(folder), "--jobs", "1"]) == 1
    report = capsys.readouterr().out.splitlines()
    assert report[0].split() == ["Dialect", "1", "passed", "1", "failed"]
    assert report[1].split() == ["1", "FileCheck", "mismatch"]
    assert main([str(folder), "--jobs", "1", "--filter", "good"]) == 0
    assert main([str(folder), "--filter", "none"]) == 2
