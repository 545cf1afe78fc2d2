"""Launches like one before: what they are known by, and how many are kept."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

MOST = 1 << 12
"""The launches of a kind that are kept, and other things that launches have alike."""

Items = tuple[Any, ...]
"""Of an argument what it is, and all that launches may differ in but for addresses of arrays."""
Reader = Callable[[Any, list[Any]], Items | None]
"""Reads the items of an argument, and adds its arrays, or their addresses, to others; None where it
is not for launches like one before."""

_Known = TypeVar("_Known")


def kept(known: dict[Any, _Known], key: Any, value: _Known) -> _Known:
    """The value, which is known by the key from then on; `MOST` of them are."""
    if len(known) >= MOST:
        known.clear()
    known[key] = value
    return value


def plain_items(value: Any, _: list[Any]) -> Items:
    """The type of a value, and the value."""
    return value.__class__, value


def _of_float(number: float, _: list[Any]) -> Items:
    return float, struct.pack("d", number)


def items_reader(
    own: Mapping[type, Reader], named: Mapping[tuple[str, str], Reader], others: Reader
) -> Callable[[Iterable[Any], list[Any]], Items | None]:
    """Reads the items of arguments, None where one has none, and adds their arrays to others:
    numbers, floats as their bits, texts, and tuples of arguments; of types of its `own`, of types
    by module and name, for a subclass may have methods of another meaning; and of all others."""

    def items(args: Iterable[object], arrays: list[Any]) -> Items | None:
        read: list[Any] = []
        for arg in args:
            item = (readers.get(type(arg)) or reader(arg))(arg, arrays)
            if item is None:
                return None
            read.append(item)
        return tuple(read)

    def of_tuple(args: Any, arrays: list[Any]) -> Items | None:
        inner = items(args, arrays)
        return None if inner is None else (tuple, inner)

    def reader(arg: object) -> Reader:
        kind = type(arg)
        place = (kind.__module__, kind.__qualname__)
        return readers.setdefault(kind, named.get(place, others))

    plain = dict.fromkeys((bool, int, str, type(None)), plain_items)
    readers: dict[type, Reader] = {**plain, float: _of_float, tuple: of_tuple, **own}
    return items
