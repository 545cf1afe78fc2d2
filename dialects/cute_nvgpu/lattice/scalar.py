"""Instructions on single registers: what each computes, and its forms by what follows its name.
PTX ISA 9.7.1 to 9.7.9."""

import re
from dataclasses import field
from itertools import product
from typing import Any

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
    needs,
    target,
)
from tilewright.dialects.frozen import frozen

REGISTER_OF: dict[str, str] = {
    "pred": "pred",
    **dict.fromkeys(("b16", "s16", "u16", "f16", "bf16"), "b16"),
    **dict.fromkeys(("b32", "s32", "u32", "f16x2", "bf16x2", "s16x2", "u16x2"), "b32"),
    **dict.fromkeys(("s8x4", "u8x4"), "b32"),
    **dict.fromkeys(("b64", "s64", "u64", "f32x2"), "b64"),
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2"), "b16"),
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
    """The registers of a form's value: `add.f32` -> (f32, 1), `add.noftz.v4.f16x2` -> (b32, 4);
    of b8 the low half of 16 bits."""
    *words, type_ = form.split(".")
    if type_ == "b128":
        return "b64", 2
    count = int(words[-1][1:]) if words and words[-1] in ("v2", "v4", "v8") else 1
    return REGISTER_OF.get(type_, "b16"), count


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


SCALED = "scaled::n2::ue8m0"
"""The word of conversions whose last operand has a factor of each of two elements."""

_WORDS = {
    "int": "s16|s32|s64|u16|u32|u64", "octet": "s8|u8", "placed": "s32|u32|s64|u64",
    "bits": "b16|b32|b64", "float": "f32|f64", "real": "f16|f32|f64", "half": "f16|f16x2",
    "brain": "bf16|bf16x2", "any_half": "f16|f16x2|bf16|bf16x2", "pairs": "s16x2|u16x2",
    "bytes": "s8x4|u8x4",
    "fp8": "e4m3x2|e5m2x2", "fp6_fp4": "e2m3x2|e3m2x2|e2m1x2",
    "rounded": "rn.|rz.|rm.|rp.", "any": "|rn.|rz.|rm.|rp.", "to_int": "rni.|rmi.|rpi.|rzi.",
    "ftz": "|ftz.", "nan": "|NaN.", "sat": "|sat.", "relu": "|relu.", "satfinite": "|satfinite.",
    "scaled": f"{SCALED}.",
    "relation": "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan",
}  # fmt: skip
"""Choices in the suffixes of forms, by what stands for them there."""


def _forms(table: str) -> dict[str, Form]:
    """Forms in lines `SUFFIX SOURCES>RESULT NEEDS`. A suffix has choices in braces. The sources are
    so many of its last type, or types themselves, T the last one and U the one before it; so is
    the result, which is T where it is not given. `NEEDS` may be left out."""
    made: dict[str, Form] = {}
    for line in filter(None, map(str.split, table.splitlines())):
        sources, _, result = line[1].partition(">")
        requirement = needs(" ".join(line[2:])) if line[2:] else BASELINE
        choices = (_WORDS.get(part, part).split("|") for part in re.split("[{}]", line[0]))
        for suffix in map("".join, product(*choices)):
            *_, before, last = ("", *suffix.split("."))
            own = {"T": last, "U": before, "": last}
            types = ",".join("T" * int(sources)) if sources.isdecimal() else sources
            types = tuple(own.get(type_, type_) for type_ in types.split(","))
            made[suffix] = Form(suffix, types, own.get(result, result), requirement)
    return made


def _row(name: str, does: str, section: str, table: str, **more: Any) -> ScalarRow:
    """The row of an instruction, of its forms in lines."""
    return ScalarRow(name, does, section, _forms(table), **more)


DIRECTIONS = ("rz", "rm", "rp")
"""Roundings towards zero, minus and plus infinity. PTX ISA 9.7.3."""
FLUSHING = ".ftz."
"""Of forms for which subnormal numbers are zeros of their sign."""

_SUMS = """
    {any}f64                     2
    {any}{ftz}f32                2
    {any}{ftz}sat.f32            2
    {any}{ftz}f32x2              2  sm_100 8.6
    {|rn.}{ftz}{sat}{half}       2
    {|rn.}{brain}                2  sm_90 7.8
"""
"""Where no rounding is said it is rn, and ptxas may fuse a product with a sum."""
_MIXED_SUMS = "{any}{sat}f32.{f16|bf16} T,f32>f32 sm_100 8.6\n"
_BYTE_SUMS = "{sat}{bytes} 2 sm_120f 9.2\n"
_APPROXIMATE = "approx.{ftz.|}f32 1\n"
_EXTREMES = """
    {int}                                2
    {float}                              2
    ftz.f32                              2
    {ftz}NaN.{f32|f16|f16x2}             2  sm_80 7.0
    {any_half}                           2  sm_80 7.0
    ftz.{half}                           2  sm_80 7.0
    NaN.{brain}                          2  sm_80 7.0
    {ftz}{nan}xorsign.abs.{f32|f16|f16x2} 2  sm_86 7.2
    {nan}xorsign.abs.{brain}             2  sm_86 7.2
    {pairs}                              2  sm_90 8.0
    relu.{s16x2|s32}                     2  sm_90 8.0
    {bytes}                              2  sm_120f 9.2
    relu.s8x4                            2  sm_120f 9.2
"""
_SIGNS = """
    {s16|s32|s64}         1
    {f32|f64|f16|f16x2}   1
    {brain}               1  sm_80 7.0
    ftz.{f32|f16|f16x2}   1
"""

ARITHMETIC = (
    _row("add", "d = a + b", "9.7.1.1, 9.7.3.3, 9.7.4.1",
         "{int} 2" + _SUMS + _MIXED_SUMS + """
            sat.s32            2
            {pairs}            2  sm_90 8.0
            sat.{pairs}        2  sm_120f 9.2
            sat.u32            2  sm_120f 9.2
         """ + _BYTE_SUMS),
    _row("sub", "d = a - b", "9.7.1.2, 9.7.3.4, 9.7.4.2",
         "{int} 2" + _SUMS + _MIXED_SUMS + "sat.s32 2\n" + _BYTE_SUMS),
    _row("mul", "d = a * b: its low half (`lo`), high half (`hi`), all (`wide`), or rounded",
         "9.7.1.3, 9.7.3.5", "{lo|hi}.{int} 2" + _SUMS + """
            wide.s16  2>s32
            wide.u16  2>u32
            wide.s32  2>s64
            wide.u32  2>u64
         """),
    _row("mad", "d = a * b + c, with the low half of the product, the high half or all", "9.7.1.4",
         """
            {lo|hi}.{int}  3
            wide.s16       T,T,s32>s32
            wide.u16       T,T,u32>u32
            wide.s32       T,T,s64>s64
            wide.u32       T,T,u64>u64
         """),
    _row("mul24", "d = a * b of the low 24 bits: the low 32 bits or the high ones of 48", "9.7.1.5",
         "{lo|hi}.{s32|u32} 2"),
    _row("mad24", "d = a * b + c, of the low 24 bits of a and b", "9.7.1.6", "{lo|hi}.{s32|u32} 3"),
    _row("sad", "d = c + |a - b|", "9.7.1.7", "{int} 3"),
    _row("dp4a", "d = c and the products of four bytes of a and b", "9.7.1.23",
         """
            u32.u32                    b32,b32,u32>b32
            {u32.s32|s32.u32|s32.s32}  b32,b32,s32>b32
         """),
    _row("dp2a", "d = c and the products of two halves of a and two bytes of b", "9.7.1.24",
         """
            lo.u32.u32                    b32,b32,u32>b32
            lo.{u32.s32|s32.u32|s32.s32}  b32,b32,s32>b32
            hi.u32.u32                    b32,b32,u32>b32
            hi.{u32.s32|s32.u32|s32.s32}  b32,b32,s32>b32
         """),
    *(
        _row(f"vabsdiff{parts}", f"d = |a - b| of each of {parts} parts", "9.7.18.2",
             "u32.u32.u32 b32,b32,u32>u32", plain=True)
        for parts in (2, 4)
    ),
    _row("fma", "d = a * b + c, rounded once", "9.7.3.6, 9.7.4.4",
         """
            {rounded}f64                  3
            {rounded}{ftz}f32             3
            {rounded}{ftz}sat.f32         3
            {rounded}{ftz}f32x2           3           sm_100 8.6
            {rounded}{sat}f32.{f16|bf16}  T,T,f32>f32  sm_100 8.6
            rn.{ftz}{sat}{half}           3
            rn.{ftz}relu.{half}           3           sm_80 7.0
            rn.{relu}{brain}              3           sm_80 7.0
            rn.oob.{relu}{any_half}       3           sm_90 8.1
         """),
    _row("div", "d = a / b", "9.7.1.8, 9.7.3.8",
         """
            {int}                   2
            {rounded}f64            2
            {rounded}{ftz}f32       2
            {approx|full}.{ftz}f32  2
         """),
    _row("rem", "d = a % b, with the sign of a", "9.7.1.9", "{int} 2"),
    _row("abs", "d = |a|", "9.7.1.10, 9.7.3.9", _SIGNS + "{ftz}{half} 1 sm_70 6.5"),
    _row("neg", "d = -a", "9.7.1.11, 9.7.3.10", _SIGNS + "s8x4 1 sm_120f 9.2"),
    _row("copysign", "d = the magnitude of b with the sign of a", "9.7.3.2", "{float} 2"),
    _row("testp", "p = a is such a number", "9.7.3.1",
         "{finite|infinite|number|notanumber|normal|subnormal}.{float} 1>pred"),
    _row("min",
         "d = the smaller of a and b; -0 is smaller than +0. Without `NaN` a number wins over NaN",
         "9.7.1.12, 9.7.3.11, 9.7.4.7", _EXTREMES, third=target("sm_100")),
    _row("max",
         "d = the larger of a and b; +0 is larger than -0. Without `NaN` a number wins over NaN",
         "9.7.1.13, 9.7.3.12, 9.7.4.8", _EXTREMES, third=target("sm_100")),
    _row("sqrt", "d = the square root of a, rounded", "9.7.3.14",
         "{rounded}f64 1\n{rounded}{ftz}f32 1\n" + _APPROXIMATE),
)  # fmt: skip

APPROXIMATE = (
    _row("ex2", "d = 2 to the power of a, approximately; with `ftz` subnormal numbers become zeros",
         "9.7.3.21, 9.7.4.11", _APPROXIMATE + """
            approx.{half}       1  sm_75 7.0
            approx.ftz.{brain}  1  sm_90 7.8
         """),
    _row("lg2",
         "d = the binary logarithm of a, approximately; with `ftz` subnormal numbers become zeros",
         "9.7.3.20", _APPROXIMATE),
    _row("rcp", "d = 1 / a, approximately or rounded; with `ftz` subnormal numbers become zeros",
         "9.7.3.13, 9.7.3.23", _APPROXIMATE + """
            approx.ftz.f64     1
            {rounded}f64       1
            {rounded}{ftz}f32  1
         """),
    _row("rsqrt", "d = 1 / sqrt(a), approximately; with `ftz` subnormal numbers become zeros",
         "9.7.3.16, 9.7.3.17", _APPROXIMATE + "approx.{ftz.|}f64 1"),
    _row("sin", "d = the sine of a, approximately", "9.7.3.18", _APPROXIMATE),
    _row("cos", "d = the cosine of a, approximately", "9.7.3.19", _APPROXIMATE),
    _row("tanh", "d = the hyperbolic tangent of a, approximately", "9.7.3.22",
         """
            approx.{f32|f16|f16x2}  1  sm_75 7.0
            approx.{brain}          1  sm_90 7.8
         """),
)  # fmt: skip
"""The functions that the chip approximates: the PTX ISA bounds the errors alone."""


PERMUTATIONS: dict[str, tuple[int, int, int, int]] = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Where bytes come from, by the lowest two bits of c. PTX ISA 9.7.9.7."""

# `equ` and its kin are true where an operand is NaN; num and nan test for NaN alone.
_COMPARISONS = "{eq|ne|lt|le|gt|ge}.{int} 2>pred\n{eq|ne}.{bits} 2>pred" + "".join(
    f"""
    {relation}.{{f32|f64|f16}}   2>pred
    {relation}.bf16              2>pred  sm_90 7.8
    {relation}.ftz.{{f32|f16}}   2>pred
    """
    for relation in _WORDS["relation"].split("|")
)

LOGIC = (
    _row("setp", "p = a REL b", "9.7.6.2", _COMPARISONS, results=("r", "r|r", "_|r", "r|_", "_")),
    _row("selp", "d = p ? a : b", "9.7.6.3", "{b16|b32|b64|f32|f64} T,T,pred"),
    _row("and", "d = a & b", "9.7.8.1", "{pred|b16|b32|b64} 2"),
    _row("or", "d = a | b", "9.7.8.2", "{pred|b16|b32|b64} 2"),
    _row("xor", "d = a ^ b", "9.7.8.3", "{pred|b16|b32|b64} 2"),
    _row("not", "d = ~a", "9.7.8.4", "{pred|b16|b32|b64} 1"),
    _row("cnot", "d = a is 0", "9.7.8.5", "{bits} 1"),
    _row("shf", "d = the upper word of b:a shifted left, or the lower one of it shifted right",
         "9.7.8.6", "{l|r}.{wrap|clamp}.b32 b32,b32,u32"),
    _row("prmt", "d = bytes of b:a, each by four bits of c", "9.7.9.7",
         f"b32{{{'|.'.join(('', *PERMUTATIONS))}}} b32,b32,b32>b32"),
    _row("slct", "d = c >= 0 ? a : b", "9.7.6.4", "{b16|b32|b64|f32|f64}.{s32|f32} U,U,T>U"),
    _row("bfe", "d = the bits of a from b on, c of them", "9.7.1.19", "{placed} T,u32,u32",
         places="bc"),
    _row("bfi", "d = b with the low bits of a from c on, e of them", "9.7.1.20",
         "{b32|b64} T,T,u32,u32", places="ce"),
    _row("bfind",
         "d = the place of the highest bit of a that is not its sign, or shifts to it",
         "9.7.1.16", "{|shiftamt.}{placed} 1>b32"),
    _row("fns", "d = the place of the c-th bit of a that is set, counted from b on", "9.7.1.17",
         "b32 b32,u32,s32"),
    _row("szext", "d = the low b bits of a, with their sign or zeros above", "9.7.1.21",
         "{clamp|wrap}.{s32|u32} 2 sm_70 7.6"),
    _row("bmsk", "d = b bits from a on", "9.7.1.22", "{clamp|wrap}.b32 2 sm_70 7.6"),
    _row("popc", "d = the number of bits of a that are set", "9.7.1.14", "{b32|b64} 1>b32"),
    _row("clz", "d = the number of zeros above the highest bit of a", "9.7.1.15",
         "{b32|b64} 1>b32"),
    _row("brev", "d = the bits of a in reverse", "9.7.1.18", "{b32|b64} 1"),
    _row("shl", "d = a << b; a shift of the width or more gives zero", "9.7.8.7", "{bits} T,b32",
         counts="b"),
    _row("shr", "d = a >> b, filled with zeros (`u`) or the sign (`s`)", "9.7.8.8", "{int} T,b32",
         counts="b"),
)  # fmt: skip

# Values of 8 bits are in the low bits of a b16 that has their sign or zeros above. What saturates
# has numbers that the other type has not.
_OF_NUMBERS = """
    s16.{u16|s32|u32|s64|u64}                    T>U
    u16.{s16|s32|u32|s64|u64}                    T>U
    s32.{s16|u16|u32|s64|u64}                    T>U
    u32.{s16|u16|s32|s64|u64}                    T>U
    s64.{s16|u16|s32|u32|u64}                    T>U
    u64.{s16|u16|s32|u32|s64}                    T>U
    {octet}.{s16|u16|s32|u32|s64|u64}            T>U
    {s16|u16|s32|u32|s64|u64}.{octet}            b16>U
    sat.s16.{u16|s32|u32|s64|u64}                T>U
    sat.u16.{s16|s32|u32|s64|u64|s8}             T>U
    sat.s32.{u32|s64|u64}                        T>U
    sat.u32.{s16|s32|s64|u64|s8}                 T>U
    sat.s64.u64                                  T>U
    sat.u64.{s16|s32|s64|s8}                     T>U
    sat.s8.{s16|u16|s32|u32|s64|u64|u8}          T>U
    sat.u8.{s16|u16|s32|u32|s64|u64|s8}          T>U
    {to_int}{s16|u16|s32|u32|s64|u64}.{real}     T>U
    {to_int}ftz.{s16|u16|s32|u32|s64|u64}.f32    T>U
    {to_int}sat.{octet}.{real}                   T>U
    {to_int}ftz.sat.{octet}.f32                  T>U
    {rounded}{real}.{s16|u16|s32|u32|s64|u64}    T>U
    {rounded}bf16.{s16|u16|s32|u32|s64|u64|f64}  T>U  sm_90 7.8
    rn.{real}.{octet}                            T>U
    {float}.f16                                  T>U
    f64.f32                                      T>U
    f32.bf16                                     T>U  sm_80 7.1
    {rounded}f16.{float}                         T>U
    {rounded}bf16.f32                            T>U  sm_80 7.0
    {rounded}f32.f64                             T>U
    {sat.|ftz.|ftz.sat.}f32.f32                  T>U
    {to_int}{ftz}f32.f32                         T>U
    {to_int}f64.f64                              T>U
"""
_OF_HALVES = """
    {rn|rz}.{relu}{f16x2|bf16x2}.f32               T,T>U      sm_80 7.0
    {rn|rz}.{relu}satfinite.{f16x2|bf16x2}.f32     T,T>U      sm_80 8.1
    {rn|rz}.relu.{f16|bf16}.f32                    T>U        sm_80 7.0
    {rn|rz}.relu.satfinite.{f16|bf16}.f32          T>U        sm_80 8.1
    {rn|rz}.satfinite.f16.f32                      T>U        sm_70 8.1
    {rn|rz}.satfinite.bf16.f32                     T>U        sm_80 8.1
    {rn|rz}.{relu}tf32.f32                         T>U        sm_90 7.8
    {rn|rz}.satfinite.{relu}tf32.f32               T>U        sm_100 8.6
    rna.tf32.f32                                   T>U        sm_80 7.0
    rna.satfinite.tf32.f32                         T>U        sm_80 8.1
    rs.{relu}{satfinite}{f16x2|bf16x2}.f32         T,T,b32>U  sm_100a|sm_103a 8.7
"""
# 8-, 6- and 4-bit floats and scale factors, two in a register: a in its upper half, b in its lower
# one; s2f6 are integers of 8 bits by 64. What ptxas 13.5 takes.
_OF_NARROW_FLOATS = """
    rn.satfinite.{relu}{fp8}.f32                       T,T>U  sm_89 8.1
    rn.satfinite.{relu}{fp8}.f16x2                     T>U    sm_89 8.1
    rn.{relu}f16x2.{fp8}                               T>U    sm_89 8.1
    rn.satfinite.{relu}{fp6_fp4}.f32                   T,T>U  sm_100f|sm_110f|sm_120f 8.6
    rn.satfinite.{relu}{fp6_fp4}.f16x2                 T>U    sm_100f|sm_110f|sm_120f 9.1
    rn.{relu}f16x2.{fp6_fp4}                           T>U    sm_100f|sm_110f|sm_120f 8.6
    rn.satfinite.{relu}{e4m3|e5m2|e2m3|e3m2|e2m1}x2.bf16x2  T>U  sm_100f|sm_110f|sm_120f 9.1
    rn.{relu}{satfinite}bf16x2.{fp8}                   T>U    sm_100f|sm_110f|sm_120f 9.2
    rn.{relu}{satfinite}bf16x2.{fp6_fp4}               T>U    sm_100f|sm_110f|sm_120f 9.2
    rn.{relu}{satfinite}{scaled}bf16x2.{fp8}      T,b16>U  sm_100f|sm_110f|sm_120f 9.2
    rn.{relu}{satfinite}{scaled}bf16x2.{fp6_fp4}  T,b16>U  sm_100f|sm_110f|sm_120f 9.2
    rn.{satfinite}{relu}bf16x2.s2f6x2  T>U  sm_100a|sm_103a|sm_110a|sm_120a|sm_121a 9.1
    rn.{satfinite}{relu}{scaled}bf16x2.s2f6x2  T,b16>U  sm_100a|sm_103a|sm_110a|sm_120a|sm_121a 9.1
    rs.{relu}satfinite.{e4m3|e5m2|e2m3|e3m2|e2m1}x4.f32  T,T,T,T,b32>U  sm_100a|sm_103a 8.7
    {rz|rp}.{satfinite}ue8m0x2.f32                     T,T>U  sm_100f|sm_110f|sm_120f 8.6
    {rz|rp}.{satfinite}ue8m0x2.bf16x2                  T>U    sm_100f|sm_110f|sm_120f 8.6
    rn.bf16x2.ue8m0x2                                  T>U    sm_100f|sm_110f|sm_120f 8.6
"""
# Two integers of 32 bits clamped and side by side, the first above the second; narrow ones in the
# low bits, with those of a third operand above.
_PACKS = """
    pack.sat.{s16|u16}.s32            s32,s32>b32      sm_72 6.5
    pack.sat.{octet}.s32.b32          s32,s32,b32>b32  sm_72 6.5
    pack.sat.{s4|u4|s2|u2}.s32.b32    s32,s32,b32>b32  sm_75 6.5
"""

CONVERT = (
    _row("cvt",
         "a converted to another type, the target type first: `cvt.rn.f32.s32`; of two halves "
         "`d, a, b`, and `rbits` where rounding is stochastic",
         "9.7.9.21", _OF_NUMBERS + _OF_HALVES + _OF_NARROW_FLOATS + _PACKS, plain=True),
    _row("cvta", "a generic address as one of a space, `cvta.to.global.u64`, or back", "9.7.9.20",
         """
            {global|to.global|shared|to.shared|local|to.local|const|to.const}.u64  1
            {param|to.param}.u64                                                  1  sm_70 7.7
         """, plain=True),
    _row("isspacep", "p = a generic address is one of the space", "9.7.9.19",
         """
            {global|shared|local|const}  u64>pred
            param                        u64>pred  sm_70 7.7
            param::entry                 u64>pred  sm_70 8.3
            shared::cta                  u64>pred  sm_70 7.8
            shared::cluster              u64>pred  sm_90 7.8
         """, plain=True),
)  # fmt: skip

SCALARS: dict[str, ScalarRow] = {
    row.name: row for row in (*ARITHMETIC, *APPROXIMATE, *LOGIC, *CONVERT)
}
"""Every row, by the name of its instruction."""
