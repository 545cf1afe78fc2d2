"""`brx.idx`, which goes to one label of a table, and `call` of an address, that of one of several
functions, as comparisons and branches. PTX ISA 9.7.12.4 and 9.7.12.5."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from tilewright.lowering.ptx.parsing.statements import NAME, NAMES, PtxError, PtxStatement

_TABLES = (".branchtargets", ".calltargets", ".callprototype")
_INDIRECT = re.compile(
    rf"((?:\([^)]*\)\s*,\s*)?)({NAME})\s*((?:,\s*\([^)]*\)\s*)?),\s*({NAME})", re.DOTALL
)

_SEVERAL = re.compile(rf"({NAME})\s*<\s*(\d+)\s*>")

Functions = Callable[[PtxStatement], Sequence[str]]
"""The names of the functions that have a prototype."""


def without_tables(
    body: Sequence[PtxStatement], functions: Functions, kept: Collection[str]
) -> Sequence[PtxStatement]:
    """The statements, where a branch by a table is one for each of its labels, and a call of an
    address one for each of its functions. An index beyond the labels, of which PTX says nothing,
    goes to the last; an address of no such function traps. One of functions that are `kept` is a
    call of the first with the address behind it. Raises PtxError."""
    if {one.name for one in body}.isdisjoint(_TABLES):
        return body
    tables = {
        label.text: functions(table)
        if table.name == _TABLES[2]
        else NAMES.findall(_SEVERAL.sub(_numbered, table.text))
        for label, table in pairwise(body)
        if label.kind == "label" and table.name in _TABLES
    }
    plain = list[PtxStatement]()
    for one in body:
        call = _INDIRECT.fullmatch(one.text) if one.name in ("call", "call.uni") else None
        if one.name.startswith("brx.idx"):
            index, _, name = (part.strip() for part in one.text.partition(","))
            labels = _table(tables, name, one)
            ways = [(str(place), [("bra", label)]) for place, label in enumerate(labels)]
            plain += _ways(one, index, "u32", ways)
        elif call is not None:
            results, address, arguments, name = call.groups()
            first, *_ = names = _table(tables, name, one)
            if first in kept:
                plain.append(one._replace(text=f"{results}{first}{arguments}, @{address}"))
                continue
            past, plainly = f"$called{one.position}", one.name
            ways = [
                (function, [(plainly, f"{results}{function}{arguments}"), ("bra", past)])
                for function in names
            ]
            ways.append(("none", [("trap", "")]))
            plain += [*_ways(one, address, "u64", ways), one._replace(kind="label", text=past)]
        elif one.name not in _TABLES and (one.kind, one.text in tables) != ("label", True):
            plain.append(one)
    return plain


def _numbered(several: re.Match[str]) -> str:
    """`L<2>` is `L0` and `L1`."""
    return " ".join(f"{several[1]}{place}" for place in range(int(several[2])))


def _table(
    tables: Mapping[str, Sequence[str]], name: str, statement: PtxStatement
) -> Sequence[str]:
    if not (entries := tables.get(name)):
        raise PtxError(f"expected a table of labels or functions, got {name}", statement.position)
    return entries


def _ways(
    statement: PtxStatement, number: str, type_: str,
    ways: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> Iterator[PtxStatement]:  # fmt: skip
    """The instructions of the first way whose value a number of a type has, or of the last."""

    def instruction(name: str, text: str, guard: str = "") -> PtxStatement:
        return statement._replace(name=name, text=text, guard=guard)

    condition, passed = f"%is{statement.position}", f"$past{statement.position}"
    if statement.guard:
        negated = statement.guard[0] == "!"
        guard = statement.guard.lstrip("! ")
        yield instruction("bra", passed, guard if negated else f"!{guard}")
    yield PtxStatement("brace", statement.position, "", "{")
    yield PtxStatement("declaration", statement.position, ".reg", f".pred {condition}")
    for place, (value, there) in enumerate(ways):
        after = f"$way{statement.position}_{place}"
        if place + 1 < len(ways):
            yield instruction(f"setp.eq.{type_}", f"{condition}, {number}, {value}")
            if len(there) == 1:
                yield instruction(*there[0], condition)
                continue
            yield instruction("bra", after, f"!{condition}")
        for one in there:
            yield instruction(*one)
        yield PtxStatement("label", statement.position, "", after)
    yield PtxStatement("brace", statement.position, "", "}")
    if statement.guard:
        yield PtxStatement("label", statement.position, "", passed)
