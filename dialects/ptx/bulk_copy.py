"""Copies of boxes of tensors, and of bytes. PTX ISA, cp.async.bulk.tensor and cp.async.bulk."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

if TYPE_CHECKING:
    from xdsl.irdl import OptOperand, VarOperand

from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant, OperandForm
from tilewright.dialects.cute_nvgpu.ops import tma
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import PtxOp, RowOp, content, twin
from tilewright.dialects.ptx.types import B16, B32, B64, RegType


class TensorCopyOp(PtxOp):
    """A copy of a box; the coordinates of its first element stand innermost first."""

    if TYPE_CHECKING:
        coordinates: VarOperand
        cache_hint: OptOperand

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic(len(self.coordinates), hint=self.cache_hint is not None)

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands(len(self.coordinates), hint=self.cache_hint is not None)

    def verify_(self) -> None:
        if not 1 <= (rank := len(self.coordinates)) <= rows.MAX_RANK:
            nearest = min(max(rank, 1), rows.MAX_RANK)
            raise self.fail(
                f"1 to {rows.MAX_RANK} coordinates, got {rank}; nearest legal: {nearest}"
            )


@fields_op(
    "ptx.cp.async.bulk.tensor.load",
    rows.TENSOR_LOAD,
    rows.TENSOR_LOAD_MULTICAST,
    rows.TENSOR_LOAD_PAIR,
    rows.TENSOR_LOAD_PAIR_MULTICAST,
)
class TensorLoadOp(TensorCopyOp):
    """`cp.async.bulk.tensor.Nd.shared::cluster.global... [dst], [map, {c}], [mbar]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar multicast %mask
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar pair
    ```

    Of a `pair` the mbarrier may be in either CTA: its address is one of the cluster's.
    """

    dest = operand_def(B32)
    map = operand_def(B64)
    coordinates = var_operand_def(B32)
    barrier = operand_def(B32)
    mask = opt_operand_def(B16)
    pair = opt_prop_def(UnitAttr)
    cache_hint = opt_operand_def(B64)

    assembly_format = (
        "$dest `,` $map `,` `[` $coordinates `]` `,` $barrier (`multicast` $mask^)? (`pair` "
        "$pair^)?"
    )

    @property
    def row(self) -> rows.TensorCopyRow:
        if self.mask is None:
            return rows.TENSOR_LOAD if self.pair is None else rows.TENSOR_LOAD_PAIR
        return rows.TENSOR_LOAD_MULTICAST if self.pair is None else rows.TENSOR_LOAD_PAIR_MULTICAST


class TensorFromSharedOp(TensorCopyOp):
    """A box of shared memory to global memory, completed by a bulk group."""

    map = operand_def(B64)
    coordinates = var_operand_def(B32)
    source = operand_def(B32)
    cache_hint = opt_operand_def(B64)


@fields_op("ptx.cp.async.bulk.tensor.store", rows.TENSOR_STORE)
class TensorStoreOp(TensorFromSharedOp):
    """`cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group [map, {c}], [src]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.store %map, [%c0, %c1], %src
    ```
    """

    assembly_format = "$map `,` `[` $coordinates `]` `,` $source"


@fields_op("ptx.cp.reduce.async.bulk.tensor", *rows.TENSOR_REDUCE.values())
class TensorReduceOp(TensorFromSharedOp):
    """`cp.reduce.async.bulk.tensor.Nd.global.shared::cta.KIND.tile.bulk_group [map, {c}], [src]`.

    ```mlir
    ptx.cp.reduce.async.bulk.tensor "add" %map, [%c0, %c1], %src
    ```
    """

    kind = prop_def(StringAttr)

    assembly_format = "$kind $map `,` `[` $coordinates `]` `,` $source"

    @property
    def row(self) -> rows.TensorCopyRow:
        return rows.TENSOR_REDUCE[self.kind.data]

    def verify_(self) -> None:
        if self.kind.data not in rows.TENSOR_REDUCE:
            raise self.fail(f"{', '.join(rows.TENSOR_REDUCE)}, got {self.kind.data}")
        super().verify_()


class BulkCopyOp(PtxOp):
    """A copy of `size` bytes that lie one after the other."""

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic(hint=getattr(self, "cache_hint", None) is not None)

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands(hint=getattr(self, "cache_hint", None) is not None)


@fields_op(
    "ptx.cp.async.bulk.load", rows.BULK_LOAD, rows.BULK_LOAD_MULTICAST, rows.BULK_LOAD_IGNORING
)
class BulkLoadOp(BulkCopyOp):
    """`cp.async.bulk.shared::cluster.global... [dst], [src], size, [mbar]{, mask}{, policy}`; of
    the first `left` bytes and the last `right` ones it does not say what they become.

    ```mlir
    ptx.cp.async.bulk.load %dst, %src, %size, %mbar multicast %mask
    ptx.cp.async.bulk.load %dst, %src, %size, %mbar ignore %left, %right
    ```
    """

    OPERANDS: ClassVar = {"ignoreBytesLeft": "left", "ignoreBytesRight": "right"}

    dest = operand_def(B32)
    source = operand_def(B64)
    size = operand_def(B32)
    barrier = operand_def(B32)
    mask = opt_operand_def(B16)
    left = opt_operand_def(B32)
    right = opt_operand_def(B32)
    cache_hint = opt_operand_def(B64)

    assembly_format = (
        "$dest `,` $source `,` $size `,` $barrier (`multicast` $mask^)? "
        "(`ignore` $left^ `,` $right)?"
    )

    @property
    def row(self) -> rows.BulkCopyRow:
        if self.left is not None:
            return rows.BULK_LOAD_IGNORING
        return rows.BULK_LOAD if self.mask is None else rows.BULK_LOAD_MULTICAST

    def verify_(self) -> None:
        if not (self.left is None) == (self.right is None) >= (self.mask is not None):
            raise self.fail("multicast, bytes to ignore on either side, or neither")


class _BulkFromSharedOp(BulkCopyOp):
    """Bytes of shared memory to global memory, completed by a bulk group."""

    dest = operand_def(B64)
    source = operand_def(B32)
    size = operand_def(B32)


class _MaskedStoreOp(_BulkFromSharedOp):
    """One of all bytes or, of each 16, those whose bits of a mask are set."""

    OPERANDS: ClassVar = {"byteMask": "mask"}

    mask = opt_operand_def(B16)

    assembly_format = "$dest `,` $source `,` $size (`mask` $mask^)?"

    @property
    def row(self) -> rows.BulkCopyRow:
        return self.ROWS[self.mask is not None]


@fields_op("ptx.cp.async.bulk.store", rows.BULK_STORE, rows.BULK_STORE_MASKED)
class BulkStoreOp(_MaskedStoreOp):
    """`cp.async.bulk.global.shared::cta.bulk_group [dst], [src], size{, policy}{, mask}`."""

    cache_hint = opt_operand_def(B64)


@fields_op("ptx.multimem.cp.async.bulk", rows.MULTIMEM_STORE, rows.MULTIMEM_STORE_MASKED)
class MultimemBulkStoreOp(_MaskedStoreOp):
    """`multimem.cp.async.bulk.global.shared::cta.bulk_group [dst], [src], size{, mask}`."""


class _BulkReduceOp(_BulkFromSharedOp):
    """One that combines."""

    FORMS: ClassVar[Mapping[str, rows.BulkCopyRow]]

    form = prop_def(StringAttr)

    assembly_format = "$form $dest `,` $source `,` $size"

    @property
    def row(self) -> rows.BulkCopyRow:
        return self.FORMS[self.form.data]

    def verify_(self) -> None:
        if self.form.data not in self.FORMS:
            raise self.fail(f"{', '.join(self.FORMS)}, got {self.form.data}")


@fields_op("ptx.cp.reduce.async.bulk", *rows.BULK_REDUCE.values())
class BulkReduceOp(_BulkReduceOp):
    """`cp.reduce.async.bulk.global.shared::cta.bulk_group.FORM [dst], [src], size{, policy}`.

    ```mlir
    ptx.cp.reduce.async.bulk "add.noftz.f16" %dst, %src, %size
    ```
    """

    FORMS = rows.BULK_REDUCE

    cache_hint = opt_operand_def(B64)


@fields_op("ptx.multimem.cp.reduce.async.bulk", *rows.MULTIMEM_REDUCE.values())
class MultimemBulkReduceOp(_BulkReduceOp):
    """`multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.FORM [dst], [src], size`."""

    FORMS = rows.MULTIMEM_REDUCE


@fields_op("ptx.cp.async.bulk.prefetch", rows.BULK_PREFETCH)
class BulkPrefetchOp(BulkCopyOp):
    """`cp.async.bulk.prefetch.L2.global [src], size{, policy}`."""

    source = operand_def(B64)
    size = operand_def(B32)
    cache_hint = opt_operand_def(B64)

    assembly_format = "$source `,` $size"


BulkCommitGroupOp = twin(tma.BulkCommitGroupOp)


BulkWaitGroupOp = twin(tma.BulkWaitGroupOp)


@fields_op("ptx.prefetch.tensormap", rows.PREFETCH_TENSORMAP)
class PrefetchTensormapOp(RowOp):
    """`prefetch.tensormap [map]`."""

    OPERANDS: ClassVar = {"a": "map"}

    map = operand_def(B64)


@fields_op("ptx.tensormap.replace", *rows.TENSORMAP_REPLACE.values())
class TensormapReplaceOp(RowOp):
    """`tensormap.replace.FORM [address]{, ord}, new_val`: replace a field of a tensor map, or its
    number `ord`, by a register or a number.

    ```mlir
    ptx.tensormap.replace "tile.box_dim.shared::cta.b1024.b32" %map place 0 by %n
    ptx.tensormap.replace "tile.fill_mode.shared::cta.b1024.b32" %map number 1
    ```
    """

    OPERANDS: ClassVar = {"ord": "place", "new_val": "value", "val": "number"}

    form = prop_def(StringAttr)
    address = operand_def(RegType)
    place = opt_prop_def(NUMBER)
    value = opt_operand_def(RegType)
    number = opt_prop_def(NUMBER)

    assembly_format = (
        "$form $address (`place` $place^)? (`by` $value^)? (`number` $number^)? attr-dict `:` "
        "type(operands)"
    )

    @property
    def row(self) -> InstructionRow:
        return rows.TENSORMAP_REPLACE[self.form.data]

    def verify_(self) -> None:
        if self.form.data not in rows.TENSORMAP_REPLACE:
            raise self.fail(f"{', '.join(rows.TENSORMAP_REPLACE)}, got {self.form.data}")
        for form in self.row.operands[1:]:
            field = self.OPERANDS[form.name]
            given = content(getattr(self, field))
            if given is None or (isinstance(form, Constant) and given not in (form.legal or ())):
                raise self.fail(f"{form.in_words} as {field} of {self.form.data}, got {given}")


@fields_op("ptx.tensormap.cp_fenceproxy", rows.CP_FENCEPROXY)
class CpFenceproxyOp(RowOp):
    """`tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned
    [dst], [src], 128`: the tensor map in shared memory, copied and shown to others."""

    OPERANDS: ClassVar = {"size": "128"}

    scope = prop_def(StringAttr)
    dest = operand_def(B64)
    source = operand_def(B32)

    assembly_format = "$scope $dest `,` $source"

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic.replace("release.cta", f"release.{self.scope.data}")

    def verify_(self) -> None:
        if self.scope.data not in SCOPES:
            raise self.fail(f"a scope of {', '.join(SCOPES)}, got {self.scope.data}")
