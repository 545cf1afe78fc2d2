"""`brx.idx`, which goes to one label of a table, as comparisons and branches. PTX ISA 9.7.12.4."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tilewright.lowering.ptx.parsing.statements import NAMES, PtxError, PtxStatement

_TABLE = ".branchtargets"


def without_tables(body: Sequence[PtxStatement]) -> Sequence[PtxStatement]:
    """The statements, where a branch by a table is one for each of its labels; an index that is
    beyond them, of which PTX says nothing, goes to the last. Raises PtxError."""
    if not any(one.name == _TABLE for one in body):
        return body
    tables = {
        label.text: NAMES.findall(table.text)
        for label, table in pairwise(body)
        if label.kind == "label" and table.name == _TABLE
    }
    plain = list[PtxStatement]()
    for one in body:
        if one.name.startswith("brx.idx"):
            plain += _branches(one, tables)
        elif one.name != _TABLE:
            plain.append(one)
    return plain


def _branches(statement: PtxStatement, tables: dict[str, list[str]]) -> Iterator[PtxStatement]:
    index, _, name = (part.strip() for part in statement.text.partition(","))
    if (labels := tables.get(name)) is None:
        raise PtxError(f"expected a table of labels, got {name}", statement.position)

    def instruction(name: str, text: str, guard: str = "") -> PtxStatement:
        return statement._replace(name=name, text=text, guard=guard)

    condition, passed = f"%is{statement.position}", f"$past{statement.position}"
    if statement.guard:
        negated = statement.guard[0] == "!"
        guard = statement.guard.lstrip("! ")
        yield instruction("bra", passed, guard if negated else f"!{guard}")
    yield PtxStatement("brace", statement.position, "", "{")
    yield PtxStatement("declaration", statement.position, ".reg", f".pred {condition}")
    for place, label in enumerate(labels[:-1]):
        yield instruction("setp.eq.u32", f"{condition}, {index}, {place}")
        yield instruction("bra", label, condition)
    yield instruction("bra", labels[-1])
    yield PtxStatement("brace", statement.position, "", "}")
    if statement.guard:
        yield PtxStatement("label", statement.position, "", passed)
