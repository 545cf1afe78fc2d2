"""The second engine gives what the first one gives: bits, errors, races."""

from __future__ import annotations

import lzma
import pickle
import random
import tarfile
from ctypes import CFUNCTYPE, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import THREADS, form_inputs
from kernels import access_type, scalar_forms
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from ptx_modules import executed

import tilewright as tw
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.interpreter import runners
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.native import compiled, new_module
from tilewright.lowering.interpreter.machine.word_accesses import LOCAL, Readers
from tilewright.lowering.interpreter.values import CONTAINERS
from tilewright.source.diagnostic import ExecutionError

FIXTURES = Path(__file__).parents[2] / "silicon" / "fixtures"
RECORDS = np.load(FIXTURES / "scalar.npz")
SEEDS = dict(zip(RECORDS["names"].tolist(), RECORDS["seeds"].tolist(), strict=True))
FORMS = scalar_forms("sm_90a")


def form_code(module: Any, name: str) -> bool:
    """Add a function `name(threads, out, guarded, operands...)`; False where there is no code."""
    op, form = FORMS[name]
    row = op.ROW.forms[form]
    mnemonic = op.name.removeprefix("ptx.")
    code = Code(module, name, [I64, *[POINTER] * (2 + len(row.types))])
    threads, out, guarded, *given = code.arguments
    with code.vectors(threads) as index:
        words: list[Any] = []
        for pointer, type_ in zip(given, row.types, strict=True):
            word = code.load(pointer, CONTAINERS[access_type(type_)], index)
            words.append(word != 0 if type_ == "pred" else word)
        try:
            result = code.trace(scalar(mnemonic, form), words)
        except Exception:
            module.globals.pop(name)
            return False
        word = code.wrap(result).astype(CONTAINERS[access_type(row.result)])
        code.store(out, index, word)
        wrong = code.word(0, bool)
        for condition in code.guards:
            wrong = wrong | code.word(condition, bool)
        code.store(guarded, index, wrong)
    code.builder.ret(ir.Constant(I64, 0))
    code.function.linkage = ""
    return True


def test_scalar_forms_equal_the_chip():
    """Of every form that has code: not those of 16 bits, and few approximations and directed
    roundings."""
    module = new_module()
    names = [name for name in SEEDS if form_code(module, name)]
    assert len(names) >= 495
    engine = compiled(str(module))
    for name in names:
        op, form = FORMS[name]
        row = op.ROW.forms[form]
        inputs = [np.ascontiguousarray(x) for x in form_inputs(row, SEEDS[name])]
        out = np.zeros(THREADS, f"uint{KINDS[access_type(row.result)]}")
        guarded = np.zeros(THREADS, bool)
        run = CFUNCTYPE(c_int64, c_int64, *[c_void_p] * (2 + len(inputs)))
        address = engine.get_function_address(name)
        run(address)(THREADS, *[x.ctypes.data for x in (out, guarded, *inputs)])
        expected = RECORDS[name]
        assert_array_equal(out[~guarded], expected[~guarded], err_msg=name)


# Kernels


