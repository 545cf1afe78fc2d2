"""Calls of the public face with what it does not take: each says what it expects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import EXAMPLES

import tilewright as tw
from tilewright.builder import array_type, cute

BF16 = ("bf16", "bf16", "f32")
AXPY = EXAMPLES / "axpy.mlir"
MMA = {"name": "sm80.mma", "shape": (16, 8, 16), "elem_type": BF16}
UMMA = {"name": "sm100.mma", "shape": (128, 128, 16), "elem_type": BF16}
WGMMA = {"name": "sm90.mma", "shape": (64, 64, 16), "elem_type": BF16}

ATOMS: list[tuple[dict[str, Any], str]] = [
    *((given | {"colour": 1}, "scale_type, ab_major, frag_kind, cta_group, idesc, got colour")
      for given in (MMA, UMMA, WGMMA)),
    (MMA | {"roundin": "rz"}, "satfinite, rounding, majors"),
    (MMA | {"roundin": "rz"}, "got roundin; nearest legal: rounding"),
    (UMMA | {"ab_major": ("x", "y")},
     'expected ab_major as a list of 2, each item one of "k", "mn", got ('),
    (UMMA | {"ab_major": "k"}, 'each item one of "k", "mn", got '),
    (UMMA | {"frag_kind": "tt"}, 'as one of "ss", "ts", got \'tt\'; nearest legal: "ts"'),
    (UMMA | {"cta_group": "1"}, "expected cta_group as an integer, got '1'"),
    (MMA | {"majors": "row"}, """as a list of 2, each item one of "row", "col", got 'row'"""),
    (MMA | {"satfinite": "yes"}, "expected satfinite as True or False, got 'yes'"),
    (MMA | {"kind": 7}, "expected kind as a string, got 7"),
    (MMA | {"scale_vector": "2X"}, "expected scale_vector as an integer, got '2X'"),
    (MMA | {"shape": (16, 8)}, "expected shape as a list of 3, each item an integer"),
    (MMA | {"shape": (16, 8, 16.5)}, "each item an integer, got (16, 8, 16.5)"),
    (MMA | {"shape": "16x8x16"}, "each item an integer, got '16x8x16'"),
    (MMA | {"elem_type": "bf16"}, "elem_type as a list, each item a string, got 'bf16'"),
    (MMA | {"elem_type": (np.float16,) * 3},
     "expected elem_type as a list, each item a string, got (<class"),
    ({"name": 3}, "expected name as a PTX mnemonic or an op of the lattice, got 3"),
]  # fmt: skip


@pytest.mark.parametrize("given, words", ATOMS)
def test_atoms(given: dict[str, Any], words: str):
    with pytest.raises(tw.AtomError) as caught:
        tw.atom(**given)
    assert words in str(caught.value)


def test_errors_are_one_family():
    values = [getattr(tw, name) for name in tw.__all__]
    errors = [item for item in values if isinstance(item, type) and issubclass(item, Exception)]
    assert len(errors) >= 9 and all(issubclass(error, tw.Error) for error in errors)


def test_lists_are_as_good_as_tuples():
    assert tw.atom("sm80.mma", shape=[16, 8, 16], elem_type=list(BF16)) == tw.atom(**MMA)  # type: ignore[arg-type]
    listed = tw.atom("sm100.mma", shape=[128, 128, 16], elem_type=BF16, ab_major=["k", "mn"])  # type: ignore[arg-type]
    assert listed == tw.atom(
        "sm100.mma", shape=(128, 128, 16), elem_type=BF16, ab_major=("k", "mn")
    )


@pytest.mark.parametrize("operand", ["Z", "a", "E", "SFA", None])
@pytest.mark.parametrize("given", [MMA, UMMA, WGMMA], ids=lambda given: given["name"])
def test_operands(given: dict[str, Any], operand: Any):
    atom = tw.atom(**given)
    in_tmem = given["name"] == UMMA["name"]
    for query in (atom.cells, atom.tmem_layout) if in_tmem else (atom.coords, atom.tv_layout):
        with pytest.raises(tw.AtomError, match=rf"expected .* D, got '?{operand}"):
            query(operand)


def run(**changes: Any) -> Any:
    x = np.zeros(8, np.float32)
    settings = {"grid": (1,), "block": (8,), "args": [x, x, 1.0, 8]} | changes
    return tw.interpret(AXPY.read_text(), **settings)


CALLS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tw.compile(Path("AXPY"), "sm_90"), TypeError,  # type: ignore[arg-type]
     "xDSL ModuleOp, got PosixPath('AXPY'); nearest legal: its read_text()"),
    *((lambda name=name: tw.compile(name, "sm_90"), tw.ArgumentError,
       f"xDSL ModuleOp, got '{name}'; nearest legal: the text of '{name}'")
      for name in ("examples/axpy.mlir", "k.tileirbc", "example:axpy")),
    (lambda: tw.compile(7, "sm_90"), TypeError,  # type: ignore[arg-type]
     "expected module_or_text as MLIR text, Tile IR bytecode or an xDSL ModuleOp, got 7"),
    (lambda: tw.interpret(Path("AXPY"), grid=(1,), block=(1,), args=[]), TypeError,  # type: ignore[arg-type]
     "xDSL ModuleOp, got PosixPath('AXPY'); nearest legal: its read_text()"),
    (lambda: tw.compile("", None), tw.TargetError,  # type: ignore[arg-type]
     "expected the name of a target such as 'sm_90a', got None"),
    *((lambda name=name: tw.compile("", name), tw.TargetError,
       f"unknown target '{name}'; nearest legal: {meant};")
      for name, meant in (("h100", "sm_90a"), ("A100", "sm_80"), ("sm_90A", "sm_90a"))),
    (lambda: tw.compile("", 90), tw.TargetError, "such as 'sm_90a', got 90"),  # type: ignore[arg-type]
    (lambda: tw.atom(**MMA).check(None), tw.TargetError, "such as 'sm_90a', got None"),  # type: ignore[arg-type]
    (lambda: run(arch=90), tw.TargetError, "such as 'sm_90a', got 90"),
    (lambda: run(level="program"), tw.ArgumentError,
     "expected Tile IR for level 'program', got none"),
    (lambda: tw.interpret("func.func @f() { func.return }", grid=(1,), block=(1,), args=[]),
     tw.CompileError,
     "got none (nearest legal: func.func @k() attributes {gpu.kernel} { ... })"),
    *((lambda given=given: array_type(given, 2), tw.ArgumentError,
       f"expected element as an element type such as 'bf16', got {given!r}{nearest}")
      for given, nearest in (("float32", "; nearest legal: 'f32'"), ("f33", ""),
                             (np.float16, "; nearest legal: 'f16'"))),
    (lambda: cute("memref.store", 1.0, 2.0, 3.0), tw.CompileError,
     "'cute.memref.store' expected values and ops as operands, got 1.0"),
    (lambda: run(grid=1), tw.ExecutionError, "grid as up to three positive integers, got 1"),
    (lambda: run(block=8.0), tw.ExecutionError, "expected block as up to three positive integers"),
    (lambda: run(level="sass"), tw.ExecutionError,
     """expected level as one of "program", "tile", "atom", "ptx", got 'sass'"""),
    (lambda: tw.compile("", "sm_90", passes="no-such-pass"), ValueError, "no-such-pass"),
    (lambda: tw.compile("", "sm_90", passes=[3]), TypeError,  # type: ignore[list-item]
     "expected passes as the text of a pipeline or a list of xDSL's ModulePass, got [3]"),
    (lambda: tw.compile("", "sm_90", passes=5), TypeError, "or a list of xDSL's ModulePass, got 5"),  # type: ignore[arg-type]
    (lambda: tw.compile("", "sm_90", name=5), TypeError,  # type: ignore[arg-type]
     "expected name as a string, got 5"),
    *((lambda given=given: run(args=given), tw.ExecutionError,
       f"expected args as a list of arguments, got {given!r}") for given in 
       (None, 5, "ab", {1: 2})),
    *((lambda given=given: run(schedule=given), tw.ExecutionError,
       f"expected schedule as a seed from 0 on, got {given!r}")
      for given in (-1, 1.5, "x")),
    *((lambda given=given: run(max_steps=given), tw.ExecutionError,
       f"expected max_steps as a number from 1 on, got {given!r}")
      for given in (0, -1, 1.5, "10")),
]  # fmt: skip


@pytest.mark.parametrize("call, kind, words", CALLS)
def test_calls(call: Callable[[], Any], kind: type[Exception], words: str):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_more_shared_memory_than_a_target_has():
    """Before anything looks at its cells one by one."""
    text = """func.func @k(%o: memref<?xi8>) attributes {gpu.kernel} {
  %s = memref.alloc() : memref<429496729600xi8, #cute<space smem>>
  %z = arith.constant 0 : index
  %v = memref.load %s[%z] : memref<429496729600xi8, #cute<space smem>>
  memref.store %v, %o[%z] : memref<?xi8>
  func.return
}"""
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(text, "sm_90a")
    assert caught.value.line == 2 and "at most 232448 bytes of shared memory" in str(caught.value)
