"""Ops of `arith` and what NumPy says that they give: every op once, on every type that has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

THREADS = 64
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}
FLOATS: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
DTYPES: dict[str, Any] = {"i1": np.bool_, **INTEGERS, **FLOATS}
Law = Callable[..., Any]


def bits(element: str) -> int:
    return 1 if element == "i1" else 8 * np.dtype(DTYPES[element]).itemsize


def values(element: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random bits, small numbers and what is special, mixed."""
    dtype = np.dtype(DTYPES[element])
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    raw = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    small = rng.integers(-9, 100, shape)
    if element in INTEGERS:
        info = np.iinfo(dtype)
        width = bits(element)
        special = rng.choice([0, 1, -1, info.min, info.max, width - 1, width], shape)
    else:
        small = small / 8
        special = rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 65504.0], shape)
    kind = rng.integers(0, 4, shape)
    with np.errstate(all="ignore"):
        return np.choose(
            kind, [raw, small.astype(dtype), small.astype(dtype), special.astype(dtype)]
        )


# Integers


def _unsigned(value: np.ndarray) -> np.ndarray:
    return value.view(f"u{value.itemsize}") if value.dtype != bool else value


def _by_sign(law: Law) -> Law:
    """A law of unsigned numbers, on signed ones."""
    return lambda a, b: law(_unsigned(a), _unsigned(b)).astype(a.dtype)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Towards zero."""
    floor = a // b
    return floor + ((a - floor * b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _ceil(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    quotient = _quotient(a, b)
    up = (a - quotient * b != 0) & ((a < 0) == (b < 0))
    return quotient + up.astype(a.dtype)


def _within(law: Law, beyond: Law) -> Law:
    """A shift; by its width or more, which MLIR leaves open, as PTX shifts."""

    def shifted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        width = 8 * a.itemsize
        small = _unsigned(b) < width
        return np.where(small, law(a, np.where(small, b, 0)), beyond(a)).astype(a.dtype)

    return shifted


INTEGER_LAWS: dict[str, Law] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": _by_sign(np.minimum),
    "maxui": _by_sign(np.maximum),
    "shli": _within(lambda a, b: a << b, np.zeros_like),
    "shrsi": _within(lambda a, b: a >> b, lambda a: a >> (8 * a.itemsize - 1)),
    "shrui": _within(_by_sign(lambda a, b: a >> b), np.zeros_like),
    "divsi": _quotient,
    "divui": _by_sign(lambda a, b: a // b),
    "remsi": lambda a, b: a - b * _quotient(a, b),
    "remui": _by_sign(lambda a, b: a % b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": _ceil,
    "ceildivui": _by_sign(lambda a, b: a // b + (a % b != 0)),
}
DIVISIONS = tuple(op for op in INTEGER_LAWS if "div" in op or "rem" in op)
BOOLEAN_OPS = ("andi", "ori", "xori")


def halves(op: str, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two results of an extended op, by Python's integers."""
    width, signed = 8 * a.itemsize, op == "mulsi_extended"
    x, y = ((v if signed else _unsigned(v)).astype(object) for v in (a, b))
    whole = x + y if op == "addui_extended" else x * y
    low, high = whole & ((1 << width) - 1), (whole >> width) & ((1 << width) - 1)
    unsigned = f"u{a.itemsize}"
    if op == "addui_extended":
        return low.astype(unsigned).view(a.dtype), high.astype(bool)
    return tuple(part.astype(unsigned).view(a.dtype) for part in (low, high))  # type: ignore[return-value]


# Floats: f16 and bf16 by f32, whose rounding and a second one are one rounding


def _by_f32(law: Law) -> Law:
    def rounded(*operands: np.ndarray) -> np.ndarray:
        dtype = operands[0].dtype
        if dtype.itemsize > 2:
            return law(*operands)
        return law(*(value.astype(np.float32) for value in operands)).astype(dtype)

    return rounded


def _extreme(sign: int, spread: bool) -> Law:
    """The larger one (sign 1) or the smaller one; -0 < +0; NaN spreads, or the number wins."""

    def law(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        before = np.where((a == 0) & (b == 0), np.signbit(a), sign * a < sign * b)
        if sign < 0:
            before = np.where((a == 0) & (b == 0), ~np.signbit(a), before)
        chosen = np.where(before, b, a)
        if spread:
            return np.where(np.isnan(a) | np.isnan(b), np.nan, chosen).astype(a.dtype)
        return np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen))

    return law


