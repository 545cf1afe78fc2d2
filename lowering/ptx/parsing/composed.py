"""Instructions that are read as several others, which together do the same."""

import re
from collections.abc import Mapping, Sequence

from tilewright.dialects.cute_nvgpu.lattice.operand_text import read
from tilewright.lowering.ptx.parsing.instructions import (
    as_written,
    composes,
    pieces,
    resizing,
    rule_of,
)
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule
from tilewright.lowering.ptx.parsing.spellings import SIGNED_SELP
from tilewright.lowering.ptx.parsing.ssa import Variable

_SET = r"set(\.\w+(?:\.and|\.or|\.xor)?(?:\.ftz)?)\."
_PLACES: Mapping[str, str] = {
    **dict.fromkeys("tns", "pred"), **dict.fromkeys("hijk", "b16"), **dict.fromkeys("efg", "f32"),
    **dict.fromkeys("dm", "f64"), **dict.fromkeys("xv", "b32"),
    **dict.fromkeys("yz", "b64"),
}  # fmt: skip
"""The registers that hold what is between the instructions, and their kinds."""
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
        (SIGNED_SELP[0], f"{SIGNED_SELP[1]} {{0}}, {{rest}}"),
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


@composes
def composed(mnemonic: str) -> ReadingRule | None:
    """The rule of a mnemonic of the table, or of a conversion to an integer of the same width."""
    if (same := re.fullmatch(r"cvt\.([us](16|32|64))\.[us]\2", mnemonic)) is not None:
        return _of_its_width(same[1])
    for pattern, lines in COMPOSED:
        if (match := pattern.fullmatch(mnemonic)) is not None:
            parts = [match.expand(line).partition(" ") for line in lines]
            rules = [
                (rule, re.sub(r"\b[a-z]\b", r"$\g<0>", text))
                for name, _, text in parts
                if (rule := rule_of(name)) is not None
            ]
            return _in_turn(mnemonic, rules) if len(rules) == len(parts) else None
    return None


def _of_its_width(type_: str) -> ReadingRule:
    """A conversion that changes nothing, but in a wider register."""

    def rule(reader: Reader, operands: str) -> None:
        dest, source = pieces(operands)
        reader.give(dest, reader.take(source, type_))

    return resizing(ReadingRule(rule), type_)


def _in_turn(mnemonic: str, rules: Sequence[tuple[ReadingRule, str]]) -> ReadingRule:
    # A text may have registers of one letter.
    places = {name for _, operands in rules for name in re.findall(r"\$[a-z]", operands)}

    def rule(reader: Reader, operands: str) -> None:
        dest, *sources = read(operands)
        names = [item.text for item in dest.items] if dest.kind == "pair" else [dest.text, "_"]
        given = [source.text for source in sources]
        more = "".join(f", {source}" for source in given[2:])
        outer, before = reader.scope, reader.block.last_op
        # A result may be written before the last source is read.
        results = {f"${place}": name for place, name in enumerate(names) if name != "_"}
        first, also = (place if place in results else "_" for place in ("$0", "$1"))
        if dest.kind == "address":
            first, results = dest.items[0].text, dict[str, str]()
        kinds = {name: _PLACES[name[1]] for name in places}
        kinds |= {place: reader.variable(name).kind for place, name in results.items()}
        reader.scope = Names(outer, {name: Variable(kind) for name, kind in kinds.items()})
        for one, text in rules:
            filled = text.format(first, *given, also=also, rest=", ".join(given), more=more)
            if not filled.startswith("_,"):
                one.read(reader, filled)
        values = [(name, reader.value(place)) for place, name in results.items()]
        reader.scope = outer
        if dest.kind != "address":
            as_written(reader, before, mnemonic, operands, dict(values))
        for name, value in values:
            reader.give(name, value)

    return ReadingRule(rule)
