"""Copies of boxes by the tensor memory accelerator: `cp.async.bulk.tensor`."""

from xdsl.dialects.builtin import (
    FloatTF32Type,
    IndexType,
    MemRefType,
    UnitAttr,
    f32,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute.types.memref import Space, layout_of
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorMapError
from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp, WaitsForGroups
from tilewright.dialects.cute_nvgpu.ops.mbarrier import verify_mbarrier
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_memref
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.illegal import Illegal


@fields_op(
    "cute_nvgpu.tma.load", rows.TENSOR_LOAD, rows.TENSOR_LOAD_MULTICAST, rows.TENSOR_LOAD_PAIR
)
class TmaLoadOp(NvgpuOp):
    """Start to copy a box of a tensor in global memory to shared memory.

    ```mlir
    cute_nvgpu.tma.load %map[%m, %k] to %smem[%stage, %zero, %zero] mbarrier %full[%stage]
      : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128> to
        memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>,
        memref<4xi64, 3>
    ```

    The coordinates are those of the box's first element, outermost first; they may lie outside of
    the tensor, what is outside is read as zeros. The last dimensions of the memref are those of the
    box. The copy's bytes are counted down at the mbarrier, and who has waited for that phase may
    read them. One thread executes it; `cache_hint` is an L2 cache policy.

    With `multicast %mask` the box goes to each CTA of the cluster whose bit of the mask, an i16, is
    set: to the same place of its shared memory, and its bytes are counted down at the mbarrier that
    the CTA has at the same place. With `rank %leader` they are counted down at the mbarrier that
    the CTA of that rank has there, which is this one or the other one of its pair. PTX ISA,
    cp.async.bulk.tensor.
    """

    map = operand_def(TmaDescriptorType)
    coordinates = var_operand_def(IndexType())
    dest = operand_def(MemRefType)
    dest_indices = var_operand_def(IndexType())
    barrier = operand_def(MemRefType)
    barrier_indices = var_operand_def(IndexType())
    mask = opt_operand_def(i16)
    rank = opt_operand_def(i32)
    cache_hint = opt_operand_def(i64)

    assembly_format = (
        "$map `[` $coordinates `]` `to` $dest `[` $dest_indices `]`"
        " `mbarrier` $barrier `[` $barrier_indices `]` (`multicast` $mask^)?"
        " (`rank` $rank^)?"
        " (`cache_hint` $cache_hint^)? attr-dict"
        " `:` type($map) `to` type($dest) `,` type($barrier)"
    )

    @property
    def row(self) -> rows.TensorCopyRow:
        if self.rank is not None:
            return rows.TENSOR_LOAD_PAIR
        return rows.TENSOR_LOAD if self.mask is None else rows.TENSOR_LOAD_MULTICAST

    def verify_(self) -> None:
        if self.mask is not None and self.rank is not None:
            raise self.fail("multicast or a rank, got both; nearest legal: multicast alone")
        verify_box("dest", self.map.type, len(self.coordinates), self.dest.type,
                   len(self.dest_indices))  # fmt: skip
        verify_mbarrier(self.barrier.type, len(self.barrier_indices))


class _FromSharedOp(NvgpuOp):
    """A box of shared memory to a tensor."""

    source = operand_def(MemRefType)
    source_indices = var_operand_def(IndexType())
    map = operand_def(TmaDescriptorType)
    coordinates = var_operand_def(IndexType())
    cache_hint = opt_operand_def(i64)

    assembly_format = (
        "$source `[` $source_indices `]` `to` $map `[` $coordinates `]`"
        " (`cache_hint` $cache_hint^)? attr-dict `:` type($source) `to` type($map)"
    )

    def verify_(self) -> None:
        verify_box("source", self.map.type, len(self.coordinates), self.source.type,
                   len(self.source_indices))  # fmt: skip


@fields_op("cute_nvgpu.tma.store", rows.TENSOR_STORE)
class TmaStoreOp(_FromSharedOp):
    """Start to copy a box from shared memory to a tensor in global memory.

    ```mlir
    cute_nvgpu.tma.store %smem[%zero, %zero] to %map[%m, %n]
      : memref<64x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (64,32):(32,1)">, 3> to
        !cute_nvgpu.tma_descriptor<64x32xf32, swizzle = 128>
    ```

    What lies outside of the tensor is not written. Whoever stored to the shared memory executes
    `fence.proxy.async` before the barrier that lets this thread go on; the shared memory may be
    overwritten after `cp.async.bulk.wait_group`. PTX ISA, cp.async.bulk.tensor.
    """


class TmaReduction(StrEnum):
    """An operation on an element of a tensor and one of a box."""

    ADD = "add"
    MIN = "min"
    MAX = "max"
    INC = "inc"
    DEC = "dec"
    AND = "and"
    OR = "or"
    XOR = "xor"


@irdl_attr_definition
class TmaReductionAttr(EnumAttribute[TmaReduction], SpacedOpaqueSyntaxAttribute):
    """A reduction by TMA, `#cute_nvgpu<tma_reduction add>`."""

    name = "cute_nvgpu.tma_reduction"


@fields_op("cute_nvgpu.tma.reduce", *rows.TENSOR_REDUCE.values())
class TmaReduceOp(_FromSharedOp):
    """Start to combine a tensor in global memory with a box from shared memory.

    ```mlir
    cute_nvgpu.tma.reduce add %smem[%zero, %zero] to %map[%m, %n]
      : memref<64x32xf32, !cute.composed_layout<"S<3,2,3> o 0 o (64,32):(32,1)">, 3> to
        !cute_nvgpu.tma_descriptor<64x32xf32, swizzle = 128>
    ```

    Each element of the tensor becomes `add`, `min`, `max`, `and`, `or` or `xor` of what it was and
    the box's; `inc` counts it up, to 0 from the box's element on, `dec` down, to the box's element
    from 0 or above it. Elements are combined one by one, in any order with those of other copies;
    otherwise it is a `tma.store`. PTX ISA, cp.reduce.async.bulk.tensor.
    """

    kind = prop_def(TmaReductionAttr)

    assembly_format = f"$kind {_FromSharedOp.assembly_format}"

    @property
    def row(self) -> rows.TensorCopyRow:
        return rows.TENSOR_REDUCE[self.kind.data]

    def verify_(self) -> None:
        super().verify_()
        assert isinstance(self.map.type, TmaDescriptorType)
        self.refuse(rows.why_not_reduced(self.kind.data, str(self.map.type.element_type)))


_ROUNDED: dict[Attribute, tuple[Attribute, ...]] = {f32: (FloatTF32Type(),)}
"""The elements that memory of others holds, too: a box of tf32 is f32, rounded."""


def verify_box(
    what: str, map_: Attribute, coordinates: int, memory: Attribute, indices: int
) -> None:
    """Raise Illegal unless shared memory holds the boxes of a tensor map as they lie."""
    assert isinstance(map_, TmaDescriptorType)
    memref = verify_memref(what, memory, indices, Space.SMEM)
    box = map_.box
    if coordinates != box.rank:
        raise Illegal(f"expected {box.rank} coordinates for {map_}, got {coordinates}")
    if map_.element_type not in (memref.element_type, *_ROUNDED.get(memref.element_type, ())):
        raise Illegal(f"{what} expected elements of {map_.element_type}, got {memref.element_type}")
    layout = layout_of(memref)
    if layout is None:
        raise Illegal(f"{what} expected a memref of static layout, got {memref}")
    try:
        box.check_layout(layout)
    except TensorMapError as error:
        raise Illegal(f"{what} {error}") from None


@fields_op("cute_nvgpu.cp.async.bulk.commit_group", rows.BULK_COMMIT_GROUP)
class BulkCommitGroupOp(NvgpuOp):
    """Close the executing thread's group of pending stores by TMA. PTX ISA,
    cp.async.bulk.commit_group."""


class WaitsForBulkGroups(WaitsForGroups):
    """A wait for groups of copies by TMA, at either level."""

    read = opt_prop_def(UnitAttr)

    @property
    def mnemonic(self) -> str:
        """`cp.async.bulk.wait_group.read`."""
        return rows.BULK_WAIT_GROUP.mnemonics[self.read is not None]


@fields_op("cute_nvgpu.cp.async.bulk.wait_group", rows.BULK_WAIT_GROUP)
class BulkWaitGroupOp(WaitsForBulkGroups, NvgpuOp):
    """Wait until at most `pending` of the executing thread's latest groups are not complete.

    ```mlir
    cute_nvgpu.cp.async.bulk.wait_group 0
    cute_nvgpu.cp.async.bulk.wait_group 1 read
    ```

    With `read`, until they have read their shared memory. PTX ISA, cp.async.bulk.wait_group.
    """


@fields_op("cute_nvgpu.prefetch.tensormap", rows.PREFETCH_TENSORMAP)
class PrefetchTensormapOp(NvgpuOp):
    """Bring a tensor map near before the first copy needs it.

    ```mlir
    cute_nvgpu.prefetch.tensormap %map : !cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>
    ```

    PTX ISA, prefetch.tensormap.
    """

    map = operand_def(TmaDescriptorType)
