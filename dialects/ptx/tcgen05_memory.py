"""Tensor memory: allocation, copies from shared memory, shifts. PTX ISA, tcgen05.

Shapes, mnemonics and requirements are read from the atom lattice.
"""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import find_copy_shape
from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_COPY, TmemCopyShape
from tilewright.dialects.cute_nvgpu.ops.cta_group import AllocationOp, GroupInstructionOp
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import OffsetOp, RowOp, content
from tilewright.dialects.ptx.types import B32, B64


class GroupOp(GroupInstructionOp, RowOp):
    """An instruction of one CTA or of a pair."""

    cta_group = prop_def(NUMBER)


@fields_op("ptx.tcgen05.alloc", rows.TMEM_ALLOC)
class AllocOp(OffsetOp, AllocationOp, GroupOp):
    """`tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [slot], columns`.

    ```mlir
    ptx.tcgen05.alloc group 1 %slot, 0, 256
    ```
    """

    OPERANDS: ClassVar = {"dst": "slot + offset"}

    slot = operand_def(B32)

    assembly_format = "`group` $cta_group $slot `,` $offset `,` $columns"


@fields_op("ptx.tcgen05.dealloc", rows.TMEM_DEALLOC)
class DeallocOp(AllocationOp, GroupOp):
    """`tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, columns`.

    ```mlir
    ptx.tcgen05.dealloc group 1 %t, 256
    ```
    """

    address = operand_def(B32)

    assembly_format = "`group` $cta_group $address `,` $columns"


@fields_op("ptx.tcgen05.relinquish_alloc_permit", rows.TMEM_RELINQUISH)
class RelinquishAllocPermitOp(GroupOp):
    """`tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned`."""

    assembly_format = "`group` $cta_group"


# Copies and shifts


@fields_op("ptx.tcgen05.cp", TMEM_COPY)
class CpOp(OffsetOp, GroupOp):
    """`tcgen05.cp.cta_group::G.SHAPE{.b8x16.FORMAT} [taddr], descriptor`.

    ```mlir
    ptx.tcgen05.cp group 1 "32x128b.warpx4" %t, 0, %desc
    ptx.tcgen05.cp group 1 "128x128b" "b6x16_p32" %t, 4, %desc
    ```
    """

    shape = prop_def(StringAttr)
    source_format = opt_prop_def(StringAttr)
    address = operand_def(B32)
    descriptor = operand_def(B64)

    assembly_format = (
        "`group` $cta_group $shape ($source_format^)? $address `,` $offset `,` $descriptor"
    )

    @property
    def copy_shape(self) -> TmemCopyShape:
        """The row of its shape. Raises AtomError where there is none."""
        return find_copy_shape(self.shape.data)

    @property
    def mnemonic(self) -> str:
        return TMEM_COPY.mnemonic(self.copy_shape, self.group, content(self.source_format))

    def verify_(self) -> None:
        super().verify_()
        _ = self.copy_shape
        if self.source_format is not None and self.source_format.data not in TMEM_COPY.formats:
            raise self.fail(
                f"a source format of {' or '.join(TMEM_COPY.formats)}, got "
                f"{self.source_format.data}"
            )


@fields_op("ptx.tcgen05.shift", rows.TMEM_SHIFT)
class ShiftOp(OffsetOp, GroupOp):
    """`tcgen05.shift.cta_group::G.down [taddr]`.

    ```mlir
    ptx.tcgen05.shift group 1 %t, 0
    ```
    """

    address = operand_def(B32)

    assembly_format = "`group` $cta_group $address `,` $offset"
