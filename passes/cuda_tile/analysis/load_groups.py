"""Loads that share mbarriers, as the same multiplication waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.ir import Attribute, Operation

from tilewright.dialects.frozen import entity, factory
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import PAIR, in_tensor_memory


class StagedLoad(Protocol):
    """A load to stages: how its tile lies in one, and the type of its elements in memory."""

    @property
    def op(self) -> Operation: ...
    @property
    def order(self) -> MatrixOrder: ...
    @property
    def element(self) -> Attribute: ...


@entity
class LoadGroup:
    """Loads that the same multiplication waits for: they share mbarriers. In the end `product` is
    the last one that reads them, `trailing` where that is in flight while the next iteration
    begins; `alone` where none but multiplications of its block read them."""

    product: Operation
    loads: list[BoxedAccess] = factory(list)
    gathered: list[StagedLoad] = factory(list)
    """The loads that the threads of a warpgroup copy beside those, to the same stages."""
    alone: bool = False
    trailing: bool = False
    by_threads: bool = False
    """True where threads read the tiles: `wgmma` cannot as they lie, or they are converted."""
    beside: bool = False
    """True where the tiles are no operands: threads read them some time in the iteration."""
    around: bool = False
    """True where the multiplications are in loops within that of the loads."""
    by_warps: bool = False
    """True where the multiplication is by MMAs of warps, which read fragments of the tiles."""
    at_once: bool = False
    """True where nobody reads the tiles behind `product`."""

    def waits_as(self, other: LoadGroup) -> bool:
        """True of groups that share mbarriers."""
        alike = self.by_threads is other.by_threads and self.beside is other.beside
        return alike and self.product is other.product

    @property
    def ctas(self) -> int:
        """The CTAs that load for each other."""
        return max(load.ctas for load in self.loads)

    @property
    def all(self) -> Sequence[StagedLoad]:
        """The loads by TMA and by threads."""
        return [*self.loads, *self.gathered]

    @property
    def last(self) -> Operation:
        """The last of the loads by TMA, or of those by threads that come after it."""
        last = self.loads[-1].op
        for load in self.gathered:
            if load.op.parent is last.parent and last.is_before_in_block(load.op):
                last = load.op
        return last

    @property
    def paired(self) -> bool:
        """True where the MMAs of a pair of CTAs read them: one CTA waits for both."""
        return PAIR in self.product.attributes

    @property
    def released_by_mma(self) -> bool:
        """True where the commit of MMAs in tensor memory releases a stage: nobody else reads it."""
        return self.alone and in_tensor_memory(self.product)

    @property
    def bytes(self) -> int:
        """The bytes that a stage's mbarrier counts."""
        return sum(load.order.elements * load.order.order.size for load in self.loads)
