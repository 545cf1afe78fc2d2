"""Instructions on single registers: what each computes, and its forms by what follows its name.
PTX ISA 9.7.1 to 9.7.9."""

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import product

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    OperandForm,
    Register,
    Result,
    Scalar,
    Vector,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    Minimum,
    Requirement,
    any_of,
    needs,
    target,
)
from tilewright.dialects.frozen import frozen

REGISTER_OF: dict[str, str] = {
    "pred": "pred",
    **dict.fromkeys(("b16", "s16", "u16", "f16", "bf16"), "b16"),
    **dict.fromkeys(("b32", "s32", "u32", "f16x2", "bf16x2", "s16x2", "u16x2"), "b32"),
    **dict.fromkeys(("b64", "s64", "u64", "f32x2"), "b64"),
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2"), "b16"),
    **dict.fromkeys(("s8", "u8"), "b16"),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
    "e2m1x2": "b8",
    "e2m1x4": "b16",
    "tf32": "b32",
    "f32": "f32",
    "f64": "f64",
}
"""The register kind that an operand of an instruction type lives in. PTX ISA 5.2.1."""


def registers_of(form: str) -> tuple[str, int]:
    """The registers of a form's value: `add.f32` -> (f32, 1), `add.noftz.v4.f16x2` -> (b32, 4)."""
    *words, type_ = form.split(".")
    count = int(words[-1][1:]) if words and words[-1] in ("v2", "v4") else 1
    return REGISTER_OF[type_], count


SOURCES = "abce"
"""The names of sources, d being the result; PTX calls the fourth d, and the result f."""


@frozen
class Form:
    """One form of an instruction: `types` are the instruction types of its operands."""

    suffix: str
    types: tuple[str, ...]
    result: str
    requirement: Requirement = BASELINE


@frozen
class ScalarRow:
    """`NAME.form d, a, b, ...;`. `results` are the ways to write d; where it is `plain`, tilewright
    gives registers alone as the others. Of f32 a `third` operand may be given on that target,
    `counts` are operands that no bits of a float may stand for, and `places` those whose constants
    have 8 bits."""

    name: str
    does: str
    section: str
    forms: dict[str, Form] = field(hash=False)
    results: tuple[str, ...] = ("r",)
    plain: bool = False
    third: Minimum | None = None
    counts: str = ""
    places: str = ""

    def operands(self, suffix: str) -> tuple[OperandForm, ...]:
        """The operands of a form, in PTX's order."""
        form = self.forms[suffix]
        types = form.types
        sources: list[OperandForm] = [
            Choice(name, range(256), type_=type_)
            if name in self.places
            else Scalar(name, "s32" if name in self.counts else type_, plain=self.plain)
            for name, type_ in zip(SOURCES, types, strict=False)
        ]
        if suffix.startswith("rs."):
            # The random bits stand in a register.
            count = len(types) - 1
            elements = [Vector("a", types[0], count)] if count > 2 else sources[:-1]
            sources = [*elements, Register("rbits")]
        more = self.third is not None and form.result == "f32" and "xorsign" not in suffix
        third = (Scalar("c", "f32", optional=True, target=self.third),) if more else ()
        return Result("d", REGISTER_OF[form.result], self.results), *sources, *third


def forms(
    types: Iterable[str],
    arity: int,
    *prefixes: str,
    result: str | None = None,
    requirement: Requirement = BASELINE,
) -> dict[str, Form]:
    """Forms `prefix.type`, every operand and (unless given) the result of that type."""
    rows = (
        Form(f"{prefix}{type_}", (type_,) * arity, type_ if result is None else result, requirement)
        for prefix, type_ in product(prefixes or ("",), types)
    )
    return {row.suffix: row for row in rows}


def _words(*choices: Iterable[str]) -> Iterator[str]:
    """Prefixes of one of the choices for each place."""
    return map("".join, product(*choices))


