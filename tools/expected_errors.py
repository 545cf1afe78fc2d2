"""`// expected-error @+1 {{text}}` annotations, as mlir-opt's -verify-diagnostics reads them.

The place is `@+N` or `@-N` lines from the annotation, `@above` or `@below`, which pass over lines
with annotations, or the line itself; the text must stand somewhere in the message.
"""

import re
from typing import IO

from tilewright.dialects.frozen import frozen
from tilewright.source.diagnostic import Diagnostic

_ANNOTATION = re.compile(
    r"expected-error\s*(?:@(?P<sign>[+-])(?P<count>\d+)|@(?P<word>above|below))?\s*"
    r"\{\{(?P<text>.*?)\}\}"
)

_DESIGNATOR = re.compile(r"expected-(?:error|warning|note|remark)\b")


@frozen
class Expectation:
    """An error that must appear on a line."""

    line: int
    text: str


def expectations(text: str, line_offset: int) -> list[Expectation]:
    """The annotations of a text whose first line has number `line_offset + 1`."""
    lines = text.splitlines()
    expectations: list[Expectation] = []
    for number, line in enumerate(lines):
        for match in _ANNOTATION.finditer(line):
            place = number
            if match["sign"]:
                place += int(match["sign"] + match["count"])
            elif match["word"]:
                place = _next_plain(lines, number, 1 if match["word"] == "below" else -1)
            expectations.append(Expectation(place + line_offset + 1, match["text"]))
    return expectations


def _next_plain(lines: list[str], number: int, step: int) -> int:
    """The nearest line in a direction that has no annotation."""
    number += step
    while 0 <= number < len(lines) and _DESIGNATOR.search(lines[number]):
        number += step
    return number


def check_expected(
    expected: list[Expectation], produced: list[Diagnostic], report: IO[str]
) -> bool:
    """True where the diagnostics are the expected ones; what differs goes to `report`.

    Several annotations may speak of one diagnostic: ours says in one what mlir-opt says in two.
    """
    unexpected = list(produced)
    fine = True
    for expectation in expected:
        match = next(
            (d for d in produced if d.line == expectation.line and expectation.text in d.message),
            None,
        )
        if match is None:
            fine = False
            print(
                f"line {expectation.line}: expected error was not produced: {expectation.text}",
                file=report,
            )
        elif match in unexpected:
            unexpected.remove(match)
    for diagnostic in unexpected:
        fine = False
        print(f"unexpected error: {diagnostic}", file=report)
    return fine
