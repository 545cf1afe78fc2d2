"""Functions that check their arguments, each once, before anything runs.

A function that is checked gets of each argument what a rule reads of it: the one of that name among
the rows that it is given, or the one that the argument's annotation is: the words of a Literal, a
bool, an integer, a string, a list of those, an instance of a class; None too where it says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from operator import index
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import told
from tilewright.source.diagnostic import ArgumentError
from tilewright.source.nearest_name import close_name

Function = TypeVar("Function", bound=Callable[..., Any])


@frozen
class Rule:
    """The legal values of an argument, in `words`: `read` gives one as the function takes it, and
    raises for anything else, of which `nearest` says what was probably meant."""

    words: str
    read: Callable[[Any], Any]
    nearest: Callable[[Any], str | None] = lambda _: None

    def value(self, name: str, given: Any, passing: tuple[type[Exception], ...]) -> Any:
        """The argument of that name as it is taken. Raises the first of the errors `passing`;
        where the rule raises one of them, it has said all."""
        try:
            return self.read(given)
        except passing:
            raise
        except Exception:  # the argument's own methods may raise anything
            nearest = ""
            with suppress(Exception):
                meant = self.nearest(given)
                nearest = "" if meant is None else f"; nearest legal: {meant}"
            message = f"expected {name} as {self.words}, got {told(given)}{nearest}"
            raise passing[0](message) from None


# What rules read


def require(legal: bool) -> None:
    """Raise TypeError unless something is legal."""
    if not legal:
        raise TypeError


def items(given: Any) -> Sequence[Any]:
    """The items of a list, a tuple or another sequence that is no text, or of an array."""
    from numpy import ndarray

    require(isinstance(given, Sequence | ndarray) and not isinstance(given, str | bytes))
    return cast("Sequence[Any]", given)


def _flag(given: Any) -> bool:
    from numpy import bool_

    require(isinstance(given, bool | bool_))
    return bool(given)


def _integer(given: Any) -> int:
    number = index(given)
    require(number.bit_length() <= 128)  # more bits say nothing, and may have no digits
    return number


def _string(given: Any) -> str:
    require(isinstance(given, str))
    return str(given)


# Rules


def instance_of(*classes: Any, words: str = "") -> Rule:
    """Takes instances of these classes."""

    def read(given: Any) -> Any:
        require(isinstance(given, classes))
        return given

    return Rule(words or f"an instance of {classes[0].__name__}", read)


def number_from(least: int, what: str = "a number", *, to: int | None = None) -> Rule:
    """Takes integers from `least` on, at most `to`."""

    def read(given: Any) -> int:
        number = _integer(given)
        require(number >= least and (to is None or number <= to))
        return number

    return Rule(f"{what} from {least} {'on' if to is None else f'to {to}'}", read)


def one_of(*choices: str) -> Rule:
    """Takes some words alone."""

    def read(given: Any) -> str:
        word = _string(given)
        require(word in choices)
        return word

    def nearest(given: Any) -> str | None:
        meant = close_name(given, choices) if isinstance(given, str) else None
        return meant and f'"{meant}"'

    listed = ", ".join(f'"{choice}"' for choice in choices)
    return Rule(f"one of {listed}", read, nearest)


def several(item: Rule, count: int | None) -> Rule:
    """Takes so many of what a rule takes, or any number of them; gives a tuple."""

    def read(given: Any) -> tuple[Any, ...]:
        require(count in (None, len(items(given))))
        return tuple(map(item.read, items(given)))

    many = "a list" if count is None else f"a list of {count}"
    return Rule(f"{many}, each item {item.words}", read)


def any_of(*rules: Rule) -> Rule:
    """Takes what one of several rules does."""
    if len(rules) == 1:
        return rules[0]

    def read(given: Any) -> Any:
        for rule in rules:
            with suppress(Exception):
                return rule.read(given)
        raise TypeError

    return Rule(" or ".join(rule.words for rule in rules), read)


def or_none(rule: Rule) -> Rule:
    """Takes None too, which goes without saying."""

    def read(given: Any) -> Any:
        return None if given is None else rule.read(given)

    return Rule(rule.words, read, rule.nearest)


_PLAIN: Mapping[Any, Rule] = {
    bool: Rule("True or False", _flag),
    int: Rule("an integer", _integer),
    str: Rule("a string", _string),
}


def _annotated(hint: Any) -> Rule | None:
    """The rule that an annotation is, None aside; None where it says too little."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        rules = [_annotated(part) for part in parts if part is not NoneType]
        return None if None in rules else any_of(*filter(None, rules))
    if origin is Literal:
        return one_of(*parts)
    if origin in (tuple, Sequence):
        item = _annotated(parts[0])
        return item and several(item, len(parts) if origin is tuple and ... not in parts else None)
    if origin in (Callable, Mapping):
        return instance_of(origin)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and hint not in (object, Any, NoneType):
        return instance_of(hint)
    return None


