"""Tables of rules: what to do with an operation, by its type."""

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Operation

from tilewright.source.diagnostic import OpError

Rule = TypeVar("Rule")


class OpRules(dict[type[Operation], Rule]):
    """A rule for each op type; the modules that write them fill it."""

    def of(self, *op_types: type[Operation]) -> Callable[[Rule], Rule]:
        """Register a function as the rule of these op types."""

        def register(rule: Rule) -> Rule:
            self.update(dict.fromkeys(op_types, rule))
            return rule

        return register

    def rule(self, op: Operation, words: str) -> Rule:
        """The rule of an op. Raises OpError, which says so in words, where there is none."""
        if (rule := self.get(type(op))) is None:
            raise OpError(op, f"'{op.name}' {words}")
        return rule
