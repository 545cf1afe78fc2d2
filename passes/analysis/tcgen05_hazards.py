"""The diagnostics of `cute-nvgpu-check-hazards` on tcgen05."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from tilewright.diagnostic import OpError, named
from tilewright.passes.analysis.tcgen05_flow import Flight, Hazard, Rule


def reject_tcgen05(hazard: Hazard) -> NoReturn:
    """Raise OpError for it."""
    raise OpError(hazard.op, f"'{hazard.op.name}' {_MESSAGES[hazard.rule](hazard)}")


_WAIT = "cute_nvgpu.mbarrier.wait"
_AFTER = "cute_nvgpu.tcgen05.fence.after_thread_sync"
_COMMIT = "cute_nvgpu.tcgen05.commit"


def _missing(hazard: Hazard) -> str:
    """Why what is in flight is not complete, and what would complete it."""
    flight = hazard.fact
    assert isinstance(flight, Flight)
    if not flight.barriers:
        return (
            f"no tcgen05.commit follows it; nearest legal: {_COMMIT} after it, {_WAIT} before this"
        )
    if not flight.waited:
        return (
            "no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: "
            f"{_WAIT} before it"
        )
    return f"no tcgen05.fence.after_thread_sync follows the wait; nearest legal: {_AFTER} behind it"


def _result(hazard: Hazard) -> str:
    return (
        "expected tensor memory that is complete, got what "
        f"{named(hazard.fact.op)} writes, and {_missing(hazard)} (PTX ISA, tcgen05.commit)"
    )


def _memory(hazard: Hazard) -> str:
    return (
        "expected shared memory that nothing reads, got what "
        f"{named(hazard.fact.op)} reads, and {_missing(hazard)} (PTX ISA, tcgen05.commit)"
    )


_MESSAGES: dict[Rule, Callable[[Hazard], str]] = {
    "result": _result,
    "memory": _memory,
    "registers": lambda hazard: (
        f"expected registers that are loaded, got those of {named(hazard.fact.op)}, which no "
        "tmem.wait_load has completed; nearest legal: cute_nvgpu.tmem.wait_load before it "
        "(PTX ISA, tcgen05.wait)"
    ),
    "stored": lambda hazard: (
        f"expected tensor memory that is stored, got what {named(hazard.fact.op)} writes, which no "
        "tmem.wait_store has completed; nearest legal: cute_nvgpu.tmem.wait_store before it "
        "(PTX ISA, tcgen05.wait)"
    ),
    "loading": lambda hazard: (
        f"expected tensor memory that nothing reads, got what {named(hazard.fact.op)} reads, which "
        "no tmem.wait_load has completed; nearest legal: cute_nvgpu.tmem.wait_load before it "
        "(PTX ISA, tcgen05.wait)"
    ),
    "proxy": lambda hazard: (
        "expected memory that the async proxy sees, got what "
        f"{named(hazard.fact.op)} wrote; nearest legal: cute_nvgpu.fence.proxy.async after it, in "
        "the thread that wrote (PTX ISA, tcgen05.mma)"
    ),
}
