"""Launches that a kernel is followed in: how many threads, and arguments by which its loops go
round as often as it takes to see everything that they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, gpu, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects.ancestors import ancestors, descendants
from tilewright.dialects.cute_nvgpu.ops import cluster as gpu_cluster
from tilewright.dialects.frozen import factory
from tilewright.dialects.gpu import known_extents
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.ptx import cluster as ptx_cluster
from tilewright.dialects.ptx.control_flow import EntryOp, block_ctas
from tilewright.dialects.ptx.registers import ConstOp, SregOp
from tilewright.dialects.ptx.types import KINDS, RegType
from tilewright.passes.analysis.hazards.blocks import CountedLoop, Edge, edges_into
from tilewright.passes.analysis.hazards.registers import computed
from tilewright.passes.analysis.hazards.scalars import UNKNOWN, truncated

WARP = 32

GRID = "gpu.known_grid_size"

FROM_TILE_IR = "cuda_tile.entry"
"""The attribute of kernels that were entries of Tile IR: they take any arguments."""

_LADDER = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, 256,
    320, 384, 448, 512, 576, 640, 768, 896, 1024, 1280, 1536, 2048, 2560,
)  # fmt: skip
"""Numbers that an argument is tried with."""


Loop = scf.ForOp | CountedLoop

Extents = tuple[int, int, int]

Leaf = SSAValue | tuple[SSAValue, int]
"""A number that nobody computes: an argument, or an extent of one."""


def leaf_of(value: SSAValue) -> Leaf:
    """The number that a value is: one extent may be asked for more than once."""
    if isinstance(op := value.owner, memref.DimOp):
        index = constant_integer(op.index)
        return value if index is None else (op.source, index)
    return value


@dataclass(frozen=True, eq=False)
class ClusterLaunch:
    """One cluster of CTAs: their threads by axis, how many CTAs, and what values that nobody
    computes are: arguments and extents, by SSA value; `guessed` is what every condition from memory
    turns out to be."""

    block: Extents
    cluster: Extents
    leaves: Mapping[Leaf, Any] = factory(dict)
    guessed: bool = True
    is_kernel: bool = True
    first: Extents = (0, 0, 0)
    """The place of the cluster's first CTA in the grid."""
    grid: Extents = (1, 1, 1)
    others: tuple[int, int] = (1, 0)
    """The values of arguments that say nothing of loops: a first number, and how far they are
    apart."""
    coming: Mapping[Block, Sequence[Edge]] = factory(dict)
    """Where control comes from to each block of the kernel."""

    @cached_property
    def ctas(self) -> int:
        """How many CTAs the cluster has."""
        return prod(self.cluster)

    @cached_property
    def threads(self) -> int:
        """The threads of a CTA."""
        return prod(self.block)

    @cached_property
    def stride(self) -> int:
        """Thread slots of a CTA: whole warps."""
        return -(-self.threads // WARP) * WARP

    @cached_property
    def slots(self) -> int:
        """Thread slots of the cluster."""
        return self.ctas * self.stride

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """The slots that have a thread."""
        return np.arange(self.slots) % self.stride < self.threads

    def leaf(self, value: SSAValue) -> int:
        """An argument, or an extent of one."""
        leaf = leaf_of(value)
        if leaf in self.leaves:
            return self.leaves[leaf]
        if value.type == i1:
            return int(self.guessed)
        first, apart = self.others
        return first + (apart * value.index if isinstance(value, BlockArgument) else 0)

    def variants(self) -> Iterator[ClusterLaunch]:
        """Launches with other arguments where those say nothing of loops."""
        for others in ((0, 0), (8, 0), (16, 0), (32, 0), (64, 0), (1, 1), (0, 64), (0, 1024)):
            yield replace(self, others=others)

    def special(self, name: str, axis: int) -> Any:
        """A special register of all threads."""
        return self._special[name, axis]

    @cached_property
    def _special(self) -> dict[tuple[str, int], Any]:
        slots = np.arange(self.slots)
        thread, rank = slots % self.stride, slots // self.stride
        known: dict[tuple[str, int], Any] = {
            ("gpu.lane_id", 0): slots % WARP,
            ("gpu.subgroup_id", 0): thread // WARP,
            ("cute_nvgpu.cluster.rank", 0): rank if self.ctas > 1 else 0,
        }
        for axis in range(3):
            before = prod(self.block[:axis])
            within = thread // before % self.block[axis]
            known["gpu.thread_id", axis] = within if self.block[axis] > 1 else 0
            above = rank // prod(self.cluster[:axis]) % self.cluster[axis]
            known["gpu.block_id", axis] = (above if self.cluster[axis] > 1 else 0) + self.first[
                axis
            ]
            known["gpu.block_dim", axis] = self.block[axis]
            known["gpu.grid_dim", axis] = self.grid[axis]
        return known


def register_of(op: Operation) -> tuple[str, int] | None:
    """The special register that an op reads, and the axis of it."""
    match op:
        case gpu.ThreadIdOp() | gpu.BlockIdOp() | gpu.BlockDimOp() | gpu.GridDimOp():
            return op.name, "xyz".index(str(op.dimension.data.value))
        case gpu.LaneIdOp() | gpu.SubgroupIdOp():
            return op.name, 0
        case SregOp():
            name, _, axis = op.register.data.partition(".")
            known = _REGISTERS.get(name)
            return None if known is None else (known, "xyz".index(axis or "x"))
        case gpu_cluster.RankOp() | ptx_cluster.RankOp():
            return gpu_cluster.RankOp.name, 0
        case _:
            return None


_REGISTERS = {
    "tid": "gpu.thread_id",
    "ntid": "gpu.block_dim",
    "ctaid": "gpu.block_id",
    "nctaid": "gpu.grid_dim",
    "laneid": "gpu.lane_id",
}
"""The names that special registers have in `gpu`."""


def is_kernel(function: Operation) -> bool:
    """It is launched as it stands; any other function is a part of something."""
    return (
        isinstance(function, EntryOp)
        or "gpu.kernel" in function.attributes
        or (isinstance(function, gpu.FuncOp) and "kernel" in function.properties)
    )


def launches(
    function: Operation, loops: Sequence[Loop], rings: int, *, guesses: bool = False,
    known: Mapping[SSAValue, int] | None = None,
) -> Iterator[list[ClusterLaunch]]:  # fmt: skip
    """The launches to follow: lists of which one must be right (the threads of a block may not
    be said); `rings` is the number of stages of the longest ring, and with `guesses` there are
    conditions that only a run decides. `known` are arguments that nothing else decides."""
    kernel = is_kernel(function)
    cluster = extents_of(function, "gpu.known_cluster_size") or (1, 1, 1)
    block_size = extents_of(function, "gpu.known_block_size")
    blocks = [block_size] if block_size else _blocks(function, kernel)
    grid = extents_of(function, GRID) or (
        max(cluster[0], block_ctas(function)),
        cluster[1],
        cluster[2],
    )
    launch = ClusterLaunch(
        blocks[0], cluster, is_kernel=kernel, grid=grid, coming=edges_into(function.regions[0])
    )
    dynamic = [loop for loop in loops if _leaves(loop, launch)]
    for leaves in _lengths(dynamic, rings, launch, empty=FROM_TILE_IR in function.attributes):
        for guessed in (True, False) if guesses else (True,):
            given = {**(known or {}), **leaves}
            yield [replace(launch, block=block, leaves=given, guessed=guessed) for block in blocks]


def extents_of(function: Operation, name: str) -> Extents | None:
    """Extents that a kernel says its launch has."""
    if (known := known_extents(function, name)) is None:
        return None
    x, y, z = (*known, 1, 1, 1)[:3]
    return x, y, z


def _blocks(function: Operation, kernel: bool) -> list[Extents]:
    """The shapes that a block may have, likely ones first."""
    flat = [(threads, 1, 1) for threads in _threads(function, kernel)]
    axes = {op.dimension.data.value for op in descendants(function, gpu.ThreadIdOp)}
    axes |= {
        op.register.data[-1:] for op in function.walk()
        if isinstance(op, SregOp) and op.register.data.startswith("tid")
    }  # fmt: skip
    if axes <= {"x"}:
        return flat
    shapes = [(x, y, 1) for x in (32, 16, 8, 64, 128) for y in (4, 8, 16, 2, 32) if x * y <= 1024]
    return [*shapes, *((8, 8, z) for z in (2, 4, 8)), *flat]


def _threads(function: Operation, kernel: bool) -> list[int]:
    """The threads that a block may have, likely numbers first."""
    if not kernel:
        return [
            128 if any(op.name.startswith("cute_nvgpu.sm90.") for op in function.walk()) else 32
        ]
    likely = (128, 256, 96, 64, 32, 384, 160, 192, 512, 1024)
    return [*likely, *(number for number in range(WARP, 1025, WARP) if number not in likely)]


# How often loops go round


def _lengths(
    loops: list[Loop], rings: int, launch: ClusterLaunch, *, empty: bool
) -> Iterator[dict[Leaf, int]]:
    """Arguments by which loops are long, by which they go round once, and not at all where it may
    be `empty`, but for what a round would do that was taken out of them: nobody says so of kernels
    that are written."""
    if not loops:
        yield {}
        return
    uses = 2 * rings + 2
    nested = [loop for loop in loops if _around(loop, loops)]
    outer = 3 if nested else uses
    inner = max(-(-uses // outer), 2)
    goals = {loop: inner if loop in nested else outer for loop in loops}
    yield _solve(loops, goals, launch)
    yield _solve(loops, dict.fromkeys(loops, 1), launch)
    if empty:
        yield _solve(
            loops, {loop: int(bool(nested) and loop not in nested) for loop in loops}, launch
        )
        yield {
            leaf: 0 for loop in loops for leaf in _leaves(loop, launch)
        }  # fmt: skip


def _around(loop: Loop, loops: list[Loop]) -> bool:
    if isinstance(loop, CountedLoop):
        return any(isinstance(other, CountedLoop) and loop.blocks < other.blocks for other in loops)
    return any(parent in loops for parent in ancestors(loop))


def _solve(loops: list[Loop], goals: Mapping[Loop, int], launch: ClusterLaunch) -> dict[Leaf, int]:
    """Arguments that bring the loops to those lengths or near, one argument after the other."""
    leaves: dict[Leaf, int] = {}
    for loop in loops:
        for leaf in _leaves(loop, launch):
            if leaf not in leaves:
                leaves[leaf] = _nearest(loop, goals[loop], leaf, leaves, launch)
    return leaves


def _nearest(
    loop: Loop, goal: int, leaf: Leaf, leaves: Mapping[Leaf, int], launch: ClusterLaunch
) -> int:
    """The first number of an argument that makes a loop as long as wanted, or nearest to it; the
    last one by which it does not go round."""
    several = replace(launch, leaves={**leaves, leaf: np.array(_LADDER)})
    rounds = _rounds(loop, FirstRound(several))
    if not goal:
        first = next((place for place, length in enumerate(rounds) if length), 0)
        return _LADDER[first - 1] if first else 0
    best, least = 1, 1 << 20
    for number, length in zip(_LADDER, rounds, strict=True):
        distance = abs(length - goal) if length else 1 << 20
        if distance < least:
            best, least = number, distance
        if not least or length > goal:
            break
    return best


def _rounds(loop: Loop, numbers: FirstRound) -> list[int]:
    """How often a loop goes round by each number of the ladder."""
    step, lower, upper = bounds = [numbers.of(value) for value in _bounds(loop)]
    if any(bound is UNKNOWN for bound in bounds):
        return [0] * len(_LADDER)
    step = step - lower if isinstance(loop, CountedLoop) else step
    with np.errstate(divide="ignore"):  # by 0 it is 0
        rounds = np.maximum(-np.floor_divide(lower - upper, step), 0)
    return np.broadcast_to(rounds, len(_LADDER)).tolist()


def _bounds(loop: Loop) -> list[SSAValue]:
    """The step of a loop, or the number of its second round, and its bounds."""
    return [loop.second if isinstance(loop, CountedLoop) else loop.step, loop.lb, loop.ub]


def _leaves(loop: Loop, launch: ClusterLaunch) -> list[Leaf]:
    """The arguments and other values from outside that the bounds of a loop are computed from,
    those of the upper one first."""
    leaves: dict[Leaf, None] = {}
    seen: set[SSAValue] = set()
    work = _bounds(loop)
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Block):
            if (first := _first(value, owner, launch)) is not None:
                work.append(first)
            elif isinstance(value.type, IntegerType | IndexType | RegType):
                leaves[value] = None
        elif isinstance(owner, memref.DimOp):
            leaves[leaf_of(value)] = None
        elif not isinstance(owner, arith.ConstantOp):
            work += owner.operands
    return list(leaves)


class FirstRound:
    """Numbers of thread 0 in the first round of the loops around them; `own` are numbers that are
    not those of the launch, by register and axis."""

    def __init__(self, launch: ClusterLaunch, own: Mapping[tuple[str, int], Any] | None = None):
        self._launch = launch
        self._own = own or {}
        self._known: dict[SSAValue, Any] = {}

    def of(self, value: SSAValue) -> Any:
        """A value, or UNKNOWN."""
        work, opened = [value], set[SSAValue]()
        while work:
            if (last := work[-1]) in opened or last in self._known:
                work.pop()
                if last not in self._known:
                    self._known[last] = self._computed(last)
                continue
            opened.add(last)
            work += self._sources(last)
        return self._known[value]

    def _sources(self, value: SSAValue) -> Sequence[SSAValue]:
        """The values that one is computed from."""
        owner = value.owner
        if isinstance(owner, Block):
            first = _first(value, owner, self._launch)
            return () if first is None else (first,)
        return owner.operands if computed(owner) is not None else ()

    def _computed(self, value: SSAValue) -> Any:
        owner, sources = (
            value.owner,
            [self._known.get(source, UNKNOWN) for source in self._sources(value)],
        )
        if isinstance(owner, Block):
            return sources[0] if sources else self._launch.leaf(value)
        if isinstance(owner, ConstOp):
            return truncated(owner.bits.value.data, KINDS[owner.result.type.kind.data])
        if (compute := computed(owner)) is not None:
            result = compute(*sources)
            several = isinstance(owner, arith.MulUIExtendedOp)
            return result[owner.results.index(value)] if several else result
        if isinstance(owner, arith.ConstantOp):
            return owner.value.value.data if isinstance(owner.value, IntegerAttr) else UNKNOWN
        if isinstance(owner, memref.DimOp):
            return self._launch.leaf(value)
        if (register := register_of(owner)) is None:
            return UNKNOWN
        number = self._own.get(register)
        number = self._launch.special(*register) if number is None else number
        return number if register in self._own or isinstance(number, int) else int(number[0])


def _first(value: SSAValue, block: Block, launch: ClusterLaunch) -> SSAValue | None:
    """The value that a block's argument has at first; None of an argument of the kernel."""
    place = cast(BlockArgument, value).index
    if isinstance(loop := block.parent_op(), scf.ForOp):
        return loop.lb if place == 0 else loop.iter_args[place - 1]
    edges = launch.coming.get(block, ())
    return edges[0][1][place] if edges else None
