"""Instructions that are read as several others, which together do the same."""

import re
from collections.abc import Mapping, Sequence

from tilewright.dialects.cute_nvgpu.lattice.operand_text import read
from tilewright.lowering.ptx.parsing.instructions import composes, rule_of
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule
from tilewright.lowering.ptx.parsing.ssa import Variable

_SET = r"set(\.\w+(?:\.and|\.or|\.xor)?(?:\.ftz)?)\."
_PLACES: Mapping[str, str] = {
    "t": "pred", "n": "pred", "s": "pred", "f": "f32", "x": "b32",
}  # fmt: skip
"""The registers that hold what is between the instructions, and their kinds."""
COMPOSED: Sequence[tuple[re.Pattern[str], Sequence[str]]] = tuple(
    (re.compile(pattern), lines)
    for pattern, *lines in (
        (  # 9.7.6.2; q is of the comparison that does not hold
            r"setp\.(\w+)\.(and|or|xor)((?:\.ftz)?\.\w+)",
            r"setp.\1\3 t|n, {1}, {2}", r"\2.pred {0}, t, {3}", r"\2.pred {also}, n, {3}",
        ),
        # 9.7.6.1
        (_SET + r"[us]32\.(\w+)", r"setp\1.\2 s, {rest}", "selp.b32 {0}, -1, 0, s"),
        (_SET + r"[us]16\.(b?f16)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, -1, 0, s"),
        (_SET + r"f32\.((?!b?f16)\w+)", r"setp\1.\2 s, {rest}", "selp.f32 {0}, 1.0, 0.0, s"),
        (_SET + r"f16\.(f16)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, 0x3C00, 0, s"),
        (_SET + r"bf16\.(bf16)", r"setp\1.\2 s, {rest}", "selp.b16 {0}, 0x3F80, 0, s"),
        (  # 9.7.8.6
            r"lop3\.(and|or)\.b32", "lop3.b32 x, {1}, {2}, {3}, {4}", "mov.b32 {0}, x",
            "setp.ne.u32 t, x, 0", r"\1.pred {also}, t, {5}",
        ),
        # 9.7.9.21: f32 has every number of bf16 and f16, and every integer of 16 bits.
        (r"cvt\.(r[nmpz]i\.[us]\d+)\.bf16", "cvt.f32.bf16 f, {1}", r"cvt.\1.f32 {0}, f"),
        (r"cvt\.(r[nz])\.bf16\.([us]16)", r"cvt.rn.f32.\2 f, {1}", r"cvt.\1.bf16.f32 {0}, f"),
        (r"cvt\.(r[nz])\.bf16\.f16", "cvt.f32.f16 f, {1}", r"cvt.\1.bf16.f32 {0}, f"),
        (r"cvt\.(r[nz])\.f16\.bf16", "cvt.f32.bf16 f, {1}", r"cvt.\1.f16.f32 {0}, f"),
        (r"cvt\.(?:r[nmpz]\.)?f64\.bf16", "cvt.f32.bf16 f, {1}", "cvt.f64.f32 {0}, f"),
        (r"cvt\.((?:rn\.)?)sat\.f32\.(f16|f64)", r"cvt.\1f32.\2 f, {1}", "cvt.sat.f32.f32 {0}, f"),
        (r"cvt\.(r[nz])\.sat\.f16\.f32", "cvt.sat.f32.f32 f, {1}", r"cvt.\1.f16.f32 {0}, f"),
    )
)  # fmt: skip
"""Mnemonics, and the instructions of their operands: `also` is the second result, `rest` all behind
the results. What gives a result that the text leaves out is none."""


@composes
def composed(mnemonic: str) -> ReadingRule | None:
    """The rule of a mnemonic of the table."""
    for pattern, lines in COMPOSED:
        if (match := pattern.fullmatch(mnemonic)) is not None:
            return _in_turn([match.expand(line) for line in lines])
    return None


def _in_turn(lines: Sequence[str]) -> ReadingRule:
    parts = [line.partition(" ") for line in lines]
    rules = [(rule_of(name), operands) for name, _, operands in parts]
    places = {name for _, operands in rules for name in re.findall(r"\b\w\b", operands)}

    def rule(reader: Reader, operands: str) -> None:
        dest, *sources = read(operands)
        names = [item.text for item in dest.items] if dest.kind == "pair" else [dest.text, "_"]
        given = [source.text for source in sources]
        outer = reader.scope
        reader.scope = Names(
            outer, {name: Variable(_PLACES[name]) for name in places & _PLACES.keys()}
        )
        for one, text in rules:
            if one is None:
                raise ValueError(operands)
            filled = text.format(names[0], *given, also=names[1], rest=", ".join(given))
            if not filled.startswith("_,"):
                one.read(reader, filled)
        reader.scope = outer

    return ReadingRule(rule)
