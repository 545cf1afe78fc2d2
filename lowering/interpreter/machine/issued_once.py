"""Stores and reductions by TMA: each thread that executes one issues one."""

import warnings
from collections.abc import Hashable, Iterable

from tilewright.dialects.cute_nvgpu.lattice.tma import REPEATABLE
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine


def check_issued_once(
    machine: Machine, gang: Gang, boxes: Iterable[Hashable], reduction: str | None
) -> None:
    """Raise Fault where threads of a CTA issue a reduction of one box side by side and each counts;
    warn where once would have been enough."""
    first: dict[Hashable, int] = {}
    for index, (lane, box) in enumerate(zip(gang.lanes.tolist(), boxes, strict=True)):
        other = first.setdefault((lane // machine.slots, box), index)
        if other == index:
            continue
        message = (
            f"expected one thread to {'store' if reduction is None else f'reduce ({reduction})'} a "
            f"box, got thread {gang.lanes[other] % machine.slots} and others; nearest legal: in a "
            "branch of one thread (cute_nvgpu.elect.sync)"
        )
        if reduction is not None and reduction not in REPEATABLE:
            raise Fault(message, index)
        warnings.warn(message, stacklevel=2)
        return
