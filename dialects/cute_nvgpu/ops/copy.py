"""Asynchronous copies that feed MMAs: cp.async."""

from xdsl.dialects.builtin import IndexType, i32
from xdsl.irdl import operand_def, opt_operand_def, prop_def, var_operand_def

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice import data_movement as rows
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp, WaitsForGroups
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_contiguous, verify_memref
from tilewright.dialects.cute_nvgpu.types.fragments import CacheAttr
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op


class CopiesAsynchronously(FieldsOp):
    """A `cp.async` between memrefs or addresses."""

    size = prop_def(NUMBER)
    cache = prop_def(CacheAttr)

    def verify_size(self) -> None:
        """Raise VerifyException for a size that the cache operator does not copy."""
        size, cache = self.size.value.data, self.cache.data.value
        legal = rows.CP_ASYNC.sizes[cache]
        if size not in legal:
            raise self.fail(
                f"size {' or '.join(map(str, legal))} with cache {cache}, got {size}; nearest "
                f"legal: {closest(size, legal)} (PTX ISA {rows.CP_ASYNC.section})"
            )


@fields_op("cute_nvgpu.cp.async", rows.CP_ASYNC)
class CpAsyncOp(CopiesAsynchronously, NvgpuOp):
    """Start an asynchronous copy of `size` bytes from global to shared memory.

    ```mlir
    cute_nvgpu.cp.async %g[%i, %k] to %s[%r, %c] size 16 cache cg fill %bytes
      : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
    ```

    `fill` gives the bytes that are read; the rest of `size` is written as zeros, and with
    `fill` 0 the source address is not touched. The copy is complete for the executing thread
    after a `cp.async.wait_group`. PTX ISA 9.7.9.25.3.1.
    """

    source = operand_def()
    source_indices = var_operand_def(IndexType)
    dest = operand_def()
    dest_indices = var_operand_def(IndexType)
    fill = opt_operand_def(i32)

    assembly_format = (
        "$source `[` $source_indices `]` `to` $dest `[` $dest_indices `]`"
        " `size` $size `cache` $cache (`fill` $fill^)? attr-dict"
        " `:` type($source) `to` type($dest)"
    )

    def verify_(self) -> None:
        source = verify_memref("source", self.source.type, len(self.source_indices), Space.GMEM)
        dest = verify_memref("dest", self.dest.type, len(self.dest_indices), Space.SMEM)
        if source.element_type != dest.element_type:
            raise self.fail(
                f"equal element types, got {source.element_type} and {dest.element_type}"
            )
        self.verify_size()
        verify_contiguous("dest", dest, self.size.value.data)


@fields_op("cute_nvgpu.cp.async.commit_group", rows.CP_ASYNC_COMMIT_GROUP)
class CpAsyncCommitGroupOp(NvgpuOp):
    """Close the executing thread's group of pending `cp.async`. PTX ISA 9.7.9.25.3.2."""


@fields_op("cute_nvgpu.cp.async.wait_group", rows.CP_ASYNC_WAIT_GROUP)
class CpAsyncWaitGroupOp(WaitsForGroups, NvgpuOp):
    """Wait until at most `pending` of the executing thread's latest groups are in flight.

    ```mlir
    cute_nvgpu.cp.async.wait_group 1
    ```

    PTX ISA 9.7.9.25.3.3.
    """
