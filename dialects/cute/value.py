"""Immutable values compared by their fields."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, NoReturn


class FrozenValue:
    """An object that is its fields: equal, hashed, copied and printed by them.

    A subclass keeps its fields in `__slots__`, names them in `__match_args__` in the order of its
    constructor's arguments, and fills them through `fields_setter`, because assignment is
    closed.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    _get: ClassVar[Callable[[Any], Any]]

    def __init_subclass__(cls) -> None:
        names = cls.__match_args__
        several = len(names) > 1
        cls._get = attrgetter(*names) if several else lambda x: tuple(getattr(x, n) for n in names)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def _fields(self) -> tuple[object, ...]:
        return type(self)._get(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenValue) or type(other) is not type(self):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), *self._fields()))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._fields()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"


def fields_setter(owner: type[FrozenValue]) -> Callable[..., None]:
    """A function that sets all fields of an object, in the order of `__match_args__`."""
    setters = tuple(slot_setter(owner, name) for name in owner.__match_args__)

    def set_fields(value: FrozenValue, *fields: object) -> None:
        for setter, field in zip(setters, fields, strict=True):
            setter(value, field)

    return set_fields


def slot_setter(owner: type, name: str) -> Callable[[Any, object], None]:
    """The slot descriptor's own setter: the fastest way in, and past `__setattr__`."""
    return owner.__dict__[name].__set__