# Functions

_BY_PLACE, _BY_NAME = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
"""Parameters that stand for any number of arguments."""


def rules_of(function: Callable[..., Any]) -> Mapping[str, Rule]:
    """The rules of a checked function's arguments, by name; what may be anything has none. Raises
    KeyError for a function that is not checked."""
    return vars(function)["rules"]()


def _rules(function: Callable[..., Any], rows: Mapping[str, Rule]) -> Mapping[str, Rule]:
    parameters = inspect.signature(function).parameters
    many = {name for name, parameter in parameters.items() if parameter.kind is _BY_PLACE}
    rows = {name: rule for name, rule in rows.items() if name not in many}
    hints: dict[str, Any] = {}
    for name, parameter in parameters.items():
        said = parameter.annotation
        if name in rows:  # it may stand for a class that only type checkers import
            optional = parameter.default is None or str(said).endswith("| None")
            hints[name] = "None" if optional else "object"
        elif said is not parameter.empty:
            hints[name] = said
    scope = inspect.unwrap(function).__globals__
    hints = get_type_hints(SimpleNamespace(__annotations__=hints), scope)
    for words in [hint for hint in hints.values() if get_origin(hint) is Unpack]:
        hints |= get_type_hints(get_args(words)[0])
    rules: dict[str, Rule] = {}
    for name, hint in hints.items():
        rule = rows.get(name) or _annotated(hint)
        if rule is not None:
            rule = or_none(rule) if NoneType in (hint, *get_args(hint)) else rule
            rules[name] = several(rule, None) if name in many else rule
    return rules


def checking(
    rows: Mapping[str, Rule], passing: tuple[type[Exception], ...] = (ArgumentError,)
) -> Callable[[Function], Function]:
    """Let a function, or the constructor of a class, take legal arguments alone, by these rows and
    its annotations. Raises the first of `passing`, or what a rule raises of them."""

    def decorated(function: Function) -> Function:
        if isinstance(function, type):
            function.__init__ = checking(rows, passing)(function.__init__)
            return cast("Function", function)
        signature, rules = inspect.signature(function), cache(partial(_rules, function, rows))
        rest = [p for p in signature.parameters.values() if p.kind is _BY_NAME]
        beside = rest[0].name if rest else ""

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            legal = rules()
            try:
                bound = signature.bind(*given, **named)
                words = bound.arguments.get(beside, {})
                require(words.keys() <= legal.keys() or "Any" in str(rest[0].annotation))
            except TypeError as why:
                raise passing[0](_why_no_call(function, legal, named, str(why))) from None
            for arguments in (bound.arguments, words):
                for name in legal.keys() & arguments.keys():
                    arguments[name] = legal[name].value(name, arguments[name], passing)
            return function(*bound.args, **bound.kwargs)

        vars(call)["rules"] = rules
        return cast("Function", call)

    return decorated


def _why_no_call(
    function: Callable[..., Any], rules: Mapping[str, Rule], named: Mapping[str, Any], why: str
) -> str:
    """The message for one argument too many or too few: a wrong name, or what Python says."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is not _BY_NAME and p.name != "self"]
    legal = list(dict.fromkeys((*names, *rules)))
    title = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")
    return unknown_name(title, legal, named) or f"'{title}' expected {', '.join(legal)}: {why}"


def unknown_name(title: str, legal: Sequence[str], named: Iterable[str]) -> str | None:
    """The message for the first name that is not legal; None where all are."""
    unknown = next((key for key in named if key not in legal), None)
    if unknown is None:
        return None
    meant = close_name(unknown, legal)
    nearest = "" if meant is None else f"; nearest legal: {meant}"
    return f"'{title}' expected {', '.join(legal) or 'no options'}, got {unknown}{nearest}"
