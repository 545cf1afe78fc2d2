"""The lowering, proven by running: every scalar op gives equal bits before and after it.

Each test is one op on one type. Its kernel computes on values from memory, with constants on
either side and on both (so that whatever folds does), and stores every result; 8-bit results are
stored widened too, so that bits above an i8 would show. Shifts of the width or more and float to
integer out of range, which MLIR leaves open, are compared as well: both levels say what PTX says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import test_math
from covering import THOROUGH, covering, themselves
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.lowering.to_ptx.conversion import RULES

LANES = 192
INTEGERS = ("i8", "i16", "i32", "i64", "index")
FLOATS = ("f16", "bf16", "f32", "f64")
TYPES = ("i1", *INTEGERS, *FLOATS)
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64,
        "f16": 16, "bf16": 16, "f32": 32, "f64": 64}  # fmt: skip
# Mantissa bits of the floats.
MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}

BIT_OPS = ("addi", "subi", "muli", "andi", "ori", "xori")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
SHIFTS = ("shli", "shrsi", "shrui")
EXTREMES = ("minsi", "minui", "maxsi", "maxui")
BINARY: dict[str, tuple[str, ...]] = {
    **{f"arith.{op}": ("i1", *INTEGERS) for op in BIT_OPS},
    **{f"arith.{op}": ("i1", *INTEGERS) for op in (*DIVISIONS, *SHIFTS, *EXTREMES)},
    **{
        f"arith.{op}": FLOATS
        for op in ("addf", "subf", "mulf", "divf", "maxnumf", "minnumf", "maximumf", "minimumf")
    },
}
UNARY = {
    **dict.fromkeys(
        ("arith.negf", "math.absf", "math.sqrt", "math.exp2", "math.log2", "math.rsqrt"), FLOATS
    ),
}
PREDICATES = {
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "arith.cmpf": ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                   "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
}  # fmt: skip


def wider(low: Iterable[str], high: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of which the second type has more bits."""
    return tuple((a, b) for a, b in product(low, high) if BITS[a] < BITS[b])


WHOLE = ("i1", "i8", "i16", "i32", "i64")
CASTS: dict[str, tuple[tuple[str, str], ...]] = {
    "arith.extsi": wider(WHOLE, WHOLE),
    "arith.extui": wider(WHOLE, WHOLE),
    "arith.trunci": tuple((b, a) for a, b in wider(WHOLE, WHOLE)),
    "arith.index_cast": (*product(WHOLE, ("index",)), *product(("index",), WHOLE)),
    **dict.fromkeys(("arith.sitofp", "arith.uitofp"), tuple(product(WHOLE, FLOATS))),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), tuple(product(FLOATS, WHOLE))),
    "arith.extf": wider(FLOATS, FLOATS),
    "arith.truncf": tuple((b, a) for a, b in wider(FLOATS, FLOATS)),
    "arith.bitcast": tuple(
        (a, b) for a, b in product(("i16", "i32", "i64", *FLOATS), repeat=2)
        if a != b and BITS[a] == BITS[b]
    ),
}  # fmt: skip


# Values


def container(type_: str) -> np.dtype[Any]:
    return np.dtype(f"uint{max(BITS[type_], 8)}")


def special_bits(type_: str) -> list[int]:
    """The values where arithmetic is special, as bits."""
    bits = BITS[type_]
    if type_ == "i1":
        return [0, 1]
    top = 1 << (bits - 1)
    if type_ in INTEGERS:
        around = (bits - 1, bits, bits + 1, 2 * bits)
        values = (0, 1, 2, 3, 7, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, *around)
        return sorted({each % (2 * top) for each in values})
    one = ((1 << (bits - 2 - MANTISSA[type_])) - 1) << MANTISSA[type_]
    infinity = (one << 1) + (1 << MANTISSA[type_])
    positive = (0, 1, (1 << MANTISSA[type_]) - 1, 1 << MANTISSA[type_], one, one + 3, infinity - 1,
                infinity, infinity | 1 << (MANTISSA[type_] - 1), infinity | 5)  # fmt: skip
    return [sign | each for sign, each in product((0, top), positive)]


def values(type_: str, seed: int) -> np.ndarray:
    """LANES values: special ones, small numbers, and random bits."""
    rng = np.random.default_rng(seed)
    if type_ == "i1":
        return rng.integers(0, 2, LANES).astype(np.uint8)
    dtype = container(type_)
    special = rng.permutation(np.resize(np.array(special_bits(type_), dtype=dtype), LANES))
    random = np.frombuffer(rng.bytes(LANES * dtype.itemsize), dtype=dtype)
    numbers = rng.integers(-300, 300, LANES) * rng.choice([1, 0.125], LANES)
    small = (
        numbers.astype(np.int64).astype(dtype)
        if type_ in INTEGERS
        else numbers.astype(ml_dtypes.bfloat16 if type_ == "bf16" else f"float{BITS[type_]}")
    )
    return np.choose(rng.integers(0, 4, LANES), [special, special, random, small.view(dtype)])