_SIGNED = ("s16", "s32", "s64")
_UNSIGNED = ("u16", "u32", "u64")
_INTEGER = (*_SIGNED, *_UNSIGNED)
_BITS = ("b16", "b32", "b64")
_FLOAT = ("f32", "f64")
_TURING = needs("sm_75 7.0")
_AMPERE = needs("sm_80 7.0")
_XORSIGN = needs("sm_86 7.2")
_HOPPER = needs("sm_90 7.8")
_HOPPER_PAIRS = needs("sm_90 8.0")
_BLACKWELL = needs("sm_100 8.6")
_BIT_MASKS = needs("sm_70 7.6")
_HALF = ("f16", "f16x2")
_BRAIN = ("bf16", "bf16x2")
_PAIRS = ("s16x2", "u16x2")
DIRECTIONS = ("rz", "rm", "rp")
"""Roundings towards zero, minus and plus infinity. PTX ISA 9.7.3."""


_ROUNDINGS = ("rn.", *(f"{way}." for way in DIRECTIONS))
_ANY_ROUNDING = ("", *_ROUNDINGS)
_FTZ, _NAN, _SAT = ("", "ftz."), ("", "NaN."), ("", "sat.")
FLUSHING = ".ftz."
"""Of forms for which subnormal numbers are zeros of their sign."""


def _rounded(arity: int, roundings: Iterable[str] = _ROUNDINGS) -> dict[str, Form]:
    """Those of f64, and of f32, which may flush."""
    return {
        **forms(("f64",), arity, *roundings),
        **forms(("f32",), arity, *_words(roundings, _FTZ)),
    }


def _of_floats(arity: int, roundings: Iterable[str]) -> dict[str, Form]:
    """Those of add, sub, mul and fma in f32, also saturated, in two of them side by side, and in
    f64."""
    return {
        **_rounded(arity, roundings),
        **forms(("f32",), arity, *_words(roundings, _FTZ, ("sat.",))),
        **forms(("f32x2",), arity, *_words(roundings, _FTZ), requirement=_BLACKWELL),
    }


def _sums() -> dict[str, Form]:
    """Those of add, sub and mul in floats: where no rounding is said it is rn, and ptxas may fuse a
    product with a sum."""
    return {
        **_of_floats(2, _ANY_ROUNDING),
        **forms(_HALF, 2, *_words(("", "rn."), _FTZ, _SAT)),
        **forms(_BRAIN, 2, "", "rn.", requirement=_HOPPER),
    }


def _mixed(arity: int, roundings: Iterable[str]) -> dict[str, Form]:
    """Those in f32 whose last operand alone is f32."""
    rows = (
        Form(f"{prefix}f32.{type_}", (*((type_,) * arity)[1:], "f32"), "f32", _BLACKWELL)
        for prefix, type_ in product(_words(roundings, _SAT), ("f16", "bf16"))
    )
    return {row.suffix: row for row in rows}


def _wide(arity: int) -> dict[str, Form]:
    """Products of twice the width."""
    double = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}
    return {
        f"wide.{type_}": Form(f"wide.{type_}", (type_, type_, wide)[:arity], wide)
        for type_, wide in double.items()
    }


_APPROXIMATE = forms(("f32",), 1, "approx.ftz.", "approx.")
_ALSO_DOUBLE = {**_APPROXIMATE, **forms(("f64",), 1, "approx.ftz.")}
_EXTREMES = {
    **forms(_INTEGER, 2),
    **forms(_FLOAT, 2),
    **forms(("f32",), 2, "ftz."),
    **forms(("f32", *_HALF), 2, *_words(_FTZ, ("NaN.",)), requirement=_AMPERE),
    **forms((*_HALF, *_BRAIN), 2, requirement=_AMPERE),
    **forms(_HALF, 2, "ftz.", requirement=_AMPERE),
    **forms(_BRAIN, 2, "NaN.", requirement=_AMPERE),
    **forms(("f32", *_HALF), 2, *_words(_FTZ, _NAN, ("xorsign.abs.",)), requirement=_XORSIGN),
    **forms(_BRAIN, 2, *_words(_NAN, ("xorsign.abs.",)), requirement=_XORSIGN),
    **forms(_PAIRS, 2, requirement=_HOPPER_PAIRS),
    **forms(("s16x2", "s32"), 2, "relu.", requirement=_HOPPER_PAIRS),
}
_SIGNS = {
    **forms(_SIGNED, 1),
    **forms((*_FLOAT, *_HALF), 1),
    **forms(_BRAIN, 1, requirement=_AMPERE),
    **forms(("f32", *_HALF), 1, "ftz."),
}

