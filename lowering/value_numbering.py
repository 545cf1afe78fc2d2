"""Values that are known under keys, so that none is computed again where the first dominates."""

from collections.abc import Callable
from typing import Any

Key = tuple[Any, ...]


class ValueNumbering:
    """Values by key, in nested scopes: those that a scope adds are forgotten behind it, since they
    do not dominate what follows."""

    def __init__(self) -> None:
        self.known: dict[Key, Any] = {}
        self.keys: list[list[Key]] = [[]]
        """Those of each scope, the innermost last."""

    def remembered(self, key: Key, build: Callable[[], Any]) -> Any:
        """The value of a key, built where it is not known yet."""
        if (value := self.known.get(key)) is None:
            value = self.known[key] = build()
            self.keys[-1].append(key)
        return value

    def forget(self) -> None:
        """Emit anew what the current scope has computed so far."""
        for key in self.keys[-1]:
            self.known.pop(key, None)
        self.keys[-1] = []

    def leave_scope(self) -> None:
        """Go back to the scope around."""
        self.forget()
        self.keys.pop()
