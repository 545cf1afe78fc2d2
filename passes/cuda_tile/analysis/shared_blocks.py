"""Tile blocks that several CTAs share, as their entry's attributes say."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import BLOCK_CTAS, block_ctas

MOST_OF_CLUSTER = 8
"""The CTAs of a cluster that every GPU runs."""


@frozen
class SharedBlocks:
    """How many CTAs share a tile block, and whether they are a cluster."""

    ctas: int
    clustered: bool

    PART: ClassVar = "cuda_tile.part_of_block"
    """The attribute of accesses whose tiles each CTA has a part of, which copies of them keep."""
    UNCLUSTERED: ClassVar = "cuda_tile.unclustered"
    """The attribute of an entry whose blocks CTAs share that are no cluster."""

    @classmethod
    def of(cls, entry: EntryOp) -> SharedBlocks:
        """Those of an entry, which says so in attributes."""
        return cls(block_ctas(entry), cls.UNCLUSTERED not in entry.attributes)

    def mark(self, entry: EntryOp) -> None:
        """Say in an entry's attributes that these are its blocks."""
        entry.attributes[BLOCK_CTAS] = IntegerAttr(self.ctas, i32)
        if not self.clustered:
            entry.attributes[self.UNCLUSTERED] = UnitAttr()

    def loading(self, load: LoadViewTkoOp) -> int:
        """The CTAs that load for each other what a product in a loop reads."""
        alone = self.PART in load.attributes or not isinstance(load.parent_op(), ForOp)
        return 1 if alone or not self.clustered or self.ctas > MOST_OF_CLUSTER else self.ctas
