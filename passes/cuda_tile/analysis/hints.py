"""Hints: the things that the writer of a kernel suggests for a target."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cute_nvgpu.lattice.targets import Target

_FOR_OTHERS = "default"


def hint(op: Operation, name: str, arch: Target | None) -> int | None:
    """A hint of an op for the target, else for those that it does not name; None without one."""
    hints = op.properties.get("optimization_hints")
    if not isinstance(hints, OptimizationHintsAttr):
        return None
    own = () if arch is None else (arch.name, f"sm_{arch.number}")
    for key in (*own, _FOR_OTHERS):
        given = hints.value.data.get(key)
        number = given.data.get(name) if isinstance(given, DictionaryAttr) else None
        if isinstance(number, IntegerAttr):
            return number.value.data
    return None


def latency(loads: Iterable[Operation], arch: Target | None) -> int | None:
    """The hint `latency` of loads that come together: how many of their tiles are to be in flight
    while one is used; None without one."""
    given = [hint(load, "latency", arch) for load in loads]
    return max((number for number in given if number is not None), default=None)
