"""Properties that are computed once, as `functools.cached_property` would where xDSL took it in
the definition of an attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


__all__ = ["once"]
