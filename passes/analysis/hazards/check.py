"""True where a function has a hazard: every launch that is worth following is followed."""

from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space, is_memref
from tilewright.passes.analysis.hazards.follow import ProgramSlice
from tilewright.passes.analysis.hazards.grids import other_blocks
from tilewright.passes.analysis.hazards.happens_before import HappensBefore
from tilewright.passes.analysis.hazards.launches import ClusterLaunch, launches
from tilewright.passes.analysis.hazards.publications import between_blocks
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import roles_of
from tilewright.passes.analysis.hazards.trace import EventTrace, OutOfBounds, PlacedView, TooLong

LONGEST_RING = 8


def check(function: Operation) -> tuple[Hazard | None, dict[Operation, str]]:
    """The first hazard of a function, or None, and what could not be decided."""
    program = ProgramSlice(function)
    unproven: dict[Operation, str] = {}
    hazard = _first(program, unproven) if program.is_followed else None
    if hazard is None and program.orders_blocks:
        hazard = between_blocks(function)
    unproven = unproven if program.has_events else {}
    vars(program).clear()  # Its steps know it: it would stay for the garbage collector.
    return hazard, unproven


def _first(program: ProgramSlice, unproven: dict[Operation, str]) -> Hazard | None:
    """The first hazard of any launch."""
    for alternatives in launches(
        program.function, program.loops, rings(program), guesses=program.has_conditions,
        known=program.arrays.numbers,
    ):  # fmt: skip
        first: Hazard | None = None
        for launch in alternatives:
            hazard = follow(program, launch, unproven)
            if isinstance(hazard, OutOfBounds):
                continue  # A block that is not meant says nothing of others.
            if hazard is None or _is_avoided(program, launch, hazard):
                first = _in_other_blocks(program, launch, unproven)
                break
            first = first or hazard
        if first is not None:
            return first
    return None


def _in_other_blocks(
    program: ProgramSlice, launch: ClusterLaunch, unproven: dict[Operation, str]
) -> Hazard | None:
    """The first hazard of a block that goes another way than the first one."""
    for other in other_blocks(program, launch):
        hazard = follow(program, other, unproven)
        if isinstance(hazard, Hazard) and not _is_avoided(program, other, hazard):
            hazard.where = "; ".join(filter(None, (
                hazard.where, f"in block {other.first} of a grid of {other.grid}"
            )))  # fmt: skip
            return hazard
    return None


def _is_avoided(program: ProgramSlice, launch: ClusterLaunch, hazard: Hazard) -> bool:
    """Other arguments, or what memory holds, make no hazard: nobody says that the kernel is
    launched with these."""
    if program.trace.guessed:
        other = replace(launch, guessed=not launch.guessed)
        return not isinstance(follow(program, other, {}), Hazard)
    if hazard.rule == "aligned":
        return _comes_whole(program, launch, hazard.op)
    if not program.arguments - set(launch.leaves):
        return False
    return any(follow(program, variant, {}) is None for variant in launch.variants())


def _comes_whole(program: ProgramSlice, launch: ClusterLaunch, op: Operation) -> bool:
    """Whole warps come to an op with other arguments: lengths of loops that leave a warp half full
    are none that are meant, either."""
    launch = replace(launch, leaves=program.arrays.numbers)
    if not program.arguments - set(launch.leaves):
        return False
    return any(
        follow(program, variant, {}) is None and program.trace.reaches(op)
        for variant in (*launch.variants(), replace(launch, others=(1024, 0)))
    )


def follow(
    program: ProgramSlice, launch: ClusterLaunch, unproven: dict[Operation, str]
) -> Hazard | OutOfBounds | None:
    """The first hazard of one launch; OutOfBounds where it is none that is meant. Accesses of which
    not all is known have none where there is none with all that they may be."""
    hazard = _follow(program, launch, unproven)
    covering = program.trace.covering
    if hazard is None or not covering:
        return hazard
    program.covers = False
    hazard = _follow(program, launch, unproven)
    program.covers = True
    unproven |= covering
    return hazard


def _follow(
    program: ProgramSlice, launch: ClusterLaunch, unproven: dict[Operation, str]
) -> Hazard | OutOfBounds | None:
    try:
        trace = program.run(launch)
        _check_beside(trace)
        _check_around(trace)
        if trace.events and not trace.undecided:
            roles, members = roles_of(trace.events, launch)
            HappensBefore(trace, launch, roles, members, program.memory).run()
    except (Hazard, OutOfBounds) as hazard:
        return hazard
    except TooLong:
        program.say_unproven(program.function, "it has more events than are followed")
        unproven |= program.trace.unproven
        if program.trace.guessed and launch.guessed:
            # A loop that waits for memory may end.
            return _follow(program, replace(launch, guessed=False), unproven)
    finally:
        unproven |= program.trace.unproven
    return None


def _check_beside(trace: EventTrace) -> None:
    """Raise Hazard for the element behind a ring of mbarriers, or before it: a ring is what an
    index runs around in. One that runs on is an array that other arguments are meant for."""
    for op, (last, size) in trace.beside.items():
        if last in (-1, size):
            raise Hazard(
                "beside", op, missing=f"one of {size} mbarriers, got number {last}",
                nearest=f"{last % size}",
            )  # fmt: skip


def _check_around(trace: EventTrace) -> None:
    """Raise Hazard for an access behind the last stage of a ring, by an index that comes back to
    the first one."""
    behind: set[Operation] = set()
    back: set[Operation] = set()
    runs_on: set[Operation] = set()
    for event in trace.events:
        for _, view, indices in event.accesses:
            if not isinstance(view, PlacedView) or view.type is None or not indices:
                continue
            stage, stages = indices[0], view.type.get_shape()[0]
            if not isinstance(stage, int):
                continue
            if stage == stages:
                behind.add(event.op)
            elif not 0 <= stage < stages:
                runs_on.add(event.op)
            elif event.op in behind:
                back.add(event.op)
    for op in behind & back - runs_on:
        raise Hazard("outside", op)


def rings(program: ProgramSlice) -> int:
    """The stages of the longest ring: of mbarriers, or of matrices in shared memory."""
    memories = [effect.barrier.memref for effect in program.effects if effect.barrier is not None]
    if any(isinstance(memory, Space) for memory in memories):
        return LONGEST_RING
    places = [place.memref for effect in program.effects for place in effect.places]
    barriers, matrices = (
        [
            type_.get_shape()
            for type_ in (memory.type for memory in memrefs if isinstance(memory, SSAValue))
            if is_memref(type_)
        ]
        for memrefs in (memories, places)
    )
    sizes = [shape[0] for shape in barriers]
    sizes += [shape[0] for shape in matrices if len(shape) > 2 and shape[0] <= LONGEST_RING]
    return min(max(sizes, default=1), LONGEST_RING)
