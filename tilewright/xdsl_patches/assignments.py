"""A patch is what it assigns: attributes of xDSL's classes and modules, by name."""

from collections.abc import Iterable
from typing import Any

Patches = dict[str, Iterable[tuple[Any, str, Any]]]
"""Patches by the names of their files in `upstream/`: of each (owner, attribute, value)."""


def assign(patches: Patches) -> None:
    """Put patches in force."""
    for assignments in patches.values():
        for owner, attribute, value in assignments:
            setattr(owner, attribute, value)
