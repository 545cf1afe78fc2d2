"""Instructions that are several others, which together do the same."""

import re
from collections.abc import Sequence

from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, needs

_SET = r"set(\.\w+(?:\.and|\.or|\.xor)?(?:\.ftz)?)\."
COMPOSED: Sequence[tuple[re.Pattern[str], Sequence[str]]] = tuple(
    (re.compile(pattern), lines)
    for pattern, *lines in (
        (  # 9.7.7.2
            r"setp\.(\w+(?:\.and|\.or|\.xor)?(?:\.ftz)?)\.(b?f16)x2",
            "mov.b32 {{h, i}}, {1}", "mov.b32 {{j, k}}, {2}",
            r"setp.\1.\2 {0}, h, j{more}", r"setp.\1.\2 {also}, i, k{more}",
        ),
        (  # 9.7.6.2; q is of the comparison that does not hold
            r"setp\.(\w+)\.(and|or|xor)((?:\.ftz)?\.\w+)",
            r"setp.\1\3 t|n, {1}, {2}", r"\2.pred {0}, t, {3}", r"\2.pred {also}, n, {3}",
        ),
        # 9.7.6.1, 9.7.7.1
        *(
            (
                _SET + types, r"setp\1.\2x2 t|n, {rest}", f"selp.b16 h, {one}, 0, t",
                f"selp.b16 i, {one}, 0, n", "mov.b32 {0}, {{h, i}}",
            )
            for types, one in (
                (r"[us]32\.(b?f16)x2", "-1"), (r"f16x2\.(f16)x2", "0x3C00"),
                (r"bf16x2\.(bf16)x2", "0x3F80"),
            )
        ),
        (_SET + r"[us]32\.(\w+)", r"setp\1.\2 s, {rest}", "selp.b32 {0}, -1, 0, s"),
        (_SET + r"[us]16\.(b?f16)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, -1, 0, s"),
        (_SET + r"f32\.((?!b?f16)\w+)", r"setp\1.\2 s, {rest}", "selp.f32 {0}, 1.0, 0.0, s"),
        (_SET + r"f16\.((?!\w+x2|bf16)\w+)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, 0x3C00, 0, s"),
        (_SET + r"bf16\.((?!\w+x2)\w+)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, 0x3F80, 0, s"),
        (r"cvt\.[us](16|32|64)\.[us]\1", r"mov.b\1 {0}, {1}"),
        # Another one to every rule, but written as it was: its numbers have a sign.
        (r"selp\.s(\d+)", r"selp.b\1 {0}, {rest}"),
        (r"slct\.ftz(\.\w+)\.f32", "cvt.ftz.f32.f32 f, {3}", r"slct\1.f32 {0}, {1}, {2}, f"),
        (r"mad(24)?\.hi\.sat\.s32", r"mul\1.hi.s32 x, {1}, {2}", "add.sat.s32 {0}, x, {3}"),
        *(  # 9.7.18.2
            (rf"(vabsdiff{parts}\.u32\.u32\.u32)\.add", r"\1 x, {1}, {2}, 0",
             f"{dot}.u32.u32 {{0}}, x, {ones}, {{3}}")
            for parts, dot, ones in ((4, "dp4a", 0x1010101), (2, "dp2a.lo", 0x101))
        ),
        (  # 9.7.3.11, 9.7.3.12
            r"(min|max)((?:\.ftz)?(?:\.NaN)?)\.abs\.f32", "abs.f32 e, {1}", "abs.f32 f, {2}",
            "abs.f32 g, {3}", r"\1\2.f32 {0}, e, f, g",
        ),
        (  # 9.7.8.6
            r"lop3\.(and|or)\.b32", "lop3.b32 x, {1}, {2}, {3}, {4}", "mov.b32 {0}, x",
            "setp.ne.u32 t, x, 0", r"\1.pred {also}, t, {5}",
        ),
        # 9.7.9.23, 9.7.9.24: a generic address is one of a window.
        (
            r"mapa\.u64", "cvta.to.shared.u64 y, {1}", "cvt.u32.u64 x, y",
            "mapa.shared::cluster.u32 v, x, {2}", "cvt.u64.u32 z, v", "cvta.shared.u64 {0}, z",
        ),
        (r"mapa\.shared::cluster\.u64", "cvt.u32.u64 x, {1}",
         "mapa.shared::cluster.u32 v, x, {2}", "cvt.u64.u32 {0}, v"),
        (r"getctarank\.shared::cluster\.u64", "cvt.u32.u64 x, {1}",
         "getctarank.shared::cluster.u32 {0}, x"),
        (r"getctarank\.u64", "cvta.to.shared.u64 y, {1}",
         "getctarank.shared::cluster.u64 {0}, y"),
        (  # 9.7.9.16
            r"prefetch\.param(\.tensormap)", "mov.b64 y, {0}", "cvta.param.u64 z, y",
            r"prefetch\1 [z]",
        ),
        # 9.7.9.21: f32 has every number of bf16 and f16.
        (r"cvt\.(r[nmpz]i\.[us]\d\d)\.bf16", "cvt.f32.bf16 f, {1}", r"cvt.\1.f32 {0}, f"),
        (
            r"cvt\.(r[nzmp])\.(b?f16)\.(?!\2)(b?f16)", r"cvt.f32.\3 f, {1}",
            r"cvt.\1.\2.f32 {0}, f",
        ),
        (r"cvt\.(b?f16)\.\1", r"cvt.f32.\1 f, {1}", r"cvt.rn.\1.f32 {0}, f"),
        (
            r"cvt\.(r[nzmp]i)\.(b?f16)\.\2", r"cvt.f32.\2 f, {1}", r"cvt.\1.f32.f32 e, f",
            r"cvt.rn.\2.f32 {0}, e",
        ),
        (r"cvt\.(?:r[nmpz]\.)?f64\.bf16", "cvt.f32.bf16 f, {1}", "cvt.f64.f32 {0}, f"),
        (r"cvt\.(?:r[nmpz]\.)?ftz\.f32\.bf16", "cvt.f32.bf16 f, {1}", "cvt.ftz.f32.f32 {0}, f"),
        (  # NaN stays as it is
            r"cvt\.(.*)ftz\.f32\.f64", r"cvt.\1f32.f64 f, {1}", "testp.subnormal.f32 s, f",
            "copysign.f32 e, f, 0f00000000", "selp.f32 {0}, e, f, s",
        ),
        (r"cvt\.(.*)ftz\.(bf16|f64)\.f32", "cvt.ftz.f32.f32 f, {1}", r"cvt.\1\2.f32 {0}, f"),
        (r"cvt\.(.*)sat\.f32\.([fus]\d\d?)", r"cvt.\1f32.\2 f, {1}", "cvt.sat.f32.f32 {0}, f"),
        (
            r"cvt\.(.*)sat\.f16\.([fus]\d\d?)", r"cvt.\1f16.\2 h, {1}", "cvt.f32.f16 f, h",
            "cvt.sat.f32.f32 e, f", "cvt.rn.f16.f32 {0}, e",
        ),
        (
            r"cvt\.(.*)sat\.f64\.([fus]\d\d?)", r"cvt.\1f64.\2 d, {1}", "max.f64 m, d, 0.0",
            "min.f64 {0}, m, 1.0",
        ),
    )
)  # fmt: skip
"""Mnemonics, and the instructions of their operands: `also` is the second result, `rest` all behind
the results, `more` what there is from the third on. What gives a result that the text leaves out
is none."""
_NEEDS = (
    (re.compile(r"(set|cvt(?!.*ftz\.bf16\.f32))\..*bf16"), needs("sm_90 7.8")),
    (re.compile(r"lop3\.(and|or)"), needs("sm_70 8.2")),
    (re.compile(r"(min|max)\..*abs"), needs("sm_100 8.8")),
    (re.compile(r"set\..*[us]\d\d\.f16"), needs("sm_70 6.5")),
)
"""The targets and versions of instructions that need others than those that they are. PTX ISA
9.7.7.1."""
_SPELLED = (
    (re.compile(r"fence\.(acquire|release)\.\w+"), needs("sm_90 8.6")),
    (re.compile(r"cvta\..*shared::cluster\..*"), needs("sm_90 7.8")),
    (re.compile(r"cp\..*cta_group::1.*"), needs("sm_100a|sm_100f|sm_110f 8.6")),
)
"""Those of spellings that are younger than what they stand for."""


def parts(mnemonic: str) -> Sequence[tuple[str, str]]:
    """The instructions and their operands; none of a mnemonic that is in no row."""
    for pattern, lines in COMPOSED:
        if (match := pattern.fullmatch(mnemonic)) is not None:
            words = (match.expand(line).partition(" ") for line in lines)
            return [(name, operands) for name, _, operands in words]
    return ()


def own_needs(mnemonic: str) -> Requirement | None:
    """The target and version of one that needs others than these do."""
    return next((need for known, need in _NEEDS if known.match(mnemonic)), None)


def spelling_needs(mnemonic: str) -> Requirement | None:
    """The target and version of a spelling, where they are others than those of what it stands
    for."""
    return next((need for known, need in _SPELLED if known.fullmatch(mnemonic)), None)