FLOAT_LAWS: dict[str, Law] = {
    op: _by_f32(law)
    for op, law in {
        "addf": lambda a, b: a + b,
        "subf": lambda a, b: a - b,
        "mulf": lambda a, b: a * b,
        "divf": lambda a, b: a / b,
        "maxnumf": _extreme(1, False),
        "minnumf": _extreme(-1, False),
        "maximumf": _extreme(1, True),
        "minimumf": _extreme(-1, True),
    }.items()
}
UNARY_LAWS: dict[str, Law] = {
    "arith.negf": lambda a: -a,
    "math.absf": np.abs,
    "math.sqrt": _by_f32(np.sqrt),
    "math.floor": _by_f32(np.floor),
    "math.ceil": _by_f32(np.ceil),
    "math.trunc": _by_f32(np.trunc),
    "math.roundeven": _by_f32(np.rint),
}

COMPARISONS: dict[str, Law] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare(element: str, predicate: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A predicate of `arith.cmpi`, or of `arith.cmpf`."""
    if element in FLOATS:
        a, b = a.astype(np.float64), b.astype(np.float64)
        unordered = np.isnan(a) | np.isnan(b)
        if predicate in ("ord", "uno"):
            return unordered == (predicate == "uno")
        law = COMPARISONS[predicate[1:]](a, b)
        return (law | unordered) if predicate[0] == "u" else (law & ~unordered)
    if predicate in COMPARISONS:
        return COMPARISONS[predicate](a, b)
    if predicate[0] == "u":
        a, b = _unsigned(a), _unsigned(b)
    return COMPARISONS[predicate[1:]](a, b)


INTEGER_PREDICATES = ("eq", "ne", *(s + p for s, p in product("su", ("lt", "le", "gt", "ge"))))
FLOAT_PREDICATES = ("ord", "uno", *(s + p for s, p in product("ou", COMPARISONS)))


# Casts


@dataclass(frozen=True)
class Cast:
    """`guarded`: what a NaN gives is left open, and of 8 bits what is beyond them, so neither goes
    in."""

    op: str
    source: str
    result: str
    guarded: bool = False

    @property
    def scalar(self) -> bool:
        """Whether xDSL has it on scalars alone, or what guards it."""
        between = self.op not in ("extf", "truncf", "bitcast")
        return self.guarded or between or bool({self.source, self.result} & {"i1", "index"})

    def law(self, a: np.ndarray) -> np.ndarray:
        dtype = np.dtype(DTYPES[self.result])
        match self.op:
            case "bitcast":
                return a.view(dtype)
            case "extui" | "uitofp" | "index_castui":
                return _rounded(_unsigned(a), dtype)
            case "sitofp" | "extsi" if self.source == "i1":
                return -a.astype(np.int8).astype(dtype)
            case "trunci" if self.result == "i1":
                return a & 1 != 0
            case "fptosi":
                return _saturated(a, dtype)
            case "fptoui":
                return _saturated(a, np.dtype(f"u{dtype.itemsize}")).view(dtype)
            case _:
                return _rounded(a, dtype)


def _rounded(a: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Through f32 to bf16 where that is exact, or rounds once."""
    return a.astype(np.float32).astype(dtype) if dtype == ml_dtypes.bfloat16 else a.astype(dtype)


def _saturated(a: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Towards zero, and at the ends of the type."""
    wide, info = np.trunc(a.astype(np.float64)), np.iinfo(dtype)
    inside = (wide > float(info.min)) & (wide < float(info.max))
    # Of the type from the start: Python's 2^64 - 1 fits no default integer.
    ends = np.where(wide <= float(info.min), dtype.type(info.min), dtype.type(info.max))
    return np.where(inside, np.where(inside, wide, 0).astype(dtype), ends)


def _casts() -> tuple[Cast, ...]:
    whole = ("i1", "i8", "i16", "i32", "i64")
    widened = [(a, b) for a, b in product(whole, whole) if bits(a) < bits(b)]
    casts = [Cast(op, a, b) for a, b in widened for op in ("extsi", "extui")]
    casts += [Cast("trunci", b, a) for a, b in widened]
    casts += [Cast("index_cast", *pair) for a in whole[1:] for pair in ((a, "index"), ("index", a))]
    reals = (*product(whole, ("f16", "f32", "f64")), ("i8", "bf16"), ("i16", "bf16"))
    casts += [Cast(op, a, f) for op in ("sitofp", "uitofp") for a, f in reals]
    casts += [Cast(op, f, a, True) for op in ("fptosi", "fptoui")
              for f, a in product(FLOATS, whole[1:])]  # fmt: skip
    casts += [Cast("extf", a, b) for a, b in product(FLOATS, FLOATS) if bits(a) < bits(b)]
    casts += [Cast("truncf", a, b) for a, b in
              (("f64", "f32"), ("f64", "f16"), ("f32", "f16"), ("f32", "bf16"))]  # fmt: skip
    same = [(f, i) for f, i in product(FLOATS, whole) if bits(f) == bits(i)]
    casts += [Cast("bitcast", f, i, True) for f, i in same]
    casts += [Cast("bitcast", i, f) for f, i in same]
    return tuple(casts)


CASTS = _casts()