@pytest.fixture(scope="module")
def members() -> dict[str, bytes]:
    with tarfile.open(FIXTURES / "cuda_kernels.tar.xz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # pyright: ignore


@pytest.mark.parametrize("kernel", ["k_scan_block", "k_divergent"])
def test_kernels_of_nvcc_leave_what_a_chip_left(members: dict[str, bytes], kernel: str):
    cases = pickle.loads(lzma.decompress(members["cases.pkl.xz"]))["kernels_sm_90a"]
    [case] = (case for case in cases if case["kernel"] == kernel)
    text = members["kernels_sm_90a.ptx"].decode()
    assert executed(text, case, engine="compiled") is None


HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out)
{
  .shared .align 8 .b8 tile[256];
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 5;
  mov.u32 %r9, 0;
  mov.u32 %r8, tile;
  shl.b32 %r7, %r1, 2;
  add.u32 %r7, %r7, %r8;
LOOP:
  add.u32 %r9, %r9, %r1;
  xor.b32 %r9, %r9, %r2;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
"""
TAIL = """
  @%p1 bra LOOP;
  st.global.u32 [%rd3], %r9;
  ret;
}
"""
"""The threads go through the body five times."""


def outcome(body: str, engine: runners.Engine) -> NDArray[Any] | str:
    """The array, or the error."""
    given = dict(grid=(1, 1, 1), block=(64, 1, 1), args=[np.zeros(64, np.uint32)])
    try:
        [result] = tw.interpret(HEAD + body + TAIL, engine=engine, **given)
    except ExecutionError as error:
        return str(error)
    return result


WRONG = {
    "out of bounds": "st.global.u32 [%rd3+64], %r9;",
    "misaligned": "ld.global.u32 %r3, [%rd1+2];",
    "is in no kernel argument": "ld.global.u32 %r3, [%rd2];",
    "write and the read by 'ptx.ld'": "ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd3], %r9;",
    "two threads of the op write one element": "st.global.u32 [%rd1], %r9;",
    "read of shared memory that nothing has written": "ld.shared.u32 %r3, [%r7];",
    "two threads of the op write one byte": "st.shared.u32 [%r8], %r9;",
    "are ordered by no barrier": "st.shared.u32 [%r7], %r9; xor.b32 %r4, %r7, 252;"
    "ld.shared.u32 %r3, [%r4];",
    "division by zero": "rem.u32 %r9, %r9, %r1;",
    "use of an undefined register": "@%p1 bra NEXT; mov.u32 %r12, 7; NEXT: add.u32 %r9, %r9, %r12;",
    "is reached for ever": "mov.u32 %r9, 0; add.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;",
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_are_the_same(words: str):
    error = outcome(WRONG[words], "compiled")
    assert isinstance(error, str) and words in error
    assert error == outcome(WRONG[words], "numpy")


RIGHT = {
    "divergent": "and.b32 %r3, %r1, 3; setp.lt.u32 %p2, %r3, %r2; @%p2 bra NEXT;"
    "mul.lo.u32 %r9, %r9, 3; NEXT: add.u32 %r9, %r9, 1;",
    "predicated": "and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0;"
    "@%p2 st.global.u32 [%rd3], %r9; mov.u32 %r4, 9; @%p2 ld.global.u32 %r4, [%rd3];"
    "add.u32 %r9, %r9, %r4;",
    "through shared memory": "st.shared.u32 [%r7], %r9; bar.sync 0; xor.b32 %r4, %r7, 124;"
    "ld.shared.u32 %r3, [%r4]; bar.sync 0; add.u32 %r9, %r9, %r3;",
    "equal values": "st.global.u32 [%rd1], %r2; st.shared.u32 [%r8], %r2;",
    "waiting": "mad.lo.u32 %r3, %r1, 8, %r2; setp.eq.u32 %p2, %r3, 4;"
    "@%p2 mbarrier.init.shared.b64 [%r8], 64; bar.sync 0; and.b32 %r5, %r2, 1;"
    "mbarrier.arrive.shared.b64 %rd5, [%r8];"
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r8], %r5; @!%p3 bra WAIT;"
    "add.u32 %r9, %r9, %r5;",
    "loops that threads leave one by one": "mov.u32 %r3, %r1; AGAIN: and.b32 %r4, %r3, 1;"
    "setp.eq.u32 %p2, %r4, 1; @%p2 bra ODD; shr.u32 %r3, %r3, 1; bra EVEN;"
    "ODD: mad.lo.u32 %r3, %r3, 3, 1; EVEN: add.u32 %r9, %r9, 1;"
    "setp.gt.u32 %p3, %r3, 1; @%p3 bra AGAIN; st.global.u32 [%rd3], %r3;",
    "narrow": "st.shared.u8 [%r7], %r9; ld.shared.u8 %r3, [%r7]; add.u32 %r9, %r9, %r3;",
}


@pytest.mark.parametrize("name", RIGHT)
def test_kernels_give_the_same(name: str):
    result = outcome(RIGHT[name], "compiled")
    if name == "equal values":
        # The last store is of other values, beside what the others wrote.
        assert isinstance(result, str) and result == outcome(RIGHT[name], "numpy")
    else:
        assert not isinstance(result, str), result
        assert_array_equal(result, outcome(RIGHT[name], "numpy"))


def test_any_statements_give_the_same():
    """Bits, or the first error, of statements in any order."""
    plain = [
        body for body in (*RIGHT.values(), *WRONG.values()) if ":" not in body and "bar" not in body
    ]
    statements = {f"{one.strip()};" for body in plain for one in body.split(";") if one.strip()}
    for seed in range(8):
        body = " ".join(random.Random(seed).choices([*sorted(statements), "bar.sync 0;"], k=6))
        native, first = (outcome(body, engine) for engine in ("compiled", "numpy"))
        assert str(native) == str(first), body


@given(st.data())
def test_readers_of_a_word_come_one_after_the_other(data: st.DataObject):
    """Those of one op too: which the engines remember does not depend on who of them notes it."""
    at_once, in_turn = Readers(4, LOCAL + 1), Readers(4, LOCAL + 1)
    for op in range(1, 5):
        threads = sorted(data.draw(st.sets(st.integers(0, 7), min_size=1)))
        who = np.array([[thread // 4 * (LOCAL + 1) + thread % 4] for thread in threads])
        places = np.array([[data.draw(st.integers(0, 3))] for _ in threads])
        now = np.full(who.shape, op, np.int32)
        at_once.note(places, who, now, op)
        for row in range(len(threads)):
            in_turn.note(places[[row]], who[[row]], now[[row]], op)
    words = np.arange(4)[:, None]
    for (_, mine), (_, other) in zip(at_once.of(words), in_turn.of(words), strict=True):
        for column, its in zip(mine, other, strict=True):
            assert_array_equal(column, its)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runners, "find_spec", lambda name: None)
    with pytest.raises(tw.ArgumentError, match="expected llvmlite for engine 'compiled'"):
        tw.interpret(HEAD + TAIL, grid=(1,), block=(1,), args=[], engine="compiled")


def test_a_long_run_becomes_native(monkeypatch: pytest.MonkeyPatch):
    """And a short one does not."""
    runs: list[int] = []
    monkeypatch.setattr(runners, "_COMPILED", kept := dict[Any, Any]())
    for enough in (1 << 20, 1):
        monkeypatch.setattr(runners, "COMPILING", enough)
        outcome(RIGHT["divergent"], "auto")
        runs.append(len(kept))
    assert runs == [0, 1]
