"""Tensor memory: allocation, loads, stores, copies and shifts. PTX ISA, tcgen05.

Shapes, mnemonics and requirements are read from the atom lattice.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice.tmem import (
    TMEM_ALLOC,
    TMEM_DEALLOC,
    TMEM_RELINQUISH,
    TMEM_SHIFT,
    TmemRow,
    why_illegal_columns,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY,
    TMEM_LOAD,
    TMEM_LOAD_REDUCE,
    TMEM_STORE,
    TmemAccessRow,
    TmemCopyRow,
    TmemCopyShape,
    TmemReduceRow,
)
from tilewright.dialects.cute_nvgpu.ops.cta_group import CtaGroupOp
from tilewright.dialects.cute_nvgpu.tmem_copy import (
    REDUCE_FORMS as _REDUCE_FORMS,
)
from tilewright.dialects.cute_nvgpu.tmem_copy import (
    TmemAccess,
    find_access,
    find_copy_shape,
    find_tmem_shape,
    why_overlapping,
)
from tilewright.dialects.ptx.instruction import PtxOp, Requirement
from tilewright.dialects.ptx.types import RegType, reg


def requirement_of(row: TmemRow | TmemAccessRow | TmemReduceRow | TmemCopyRow) -> Requirement:
    """What a row needs."""
    return Requirement(row.target, row.ptx_version)


class GroupOp(PtxOp, CtaGroupOp):
    """An instruction of one CTA or of a pair."""

    ROW: ClassVar[TmemRow]

    cta_group = prop_def(IntegerAttr.constr(type=i64))

    @property
    def group(self) -> int:
        return self.cta_group.value.data

    @property
    def mnemonic(self) -> str:
        return self.ROW.mnemonic(self.group)

    def requirement(self) -> Requirement:
        return requirement_of(self.ROW)

    def verify_(self) -> None:
        self.verify_group()


def _verify_columns(op: PtxOp, columns: int) -> None:
    if (why := why_illegal_columns(columns)) is not None:
        raise VerifyException(f"'{op.name}' {why}")


@irdl_op_definition
class AllocOp(GroupOp):
    """`tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [slot], columns`.

    ```mlir
    ptx.tcgen05.alloc group 1 %slot, 0, 256
    ```
    """

    name = "ptx.tcgen05.alloc"
    ROW: ClassVar = TMEM_ALLOC

    slot = operand_def(reg("b32"))
    offset = prop_def(IntegerAttr.constr(type=i64))
    columns = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "`group` $cta_group $slot `,` $offset `,` $columns attr-dict"

    def __init__(self, slot: SSAValue, offset: int, columns: int, group: int):
        super().__init__(
            operands=[slot],
            properties={
                "offset": IntegerAttr(offset, i64),
                "columns": IntegerAttr(columns, i64),
                "cta_group": IntegerAttr(group, i64),
            },
        )

    def verify_(self) -> None:
        super().verify_()
        _verify_columns(self, self.columns.value.data)


@irdl_op_definition
class DeallocOp(GroupOp):
    """`tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, columns`.

    ```mlir
    ptx.tcgen05.dealloc group 1 %t, 256
    ```
    """

    name = "ptx.tcgen05.dealloc"
    ROW: ClassVar = TMEM_DEALLOC

    address = operand_def(reg("b32"))
    columns = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "`group` $cta_group $address `,` $columns attr-dict"

    def __init__(self, address: SSAValue, columns: int, group: int):
        super().__init__(
            operands=[address],
            properties={
                "columns": IntegerAttr(columns, i64),
                "cta_group": IntegerAttr(group, i64),
            },
        )

    def verify_(self) -> None:
        super().verify_()
        _verify_columns(self, self.columns.value.data)


@irdl_op_definition
class RelinquishAllocPermitOp(GroupOp):
    """`tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned`."""

    name = "ptx.tcgen05.relinquish_alloc_permit"
    ROW: ClassVar = TMEM_RELINQUISH

    assembly_format = "`group` $cta_group attr-dict"

    def __init__(self, group: int):
        super().__init__(properties={"cta_group": IntegerAttr(group, i64)})


# Loads and stores


class AccessOp(PtxOp):
    """A load or store of a shape, at an address plus a constant offset in columns."""

    shape = prop_def(StringAttr)
    half = opt_prop_def(IntegerAttr.constr(type=i64))
    offset = prop_def(IntegerAttr.constr(type=i64))

    @property
    def data(self) -> RegType:
        """The registers that are loaded or stored."""
        raise NotImplementedError

    @property
    def is_packed(self) -> bool:
        """Whether a register holds the low halves of two cells."""
        return False

    @property
    def access(self) -> TmemAccess:
        """The access. Raises AtomError where there is none."""
        return find_access(
            find_tmem_shape(self.shape.data),
            self.data.count.data,
            packed=self.is_packed,
            half=None if self.half is None else self.half.value.data,
        )

    def verify_(self) -> None:
        try:
            _ = self.access
        except AtomError as error:
            raise VerifyException(f"'{self.name}' {error}") from None
        if (kind := self.data.kind.data) not in ("b32", "f32"):
            raise VerifyException(f"'{self.name}' expected registers b32 or f32, got {kind}")
        if self.half is not None and self.half.value.data < 0:
            raise VerifyException(
                f"'{self.name}' expected a second half at column 0 or more, got "
                f"{self.half.value.data}; nearest legal: 0 (ptxas checks no range)"
            )


def _properties(access: TmemAccess, offset: int) -> dict[str, Attribute | None]:
    return {
        "shape": StringAttr(access.shape.name),
        "half": IntegerAttr(access.half, i64) if access.shape.halves else None,
        "offset": IntegerAttr(offset, i64),
    }


def _packed_properties(access: TmemAccess, offset: int) -> dict[str, Attribute | None]:
    packed = UnitAttr() if access.packed else None
    return {**_properties(access, offset), "packed": packed}


@irdl_op_definition
class LdOp(AccessOp):
    """`tcgen05.ld.sync.aligned.SHAPE.xN{.pack::16b}.b32 {r}, [taddr]{, half}`.

    ```mlir
    %r = ptx.tcgen05.ld "16x256b" %t, 0 : !ptx.reg<f32 x 16>
    %q = ptx.tcgen05.ld "16x32bx2" packed half 16 %t, 8 : !ptx.reg<b32 x 8>
    ```
    """

    name = "ptx.tcgen05.ld"
    ROW: ClassVar = TMEM_LOAD

    packed = opt_prop_def(UnitAttr)
    address = operand_def(reg("b32"))
    result = result_def(RegType)

    assembly_format = (
        "$shape (`packed` $packed^)? (`half` $half^)? $address `,` $offset attr-dict"
        " `:` type($result)"
    )

    def __init__(self, address: SSAValue, result: RegType, access: TmemAccess, offset: int = 0):
        super().__init__(
            operands=[address],
            properties=_packed_properties(access, offset),
            result_types=[result],
        )

    @property
    def data(self) -> RegType:
        return self.result.type

    @property
    def is_packed(self) -> bool:
        return self.packed is not None

    @property
    def mnemonic(self) -> str:
        return self.access.mnemonic(self.ROW)

    def requirement(self) -> Requirement:
        return requirement_of(self.ROW)


@irdl_op_definition
class StOp(AccessOp):
    """`tcgen05.st.sync.aligned.SHAPE.xN{.unpack::16b}.b32 [taddr], {half,} {r}`.

    ```mlir
    ptx.tcgen05.st "32x32b" %t, 0, %r : !ptx.reg<b32 x 8>
    ```
    """

    name = "ptx.tcgen05.st"
    ROW: ClassVar = TMEM_STORE

    packed = opt_prop_def(UnitAttr)
    address = operand_def(reg("b32"))
    value = operand_def(RegType)

    assembly_format = (
        "$shape (`packed` $packed^)? (`half` $half^)? $address `,` $offset `,` $value attr-dict"
        " `:` type($value)"
    )

    def __init__(self, address: SSAValue, value: SSAValue, access: TmemAccess, offset: int = 0):
        super().__init__(operands=[address, value], properties=_packed_properties(access, offset))

    @property
    def data(self) -> RegType:
        assert isinstance(self.value.type, RegType)
        return self.value.type

    @property
    def is_packed(self) -> bool:
        return self.packed is not None

    @property
    def mnemonic(self) -> str:
        return self.access.mnemonic(self.ROW)

    def requirement(self) -> Requirement:
        return requirement_of(self.ROW)

    def verify_(self) -> None:
        super().verify_()
        if (why := why_overlapping(self.access)) is not None:
            raise VerifyException(f"'{self.name}' {why}")


@irdl_op_definition
class LdRedOp(AccessOp):
    """`tcgen05.ld.red.sync.aligned.SHAPE.xN.OP{.abs}{.NaN}.TYPE {r}, red, [taddr]{, half}`.

    ```mlir
    %r, %m = ptx.tcgen05.ld.red "32x32b" "max.abs.f32" %t, 0 : !ptx.reg<f32 x 8>
    ```
    """

    name = "ptx.tcgen05.ld.red"
    ROW: ClassVar = TMEM_LOAD_REDUCE

    form = prop_def(StringAttr)
    address = operand_def(reg("b32"))
    result = result_def(RegType)
    reduced = result_def(RegType)

    assembly_format = (
        "$shape $form (`half` $half^)? $address `,` $offset attr-dict"
        " `:` type($result) `,` type($reduced)"
    )

    def __init__(
        self, address: SSAValue, result: RegType, access: TmemAccess, form: str, offset: int = 0
    ):
        super().__init__(
            operands=[address],
            properties={**_properties(access, offset), "form": StringAttr(form)},
            result_types=[result, reg(result.kind.data)],
        )

    @property
    def data(self) -> RegType:
        return self.result.type

    @property
    def mnemonic(self) -> str:
        access = self.access
        reduction, *modifiers, type_ = self.form.data.split(".")
        return self.ROW.mnemonic(
            access.shape, access.number, reduction, type_,
            modifiers="".join(f".{each}" for each in modifiers),
        )  # fmt: skip

    def requirement(self) -> Requirement:
        return requirement_of(self.ROW)

    def verify_(self) -> None:
        super().verify_()
        if (form := self.form.data) not in REDUCE_FORMS:
            raise VerifyException(
                f"'{self.name}' expected a form of {', '.join(REDUCE_FORMS)}, got {form}"
            )
        access = self.access
        if not access.shape.reduces or access.number < 2:
            raise VerifyException(
                f"'{self.name}' expected shape 32x32b or 16x32bx2, 2 registers or more, got "
                f"{access.shape.name} and {access.number}"
            )
        if self.reduced.type != reg(self.data.kind.data):
            raise VerifyException(
                f"'{self.name}' expected a result of {reg(self.data.kind.data)}, "
                f"got {self.reduced.type}"
            )


REDUCE_FORMS = tuple(
    f"{reduction}{modifiers}.{type_}" for reduction, type_, modifiers in _REDUCE_FORMS
)
"""`max.abs.NaN.f32`: what is reduced, and how."""


# Copies and shifts


@irdl_op_definition
class CpOp(GroupOp):
    """`tcgen05.cp.cta_group::G.SHAPE{.b8x16.FORMAT} [taddr], descriptor`.

    ```mlir
    ptx.tcgen05.cp group 1 "32x128b.warpx4" %t, 0, %desc
    ptx.tcgen05.cp group 1 "128x128b" "b6x16_p32" %t, 4, %desc
    ```
    """

    name = "ptx.tcgen05.cp"

    shape = prop_def(StringAttr)
    source_format = opt_prop_def(StringAttr)
    address = operand_def(reg("b32"))
    descriptor = operand_def(reg("b64"))
    offset = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = (
        "`group` $cta_group $shape ($source_format^)? $address `,` $offset `,` $descriptor"
        " attr-dict"
    )

    def __init__(
        self,
        address: SSAValue,
        descriptor: SSAValue,
        shape: TmemCopyShape,
        group: int,
        source_format: str | None = None,
        offset: int = 0,
    ):
        super().__init__(
            operands=[address, descriptor],
            properties={
                "shape": StringAttr(shape.spelled),
                "source_format": None if source_format is None else StringAttr(source_format),
                "offset": IntegerAttr(offset, i64),
                "cta_group": IntegerAttr(group, i64),
            },
        )

    @property
    def copy_shape(self) -> TmemCopyShape:
        """The row of its shape. Raises AtomError where there is none."""
        return find_copy_shape(self.shape.data)

    @property
    def mnemonic(self) -> str:
        source = None if self.source_format is None else self.source_format.data
        return TMEM_COPY.mnemonic(self.copy_shape, self.group, source)

    def requirement(self) -> Requirement:
        return requirement_of(TMEM_COPY)

    def verify_(self) -> None:
        super().verify_()
        try:
            _ = self.copy_shape
        except AtomError as error:
            raise VerifyException(f"'{self.name}' {error}") from None
        if self.source_format is not None and self.source_format.data not in TMEM_COPY.formats:
            raise VerifyException(
                f"'{self.name}' expected a source format of {' or '.join(TMEM_COPY.formats)}, "
                f"got {self.source_format.data}"
            )


@irdl_op_definition
class ShiftOp(GroupOp):
    """`tcgen05.shift.cta_group::G.down [taddr]`.

    ```mlir
    ptx.tcgen05.shift group 1 %t, 0
    ```
    """

    name = "ptx.tcgen05.shift"
    ROW: ClassVar = TMEM_SHIFT

    address = operand_def(reg("b32"))
    offset = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "`group` $cta_group $address `,` $offset attr-dict"

    def __init__(self, address: SSAValue, group: int, offset: int = 0):
        super().__init__(
            operands=[address],
            properties={
                "offset": IntegerAttr(offset, i64),
                "cta_group": IntegerAttr(group, i64),
            },
        )


OPS = [AllocOp, DeallocOp, RelinquishAllocPermitOp, LdOp, StOp, LdRedOp, CpOp, ShiftOp]
