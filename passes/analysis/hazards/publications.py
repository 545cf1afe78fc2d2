"""Global memory that a block of a grid writes and another one reads. PTX ISA, memory consistency
model, causality order.

Nothing orders two blocks but a release of the one behind its access and an acquire of the other
before its own, of scopes that have both in them, or a strong read of what the one has written by a
strong access. Which of them belong together is not asked. Blocks run at the same time where the
kernel says that its grid has several, or asks for its block and is none of clusters, of which it
may be meant for one. It is looked at where threads order others: plain accesses alone are their
kernel's affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import permutations, product, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute_nvgpu.lattice.data_movement import WEAK
from tilewright.dialects.cute_nvgpu.ops.sync import OrdersThreads
from tilewright.dialects.ptx.multimem import MultimemOp
from tilewright.passes.analysis.hazards.effects import Effect
from tilewright.passes.analysis.hazards.follow import ProgramSlice
from tilewright.passes.analysis.hazards.grids import other_blocks
from tilewright.passes.analysis.hazards.launches import (
    GRID,
    ClusterLaunch,
    extents_of,
    is_kernel,
    launches,
    register_of,
)
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scopes import (
    GlobalAccess,
    access_of,
    check_scopes,
    effect_of_global,
    is_narrow,
    order_of,
)
from tilewright.passes.analysis.hazards.thread_accesses import reads, writes
from tilewright.passes.analysis.hazards.trace import OutOfBounds, TooLong
from tilewright.source.diagnostic import named

_BLOCKS = ("gpu.block_id", "gpu.grid_dim")
STRONG = ("relaxed", "acquire", "release", "acq_rel")


class GlobalProgram(ProgramSlice):
    """A function, cut down to its accesses to global memory and its fences between threads."""

    @property
    def has_narrow_scopes(self) -> bool:
        return True

    def _effect_of(self, op: Operation) -> Effect | None:
        return effect_of_global(op)


class BlockStep(NamedTuple):
    """Something that a block does: what order it makes, in a scope of all blocks or a narrow one,
    and what it accesses, if that is known."""

    op: Operation
    word: str
    is_narrow: bool
    access: GlobalAccess | None

    @property
    def is_fence(self) -> bool:
        """It orders accesses beside it, and is none."""
        return isinstance(self.op, OrdersThreads)

    @property
    def writes(self) -> bool:
        """Others may see it."""
        return not self.is_fence and writes(self.op)

    @property
    def reads(self) -> bool:
        """It may see what others have written."""
        return not self.is_fence and reads(self.op)

    def meets(self, other: BlockStep) -> bool:
        """Both access some bytes."""
        if self.access is None or other.access is None:
            return False
        return self.access.meets(other.access)

    def is_wide(self, *words: str) -> bool:
        """It makes an order of these in a scope of all blocks."""
        return self.word in words and not self.is_narrow


class BlockRun:
    """The steps of a block, in the order of the text. What it reads behind writes of its own is its
    own. Of what it does before the last release, and behind the first acquire, others may know."""

    def __init__(self, program: ProgramSlice, launch: ClusterLaunch):
        self.name = str(launch.first)
        self.steps: list[BlockStep] = []
        written: dict[SSAValue, NDArray[np.int64]] = {}
        for event in program.run(launch).events:
            word, _ = order_of(event.op) or (WEAK, 0)
            access = access_of(event, np.flatnonzero(event.mask.flags), launch)
            if access is not None:
                own = written.get(access.root, access.bytes[:0])
                if access.writes:
                    written[access.root] = np.union1d(own, access.bytes)
                elif access.scope is None:
                    access = access._replace(bytes=np.setdiff1d(access.bytes, own))
            self.steps.append(BlockStep(event.op, word, is_narrow(event.op), access))

    @cached_property
    def last_release(self) -> int:
        """The number of the last one: a fence is one before a strong write."""
        is_seen = False
        for number, step in reversed(list(enumerate(self.steps))):
            fences = step.is_fence and is_seen and not step.is_narrow
            if fences or (step.writes and step.is_wide("release", "acq_rel")):
                return number
            is_seen = is_seen or (step.writes and step.is_wide(*STRONG))
        return -1

    @cached_property
    def first_acquire(self) -> int:
        """The number of the first one: a fence is one behind a strong read."""
        has_seen = False
        for number, step in enumerate(self.steps):
            fences = step.is_fence and has_seen and not step.is_narrow
            if fences or (step.reads and step.is_wide("acquire", "acq_rel")):
                return number
            has_seen = has_seen or (step.reads and step.is_wide(*STRONG))
        return len(self.steps)


def between_blocks(function: Operation) -> Hazard | None:
    """The first hazard between blocks of a grid, whatever arguments it gets that say nothing of
    loops."""
    if not is_kernel(function) or descendants(function, MultimemOp):
        return None
    program = GlobalProgram(function)
    for alternatives in launches(
        function, program.loops, 1, guesses=False, known=program.arrays.numbers
    ):
        hazards = list(takewhile(bool, (_of_guesses(program, launch) for launch in alternatives)))
        if len(hazards) == len(alternatives):
            return hazards[0]
    return None


def _of_guesses(program: ProgramSlice, launch: ClusterLaunch) -> Hazard | None:
    """The hazard of a launch, by what memory holds."""
    hazard = _of_launch(program, replace(launch, guessed=False))
    return hazard or (_of_launch(program, launch) if program.trace.guessed else None)


def _of_launch(program: ProgramSlice, launch: ClusterLaunch) -> Hazard | None:
    """The hazard of a launch and of all its variants; None where one of them has none."""
    says_nothing = program.arguments - set(launch.leaves)
    launches_ = (launch, *launch.variants()) if says_nothing else (launch,)
    hazards = list(takewhile(bool, (_of_blocks(program, variant) for variant in launches_)))
    return hazards[0] if len(hazards) == len(launches_) else None


def _of_blocks(program: ProgramSlice, launch: ClusterLaunch) -> Hazard | None:
    """The first hazard between some blocks of a launch."""
    try:
        blocks = [BlockRun(program, launch)]
        others = [*other_blocks(program, launch), *_beside(program.function, launch)]
        blocks += [BlockRun(program, other) for other in others]
        for one, other in permutations(blocks, 2):
            _check(one, other)
    except Hazard as hazard:
        return hazard
    except (OutOfBounds, TooLong):
        pass
    return None


def _beside(function: Operation, launch: ClusterLaunch) -> Iterator[ClusterLaunch]:
    """The next block along each axis that a kernel knows of, or says its grid has."""
    known = extents_of(function, GRID)
    registers = (
        register_of(op) for op in function.walk() if op.results and op.results[0].first_use
    )
    asked = {register[1] for register in registers if register and register[0] in _BLOCKS}
    for axis in range(3) if known else asked if launch.ctas == 1 else ():
        first = tuple(launch.cluster[axis] if other == axis else 0 for other in range(3))
        grid = known or tuple(e * (1 + (n == axis)) for n, e in enumerate(launch.cluster))
        if first[axis] < grid[axis]:
            yield replace(launch, first=first, grid=grid)


def _check(one: BlockRun, other: BlockRun) -> None:
    """Raise Hazard where a block may read what another one writes before or behind that."""
    where = f"in blocks {one.name} and {other.name}"
    for (number, write), (place, read) in product(enumerate(one.steps), enumerate(other.steps)):
        if not write.writes or not write.access or not write.meets(read):
            continue
        assert read.access is not None
        check_scopes(write.access, read.access, wanted="gpu", where=where)
        strong = None not in (write.access.scope, read.access.scope)
        if strong or not read.reads or _is_before(one, number, other, place):
            continue
        if _is_before(other, place, one, number):
            continue
        late, missing = other.steps[:place], "no acquire.gpu of this block is before this"
        if one.last_release < number:
            late, missing = one.steps[number:], "no release.gpu of its block follows it"
        narrow = [step.op for step in late if step.is_narrow]
        nearest = f"the scope gpu in {named(narrow[0])}" if narrow else "one"
        raise Hazard("published", read.op, write.op, missing, where, nearest)


def _is_before(one: BlockRun, number: int, other: BlockRun, place: int) -> bool:
    """True where another block knows at some place what one has done, or may."""
    step = one.steps[number]
    if number <= one.last_release and other.first_acquire < place:
        return True
    return step.writes and step.is_wide(*STRONG) and any(
        read.reads and read.is_wide(*STRONG) and read.meets(step) for read in other.steps[:place]
    )  # fmt: skip
