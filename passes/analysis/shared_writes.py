"""Elements of shared memory that an op writes, and whether a wgmma reads them."""

from collections.abc import Callable
from typing import Any, Literal

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.ops import copy, fragment_memory, matrix_copy, tma, wmma
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import constant_integer

Overlap = Literal["same", "maybe", "distinct"]
"""The relation of two accesses: they meet, they may, they do not."""


@frozen
class SharedAccess:
    """An element of a memref, or the matrix of `extents` (by dimension) that begins there; what is
    neither (not `exact`) has unknown extents. In a line of memory the index also says which of
    several matrices is meant."""

    memref: SSAValue
    indices: tuple[SSAValue, ...]
    extents: tuple[tuple[int, int], ...] = ()
    exact: bool = True

    @property
    def in_a_line(self) -> bool:
        """The memref is a line of memory."""
        return len(self.indices) == 1

    @property
    def buffer(self) -> SSAValue:
        """The memref that was allocated, or passed in."""
        value = self.memref
        while isinstance(owner := value.owner, memref.ReinterpretCastOp | memref.CastOp):
            value = owner.source
        return value


_WRITES: dict[type[Operation], Callable[[Any], tuple[SSAValue, Any]]] = {
    memref.StoreOp: lambda op: (op.memref, op.indices),
    copy.CpAsyncOp: lambda op: (op.dest, op.dest_indices),
    fragment_memory.StoreOp: lambda op: (op.dest, op.indices),
    matrix_copy.StmatrixOp: lambda op: (op.dest, op.indices),
    wmma.StoreOp: lambda op: (op.dest, op.indices),
    tma.TmaLoadOp: lambda op: (op.dest, op.dest_indices),
}
"""The ops that write memory, and where."""


def in_async_proxy(op: Operation) -> bool:
    """True where what the op writes needs no `fence.proxy.async` before a wgmma reads it."""
    return isinstance(op, tma.TmaLoadOp)


def written(op: Operation) -> SharedAccess | None:
    """The access of an op that writes to shared memory, None of another."""
    if (find := _WRITES.get(type(op))) is None:
        return None
    target, indices = find(op)
    type_ = target.type
    if not is_memref(type_) or space_of(type_.memory_space) is not Space.SMEM:
        return None
    indices = tuple(indices)
    if isinstance(op, tma.TmaLoadOp) and len(indices) == 1:
        assert isinstance(op.map.type, TmaDescriptorType)
        return SharedAccess(target, indices, tuple(op.map.type.box.extents(1).items()))
    return SharedAccess(target, indices, exact=isinstance(op, memref.StoreOp))


def matrices(op: WarpgroupMmaOp) -> list[SharedAccess]:
    """The matrices that a wgmma reads, where their descriptors say of what they are."""
    a, b, _ = op.multiplicands_and_c
    return [matrix for value in (a, b) if (matrix := matrix_of(value)) is not None]


def matrix_of(value: SSAValue) -> SharedAccess | None:
    """The matrix of a descriptor, where it says of what it is one."""
    if not isinstance(desc := value.owner, MakeSmemDescOp):
        return None
    return SharedAccess(desc.source, tuple(desc.indices), tuple(desc.extents.items()))


def overlap(matrix: SharedAccess, write: SharedAccess, *, current: bool) -> Overlap:
    """A write meets a matrix, as `cute-nvgpu-check-hazards` states the rule.

    `current` says whether the values that both name are those of the same time.
    """
    if matrix.buffer is not write.buffer:
        return "distinct"
    if matrix.memref is not write.memref:
        return "maybe"
    extents, writes, known = dict(matrix.extents), dict(write.extents), True
    for dimension, (begin, index) in enumerate(zip(matrix.indices, write.indices, strict=True)):
        first, place = constant_integer(begin), constant_integer(index)
        extent, size = extents.get(dimension, 1), writes.get(dimension, 1)
        any_index = dimension in extents and not matrix.in_a_line
        if first is not None and place is not None:
            if place >= first + extent or (place + size <= first and write.exact):
                return "distinct"
        elif not any_index and not (current and begin is index):
            known = False
    return "same" if known else "maybe"
