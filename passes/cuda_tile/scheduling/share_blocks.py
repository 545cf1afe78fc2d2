"""How many CTAs may share a tile block, where a launch has few blocks: each has a part of every
tile, by `split_blocks`, and a multiprocessor that would have had no work."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.passes import ModulePass

from tilewright.dialects.cuda_tile.ops.module import EntryOp

_SHARED_BY = "cuda_tile.shared_by"


def shared_by(entry: EntryOp) -> int:
    """The CTAs that may share a block of an entry."""
    given = entry.attributes.get(_SHARED_BY)
    return given.value.data if isinstance(given, IntegerAttr) else 1


@dataclass(frozen=True)
class CudaTileShareBlocksPass(ModulePass):
    """Let up to so many CTAs, a power of two, share each tile block of the kernels that hint at no
    number: as many as a launch of few blocks leaves multiprocessors for. They load on their own,
    not by multicast, so that no cluster has to find room."""

    name = "cuda-tile-share-blocks"

    ctas: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in [inner for inner in op.walk() if isinstance(inner, EntryOp)]:
            entry.attributes[_SHARED_BY] = IntegerAttr(self.ctas, i32)