def constants(type_: str) -> list[str]:
    """Literals of a type: zeros, ones, powers of two, extremes, infinities and NaN."""
    bits = BITS[type_]
    if type_ == "i1":
        return ["true", "false"]
    if type_ in INTEGERS:
        top = 1 << (bits - 1)
        return [str(each) for each in (0, 1, -1, 2, 8, 5, 100, -top, top - 1, bits)]
    digits = bits // 4
    special = special_bits(type_)
    picked = [special[place] for place in (2, 5, 6, 7, 8, 11, 17, 19)]
    return ["0.0", "-0.0", "1.0", "-2.5", *(f"0x{each:0{digits}X}" for each in picked)]


# Kernels


class Code:
    """A kernel in the making: thread i works on element i of its inputs."""

    def __init__(self, *inputs: str):
        self.inputs = inputs
        self.outputs: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.constants: dict[tuple[str, str], str] = {}
        self.names = [
            self.add(f"memref.load %x{place}[%i] : memref<{LANES}x{each}>")
            for place, each in enumerate(inputs)
        ]

    def add(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def const(self, literal: str, type_: str) -> str:
        key = (literal, type_)
        if key not in self.constants:
            typed = "" if type_ == "i1" else f" : {type_}"
            self.constants[key] = self.add(f"arith.constant {literal}{typed}")
        return self.constants[key]

    def store(self, value: str, type_: str) -> None:
        self.outputs.append((value, type_))
        if type_ == "i8":
            for extend in ("extsi", "extui"):
                wide = self.add(f"arith.{extend} {value} : i8 to i32")
                self.outputs.append((wide, "i32"))

    def text(self) -> str:
        types = [*self.inputs, *(type_ for _, type_ in self.outputs)]
        arguments = ", ".join(
            f"%x{place}: memref<{LANES}x{type_}>" for place, type_ in enumerate(types)
        )
        stores = [
            f"  memref.store {value}, %x{place}[%i] : memref<{LANES}x{type_}>"
            for place, (value, type_) in enumerate(self.outputs, len(self.inputs))
        ]
        thread = '  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index'
        body = "\n".join([thread, *self.lines, *stores, "  func.return"])
        return f"func.func @k({arguments}) attributes {{gpu.kernel}} {{\n{body}\n}}"

    def agree(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """Run both levels, require equal bits of every output, and return them."""
        outputs = [np.zeros(LANES, container(type_)) for _, type_ in self.outputs]
        text, args = self.text(), [*inputs, *outputs]
        atom, ptx = (
            tw.interpret(text, grid=(1,), block=(LANES,), args=args, arch="sm_90", level=level)
            for level in ("atom", "ptx")
        )
        for place, (before, after) in enumerate(zip(atom, ptx, strict=True)):
            assert_array_equal(before, after, f"argument {place} of\n{text}")
        return atom[len(inputs) :]


def operand_pairs(code: Code, type_: str, nonzero: bool) -> list[tuple[str, str]]:
    """Registers and constants in every arrangement."""
    a, b = code.names[:2]
    literals = constants(type_)
    legal = [each for each in literals if not nonzero or each != "0"]
    pairs = [(a, b), (a, a) if not nonzero else (b, b)]
    pairs += [(a, code.const(each, type_)) for each in legal]
    pairs += [(code.const(each, type_), b) for each in literals]
    folded = list(zip(literals, legal[1:] + legal[:1], strict=False))
    return pairs + [(code.const(x, type_), code.const(y, type_)) for x, y in folded]


def a_share(pairs: list[tuple[str, str]], number: int, of: int) -> list[tuple[str, str]]:
    """The registers and a share of the constants: all of them over as many numbers."""
    return pairs if THOROUGH else pairs[:2] + pairs[2 + number % of :: of]


def inputs_of(type_: str, seed: int, *, nonzero: bool = False) -> tuple[np.ndarray, np.ndarray]:
    a, b = values(type_, seed), values(type_, seed + 1)
    return a, np.where(b == 0, 1, b).astype(b.dtype) if nonzero else b


def cases(table: dict[str, Sequence[Any]]) -> list[tuple[str, Any]]:
    return [(op, each) for op, rest in table.items() for each in rest]


@pytest.mark.parametrize("op, type_", covering(cases(BINARY), themselves, times=2))
def test_binary_ops(op: str, type_: str):
    nonzero = op.removeprefix("arith.") in DIVISIONS
    code = Code(type_, type_)
    for a, b in operand_pairs(code, type_, nonzero):
        code.store(code.add(f"{op} {a}, {b} : {type_}"), type_)
    code.agree(*inputs_of(type_, 1, nonzero=nonzero))


@pytest.mark.parametrize("op, type_", cases(UNARY))
def test_unary_ops(op: str, type_: str):
    code = Code(type_)
    for a in (code.names[0], *(code.const(each, type_) for each in constants(type_))):
        code.store(code.add(f"{op} {a} : {type_}"), type_)
    code.agree(values(type_, 2))


@pytest.mark.parametrize("type_", FLOATS)
def test_fma(type_: str):
    code = Code(type_, type_, type_)
    a, b, c = code.names
    literals = [code.const(each, type_) for each in constants(type_)]
    triples = [(a, b, c), (a, a, a), *((a, each, c) for each in literals)]
    triples += [(each, b, literals[0]) for each in literals]
    for triple in triples:
        code.store(code.add(f"math.fma {', '.join(triple)} : {type_}"), type_)
    code.agree(*(values(type_, seed) for seed in (3, 4, 5)))


@pytest.mark.parametrize(
    "op, type_", [("arith.cmpi", each) for each in ("i1", *INTEGERS)]
    + [("arith.cmpf", each) for each in FLOATS]
)  # fmt: skip
def test_comparisons(op: str, type_: str):
    code = Code(type_, type_)
    pairs = operand_pairs(code, type_, False)
    for number, predicate in enumerate(PREDICATES[op]):
        for a, b in a_share(pairs, number, 6):
            code.store(code.add(f"{op} {predicate}, {a}, {b} : {type_}"), "i1")
    code.agree(*inputs_of(type_, 6))


@pytest.mark.parametrize("type_", TYPES)
def test_select(type_: str):
    code = Code(type_, type_, "i1")
    conditions = code.names[2], code.const("true", "i1"), code.const("false", "i1")
    pairs = operand_pairs(code, type_, False)
    for number, chosen in enumerate(conditions):
        for a, b in a_share(pairs, number, 3):
            code.store(code.add(f"arith.select {chosen}, {a}, {b} : {type_}"), type_)
    code.agree(*inputs_of(type_, 7), values("i1", 8))


def ends(case: tuple[str, tuple[str, str]]) -> tuple[object, ...]:
    """What a cast takes, and what it makes."""
    op, (source, result) = case
    return (op, source), (op, result)


@pytest.mark.parametrize("op, pair", covering(cases(CASTS), ends), ids=lambda each: "-".join(each)
                         if isinstance(each, tuple) else each)  # fmt: skip
def test_casts(op: str, pair: tuple[str, str]):
    source, result = pair
    code = Code(source)
    literals = [code.const(each, source) for each in constants(source)]
    operands = [code.names[0], *literals]
    if source in INTEGERS:
        # What folds to more than the type's bits: 100 * 100, and 127 + 100 of an i8.
        operands += [code.add(f"arith.{fold} {literals[6]}, {other} : {source}")
                     for fold, other in (("muli", literals[6]), ("addi", literals[8]))]  # fmt: skip
    for each in operands:
        code.store(code.add(f"{op} {each} : {source} to {result}"), result)
    code.agree(values(source, 9))


def test_every_op_that_lowers_is_here():
    tested = {*BINARY, *UNARY, *CASTS, *PREDICATES, "math.fma", "arith.select", "arith.constant"}
    elsewhere = {case[0] for case in test_math.CASES} | set(test_math.EXTENDED)
    rules = {op.name for op in RULES if op.name.startswith(("arith.", "math."))}
    assert rules == tested | elsewhere


# Integer ops also against Python's integers, which neither level knows.


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


REFERENCE: dict[str, Any] = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "divui": lambda a, b, n: a // b,
    "remui": lambda a, b, n: a % b,
    "ceildivui": lambda a, b, n: -(-a // b),
    "divsi": lambda a, b, n: truncated(signed(a, n), signed(b, n)),
    "remsi": lambda a, b, n: signed(a, n) - signed(b, n) * truncated(signed(a, n), signed(b, n)),
    "floordivsi": lambda a, b, n: signed(a, n) // signed(b, n),
    "ceildivsi": lambda a, b, n: -(-signed(a, n) // signed(b, n)),
    # Past the width, MLIR's result is poison; ours is what PTX's shifts give.
    "shli": lambda a, b, n: a << b if b < n else 0,
    "shrui": lambda a, b, n: a >> b if b < n else 0,
    "shrsi": lambda a, b, n: signed(a, n) >> min(b, n),
    "minui": lambda a, b, n: min(a, b),
    "maxui": lambda a, b, n: max(a, b),
    "minsi": lambda a, b, n: min(signed(a, n), signed(b, n)),
    "maxsi": lambda a, b, n: max(signed(a, n), signed(b, n)),
}


@pytest.mark.parametrize("type_", INTEGERS)
def test_integers_are_what_python_says(type_: str):
    bits, (a, b) = BITS[type_], inputs_of(type_, 10, nonzero=True)
    code = Code(type_, type_)
    for op in REFERENCE:
        code.outputs.append((code.add(f"arith.{op} %v0, %v1 : {type_}"), type_))
    for op, result in zip(REFERENCE, code.agree(a, b), strict=True):
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        expected = [REFERENCE[op](x, y, bits) % (1 << bits) for x, y in pairs]
        assert_array_equal(result, np.array(expected, dtype=result.dtype), op)
