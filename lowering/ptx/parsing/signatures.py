"""Functions as the text declares them, and what calls pass. PTX ISA 7.1 and 9.7.12.5."""

import re
from collections.abc import Callable, Sequence

from tilewright.dialects.frozen import entity
from tilewright.dialects.ptx.functions import FuncOp
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.reader import constant_bits
from tilewright.lowering.ptx.parsing.statements import NAME, PtxError, PtxStatement

_PARAMETER = re.compile(
    rf"\.(?:param|reg)\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+"
    rf"(?:\.ptr\s*(?:\.\w+\s+)*?(?:\.align\s+\d+\s+)?)?(?P<name>{NAME})\s*(?:\[(?P<size>\d+)\])?"
)
_SIGNATURE = re.compile(
    rf"\.(?:entry|func|callprototype)\s*(?:\((?P<results>[^)]*)\)\s*)?(?P<name>{NAME})\s*"
    r"(?:\((?P<inputs>[^)]*)\))?(?P<rest>.*)",
    re.DOTALL,
)
CALL = re.compile(
    rf"(?:\(([^)]*)\)\s*,\s*)?({NAME})\s*(?:,\s*\(([^)]*)\))?(?:\s*, @({NAME}))?.*", re.DOTALL
)


def signature(statement: PtxStatement) -> re.Match[str] | None:
    """The `results`, `name`, `inputs` and `rest` of a head or a prototype."""
    return _SIGNATURE.search(f"{statement.name} {statement.text}")


def parameters(text: str | None) -> list[re.Match[str] | None]:
    """The parameters of a list, None for what is none."""
    return [_PARAMETER.fullmatch(one.strip()) for one in (text or "").split(",") if one.strip()]


def types_of(head: re.Match[str] | None) -> list[list[tuple[str, str | None]]]:
    """The types of the results and parameters: how many bits, and how many elements."""
    return [
        [(one["type"][1:], one["size"]) for one in parameters(some) if one]
        for some in (head.group("results", "inputs") if head else ())
    ]


@entity
class Callee:
    """A function that is called: its head, its statements, if it has a body, how it is read, None
    while that is so, its results and parameters, and whether its address is taken, and calls of it
    are `kept`."""

    name: str
    head: PtxStatement
    statements: list[PtxStatement] | None
    read: "Callable[[Callee], FuncOp | None]"
    results: Sequence[re.Match[str]]
    inputs: Sequence[re.Match[str]]
    is_taken: bool
    is_kept: bool = False

    @property
    def parameters(self) -> Sequence[re.Match[str]]:
        """Its parameters behind its results."""
        return *self.results, *self.inputs

    def declared(self, parameter: re.Match[str]) -> PtxStatement:
        """The declaration of one of them."""
        return PtxStatement("declaration", self.head.position, *parameter[0].split(None, 1))


def passed(
    call: re.Match[str], callee: Callee, scope: Names, position: int
) -> tuple[list[str], list[str]]:
    """The results and arguments of a call. Raises PtxError unless there are as many as the function
    has, variables or, as arguments, constants."""
    results, given = (re.findall(r"[^\s,]+", some or "") for some in (call[1], call[3]))
    for what, some, legal in (
        ("arguments", given, callee.inputs), ("results", results, callee.results)
    ):  # fmt: skip
        if len(some) != len(legal):
            raise PtxError(
                f"expected {len(legal)} {what} of {callee.name}, got {len(some)}", position
            )
    for place, (name, parameter) in enumerate(
        zip((*results, *given), callee.parameters, strict=True)
    ):
        is_result = place < len(results)
        if scope.find(name) is None and (
            is_result or constant_bits(name, parameter["type"]) is None
        ):
            raise PtxError(f"expected a variable that is declared, got {name}", position)
    return results, given
