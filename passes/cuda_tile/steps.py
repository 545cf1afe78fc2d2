"""The steps from Tile IR as it is given to Tile IR as it is lowered, in order, each a pass.

    tilewright-opt FILE -p 'cuda-tile-collapse-loops,cuda-tile-split-blocks{arch=sm_90a}'

What a step knows and a later one needs it leaves in attributes of ops: the CTAs of a block
(`analysis.shared_blocks`), columns of tensor memory, pairs (`layouts.tensor_memory_layouts`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.analysis.pair_products import pair_products
from tilewright.passes.cuda_tile.analysis.permute_products import permute_products
from tilewright.passes.cuda_tile.analysis.place_accumulators import place_accumulators
from tilewright.passes.cuda_tile.analysis.transpose_products import transpose_products
from tilewright.passes.cuda_tile.legalization.legalize import legalize
from tilewright.passes.cuda_tile.scheduling.aligned_stores import align_stores
from tilewright.passes.cuda_tile.scheduling.broadcast_rows import load_for_each_shape
from tilewright.passes.cuda_tile.scheduling.collapsed_loops import collapse_loops
from tilewright.passes.cuda_tile.scheduling.crowded_loops import crowd_loops
from tilewright.passes.cuda_tile.scheduling.cut_rows import cut_rows
from tilewright.passes.cuda_tile.scheduling.early_loads import make_loads_early
from tilewright.passes.cuda_tile.scheduling.late_loads import make_loads_late
from tilewright.passes.cuda_tile.scheduling.loaded_places import mark_loaded_places
from tilewright.passes.cuda_tile.scheduling.merged_folds import merge_folds
from tilewright.passes.cuda_tile.scheduling.narrow_steps import narrow_steps
from tilewright.passes.cuda_tile.scheduling.order_blocks import order_blocks
from tilewright.passes.cuda_tile.scheduling.reload_rows import reload_rows
from tilewright.passes.cuda_tile.scheduling.single_trips import split_single_trips
from tilewright.passes.cuda_tile.scheduling.slice_products import slice_products
from tilewright.passes.cuda_tile.scheduling.split_blocks import split_blocks
from tilewright.passes.cuda_tile.scheduling.strip_mine import strip_mine
from tilewright.passes.cuda_tile.scheduling.unroll_rows import unroll_rows

Rewrite = Callable[[EntryOp, Target | None], None]


@frozen
class EntryPass(ModulePass):
    """A rewrite of every entry, for the target `arch` where one is named."""

    rewrite: ClassVar[Rewrite]

    arch: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = None if self.arch is None else target(self.arch)
        for entry in descendants(op, EntryOp):
            type(self).rewrite(entry, chip)


def _for_all(rewrite: Callable[[EntryOp], None]) -> Rewrite:
    """A rewrite that is the same for all targets."""
    return lambda entry, arch: rewrite(entry)


_REWRITES: dict[str, Rewrite] = {
    "legalize": legalize,
    "merge-folds": _for_all(merge_folds),
    "collapse-loops": _for_all(collapse_loops),
    "split-single-trips": _for_all(split_single_trips),
    "make-loads-late": _for_all(make_loads_late),
    "mark-loaded-places": mark_loaded_places,
    "crowd-loops": crowd_loops,
    "make-loads-early": make_loads_early,
    "load-for-each-shape": _for_all(load_for_each_shape),
    "order-blocks": _for_all(order_blocks),
    "cut-rows": cut_rows,
    "split-blocks": split_blocks,
    "strip-mine": strip_mine,
    "unroll-rows": unroll_rows,
    "reload-rows": _for_all(reload_rows),
    "slice-products": slice_products,
    "narrow-steps": narrow_steps,
    "align-stores": _for_all(align_stores),
    "place-accumulators": place_accumulators,
    "pair-products": pair_products,
    "transpose-products": transpose_products,
    "permute-products": permute_products,
    "legalize-placed": partial(legalize, placed=True),
}

STEPS: dict[str, type[EntryPass]] = {
    name: type(
        f"CudaTile{name.title().replace('-', '')}Pass",
        (EntryPass,),
        {"__module__": __name__, "name": f"cuda-tile-{name}", "rewrite": staticmethod(rewrite)},
    )
    for name, rewrite in _REWRITES.items()
}
"""The steps by name, in order."""
