"""Facts of a kernel body that the pass which leaves it keeps for its text: nothing changes the
kernel between the two."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from xdsl.ir import Region

_KEPT: ContextVar[dict[Any, Any] | None] = ContextVar("kept facts", default=None)
_Fact = TypeVar("_Fact")


@contextmanager
def kept_facts() -> Generator[None]:
    """Keeps what passes say of kernel bodies."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def keep(region: Region, fact: object) -> None:
    """Keep a fact of a kernel body, one of its type, where somebody asked for that."""
    if (kept := _KEPT.get()) is not None:
        kept[type(fact), region] = fact


def kept(kind: type[_Fact], region: Region) -> _Fact | None:
    """The fact of that type that was kept, which is used once."""
    return (_KEPT.get() or {}).pop((kind, region), None)
