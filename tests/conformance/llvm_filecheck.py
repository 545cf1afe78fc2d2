"""`filecheck` with the range that LLVM's FileCheck gives a CHECK-NOT.

    CHECK-NOT: cute.get
    CHECK:     cute.get_scalars

forbids `cute.get` between the match before and the match behind, the `cute.get_scalars` left out.
filecheck looks at the match behind as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

from filecheck.finput import FInput, InputRange
from filecheck.matcher import Matcher
from filecheck.ops import CheckOp
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

Captured = dict[str, tuple[int, Callable[[str], int] | Callable[[str], str]]]


class LlvmMatcher(Matcher):
    """Checks the CHECK-NOTs that came before a match up to where it begins."""

    def capture_results(self, match: re.Match[str], capture: Captured, op: CheckOp) -> None:
        start = self.ctx.negative_matches_start
        if op.name != "DAG" and start is not None:
            for forbidden in self.ctx.negative_matches_stack:
                self.check_not(forbidden, InputRange(start, match.start()))
            self.ctx.negative_matches_start = None
            self.ctx.negative_matches_stack = []
        super().capture_results(match, capture, op)


def main(arguments: Sequence[str]) -> None:
    """The command, `arguments` with its name."""
    options = parse_argv_options(list(arguments))
    sys.exit(LlvmMatcher(options, FInput.from_opts(options), Parser.from_opts(options)).run())
