"""Straight-line code of scalar PTX instructions, written once as Python arithmetic.

A function of `math` is a program over `Value`s; what an instruction does with them is a `Leaf`'s
business: the lowering emits it, the interpreter computes it on arrays. So both have the same bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from tilewright.dialects.frozen import entity, frozen
from tilewright.dialects.math_functions.coefficients import TABLES

Values: TypeAlias = "Sequence[Value]"


class Emission(Protocol):
    """Where instructions go. Handles are its own: SSA values, or arrays of raw bits."""

    def instruction(self, mnemonic: str, form: str, *operands: Any) -> Any:
        """The result of `mnemonic.form`, a form of the table of `dialects/ptx`."""
        ...

    def constant(self, bits: int, type_: str) -> Any:
        """A constant of a register type (f32, f64, b32, b64) by its bits."""
        ...

    def move(self, value: Any, type_: str) -> Any:
        """The same bits as another register type of that width."""
        ...

    def upper_half(self, value: Any) -> Any:
        """The f32 whose upper half is a register of 16 bits, all else zeros."""
        ...

    def lower_half(self, value: Any) -> Any:
        """The lower 16 bits of a register of 32."""
        ...

    def remembered(self, key: tuple[Any, ...], build: Callable[[], Any]) -> Any:
        """The result of an earlier `build` under a key, where that is at hand, or of this one."""
        ...

    def rarely(self, condition: Any, then: Callable[[], Values], other: Values) -> Values:
        """The values of `then` where a condition holds, which it seldom does, else the others."""
        ...


@frozen
class ProgramFloat:
    """A floating type as the programs see it."""

    name: str
    bits: int
    mantissa: int
    """Bits of the significand that are stored."""

    @property
    def bias(self) -> int:
        return (1 << self.bits - self.mantissa - 2) - 1

    @property
    def word(self) -> str:
        return f"b{self.bits}"

    @property
    def signed(self) -> str:
        return f"s{self.bits}"


FORMATS = {"f32": ProgramFloat("f32", 32, 23), "f64": ProgramFloat("f64", 64, 52)}


@entity
class Value:
    """A register. `type_` is f32, f64, s32, s64 or pred; arithmetic rounds to nearest even."""

    leaf: Emission
    handle: Any
    type_: str

    @property
    def real(self) -> bool:
        return self.type_[0] == "f"

    @property
    def format(self) -> ProgramFloat:
        """That of a floating value, or of one as wide."""
        return FORMATS[f"f{self.type_[1:]}"]

    def number(self, value: float | int, type_: str | None = None) -> Value:
        """A constant of this value's type, or of another."""
        wanted = type_ or self.type_
        if wanted[0] == "f":
            kind = "<f" if wanted == "f32" else "<d"
            bits = int.from_bytes(struct.pack(kind, value), "little")
            return Value(self.leaf, self.leaf.constant(bits, wanted), wanted)
        return Value(self.leaf, self.leaf.constant(int(value), f"b{wanted[1:]}"), wanted)

    def _like(self, other: Value | float) -> Value:
        """A value, or a constant of this one's type."""
        return other if isinstance(other, Value) else self.number(other)

    def seen_as(self, type_: str) -> Value:
        """The register as one of another type."""
        return Value(self.leaf, self.handle, type_)

    def do(self, mnemonic: str, form: str, *others: Value, type_: str | None = None) -> Value:
        """An instruction of this value and others, its result of `type_` (this one's)."""
        handles = [value.handle for value in (self, *others)]
        result = self.leaf.instruction(mnemonic, form, *handles)
        return Value(self.leaf, result, type_ or self.type_)

    def _with(self, other: Value | float | int, real: str, whole: str) -> Value:
        mnemonic, _, form = (real if self.real else whole).partition(" ")
        return self.do(mnemonic, f"{form}{self.type_}", self._like(other))

    def __add__(self, other: Value | float) -> Value:
        return self._with(other, "add rn.", "add ")

    def __sub__(self, other: Value | float) -> Value:
        return self._with(other, "sub rn.", "sub ")

    def __mul__(self, other: Value | float) -> Value:
        return self._with(other, "mul rn.", "mul lo.")

    def __truediv__(self, other: Value | float) -> Value:
        return self._with(other, "div rn.", "div ")

    def __neg__(self) -> Value:
        return self.do("neg", self.type_)

    def __abs__(self) -> Value:
        return self.do("abs", self.type_)

    def sqrt(self) -> Value:
        return self.do("sqrt", f"rn.{self.type_}")

    def fma(self, factor: Value | float, addend: Value | float) -> Value:
        """self * factor + addend, rounded once."""
        return self.do("fma", f"rn.{self.type_}", self._like(factor), self._like(addend))

    # Bits

    def _logic(self, mnemonic: str, other: Value | int) -> Value:
        return self.do(mnemonic, f"b{self.type_[1:]}", self._like(other))

    def __and__(self, other: Value | int) -> Value:
        if self.type_ == "pred":
            assert isinstance(other, Value)
            return self.do("and", "pred", other)
        return self._logic("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._logic("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._logic("xor", other)

    def __lshift__(self, amount: int) -> Value:
        return self.do("shl", f"b{self.type_[1:]}", self.number(amount, "s32"))

    def __rshift__(self, amount: int) -> Value:
        """The arithmetic shift."""
        return self.do("shr", self.type_, self.number(amount, "s32"))

    def shifted_down(self, amount: int) -> Value:
        """The logical shift."""
        return self.do("shr", f"u{self.type_[1:]}", self.number(amount, "s32"))

    def high_product(self, other: Value) -> Value:
        """The upper half of the product of two unsigned integers."""
        return self.do("mul", f"hi.u{self.type_[1:]}", other)

    def below(self, other: Value) -> Value:
        """self < other as unsigned integers."""
        return self.do("setp", f"lt.u{self.type_[1:]}", other, type_="pred")

    @property
    def word(self) -> Value:
        """The bits of a floating value as an integer."""
        type_ = self.format.signed
        return Value(self.leaf, self.leaf.move(self.handle, f"b{type_[1:]}"), type_)

    @property
    def float(self) -> Value:
        """The floating value that has these bits."""
        type_ = f"f{self.type_[1:]}"
        return Value(self.leaf, self.leaf.move(self.handle, type_), type_)

    # Choices

    def compare(self, relation: str, other: Value | float) -> Value:
        """`setp`: eq, ne, lt, le, gt, ge; false where one is NaN."""
        return self.do("setp", f"{relation}.{self.type_}", self._like(other), type_="pred")

    @property
    def is_nan(self) -> Value:
        """A floating value that is no number."""
        return self.compare("nan", self)

    def __lt__(self, other: Value | float) -> Value:
        return self.compare("lt", other)

    def __le__(self, other: Value | float) -> Value:
        return self.compare("le", other)

    def __gt__(self, other: Value | float) -> Value:
        return self.compare("gt", other)

    def __ge__(self, other: Value | float) -> Value:
        return self.compare("ge", other)

    def where(self, condition: Value, other: Value | float) -> Value:
        """self where the condition holds, else the other."""
        form = self.type_ if self.real else f"b{self.type_[1:]}"
        return self.do("selp", form, self._like(other), condition)

    def signed_as(self, sign: Value) -> Value:
        """This magnitude with the sign of another value of its type."""
        top = 1 << self.format.bits - 1
        magnitude = self.word & (top - 1)
        return (magnitude | (sign.word & -top)).float

    # Conversions

    def rounded(self, direction: str = "rni") -> Value:
        """The integer nearest (rni, ties to even), below (rmi), above (rpi) or toward 0 (rzi)."""
        return self.do("cvt", f"{direction}.{self.type_}.{self.type_}")

    def whole(self, bits: int | None = None) -> Value:
        """An integral floating value as a signed integer of its width, or of another."""
        type_ = f"s{bits}" if bits else self.format.signed
        return self.do("cvt", f"rzi.{type_}.{self.type_}", type_=type_)

    def converted(self, type_: str) -> Value:
        """An integer as a float, or a float as another."""
        if type_ == self.type_:
            return self
        narrows = self.type_ == "f64" or not self.real
        return self.do("cvt", f"{'rn.' if narrows else ''}{type_}.{self.type_}", type_=type_)


Program = Callable[..., Value | tuple[Value, ...]]
"""A function of Values: of one result, or of several."""


def results_of(program: Program, *operands: Any) -> tuple[Value, ...]:
    """The results of a program."""
    made = program(*operands)
    return made if isinstance(made, tuple) else (made,)


def numbers(text: str) -> tuple[float, ...]:
    """The coefficients of a text."""
    return tuple(map(float, text.split()))


def polynomial(x: Value, coefficients: tuple[float, ...]) -> Value:
    """Horner's rule, the constant first."""
    result = x.number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result.fma(x, coefficient)
    return result


def two_power(exponent: Value, like: ProgramFloat) -> Value:
    """2 to an integer power within the normal range, from an integer of the float's width."""
    return ((exponent + like.bias) << like.mantissa).float


def scaled(value: Value, exponent: Value) -> Value:
    """value * 2^exponent, rounded once: |value| in [1/2, 2], exponents to twice the bias."""
    half = exponent >> 1
    first, second = two_power(half, value.format), two_power(exponent - half, value.format)
    return value * first * second


def table(name: str, x: Value) -> tuple[float, ...]:
    """A polynomial, or the parts of a constant, in the type of x."""
    return TABLES[name, x.type_]


def clamped(x: Value, low: float, high: float) -> Value:
    """x within bounds; NaN stays."""
    return x.number(low).where(x < low, x.number(high).where(x > high, x))


def choice(condition: Value, then: Value | float, other: Value) -> Value:
    """One of two values."""
    return (then if isinstance(then, Value) else other.number(then)).where(condition, other)


def rarely(condition: Value, then: Callable[[], Values], other: Values) -> Values:
    """The values of `then` where a condition holds, which it seldom does, else the others: threads
    go around it."""
    return condition.leaf.rarely(condition, then, other)


def product(a: Value, b: Value) -> tuple[Value, Value]:
    """a * b and what rounding took from it."""
    high = a * b
    return high, a.fma(b, -high)


def quick_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b, |a| >= |b|, and what rounding took from it."""
    high = a + b
    return high, b - (high - a)
