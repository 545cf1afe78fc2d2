"""The plan of a kernel under a budget: what comes ahead of its use, by whom and through which
memory."""

from __future__ import annotations

from math import inf

from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.budget import Attempt, Budget
from tilewright.lowering.cuda_tile.convert_issuer import needed_for_issues
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.memory import convert_allocations
from tilewright.lowering.cuda_tile.pipelines.convert_boxed_stores import stored_boxes
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoads
from tilewright.passes.cuda_tile.analysis.cost_model import producer_pays, products_of, thread_count
from tilewright.passes.cuda_tile.analysis.find_copied_loads import find_copied_loads
from tilewright.passes.cuda_tile.analysis.find_pipelines import (
    NO_STAGES,
    Pipelines,
    Stores,
    find_pipelines,
)
from tilewright.passes.cuda_tile.analysis.gathered_loads import give_to_warpgroup
from tilewright.passes.cuda_tile.analysis.pair_products import are_paired
from tilewright.passes.cuda_tile.analysis.place_accumulators import are_multiplied_alone
from tilewright.passes.cuda_tile.analysis.specialized_warps import needed_for_copies
from tilewright.passes.cuda_tile.analysis.stages import STORED, cta_room, is_alone
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import products_in


@frozen
class Plan:
    """The stores that TMA makes, the loads that it makes ahead, the copies of threads, and the ops
    that a warp of its own has to know that copies, and one that issues MMAs: None where there is
    none."""

    entry: EntryOp
    arch: Target | None
    stored: Stores
    ahead: Pipelines
    copies: CopiedLoads
    copied: set[Operation] | None
    issued: set[Operation] | None

    @property
    def lacking(self) -> Attempt:
        """The attempt that it is before anything is emitted."""
        entry, by_warps = self.entry, not products_of(self.entry, self.arch)
        full = not self.ahead.by_loop and NO_STAGES in self.ahead.refused.values()
        shares = are_paired(entry) and (
            self.issued is None or not are_multiplied_alone(entry, self.ahead)
        )
        return Attempt(lacks_stages=by_warps and full, shares_pairs=shares)

    @property
    def staged(self) -> int:
        """The shared memory of stages, but where tiles change layout."""
        return self.ahead.bytes + self.copies.beside

    def store_room(self, beside: int) -> int:
        """The shared memory through which a tile is stored: twice as much where stages, and so much
        else, leave it to the one CTA of a multiprocessor."""
        arch, double = self.arch, 2 * STORED
        taken = self.ahead.bytes + self.copies.bytes + beside
        if arch is None or taken + double > cta_room(arch, 1):
            return STORED
        return double if is_alone(arch, self.staged + STORED) else STORED

    def lacking_in(self, kernel: EntryLowering) -> Attempt:
        """The attempt that the kernel is that came of it."""
        arch, scratch, tensor = self.arch, kernel.scratch, kernel.tensor
        return Attempt(
            alternates=tensor.alternates,
            accumulator_stages=tensor.stages if products_in(self.entry) else 0,
            taken=self.staged + scratch.bytes,
            staged=self.ahead.bytes + self.copies.bytes,
            others=scratch.bytes + self.copies.beside - self.copies.bytes,
            share=inf if arch is None else cta_room(arch, self.ahead.ctas),
            room=inf if arch is None else cta_room(arch, 1),
            hoists=kernel.has_hoisted,
            crowded=kernel.crowded is not None,
            left=scratch.left,
            stores=bool(self.stored),
        )


def planned(entry: EntryOp, arch: Target | None, budget: Budget) -> Plan:
    """The plan of a kernel under a budget."""
    stored, beside = stored_boxes(entry, arch) if budget.stores else {}, budget.beside
    threads = log2(thread_count(entry, arch))
    staged = beside if budget.tma or arch is None else shared_memory_limit(arch)
    ahead = find_pipelines(entry, arch, stored, staged)
    copies = find_copied_loads(entry, arch, ahead, threads, beside)
    if copied := copies.stage_beside(ahead):
        ahead = find_pipelines(entry, arch, stored, staged, copied)
        copies = find_copied_loads(entry, arch, ahead, threads, beside)
    alone = arch is not None and not convert_allocations.allocas_of(entry)
    needed = None
    gathers = bool(copies.by_loop)
    if arch is not None and alone and producer_pays(entry, arch, ahead.ctas, gathers=gathers):
        needed = needed_for_copies(entry, [load.op for load in ahead.loads()])
    if needed is None:
        ahead.refuse_around(lambda _: True, "no warp of its own copies")
    if needed is not None and arch is not None:
        needed = give_to_warpgroup(entry, arch, ahead, copies) or needed
    # MMAs that read what threads copy are issued behind the barrier of these.
    by_thread = needed is None or any(own.awaited for own in copies.by_loop.values())
    issued = None if by_thread else needed_for_issues(entry, ahead)
    return Plan(entry, arch, stored, ahead, copies, needed, issued)
