"""Facts of an attribute, which never changes, computed once: properties, as `cached_property` would
where xDSL took it in the definition of an attribute, and functions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.ir import Attribute

_Attribute = TypeVar("_Attribute", bound=Attribute)
_Result = TypeVar("_Result")
_MOST = 1 << 12

if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once(property):
        """A property that keeps its first value."""

        def __set_name__(self, owner: type, name: str) -> None:
            self._key = f"once {name}"

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            if self._key not in kept:
                kept[self._key] = self.fget(instance)
            return kept[self._key]


def once_each(function: Callable[[_Attribute], _Result]) -> Callable[[_Attribute], _Result]:
    """A function that keeps its results by the identity of the attribute: most have but few, and
    the hash of one is dear."""
    known: dict[int, tuple[_Attribute, _Result]] = {}

    def asked(attribute: _Attribute) -> _Result:
        entry = known.get(id(attribute))
        if entry is None:
            if len(known) >= _MOST:
                known.clear()
            entry = known[id(attribute)] = attribute, function(attribute)
        return entry[1]

    asked.__doc__ = function.__doc__
    return asked


__all__ = ["once", "once_each"]