ARITHMETIC = (
    ScalarRow(
        "add", "d = a + b", "9.7.1.1, 9.7.3.3, 9.7.4.1",
        {
            **forms(_INTEGER, 2), **_sums(), **_mixed(2, _ANY_ROUNDING),
            **forms(("s32",), 2, "sat."), **forms(_PAIRS, 2, requirement=_HOPPER_PAIRS),
        },
    ),
    ScalarRow(
        "sub", "d = a - b", "9.7.1.2, 9.7.3.4, 9.7.4.2",
        {
            **forms(_INTEGER, 2), **_sums(), **_mixed(2, _ANY_ROUNDING),
            **forms(("s32",), 2, "sat."),
        },
    ),
    ScalarRow(
        "mul", "d = a * b: its low half (`lo`), high half (`hi`), all (`wide`), or rounded",
        "9.7.1.3, 9.7.3.5",
        {**forms(_INTEGER, 2, "lo.", "hi."), **_sums(), **_wide(2)},
    ),
    ScalarRow(
        "mad", "d = a * b + c, with the low half of the product, the high half or all", "9.7.1.4",
        {**forms(_INTEGER, 3, "lo.", "hi."), **_wide(3)},
    ),
    ScalarRow(
        "mul24", "d = a * b of the low 24 bits: the low 32 bits or the high ones of 48", "9.7.1.5",
        forms(("s32", "u32"), 2, "lo.", "hi."),
    ),
    ScalarRow(
        "mad24", "d = a * b + c, of the low 24 bits of a and b", "9.7.1.6",
        forms(("s32", "u32"), 3, "lo.", "hi."),
    ),
    ScalarRow("sad", "d = c + |a - b|", "9.7.1.7", forms(_INTEGER, 3)),
    ScalarRow(
        "dp4a", "d = c and the products of four bytes of a and b", "9.7.1.23",
        {
            f"{a}.{b}": Form(f"{a}.{b}", ("b32", "b32", "s32" if "s32" in (a, b) else "u32"), "b32")
            for a, b in product(("u32", "s32"), repeat=2)
        },
    ),
    ScalarRow(
        "dp2a", "d = c and the products of two halves of a and two bytes of b", "9.7.1.24",
        {
            (suffix := f"{half}.{a}.{b}"): Form(
                suffix, ("b32", "b32", "s32" if "s32" in (a, b) else "u32"), "b32"
            )
            for half, a, b in product(("lo", "hi"), ("u32", "s32"), ("u32", "s32"))
        },
    ),
    ScalarRow(
        "fma", "d = a * b + c, rounded once", "9.7.3.6, 9.7.4.4",
        {
            **_of_floats(3, _ROUNDINGS),
            **_mixed(3, _ROUNDINGS),
            **forms(_HALF, 3, *_words(("rn.",), _FTZ, _SAT)),
            **forms(_HALF, 3, "rn.relu.", "rn.ftz.relu.", requirement=_AMPERE),
            **forms(_BRAIN, 3, "rn.", "rn.relu.", requirement=_AMPERE),
            **forms(
                (*_HALF, *_BRAIN), 3, "rn.oob.", "rn.oob.relu.",
                requirement=needs("sm_90 8.1"),
            ),
        },
    ),
    ScalarRow(
        "div", "d = a / b", "9.7.1.8, 9.7.3.8",
        {
            **forms(_INTEGER, 2), **_rounded(2),
            **forms(("f32",), 2, *_words(("approx.", "full."), _FTZ)),
        },
    ),
    ScalarRow("rem", "d = a % b, with the sign of a", "9.7.1.9", forms(_INTEGER, 2)),
    ScalarRow(
        "abs", "d = |a|", "9.7.1.10, 9.7.3.9",
        {**_SIGNS, **forms(_HALF, 1, *_FTZ, requirement=needs("sm_70 6.5"))},
    ),
    ScalarRow("neg", "d = -a", "9.7.1.11, 9.7.3.10", _SIGNS),
    ScalarRow("copysign", "d = the magnitude of b with the sign of a", "9.7.3.2", forms(_FLOAT, 2)),
    ScalarRow(
        "testp", "p = a is such a number", "9.7.3.1",
        {
            row.suffix: row for kind in
            ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
            for row in forms(_FLOAT, 1, f"{kind}.", result="pred").values()
        },
    ),
    ScalarRow(
        "min",
        "d = the smaller of a and b; -0 is smaller than +0. Without `NaN` a number wins over NaN",
        "9.7.1.12, 9.7.3.11, 9.7.4.7", _EXTREMES, third=target("sm_100"),
    ),
    ScalarRow(
        "max",
        "d = the larger of a and b; +0 is larger than -0. Without `NaN` a number wins over NaN",
        "9.7.1.13, 9.7.3.12, 9.7.4.8", _EXTREMES, third=target("sm_100"),
    ),
    ScalarRow(
        "sqrt", "d = the square root of a, rounded", "9.7.3.14",
        {**_rounded(1), **_APPROXIMATE},
    ),
)  # fmt: skip

