"""Tensor memory: loads, reducing loads, stores. PTX ISA, tcgen05.

Shapes, mnemonics and requirements are read from the atom lattice.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.atoms.operands import (
    tmem_access_operands,
    tmem_reduction_operands,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import REDUCE_FORMS as _REDUCE_FORMS
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import why_overlapping
from tilewright.dialects.cute_nvgpu.lattice import tmem_access as rows
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.ops.tmem_access import ShapedAccessOp
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import OffsetOp
from tilewright.dialects.ptx.types import B32, RegType, reg


class AccessOp(ShapedAccessOp, OffsetOp):
    """A load or store of a shape, at an address plus a constant offset in columns."""

    HALF_CELLS = "packed"

    shape = prop_def(StringAttr)

    @property
    def registers(self) -> int:
        return self.data.type.count.data

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return tmem_access_operands(self.row, self.access)

    @property
    def mnemonic(self) -> str:
        return self.access.mnemonic(self.row)

    def verify_(self) -> None:
        _ = self.access
        if (kind := self.data.type.kind.data) not in ("b32", "f32"):
            raise self.fail(f"registers b32 or f32, got {kind}")
        self.verify_half()


@fields_op("ptx.tcgen05.ld", rows.TMEM_LOAD)
class LdOp(AccessOp):
    """`tcgen05.ld.sync.aligned.SHAPE.xN{.pack::16b}.b32 {r}, [taddr]{, half}`.

    ```mlir
    %r = ptx.tcgen05.ld "16x256b" %t, 0 : !ptx.reg<f32 x 16>
    %q = ptx.tcgen05.ld "16x32bx2" packed half 16 %t, 8 : !ptx.reg<b32 x 8>
    ```
    """

    packed = opt_prop_def(UnitAttr)
    address = operand_def(B32)
    result = result_def(RegType)

    assembly_format = "$shape (`packed` $packed^)? (`half` $half^)? $address `,` $offset"


@fields_op("ptx.tcgen05.st", rows.TMEM_STORE)
class StOp(AccessOp):
    """`tcgen05.st.sync.aligned.SHAPE.xN{.unpack::16b}.b32 [taddr], {half,} {r}`.

    ```mlir
    ptx.tcgen05.st "32x32b" %t, 0, %r : !ptx.reg<b32 x 8>
    ```
    """

    packed = opt_prop_def(UnitAttr)
    address = operand_def(B32)
    value = operand_def(RegType)

    assembly_format = "$shape (`packed` $packed^)? (`half` $half^)? $address `,` $offset `,` $value"

    def verify_(self) -> None:
        super().verify_()
        self.refuse(why_overlapping(self.access))


@fields_op("ptx.tcgen05.ld.red", rows.TMEM_LOAD_REDUCE)
class LdRedOp(AccessOp):
    """`tcgen05.ld.red.sync.aligned.SHAPE.xN.OP{.abs}{.NaN}.TYPE {r}, red, [taddr]{, half}`.

    ```mlir
    %r, %m = ptx.tcgen05.ld.red "32x32b" "max.abs.f32" %t, 0 : !ptx.reg<f32 x 8>
    ```
    """

    form = prop_def(StringAttr)
    address = operand_def(B32)
    result = result_def(RegType)
    reduced = result_def(RegType)

    assembly_format = "$shape $form (`half` $half^)? $address `,` $offset"

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return tmem_reduction_operands(self.access)

    @property
    def mnemonic(self) -> str:
        access = self.access
        reduction, *modifiers, type_ = self.form.data.split(".")
        return rows.TMEM_LOAD_REDUCE.mnemonic(
            access.shape, access.number, reduction, type_,
            modifiers="".join(f".{modifier}" for modifier in modifiers),
        )  # fmt: skip

    def verify_(self) -> None:
        super().verify_()
        self.expect_word(self.form.data, REDUCE_FORMS, "a form of ")
        access = self.access
        if not access.shape.reduces or access.number < 2:
            raise self.fail(
                f"shape 32x32b or 16x32bx2, 2 registers or more, got {access.shape.name} and "
                f"{access.number}"
            )
        self.expect(self.reduced, reg(self.data.type.kind.data))


REDUCE_FORMS = tuple(
    f"{reduction}{modifiers}.{type_}" for reduction, type_, modifiers in _REDUCE_FORMS
)
"""`max.abs.NaN.f32`: what is reduced, and how."""
