"""Instructions that are read as several others, which together do the same."""

import re
from collections.abc import Mapping, Sequence

from tilewright.dialects.cute_nvgpu.lattice.composed import parts
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
from tilewright.lowering.ptx.parsing.ssa import Variable

_PLACES: Mapping[str, str] = {
    **dict.fromkeys("tns", "pred"), **dict.fromkeys("hijk", "b16"), **dict.fromkeys("efg", "f32"),
    **dict.fromkeys("dm", "f64"), **dict.fromkeys("xv", "b32"),
    **dict.fromkeys("yz", "b64"),
}  # fmt: skip
"""The registers that hold what is between the instructions, and their kinds."""


@composes
def composed(mnemonic: str) -> ReadingRule | None:
    """The rule of a mnemonic of the table, or of a conversion to an integer of the same width."""
    if (same := re.fullmatch(r"cvt\.([us](16|32|64))\.[us]\2", mnemonic)) is not None:
        return _of_its_width(same[1])
    rules = [
        (rule, re.sub(r"\b[a-z]\b", r"$\g<0>", text))
        for name, text in parts(mnemonic)
        if (rule := rule_of(name)) is not None
    ]
    is_whole = rules and len(rules) == len(parts(mnemonic))
    return _in_turn(mnemonic, rules) if is_whole else None


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