APPROXIMATE = (
    ScalarRow(
        "ex2", "d = 2 to the power of a, approximately; with `ftz` subnormal numbers become zeros",
        "9.7.3.21, 9.7.4.11",
        {
            **_APPROXIMATE, **forms(_HALF, 1, "approx.", requirement=_TURING),
            **forms(_BRAIN, 1, "approx.ftz.", requirement=_HOPPER),
        },
    ),
    ScalarRow(
        "lg2",
        "d = the binary logarithm of a, approximately; with `ftz` subnormal numbers become zeros",
        "9.7.3.20", _APPROXIMATE,
    ),
    ScalarRow(
        "rcp", "d = 1 / a, approximately or rounded; with `ftz` subnormal numbers become zeros",
        "9.7.3.13, 9.7.3.23", {**_ALSO_DOUBLE, **_rounded(1)},
    ),
    ScalarRow(
        "rsqrt", "d = 1 / sqrt(a), approximately; with `ftz` subnormal numbers become zeros",
        "9.7.3.16, 9.7.3.17", {**_ALSO_DOUBLE, **forms(("f64",), 1, "approx.")},
    ),
    ScalarRow("sin", "d = the sine of a, approximately", "9.7.3.18", _APPROXIMATE),
    ScalarRow("cos", "d = the cosine of a, approximately", "9.7.3.19", _APPROXIMATE),
    ScalarRow(
        "tanh", "d = the hyperbolic tangent of a, approximately", "9.7.3.22",
        {
            **forms(("f32",), 1, "approx.", requirement=_TURING),
            **forms(_HALF, 1, "approx.", requirement=_TURING),
            **forms(_BRAIN, 1, "approx.", requirement=_HOPPER),
        },
    ),
)  # fmt: skip
"""The functions that the chip approximates: the PTX ISA bounds the errors alone."""


UNKNOWN_SPACES = ("const", "param", "param::entry")
"""Of `isspacep`: where constants and parameters are, a launch says."""


# `equ` and its kin are true where an operand is NaN; num and nan test for NaN alone.
_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
_UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def _comparisons() -> dict[str, Form]:
    table: dict[str, Form] = {}
    for relation in _ORDERED:
        table |= forms(_INTEGER, 2, f"{relation}.", result="pred")
    for relation in ("eq", "ne"):
        table |= forms(_BITS, 2, f"{relation}.", result="pred")
    for relation in (*_ORDERED, *_UNORDERED):
        table |= forms((*_FLOAT, "f16"), 2, f"{relation}.", result="pred")
        table |= forms(("bf16",), 2, f"{relation}.", result="pred", requirement=_HOPPER)
        table |= forms(("f32", "f16"), 2, f"{relation}{FLUSHING}", result="pred")
    return table


def _shifts(types: Iterable[str]) -> dict[str, Form]:
    return {type_: Form(type_, (type_, "b32"), type_) for type_ in types}


def _funnels() -> dict[str, Form]:
    suffixes = [f"{way}.{mode}.b32" for way in "lr" for mode in ("wrap", "clamp")]
    return {suffix: Form(suffix, ("b32", "b32", "u32"), "b32") for suffix in suffixes}


def _fields(arity: int, types: Iterable[str]) -> dict[str, Form]:
    """Those of bit fields, by their place and length."""
    return {type_: Form(type_, (*(type_,) * arity, "u32", "u32"), type_) for type_ in types}


