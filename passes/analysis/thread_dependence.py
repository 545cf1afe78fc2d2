"""Values that differ between the threads of a CTA."""

from collections.abc import Callable, Iterator

from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Block, SSAValue

from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ElectSyncOp
from tilewright.dialects.sequences import reachable

_OF_THREADS = (gpu.ThreadIdOp, gpu.LaneIdOp, gpu.SubgroupIdOp, gpu.GlobalIdOp, ElectSyncOp)
"""The ops that say which thread it is."""


def depends_on_thread(value: SSAValue) -> bool:
    """The number of the thread has a part in an integer value. What lies in memory has not, only
    where it lies."""
    sources = reached(value, lambda source: isinstance(source.type, IndexType | IntegerType))
    return any(isinstance(source.owner, _OF_THREADS) for source in sources)


def reached(value: SSAValue, follow: Callable[[SSAValue], bool]) -> Iterator[SSAValue]:
    """A value, and all that it is computed from through values that are followed."""
    return reachable(filter(follow, [value]), lambda source: filter(follow, sources_of(source)))


def sources_of(value: SSAValue) -> list[SSAValue]:
    """The values that a value is computed from."""
    owner = value.owner
    if isinstance(owner, Block):
        return _given(value, owner)
    sources = list(owner.operands)
    for region in owner.regions:
        for block in region.blocks:
            if block.last_op is not None:
                sources += block.last_op.operands
    return sources


def _given(value: SSAValue, block: Block) -> list[SSAValue]:
    """The values that a loop, or the branches to a block, may give to its argument."""
    parent = block.parent_op()
    if isinstance(parent, scf.ForOp | scf.WhileOp):
        lasts = [region.blocks[0].last_op for region in parent.regions]
        return [
            *parent.operands,
            *(operand for op in lasts if op is not None for operand in op.operands),
        ]
    return [operand for use in block.uses for operand in use.operation.operands]
