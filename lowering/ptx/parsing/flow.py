"""The blocks of a function: where the text may go on, and which statements are in each."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.ir import Block, SSAValue

from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.illegal import Illegal
from tilewright.lowering.ptx.parsing.instructions import rule_of
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.reader import ReadingRule
from tilewright.lowering.ptx.parsing.signatures import Callee, signature, types_of
from tilewright.lowering.ptx.parsing.ssa import Variable
from tilewright.lowering.ptx.parsing.statements import NAMES, PtxError, PtxStatement
from tilewright.lowering.ptx.parsing.tables import without_tables

_FLOW = frozenset(("bra", "ret", "exit"))
_ELEMENT = re.compile(r"[\w$]\[")
_TRY_WAIT = "mbarrier.try_wait.parity."


@entity
class BodyPart:
    """The statements of a block, each with the names that it knows, and how it ends: by `ending`
    at `then`, under its guard, if it has one, else at `following`; without either the kernel is at
    its end. The rules of the statements, the places where it writes its registers `last`, and what
    it leaves a function with, `returned`, are filled later."""

    block: Block = factory(Block)
    statements: list[tuple[PtxStatement, Names]] = factory(list)
    ending: tuple[PtxStatement, Names] | None = None
    then: Block | None = None
    following: Block | None = None
    rules: list[ReadingRule] = factory(list)
    last: dict[Variable, int] = factory(dict)
    returned: Sequence[SSAValue] = ()

    @property
    def is_open(self) -> bool:
        """Nothing says yet where it goes on."""
        return self.ending is None and self.following is None

    @property
    def exits(self) -> bool:
        """It ends the kernel."""
        return self.ending is not None and self.ending[0].name == "exit" and not self.ways()

    def ways(self) -> list[Block]:
        """Where it may go on."""
        return [block for block in (self.then, self.following) if block is not None]


def waits(statements: Sequence[PtxStatement]) -> Iterable[PtxStatement]:
    """The statements, where a loop that asks an mbarrier until its phase is complete is one
    instruction with the result `_`, as `ptx.mbarrier.try_wait.parity` is, or `_.bra` if two are in
    it, between its labels where others go there."""
    if not any(name.startswith(_TRY_WAIT) for name in {one.name for one in statements}):
        return statements
    return _waits(statements)


def _waits(statements: Sequence[PtxStatement]) -> Iterator[PtxStatement]:
    place, ways = 0, Counter(one.text for one in statements if one.name in ("bra", "bra.uni"))
    # Each of several places between braces may have a label of one name.
    ways.subtract(one.text for one in statements if one.kind == "label")
    while place < len(statements):
        statement = statements[place]
        if statement.kind == "label":
            loop = statements[place : place + 5]
            if (length := _asks_until_done(loop)) is not None:
                asked = loop[1]
                if ways[statement.text] > 0:
                    yield statement
                dest = "_" if length == 3 else f"_.{loop[2].name}"
                yield asked._replace(text=f"{dest},{asked.text.partition(',')[2]}")
                place += length
                if length == 5 and ways[loop[4].text] > 0:
                    yield loop[4]
                continue
        yield statement
        place += 1


def _asks_until_done(loop: Sequence[PtxStatement]) -> int | None:
    """How many statements are such a loop, or None: `L: try_wait p; @!p bra L;` or `L: try_wait p;
    @p bra D; bra L; D:`."""
    if len(loop) < 3 or not loop[1].name.startswith(_TRY_WAIT) or ".relaxed" in loop[1].name:
        return None
    label, done = loop[0].text, loop[1].text.partition(",")[0].strip()
    guards = [
        (one.guard.replace(" ", ""), one.name.removesuffix(".uni"), one.text) for one in loop[2:]
    ]
    if guards[0] == (f"!{done}", "bra", label):
        return 3
    if len(loop) == 5 and guards[:2] == [(done, "bra", loop[4].text), ("", "bra", label)]:
        return 5
    return None


@entity
class Flow:
    """The parts of a kernel, in the order of the text: under a predicate, instructions whose ops
    take none have a block of their own. `declare` makes a declaration known in a scope; `callees`
    are the functions that are called."""

    declare: Callable[[PtxStatement, Names], None]
    callees: dict[str, Callee]
    parts: list[BodyPart] = factory(lambda: [BodyPart()])
    _branches: list[tuple[BodyPart, str, Names]] = factory(list)
    _has_vectors: bool = False
    _guarded: tuple[str, Names, BodyPart, BodyPart] | None = None

    def add(self, body: Sequence[PtxStatement], scope: Names) -> None:
        """Add the statements of a body, and find the blocks of all labels. Raises PtxError, as for
        one that there is not."""
        kept = [name for name, callee in self.callees.items() if callee.is_kept]
        body = without_tables(body, self._of_prototype, kept)
        targets = {
            label for one in body
            if one.name in ("bra", "bra.uni") for label in NAMES.findall(one.text)
        }  # fmt: skip
        for statement in waits(body):
            match statement.kind:
                case "instruction":
                    name, text = statement.name, statement.text
                    has_element = "[" in text and _ELEMENT.search(text)
                    if self._has_vectors or ".b128" in name or has_element:
                        addressed = not name.startswith("mov.")
                        text = scope.in_parts(text, addressed=addressed)
                        statement = statement._replace(text=text)
                    self._instruction(statement, scope)
                case "brace" if statement.text == "{":
                    scope = Names(scope)
                case "brace":
                    assert scope.outer is not None
                    scope = scope.outer
                case "declaration" if statement.name == ".pragma":
                    self.parts[-1].statements.append((statement, scope))
                case "declaration":
                    self._has_vectors |= statement.text.startswith(".v")
                    self.declare(statement, scope)
                case "label":
                    self._label(statement, scope, is_target=statement.text in targets)
                case _:
                    pass
        self._find_labels()

    def _of_prototype(self, prototype: PtxStatement) -> list[str]:
        """The functions whose results and parameters are of the types of a prototype, and whose
        address is taken."""
        types = types_of(signature(prototype))
        return [
            name for name, callee in self.callees.items()
            if callee.is_taken and types_of(signature(callee.head)) == types
        ]  # fmt: skip

    def _find_labels(self) -> None:
        for part, name, scope in self._branches:
            part.then = scope.label(name)
            if part.then is None:
                assert part.ending is not None
                raise PtxError(
                    f"expected a label of the function, got {name}", part.ending[0].position
                )

    def _label(self, statement: PtxStatement, scope: Names, *, is_target: bool) -> None:
        part, name = self.parts[-1], statement.text
        begins = len(self.parts) > 1 and not part.statements and not part.block.name_hint
        if not begins and not is_target:
            part.statements.append((statement._replace(name=".label"), scope))
            return
        if not begins:
            last, part = part, BodyPart()
            if last.is_open:
                last.following = part.block
            self.parts.append(part)
        scope.labels[name] = part.block
        part.block.name_hint = name.lstrip("$%")
        self._guarded = None

    def _instruction(self, statement: PtxStatement, scope: Names) -> None:
        part, name = self.parts[-1], statement.name.partition(".")[0]
        if name not in _FLOW and not statement.guard:
            part.statements.append((statement, scope))
        elif name == "bra":
            self._branches.append((part, statement.text, scope))
            self._end(statement, scope)
        elif name in _FLOW:
            self._end(statement, scope)
            if statement.guard:
                exit = BodyPart(ending=(statement._replace(guard=""), scope))
                part.then = exit.block
                self.parts.insert(-1, exit)
        elif statement.guard and not _takes_predicate(statement.name):
            self._under(statement, scope)
        else:
            part.statements.append((statement, scope))

    def _end(self, statement: PtxStatement, scope: Names) -> None:
        part = self.parts[-1]
        part.ending = statement, scope
        following = BodyPart()
        if statement.guard:
            part.following = following.block
        self.parts.append(following)
        self._guarded = None

    def _under(self, statement: PtxStatement, scope: Names) -> None:
        """Add an instruction to a block that is gone through where its guard holds, after those of
        the same guard right before it, none of which may write that."""
        part, guard = self.parts[-1], statement.guard.replace(" ", "")
        before, where, inside, after = self._guarded or ("", scope, part, part)
        if (before, where) != (guard, scope) or after.statements:
            inside, after = BodyPart(), BodyPart()
            part.ending, part.then, part.following = (statement, scope), inside.block, after.block
            inside.following = after.block
            self.parts += (inside, after)
            self._guarded = guard, scope, inside, after
        inside.statements.append((statement._replace(guard=""), scope))
        if guard.lstrip("!") in NAMES.findall(statement.text.partition(",")[0]):
            self._guarded = None


def _takes_predicate(mnemonic: str) -> bool:
    try:
        rule = rule_of(mnemonic)
    except Illegal:
        return False
    return rule is not None and rule.guarded
