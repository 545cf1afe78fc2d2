"""Tables of rules: what to do with an operation, by its type."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args, overload

from xdsl.ir import Operation

from tilewright.source.diagnostic import OpError

Rule = TypeVar("Rule")


def _said(function: Any) -> tuple[Any, ...]:
    """The types of a function's first parameter."""
    said = next(iter(function.__annotations__.values()))
    types = eval(said, function.__globals__) if isinstance(said, str) else said
    return get_args(types) or (types,)


class OpRules(dict[type[Operation], Rule]):
    """A rule for each op type; the modules that write them fill it."""

    @overload
    def of(self, rule: Rule, /) -> Rule: ...
    @overload
    def of(self, *op_types: Any, made: Callable[[Any], Rule]) -> Any: ...
    @overload
    def of(self, *op_types: type[Operation]) -> Callable[[Rule], Rule]: ...
    def of(self, *op_types: Any, made: Callable[[Any], Any] = lambda rule: rule) -> Any:
        """Register a function as the rule of these op types; by itself, of those that its first
        parameter says, as `functools.singledispatch` does. The rule is what is `made` of it."""
        if not isinstance(op_types[0], type):
            return self.of(*_said(op_types[0]), made=made)(op_types[0])

        def register(rule: Rule) -> Rule:
            self.update(dict.fromkeys(op_types, made(rule)))
            return rule

        return register

    def rule(self, op: Operation, words: str) -> Rule:
        """The rule of an op. Raises OpError, which says so in words, where there is none."""
        if (rule := self.get(type(op))) is None:
            raise OpError(op, f"'{op.name}' {words}")
        return rule
