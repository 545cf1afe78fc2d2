"""Optimization hints: which there are, for which ops, and what they may say.

Hints bind nobody. Whether wrong ones are silently passed over, as they are by default, or are
errors is for the caller to say: `with hints_checked():`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, IntegerType
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr

if TYPE_CHECKING:
    from xdsl.ir import Operation

ARCHITECTURES = (
    *("sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110"),
    *("sm_120", "sm_121"),
)
"""The architectures that hints may be for, besides `default`."""

ONE_CTA = ("sm_80", "sm_86", "sm_87", "sm_88", "sm_89")
"""Architectures without clusters."""

HINTS = {
    "cuda_tile.entry": ("num_cta_in_cga", "num_worker_warps_per_cta", "occupancy"),
    "cuda_tile.load_view_tko": ("latency", "allow_tma"),
    "cuda_tile.store_view_tko": ("latency", "allow_tma"),
    "cuda_tile.load_ptr_tko": ("latency",),
    "cuda_tile.store_ptr_tko": ("latency",),
}
"""The hints of an op."""


def _power_of_two(most: int) -> Callable[[int], bool]:
    return lambda number: 0 < number <= most and not number & (number - 1)


_NUMBERS: dict[str, tuple[str, Callable[[int], bool]]] = {
    "num_cta_in_cga": ("a power of two of at most 16", _power_of_two(16)),
    "num_worker_warps_per_cta": ("a power of two of at most 32", _power_of_two(32)),
    "latency": ("1 to 10", lambda number: 1 <= number <= 10),
    "occupancy": ("1 to 32", lambda number: 1 <= number <= 32),
}
"""The legal values of a hint."""

_CHECKED: ContextVar[bool] = ContextVar("hints_checked", default=False)


@contextmanager
def hints_checked() -> Generator[None]:
    """Within this, hints that are wrong are errors."""
    before = _CHECKED.set(True)
    try:
        yield
    finally:
        _CHECKED.reset(before)


def verify_hints(op: Operation) -> None:
    """Raise VerifyException where the hints of an op are wrong, if they are checked."""
    hints = op.properties.get("optimization_hints")
    if not isinstance(hints, OptimizationHintsAttr) or not _CHECKED.get():
        return
    if (wrong := next(iter(wrong_hints(op, hints)), None)) is not None:
        raise VerifyException(f"'{op.name}' {wrong}")


def wrong_hints(op: Operation, hints: OptimizationHintsAttr) -> Iterator[str]:
    """The fault of an op's hints, as `expected RULE, got VALUE`."""
    for architecture, entries in hints.value.data.items():
        if architecture not in (*ARCHITECTURES, "default"):
            yield (
                f"expected hints for one of {', '.join(ARCHITECTURES)} or default, "
                f"got {architecture}"
            )
            continue
        assert isinstance(entries, DictionaryAttr)
        for name, value in entries.data.items():
            if name not in HINTS[op.name]:
                yield f"expected one of the hints {', '.join(HINTS[op.name])}, got {name}"
            elif not _fits(architecture, name, value):
                words = _words(architecture, name)
                yield f"expected {architecture}.{name} to be {words}, got {value}"


def _words(architecture: str, name: str) -> str:
    if name == "allow_tma":
        return "true or false"
    if name == "num_cta_in_cga" and architecture in ONE_CTA:
        return "1"
    return f"an integer, {_NUMBERS[name][0]}"


def _fits(architecture: str, name: str, value: Any) -> bool:
    if not isinstance(value, IntegerAttr):
        return False
    boolean = bool(value.type == IntegerType(1))  # pyright: ignore
    if name == "allow_tma":
        return boolean
    number = value.value.data
    if boolean or (name == "num_cta_in_cga" and architecture in ONE_CTA and number != 1):
        return False
    return _NUMBERS[name][1](number)
