"""Locations that are made without asking whether their parts are right, as those of each op are."""

from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import Attribute, Operation

_new, _set = object.__new__, object.__setattr__


def unverified(class_: type[Attribute], **parameters: Any) -> Any:
    """A location of these parts, or several: xDSL's take those of no other dialect."""
    location = _new(class_)
    _set(location, "__dict__", parameters)
    return location


_number = lru_cache(1 << 16)(IntAttr)
string = lru_cache(1 << 12)(StringAttr)
"""The name of a file, or of what a location is of."""


def place(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """A line and column of a file."""
    return unverified(FileLineColLoc, filename=file, line=_number(line), column=_number(column))


class LocatedLater:
    """The location of an op that has none yet: what it has as `located` makes it when something
    asks, as little does of most ops."""

    def __get__(self, op: Operation | None, _class: Any = None) -> LocationAttr:
        located = getattr(op, "located", None)
        if op is None or located is None:
            return UNKNOWN_LOC
        op.location = location = located()
        return location
