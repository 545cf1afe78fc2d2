"""Loads by `cp.async` that the threads of a warpgroup of its own make, beside one of them that
copies by TMA: rows that lie wherever numbers say, which TMA does not find, for products of
warpgroups that do nothing but multiply, or in tensor memory.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing, users
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.computed_again import places_of
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoads, CopiedLoop
from tilewright.passes.cuda_tile.analysis.cost_model import has_room_for_warpgroup, products_of
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup
from tilewright.passes.cuda_tile.analysis.specialized_warps import needed_for


def give_to_warpgroup(
    entry: EntryOp, arch: Target, ahead: Pipelines, copies: CopiedLoads
) -> set[Operation] | None:
    """Let a warpgroup make the copies of threads: the ops that say where they are from, and how
    often; None where the threads that multiply make them."""
    groups = [_group(own, ahead) for own in copies.by_loop.values()]
    alone = len(products_of(entry, arch)) == 1 and ahead.cluster == 1
    if not groups or None in groups or not alone:
        return None
    if not has_room_for_warpgroup(entry, arch, ahead.ctas):
        return None
    loads = [load.op for own in copies.by_loop.values() for load in own.loads]
    boxed = [load.op for load in ahead.loads()]
    places = [place for op in loads for place in places_of(op)]
    places += [index for op in boxed for index in op.index]  # type: ignore[attr-defined]
    loops = {loop for op in (*loads, *boxed) for loop in enclosing(op, ForOp)}
    needed = needed_for(places, loops, entry, tiles=True)
    if needed is None:
        return None
    for group, own in zip(groups, copies.by_loop.values(), strict=True):
        assert group is not None
        group.gathered += own.loads
        ahead.by_loop[own.loop].extend(own.slice, own.loop)
    copies.by_loop.clear()
    return needed


def _group(own: CopiedLoop, ahead: Pipelines) -> LoadGroup | None:
    """The only group of TMA's loads in a loop, whose product alone reads what threads copy."""
    pipeline = ahead.by_loop.get(own.loop)
    groups = [] if pipeline is None else pipeline.groups
    if len(groups) != 1 or not (groups[0].trailing or groups[0].released_by_mma):
        return None
    read = all(load.product is groups[0].product for load in own.loads)
    return groups[0] if read else None


def known_by_others(needed: set[Operation], ahead: Pipelines) -> list[SSAValue]:
    """The values that nobody but the warpgroup has to know."""
    own = {load.op for _, group in ahead.groups for load in group.gathered}
    left = set(needed)
    while True:
        more = [op for op in left if all(user in own for user in users(*op.results))]
        if not more:
            return [x for op in own for x in op.results if isinstance(x.type, TileType)]
        own.update(more)
        left.difference_update(more)
