"""Bank conflicts of the copies of a kernel of tiles: predicted from their layouts."""

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute import ComposedLayout, Swizzle
from tilewright.dialects.cute.int_tuple import rank
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.ops.tiled import CopyPartitionDOp, CopyPartitionOp
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tiled_copy import TiledCopy
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.types.tiled import TiledCopyType
from tilewright.dialects.cute_nvgpu.descriptors.bank_conflicts import (
    WARP,
    WarpAccess,
    choose_swizzle,
)
from tilewright.dialects.frozen import frozen


@frozen
class Conflicts:
    """One side of a copy in shared memory: the layout of the tensor, how many ways the slowest
    access of a warp conflicts, and the swizzle under which it would conflict least, how often."""

    op: Operation
    verb: str
    layout: AnyLayout
    ways: int
    best: Swizzle
    best_ways: int


def bank_conflicts(module: ModuleOp) -> list[Conflicts]:
    """The prediction for every `cute.copy` whose threads a tiled copy places in shared memory, in
    the order of the program."""
    return [conflict for op in descendants(module, CopyOp) for conflict in _of_copy(op)]


def _of_copy(op: CopyOp) -> Iterator[Conflicts]:
    for verb, value in (("reads", op.source), ("writes", op.destination)):
        partition = _partition(value)
        if partition is None:
            continue
        type_, copy = partition.source.type, partition.copy.type
        if not isinstance(type_, MemRefType) or not isinstance(copy, TiledCopyType):
            continue  # coordinates that are partitioned as a tensor is
        tensor = type_.tensor
        if tensor.space == "smem" and layouts.known(tensor.modes):
            side = "D" if isinstance(partition, CopyPartitionDOp) else "S"
            accesses = list(_accesses(copy.tiled, side, tensor))
            yield _judged(op, verb, tensor, accesses)


def _partition(value: SSAValue) -> CopyPartitionOp | None:
    """The op that gave a thread its part of a tensor, behind slices and other views of it."""
    while isinstance(op := value.owner, InferredOp):
        if isinstance(op, CopyPartitionOp):
            return op
        value = op.operands[0]
    return None


def _accesses(copy: TiledCopy, side: str, tensor: Tensor) -> Iterator[WarpAccess]:
    """The accesses of every warp: one for each instruction of a tile."""
    whole = copy.tidfrg("S" if side == "S" else "D", tensor.modes)
    threads, values = layouts.mode(whole, (0,)), layouts.mode(whole, (1,))
    traits = copy.traits
    count = traits.target("S" if side == "S" else "D")[1].size()
    width = min(count * tensor.bits // 8, traits.vector)
    assert rank(whole.shape) == 3
    for first in range(0, values.size(), count):
        at = values(first)
        for warp in range(0, threads.size(), WARP):
            last = min(warp + WARP, threads.size())
            yield WarpAccess(tuple(threads(i) + at for i in range(warp, last)), width)


def _judged(op: Operation, verb: str, tensor: Tensor, accesses: list[WarpAccess]) -> Conflicts:
    swizzle = _swizzle(tensor.layout)
    best = choose_swizzle(accesses, tensor.bits)
    ways, least = (
        max((access.ways(tensor.bits, choice) for access in accesses), default=1)
        for choice in (swizzle, best)
    )
    return Conflicts(op, verb, tensor.layout, ways, best, least)


def _swizzle(layout: AnyLayout) -> Swizzle | None:
    inner = layout.inner if isinstance(layout, ComposedLayout) else None
    return inner if isinstance(inner, Swizzle) else None
