"""A patch is what it assigns: attributes of xDSL's classes and modules, by name."""

import os
from collections.abc import Iterable
from threading import RLock
from typing import Any

Patches = dict[str, Iterable[tuple[Any, str, Any]]]
"""Patches by the names of their files in `upstream/`: of each (owner, attribute, value)."""

LOADING = RLock()
"""Held where xDSL is changed or one of its contexts loads a dialect, and where a process forks."""
if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(
        before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release
    )


def assign(patches: Patches) -> None:
    """Put patches in force; assignments that a thread has made are not made again."""
    with LOADING:
        for assignments in patches.values():
            for owner, attribute, value in assignments:
                setattr(owner, attribute, value)