PERMUTATIONS: dict[str, tuple[int, int, int, int]] = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Where bytes come from, by the lowest two bits of c. PTX ISA 9.7.9.7."""
_PLACED = ("s32", "u32", "s64", "u64")
_COUNTED = {type_: Form(type_, (type_,), "b32") for type_ in ("b32", "b64")}

LOGIC = (
    ScalarRow(
        "setp", "p = a REL b", "9.7.6.2", _comparisons(), ("r", "r|r", "_|r", "r|_", "_")
    ),
    ScalarRow(
        "selp", "d = p ? a : b", "9.7.6.3",
        {type_: Form(type_, (type_, type_, "pred"), type_) for type_ in (*_BITS, *_FLOAT)},
    ),
    ScalarRow("and", "d = a & b", "9.7.8.1", forms(("pred", *_BITS), 2)),
    ScalarRow("or", "d = a | b", "9.7.8.2", forms(("pred", *_BITS), 2)),
    ScalarRow("xor", "d = a ^ b", "9.7.8.3", forms(("pred", *_BITS), 2)),
    ScalarRow("not", "d = ~a", "9.7.8.4", forms(("pred", *_BITS), 1)),
    ScalarRow("cnot", "d = a is 0", "9.7.8.5", forms(_BITS, 1)),
    ScalarRow(
        "shf", "d = the upper word of b:a shifted left, or the lower one of it shifted right",
        "9.7.8.6", _funnels(),
    ),
    ScalarRow(
        "prmt", "d = bytes of b:a, each by four bits of c", "9.7.9.7",
        {
            suffix: Form(suffix, ("b32", "b32", "b32"), "b32")
            for suffix in ("b32", *(f"b32.{mode}" for mode in PERMUTATIONS))
        },
    ),
    ScalarRow(
        "slct", "d = c >= 0 ? a : b", "9.7.6.4",
        {
            (suffix := f"{type_}.{by}"): Form(suffix, (type_, type_, by), type_)
            for type_, by in product((*_BITS, *_FLOAT), ("s32", "f32"))
        },
    ),
    ScalarRow(
        "bfe", "d = the bits of a from b on, c of them", "9.7.1.19", _fields(1, _PLACED),
        places="bc",
    ),
    ScalarRow(
        "bfi", "d = b with the low bits of a from c on, e of them", "9.7.1.20",
        _fields(2, ("b32", "b64")), places="ce",
    ),
    ScalarRow(
        "bfind", "d = the place of the highest bit of a that is not its sign, or shifts to it",
        "9.7.1.16",
        {
            row.suffix: row for prefix in ("", "shiftamt.")
            for row in forms(_PLACED, 1, prefix, result="b32").values()
        },
    ),
    ScalarRow(
        "fns", "d = the place of the c-th bit of a that is set, counted from b on", "9.7.1.17",
        {"b32": Form("b32", ("b32", "u32", "s32"), "b32")},
    ),
    ScalarRow(
        "szext", "d = the low b bits of a, with their sign or zeros above", "9.7.1.21",
        {
            row.suffix: row for mode in ("clamp", "wrap")
            for row in forms(("s32", "u32"), 2, f"{mode}.", requirement=_BIT_MASKS).values()
        },
    ),
    ScalarRow(
        "bmsk", "d = b bits from a on", "9.7.1.22",
        {
            row.suffix: row for mode in ("clamp", "wrap")
            for row in forms(("b32",), 2, f"{mode}.", requirement=_BIT_MASKS).values()
        },
    ),
    ScalarRow("popc", "d = the number of bits of a that are set", "9.7.1.14", _COUNTED),
    ScalarRow("clz", "d = the number of zeros above the highest bit of a", "9.7.1.15", _COUNTED),
    ScalarRow("brev", "d = the bits of a in reverse", "9.7.1.18", forms(("b32", "b64"), 1)),
    ScalarRow(
        "shl", "d = a << b; a shift of the width or more gives zero", "9.7.8.7", _shifts(_BITS),
        counts="b",
    ),
    ScalarRow(
        "shr", "d = a >> b, filled with zeros (`u`) or the sign (`s`)", "9.7.8.8",
        _shifts(_INTEGER), counts="b",
    ),
)  # fmt: skip

_TO_INTEGER = ("rni.", "rmi.", "rpi.", "rzi.")
_INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
_OCTETS = ("s8", "u8")
_REAL = ("f16", *_FLOAT)
_PACK = needs("sm_72 6.5")


def _conversion(
    to: str, source: str, rounding: str = "", requirement: Requirement = BASELINE
) -> Form:
    return Form(f"{rounding}{to}.{source}", (source,), to, requirement)


def _between(
    types: Iterable[str],
    sources: Iterable[str],
    roundings: Iterable[str] = ("",),
    requirement: Requirement = BASELINE,
) -> Iterator[Form]:
    """Conversions to each of the types from each of the others."""
    for rounding, to, source in product(roundings, types, sources):
        if rounding or to != source:
            yield _conversion(to, source, rounding, requirement)


def _contains(type_: str, other: str) -> bool:
    """True where an integer type has every number of another."""
    unlike = type_[0] != other[0]
    return int(type_[1:]) >= int(other[1:]) + unlike and not (unlike and type_[0] == "u")


def _narrow(to: str, source: str) -> Form:
    """From the low 8 bits of a 16-bit register, `cvt.s32.s8`: 8-bit values live in b16."""
    return Form(f"{to}.{source}", ("b16",), to)


# Narrow floats, two in a register: a in its upper half, b in its lower one. What ptxas 13.5 takes.
_SATFINITE = "8.1"
_TF32 = needs("sm_90 7.8")
_TF32_SATFINITE = needs("sm_100 8.6")
_FP8 = needs("sm_89 8.1")
_NARROW_TARGETS = any_of("sm_100f", "sm_110f", "sm_120f")
_NARROW = Requirement(_NARROW_TARGETS, (8, 6))
_NARROW_FROM_HALVES = Requirement(_NARROW_TARGETS, (9, 1))
_NARROW_TO_BF16 = Requirement(_NARROW_TARGETS, (9, 2))
_STOCHASTIC = Requirement(any_of("sm_100a", "sm_103a"), (8, 7))


def _pair(to: str, modifiers: str, requirement: Requirement) -> Form:
    """Of so many f32; where the rounding is stochastic, by the bits of one operand more."""
    bits = ("b32",) if modifiers.startswith("rs") else ()
    return Form(f"{modifiers}{to}.f32", (*["f32"] * int(to[-1]), *bits), to, requirement)


def _halves() -> Iterator[Form]:
    """f32 to f16, bf16 and tf32, with every modifier."""
    for rounding, relu, satfinite in product(("rn.", "rz."), ("", "relu."), ("", "satfinite.")):
        modifiers = rounding + relu + satfinite
        since = _SATFINITE if satfinite else "7.0"
        for to in ("f16", "bf16"):
            lowest = BASELINE if modifiers in ("rn.", "rz.") else needs(f"sm_70 {since}")
            single = lowest if to == "f16" and not relu else needs(f"sm_80 {since}")
            yield _conversion(to, "f32", modifiers, single)
            yield _pair(f"{to}x2", modifiers, needs(f"sm_80 {since}"))
        tf32 = _TF32_SATFINITE if satfinite else _TF32
        yield _conversion("tf32", "f32", rounding + satfinite + relu, tf32)
    yield _conversion("tf32", "f32", "rna.", _AMPERE)
    yield _conversion("tf32", "f32", "rna.satfinite.", needs(f"sm_80 {_SATFINITE}"))
    for to, relu, satfinite in product(("f16x2", "bf16x2"), ("", "relu."), ("", "satfinite.")):
        yield _pair(to, f"rs.{relu}{satfinite}", _STOCHASTIC)


def _narrow_floats() -> Iterator[Form]:
    """8-, 6- and 4-bit floats, and scale factors, from f32 and from pairs of f16 and bf16, and
    back."""
    names = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2")
    for name, relu in product(names, ("", "relu.")):
        wide = name[1:4] in ("4m3", "5m2")
        known = _FP8 if wide else _NARROW
        modifiers = f"rn.satfinite.{relu}"
        yield _pair(name, modifiers, known)
        yield _conversion(name, "f16x2", modifiers, _FP8 if wide else _NARROW_FROM_HALVES)
        yield _conversion(name, "bf16x2", modifiers, _NARROW_FROM_HALVES)
        yield _conversion("f16x2", name, f"rn.{relu}", known)
        yield _conversion("bf16x2", name, f"rn.{relu}", _NARROW_TO_BF16)
        yield _pair(f"{name[:-1]}4", f"rs.{relu}satfinite.", _STOCHASTIC)
    for rounding, satfinite in product(("rz.", "rp."), ("", "satfinite.")):
        yield _pair("ue8m0x2", rounding + satfinite, _NARROW)
        yield _conversion("ue8m0x2", "bf16x2", rounding + satfinite, _NARROW)
    yield _conversion("bf16x2", "ue8m0x2", "rn.", _NARROW)


def _conversions() -> dict[str, Form]:
    """Of integers and floats, and of floats; 8-bit integers are in the low bits of a b16 that has
    their sign or zeros above. What saturates has numbers that the other type has not."""
    clamped = [
        (to, of) for to, of in product((*_INTEGERS, *_OCTETS), repeat=2) if not _contains(to, of)
    ]
    rows = [
        *_between((*_INTEGERS, *_OCTETS), _INTEGERS),
        *(_narrow(to, source) for to in _INTEGERS for source in _OCTETS),
        *(_conversion(to, source, "sat.") for to, source in clamped),
        *_between(_INTEGERS, _REAL, _TO_INTEGER),
        *_between(_INTEGERS, ("f32",), _words(_TO_INTEGER, ("ftz.",))),
        *_between(_OCTETS, _REAL, _words(_TO_INTEGER, ("sat.",))),
        *_between(_OCTETS, ("f32",), _words(_TO_INTEGER, ("ftz.sat.",))),
        *_between(_REAL, _INTEGERS, _ROUNDINGS),
        *_between(("bf16",), (*_INTEGERS, "f64"), _ROUNDINGS, _HOPPER),
        *_between(_REAL, _OCTETS, ("rn.",)),
        *_between(("f32", "f64"), ("f16",)),
        _conversion("f64", "f32"),
        _conversion("f32", "bf16", requirement=needs("sm_80 7.1")),
        *_between(("f16",), _FLOAT, _ROUNDINGS),
        *_between(("bf16",), ("f32",), _ROUNDINGS, _AMPERE),
        *_between(("f32",), ("f64",), _ROUNDINGS),
        *_between(("f32",), ("f32",), ("sat.", "ftz.", "ftz.sat.")),
        *_between(("f32",), ("f32",), _words(_TO_INTEGER, _FTZ)),
        *_between(("f64",), ("f64",), _TO_INTEGER),
    ]
    table = {row.suffix: row for row in rows}
    for row in (*_halves(), *_narrow_floats(), *_packs()):
        table.setdefault(row.suffix, row)
    return table


def _packs() -> Iterator[Form]:
    """Two integers of 32 bits clamped and side by side, the first above the second; narrow ones in
    the low bits, with those of a third operand above."""
    for to in ("s16", "u16"):
        yield Form(f"pack.sat.{to}.s32", ("s32", "s32"), "b32", _PACK)
    for to in (*_OCTETS, "s4", "u4", "s2", "u2"):
        needed = _PACK if to in _OCTETS else needs("sm_75 6.5")
        yield Form(f"pack.sat.{to}.s32.b32", ("s32", "s32", "b32"), "b32", needed)


CONVERT = (
    ScalarRow(
        "cvt",
        "a converted to another type, the target type first: `cvt.rn.f32.s32`; of two halves "
        "`d, a, b`, and `rbits` where rounding is stochastic",
        "9.7.9.21", _conversions(), plain=True,
    ),
    ScalarRow(
        "cvta", "a generic address as one of a space, `cvta.to.global.u64`, or back", "9.7.9.20",
        {
            **{
                (suffix := f"{to}{space}.u64"): Form(suffix, ("u64",), "u64")
                for space, to in product(("global", "shared", "local", "const"), ("", "to."))
            },
            "param.u64": Form("param.u64", ("u64",), "u64", needs("sm_70 7.7")),
        },
        plain=True,
    ),
    ScalarRow(
        "isspacep", "p = a generic address is one of the space", "9.7.9.19",
        {
            space: Form(space, ("u64",), "pred", requirement)
            for space, requirement in {
                **dict.fromkeys(("global", "shared", "local", "const"), BASELINE),
                "param": needs("sm_70 7.7"), "param::entry": needs("sm_70 8.3"),
                "shared::cta": needs("sm_70 7.8"), "shared::cluster": _HOPPER,
            }.items()
        },
        plain=True,
    ),
)  # fmt: skip

SCALARS: dict[str, ScalarRow] = {
    row.name: row for row in (*ARITHMETIC, *APPROXIMATE, *LOGIC, *CONVERT)
}
"""Every row, by the name of its instruction."""
