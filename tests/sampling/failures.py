"""Many cheap cases as one test, which names all that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def failures(check: Callable[..., None], cases: Iterable[tuple[Any, ...]]) -> str:
    """What fails of a check's asserts, a paragraph for each case; "" where nothing does. Any other
    exception tells which case it is of by a note."""
    failed: list[str] = []
    every = list(cases)
    assert every, "no case at all"
    for case in every:
        label = ", ".join(map(str, case))
        try:
            check(*case)
        except AssertionError as error:
            failed.append(f"{label}: {error or 'fails'}")
        except Exception as error:
            error.add_note(f"of {label}")
            raise
    return "\n".join(failed)
