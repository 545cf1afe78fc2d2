"""The guard at the edge: what a step raises becomes one located diagnostic that names the step."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covering import THOROUGH
from example_files import EXAMPLES
from run_levels import at_levels
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import PassFailedException, VerifyException

import tilewright as tw
from tilewright import compiler, execution, pipeline
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import LocatedParser

AXPY = (EXAMPLES / "axpy.mlir").read_text()
LINE = next(n for n, line in enumerate(AXPY.splitlines(), 1) if "arith.mulf" in line)


@dataclass(frozen=True)
class Failing(ModulePass):
    """Fails at the multiplication; with None, says so of the op itself."""

    name = "failing"
    error: Exception | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.MulfOp):
                raise self.error or OpError(inner, "'arith.mulf' is red")


@dataclass(frozen=True)
class Reversing(ModulePass):
    """Moves the multiplication behind its uses."""

    name = "reversing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        (product,) = (inner for inner in op.walk() if isinstance(inner, arith.MulfOp))
        block = product.parent
        assert block is not None and block.last_op is not None
        product.detach()
        block.insert_op_before(product, block.last_op)


@pytest.mark.parametrize("error, message", [
    (KeyError("x"), "internal error in 'failing' at 'arith.mulf', please report: KeyError: 'x'"),
    (AssertionError("a\n  b"), "in 'failing' at 'arith.mulf', please report: AssertionError: a b"),
    (MemoryError("400 GiB"),
     "'arith.mulf' expected IR that fits in memory, got more than 'failing' can hold: 400 GiB"),
    (NotImplementedError("no"), "'failing' is not implemented for this at 'arith.mulf': no"),
])  # fmt: skip
def test_an_error_that_nobody_foresaw(error: Exception, message: str):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(AXPY, "sm_80", name="axpy.mlir", passes=[Failing(error)])
    assert message in caught.value.message and caught.value.line == LINE
    assert str(caught.value).startswith("axpy.mlir:") and str(caught.value).endswith("^")
    assert caught.value.__cause__ is error


def test_errors_that_were_foreseen():
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(AXPY, "sm_80", passes=[Failing()])
    assert (caught.value.message, caught.value.line) == ("'arith.mulf' is red (in 'failing')", LINE)
    with pytest.raises(tw.CompileError, match=r"error: it is red \(in 'failing'\)$"):
        tw.compile(AXPY, "sm_80", passes=[Failing(PassFailedException("it is red"))])
    with pytest.raises(OSError, match="disk"):
        tw.compile(AXPY, "sm_80", passes=[Failing(OSError("disk"))])


def test_passes_run_first_and_what_they_leave_is_verified(tmp_path: Path):
    with pytest.raises(
        tw.CompileError, match=r"to be defined on every path .*\(after 'reversing'\)"
    ):
        tw.compile(AXPY, "sm_80", passes=[Reversing()])
    text = AXPY.replace("%i = ", "%unused = arith.constant 7 : i64\n  %i = ", 1)
    kernel = tw.compile(text, "sm_80", passes="canonicalize,cse", dump_dir=tmp_path)
    names = [path.name for path in sorted(tmp_path.iterdir())][:4]
    assert names[:3] == ["00-input.mlir", "01-canonicalize.mlir", "02-cse.mlir"]
    assert "7 : i64" in (tmp_path / names[0]).read_text()
    assert "7 : i64" not in (tmp_path / names[1]).read_text()
    assert kernel.entries[0].name == "axpy"


def test_each_stage_is_verified_where_that_is_asked(monkeypatch: pytest.MonkeyPatch):
    stages = (pipeline.Stage("reversing", lambda arch: Reversing()), *pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", stages)
    with pytest.raises(tw.CompileError, match=r"\(after 'reversing'\)"):
        tw.compile(AXPY, "sm_80", verify_each=True)


@pytest.mark.parametrize("place, step", [
    ((compiler, "module_text"), "internal error in 'ptx'"),
    ((execution, "run_kernel"), "internal error in 'interpret'"),
    ((LocatedParser, "parse_module"), "internal error in the parser here"),
])  # fmt: skip
def test_every_step_is_guarded(place: tuple[Any, str], step: str, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(*place, fail)
    x = np.zeros(8, np.float32)
    with pytest.raises(tw.CompileError, match=f"{step}.*please report: KeyError: 'lost'"):
        tw.interpret(AXPY, grid=(1,), block=(1,), args=[x, x, 1.0, 8])
        tw.compile(AXPY, "sm_80")


@pytest.mark.parametrize("error, message", [
    (KeyError("lost"), "internal error in 'verify' at 'arith.mulf', please report: KeyError"),
    (VerifyException("is red"), "'arith.mulf' is red"),
])  # fmt: skip
def test_a_verifier_that_fails(error: Exception, message: str, monkeypatch: pytest.MonkeyPatch):
    def fail(self: Operation) -> None:
        raise error

    monkeypatch.setattr(arith.MulfOp, "verify_", fail)
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(AXPY, "sm_80")
    assert message in caught.value.message and caught.value.line == LINE


def test_a_kernel_without_a_body():
    text = "func.func private @k(i32) attributes {gpu.kernel}"
    for call in (
        lambda: tw.compile(text, "sm_80"),
        lambda: tw.interpret(text, grid=(1,), block=(1,), args=[1]),
    ):
        with pytest.raises(
            tw.CompileError, match=r":1:1: error: .* expected a kernel to have a body, got"
        ):
            call()


def every_op() -> list[str]:
    """The names of the ops of every dialect, xDSL's own too."""
    dialects = Universe.get_multiverse().all_dialects.values()
    return [op.name for dialect in dialects for op in dialect().operations]


def test_every_op_without_what_it_needs_gets_an_answer():
    """Bare, without operands, and with some operands, results and regions or other."""
    values = "%x: f32, %i: i32, %p: memref<?xf32>"
    rng = random.Random(0)
    ops = every_op()
    assert len(ops) > 1500
    for name in ops if THOROUGH else rng.sample(ops, 500):
        count, results, regions = (rng.randrange(3) for _ in range(3))
        types = ", ".join(("f32", "i32")[:count])
        body = f"({', '.join(['{}'] * regions)}) : ({types}) -> ({', '.join(['f32'] * results)})"
        left = f"%r:{results} = " if results else ""
        for op in (name, f'{left}"{name}"({", ".join(("%x", "%i")[:count])}) {body}'):
            text = f"func.func @k({values}) attributes {{gpu.kernel}} {{\n{op}\nfunc.return\n}}"
            try:
                pipeline.verified(text)
            except tw.CompileError as error:
                assert "internal error" not in error.message


# Nesting


def nested(depth: int) -> str:
    return f"""func.func @k(%x: i1, %p: memref<?xi32>) attributes {{gpu.kernel}} {{
  %z = arith.constant 0 : index
  %v = arith.constant 1 : i32
  {"scf.if %x {" * depth}
    memref.store %v, %p[%z] : memref<?xi32>
  {"}" * depth}
  func.return
}}"""


@at_levels("tile", "ptx")
def test_123_regions_in_each_other(level: Any):
    limit = sys.getrecursionlimit()
    assert tw.compile(nested(123), "sm_80").ptx.count("bra") >= 123
    args = [1, np.zeros(1, np.int32)]
    assert tw.interpret(nested(123), grid=(1,), block=(1,), args=args, level=level)[0][0] == 1
    assert sys.getrecursionlimit() == limit


def test_more_than_anyone_can_follow():
    with pytest.raises(tw.CompileError, match="expected IR that nests less deeply") as caught:
        tw.compile(nested(20_000), "sm_80")
    assert caught.value.line == 4
