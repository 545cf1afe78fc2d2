"""`// expected-error @+1 {{text}}` annotations, as mlir-opt's -verify-diagnostics reads them.

The place is `@+N` or `@-N` lines from the annotation, `@above`, `@below`, or the line itself; the
text must stand somewhere in the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO

from tilewright.diagnostic import Diagnostic

_ANNOTATION = re.compile(
    r"expected-error\s*(?:@(?P<sign>[+-])(?P<count>\d+)|@(?P<word>above|below))?\s*"
    r"\{\{(?P<text>.*?)\}\}"
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An error that must appear on a line."""

    line: int
    text: str


def expectations(text: str, line_offset: int = 0) -> list[Expectation]:
    """The annotations of a text whose first line has number `line_offset + 1`."""
    found: list[Expectation] = []
    for number, line in enumerate(text.splitlines(), line_offset + 1):
        for match in _ANNOTATION.finditer(line):
            shift = {"above": -1, "below": 1}.get(match["word"] or "", 0)
            if match["sign"]:
                shift = int(match["sign"] + match["count"])
            found.append(Expectation(number + shift, match["text"]))
    return found


def check_expected(
    expected: list[Expectation], produced: list[Diagnostic], report: IO[str]
) -> bool:
    """Whether the diagnostics are the expected ones; what differs goes to `report`."""
    unmatched = list(produced)
    fine = True
    for each in expected:
        match = next((d for d in unmatched if d.line == each.line and each.text in d.message), None)
        if match is None:
            fine = False
            print(f"line {each.line}: expected error was not produced: {each.text}", file=report)
        else:
            unmatched.remove(match)
    for diagnostic in unmatched:
        fine = False
        print(f"unexpected error: {diagnostic}", file=report)
    return fine
