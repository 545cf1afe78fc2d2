"""The registers that wgmmas may still write where blocks meet: they meet as one list, as no move is
legal there. PTX ISA 9.7.15.7.3."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from tilewright.lowering.ptx.parsing.flow import BodyPart
from tilewright.lowering.ptx.parsing.instructions import rule_of
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.ssa import Variable, VariableList
from tilewright.lowering.ptx.parsing.statements import NAMES, PtxStatement


def list_accumulators(order: Sequence[BodyPart]) -> None:
    """Let variables that wgmmas write side by side, and with no others, know their list, and where
    that may be in flight."""
    lists: dict[tuple[Variable, ...], VariableList] = {}
    leaving: list[tuple[VariableList, BodyPart]] = []
    waiting = set[BodyPart]()
    for part in order:
        flying = dict[VariableList, None]()
        for statement, scope in part.statements:
            if not statement.name.startswith("wgmma"):
                continue
            if statement.name.startswith("wgmma.mma_async"):
                variables = (*written(statement, scope),)
                rule = rule_of(statement.name)
                assert rule is not None
                flying[lists.setdefault(variables, VariableList(rule.kind, variables))] = None
            elif statement.name.startswith("wgmma.wait_group") and statement.text == "0":
                flying.clear()
                waiting.add(part)
        leaving += [(listed, part) for listed in flying]
    often = Counter(chain.from_iterable(lists))
    by_block = {part.block: part for part in order}
    for listed, part in leaving:
        work = part.ways()
        while work:
            block = work.pop()
            if block not in listed.meets:
                listed.meets.add(block)
                work += by_block[block].ways() if by_block[block] not in waiting else ()
    for variables, listed in lists.items():
        for variable in variables if all(often[one] == 1 for one in variables) else ():
            variable.list = listed


def written(statement: PtxStatement, scope: Names) -> list[Variable]:
    """The registers that an instruction may write: those in front of its first address, or its
    first operand."""
    if isinstance(first := scope.find(statement.text.partition(",")[0]), Variable):
        return [first]
    results, address, _ = statement.text.partition("[")
    if not address:
        results = results.partition("}" if results[:1] == "{" else ",")[0]
    named = map(scope.find, NAMES.findall(results))
    return [one for one in named if isinstance(one, Variable)]
