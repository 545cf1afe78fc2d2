"""True where a function has a hazard: every launch that is worth following is followed."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space
from tilewright.passes.analysis.hazards.follow import Program
from tilewright.passes.analysis.hazards.happens_before import Machine
from tilewright.passes.analysis.hazards.launches import Launch, launches
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import roles_of
from tilewright.passes.analysis.hazards.trace import OutOfBounds, TooLong, Trace

LONGEST_RING = 8


def check(function: Operation) -> tuple[Hazard | None, dict[Operation, str]]:
    """The first hazard of a function, or None, and what could not be decided."""
    program = Program(function)
    if not program.has_events:
        return None, {}
    unproven: dict[Operation, str] = {}
    for alternatives in launches(
        function, program.loops, rings(program), guesses=program.has_conditions
    ):
        first: Hazard | None = None
        for launch in alternatives:
            hazard = follow(program, launch, unproven)
            if hazard is None or _is_avoided(program, launch):
                first = None
                break
            if first is None:
                first = _outside(hazard) if isinstance(hazard, OutOfBounds) else hazard
        if first is not None:
            return first, unproven
    return None, unproven


def _outside(access: OutOfBounds) -> Hazard | None:
    """An access that is out of bounds whatever the arguments are."""
    return None if access.op is None else Hazard("outside", access.op)


def _is_avoided(program: Program, launch: Launch) -> bool:
    """Other arguments, or what memory holds, make no hazard: nobody says that the kernel is
    launched with these."""
    if program.trace.guessed:
        other = replace(launch, guessed=not launch.guessed)
        return follow(program, other, {}) is None
    if not program.arguments - set(launch.leaves):
        return False
    return any(follow(program, variant, {}) is None for variant in launch.variants())


def follow(
    program: Program, launch: Launch, unproven: dict[Operation, str]
) -> Hazard | OutOfBounds | None:
    """The first hazard of one launch; OutOfBounds where it is none that is meant."""
    try:
        trace = program.run(launch)
        _check_beside(trace)
        if trace.events and not trace.undecided:
            roles, members = roles_of(trace.events, launch)
            Machine(trace, launch, roles, members, program.memory).run()
    except (Hazard, OutOfBounds) as hazard:
        return hazard
    except TooLong:
        program.say_unproven(program.function, "it has more events than are followed")
    finally:
        unproven |= program.trace.unproven
    return None


def _check_beside(trace: Trace) -> None:
    """Raise Hazard for the element behind a ring of mbarriers, or before it: a ring is what an
    index runs around in. One that runs on is an array that other arguments are meant for."""
    for op, (last, size) in trace.beside.items():
        if last in (-1, size):
            raise Hazard(
                "beside", op, missing=f"one of {size} mbarriers, got number {last}",
                nearest=f"{last % size}",
            )  # fmt: skip


def rings(program: Program) -> int:
    """The stages of the longest ring of mbarriers."""
    memories = [effect.barrier.memref for effect in program.effects if effect.barrier is not None]
    if any(isinstance(memory, Space) for memory in memories):
        return LONGEST_RING
    types = (memory.type for memory in memories if isinstance(memory, SSAValue))
    sizes = [type_.get_shape()[0] for type_ in types if isinstance(type_, MemRefType)]
    return min(max(sizes, default=1), LONGEST_RING)
