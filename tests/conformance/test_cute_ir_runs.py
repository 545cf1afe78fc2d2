"""The runner of CuTe IR's programs tells which of them print what they should."""

from __future__ import annotations

from pathlib import Path

import pytest
from cute_ir_runs import main

HOST = """\
// CHECK: (5,4)
// CHECK-NEXT: 20
llvm.func @printf(!llvm.ptr, ...) -> i32
func.func private @read_base() -> i32 {
  %v = llvm.call @atoi(%env) : (!llvm.ptr) -> i32
  return %v : i32
}

func.func @print_i32(%v: i32) {
  %r = llvm.call @printf(%f, %v) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32) -> i32
  return
}

func.func @main() {
  %base = call @read_base() : () -> i32
  %five = arith.constant 5 : i32
  %n = arith.addi %base, %five : i32
  %s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">
  cute.print(%s) : !cute.shape<"(?,4)">
  %size = cute.size(%s) : (!cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
  %number = cute.get_scalars(%size) : !cute.int_tuple<"?">
  call @print_i32(%number) : (i32) -> ()
  return
}
"""

KERNEL = """\
// CHECK: 3:2
// CHECK-NEXT: 3
module attributes {gpu.container_module} {
  gpu.module @kernel {
    gpu.func @print_all(%base: i32) kernel {
      %tx = gpu.thread_id x
      %three = arith.constant 3 : i32
      %n = arith.addi %base, %three : i32
      %s = cute.make_shape(%n) : (i32) -> !cute.shape<"?">
      %d = cute.static : !cute.stride<"2">
      %l = cute.make_layout(%s, %d) : (!cute.shape<"?">, !cute.stride<"2">) -> !cute.layout<"?:2">
      cute.print(%l) : !cute.layout<"?:2">
      gpu.printf "%d\\n", %n : i32
      gpu.return
    }
  }
}
"""


def checkout(folder: Path, **programs: str) -> str:
    tests = folder / "cutlass_compiler" / "test" / "Integration"
    tests.mkdir(parents=True)
    for name, text in programs.items():
        (tests / f"{name}.mlir").write_text(text)
    return str(folder)


@pytest.mark.parametrize("options", [[], ["--expand"]])
def test_programs_that_print_what_they_should(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([checkout(tmp_path, host=HOST, kernel=KERNEL), *options]) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed\n"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (HOST.replace("CHECK: (5,4)", "CHECK: (5,5)"), "error"),
        (KERNEL.replace("arith.addi", "arith.muli"), "error"),
        (KERNEL.replace("cute.static", "cute.statical"), "is not registered"),
        (HOST.replace("cute.print(%s) : !cute.shape<\"(?,4)\">", "").replace(
            "call @print_i32(%number) : (i32) -> ()", ""), "it prints nothing"),
    ],
)  # fmt: skip
def test_programs_that_do_not(
    program: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([checkout(tmp_path, program=program), "--list-failures"]) == 1
    printed = capsys.readouterr().out
    assert why in printed and printed.endswith("0 passed, 1 failed\n")


def test_a_folder_without_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no programs below" in capsys.readouterr().err
