"""Copies of boxes of tensors, and of bytes. PTX ISA, cp.async.bulk.tensor and cp.async.bulk."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

if TYPE_CHECKING:
    from xdsl.irdl import OptOperand, VarOperand

from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import BoxForm
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant, OperandForm, Vector
from tilewright.dialects.cute_nvgpu.ops import tma
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import FormOp, HintedOp, PtxOp, RowOp, content, twin
from tilewright.dialects.ptx.types import B16, B32, B64, RegType, reg

TILE = StringAttr("tile")


class AsyncBulkOp(PtxOp):
    """A copy of the tensor memory accelerator, with the hint of a cache or without."""

    @property
    def variant(self) -> dict[str, Any]:
        """The arguments of its row's mnemonic and operands."""
        return {"hint": getattr(self, "cache_hint", None) is not None}

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic(**self.variant)

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands(**self.variant)


class TensorCopyOp(HintedOp, AsyncBulkOp):
    """A copy of a box; the coordinates of its first element stand innermost first, of four rows
    that of their first elements and those of the rows. A copy of pixels has `offsets` besides, by
    the mode that it is of. PTX ISA 5.5."""

    MODES: ClassVar[Mapping[Any, rows.TensorCopyRow]]

    if TYPE_CHECKING:
        coordinates: VarOperand
        offsets: OptOperand

    mode = opt_prop_def(StringAttr, TILE)

    @property
    def dimensions(self) -> int:
        """How many the tensor has."""
        return self.row.rank(len(self.coordinates))

    @property
    def variant(self) -> dict[str, Any]:
        return {"rank": self.dimensions, **super().variant}

    @property
    def key(self) -> Any:
        """The key of its row among those of its modes."""
        return self.mode.data

    @property
    def row(self) -> rows.TensorCopyRow:
        if (row := self.MODES.get(self.key)) is None:
            raise self.fail(f"another mode than {self.mode.data} here")
        return row

    def verify_(self) -> None:
        if (rank := self.dimensions) not in (legal := self.row.ranks):
            nearest = min(max(rank, legal[0]), legal[-1])
            raise self.fail(
                f"{legal[0]} to {legal[-1]} coordinates, got {rank}; nearest legal: {nearest}"
            )
        box, *_ = (form for form in self.operand_forms if isinstance(form, BoxForm))
        if len(self.coordinates) != box.rank:
            raise self.fail(
                f"{box.rank} coordinates of {self.mode.data}, got {len(self.coordinates)}"
            )
        [count] = [form.count for form in self.operand_forms if isinstance(form, Vector)] or [0]
        given = None if (offsets := getattr(self, "offsets", None)) is None else offsets.type
        if given != (legal := reg("b16", count) if count else None):
            raise self.fail(f"offsets {legal} of {self.mode.data}, got {given}")


@fields_op("ptx.cp.async.bulk.tensor.load", *rows.TENSOR_LOADS.values())
class TensorLoadOp(TensorCopyOp):
    """`cp.async.bulk.tensor.Nd.shared::cluster.global... [dst], [map, {c}], [mbar]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar multicast %mask
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar pair
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1, %c2], %mbar offsets %h
    ```

    Of a `pair` the mbarrier may be in either CTA: its address is one of the cluster's. `own` says
    that the box goes to the CTA's own memory, which more targets have of some modes.
    """

    MODES = rows.TENSOR_LOADS

    dest = operand_def(B32)
    map = operand_def(B64)
    coordinates = var_operand_def(B32)
    barrier = operand_def(B32)
    offsets = opt_operand_def(RegType)
    mask = opt_operand_def(B16)
    pair = opt_prop_def(UnitAttr)
    own = opt_prop_def(UnitAttr)

    assembly_format = (
        "$dest `,` $map `,` `[` $coordinates `]` `,` $barrier (`offsets` $offsets^ `:` "
        "type($offsets))? (`multicast` $mask^)? (`pair` $pair^)? (`own` $own^)?"
    )

    @property
    def key(self) -> Any:
        return self.mode.data, *(word is not None for word in (self.mask, self.pair, self.own))


class TensorFromSharedOp(TensorCopyOp):
    """A box of shared memory to global memory, completed by a bulk group."""

    map = operand_def(B64)
    coordinates = var_operand_def(B32)
    source = operand_def(B32)


@fields_op("ptx.cp.async.bulk.tensor.store", *rows.TENSOR_STORES.values())
class TensorStoreOp(TensorFromSharedOp):
    """`cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group [map, {c}], [src]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.store %map, [%c0, %c1], %src
    ```
    """

    MODES = rows.TENSOR_STORES

    assembly_format = "$map `,` `[` $coordinates `]` `,` $source"


@fields_op("ptx.cp.async.bulk.prefetch.tensor", *rows.TENSOR_PREFETCHES.values())
class TensorPrefetchOp(TensorCopyOp):
    """`cp.async.bulk.prefetch.tensor.Nd.L2.global.tile [map, {c}]{, policy}`."""

    MODES = rows.TENSOR_PREFETCHES

    map = operand_def(B64)
    coordinates = var_operand_def(B32)
    offsets = opt_operand_def(RegType)

    assembly_format = "$map `,` `[` $coordinates `]` (`offsets` $offsets^ `:` type($offsets))?"


@fields_op("ptx.cp.reduce.async.bulk.tensor", *rows.TENSOR_REDUCTIONS.values())
class TensorReduceOp(TensorFromSharedOp):
    """`cp.reduce.async.bulk.tensor.Nd.global.shared::cta.KIND.tile.bulk_group [map, {c}], [src]`.

    ```mlir
    ptx.cp.reduce.async.bulk.tensor "add" %map, [%c0, %c1], %src
    ```
    """

    MODES = rows.TENSOR_REDUCTIONS

    kind = prop_def(StringAttr)

    assembly_format = "$kind $map `,` `[` $coordinates `]` `,` $source"

    @property
    def key(self) -> Any:
        return self.kind.data, self.mode.data

    def verify_(self) -> None:
        self.expect_word(self.kind.data, rows.TENSOR_REDUCE)
        super().verify_()


class BulkCopyOp(AsyncBulkOp):
    """A copy of `size` bytes that lie one after the other."""


@fields_op(
    "ptx.cp.async.bulk.load", rows.BULK_LOAD, rows.BULK_LOAD_MULTICAST, rows.BULK_LOAD_IGNORING
)
class BulkLoadOp(HintedOp, BulkCopyOp):
    """`cp.async.bulk.shared::cluster.global... [dst], [src], size, [mbar]{, mask}{, policy}`; of
    the first `left` bytes and the last `right` ones it does not say what they become.

    ```mlir
    ptx.cp.async.bulk.load %dst, %src, %size, %mbar multicast %mask
    ptx.cp.async.bulk.load %dst, %src, %size, %mbar ignore %left, %right
    ```
    """

    dest = operand_def(B32)
    source = operand_def(B64)
    size = operand_def(B32)
    barrier = operand_def(B32)
    mask = opt_operand_def(B16)
    left = opt_operand_def(B32)
    right = opt_operand_def(B32)

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

    CHOICE = "mask"

    mask = opt_operand_def(B16)

    assembly_format = "$dest `,` $source `,` $size (`mask` $mask^)?"


@fields_op("ptx.cp.async.bulk.store", rows.BULK_STORE, rows.BULK_STORE_MASKED)
class BulkStoreOp(HintedOp, _MaskedStoreOp):
    """`cp.async.bulk.global.shared::cta.bulk_group [dst], [src], size{, policy}{, mask}`."""


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
        self.expect_word(self.form.data, self.FORMS)


@fields_op("ptx.cp.reduce.async.bulk", *rows.BULK_REDUCE.values())
class BulkReduceOp(HintedOp, _BulkReduceOp):
    """`cp.reduce.async.bulk.global.shared::cta.bulk_group.FORM [dst], [src], size{, policy}`.

    ```mlir
    ptx.cp.reduce.async.bulk "add.noftz.f16" %dst, %src, %size
    ```
    """

    FORMS = rows.BULK_REDUCE


@fields_op("ptx.multimem.cp.reduce.async.bulk", *rows.MULTIMEM_REDUCE.values())
class MultimemBulkReduceOp(_BulkReduceOp):
    """`multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.FORM [dst], [src], size`."""

    FORMS = rows.MULTIMEM_REDUCE


@fields_op("ptx.cp.async.bulk.prefetch", rows.BULK_PREFETCH)
class BulkPrefetchOp(HintedOp, BulkCopyOp):
    """`cp.async.bulk.prefetch.L2.global [src], size{, policy}`."""

    source = operand_def(B64)
    size = operand_def(B32)


BulkCommitGroupOp = twin(tma.BulkCommitGroupOp)


BulkWaitGroupOp = twin(tma.BulkWaitGroupOp)


@fields_op("ptx.prefetch.tensormap", rows.PREFETCH_TENSORMAP)
class PrefetchTensormapOp(RowOp):
    """`prefetch.tensormap [map]`."""

    map = operand_def(B64)


@fields_op("ptx.tensormap.replace", *rows.TENSORMAP_REPLACE.values())
class TensormapReplaceOp(FormOp):
    """`tensormap.replace.FORM [address]{, ord}, new_val`: replace a field of a tensor map, or its
    number `ord`, by a register or a number.

    ```mlir
    ptx.tensormap.replace "tile.box_dim.shared::cta.b1024.b32" %map place 0 by %n
    ptx.tensormap.replace "tile.fill_mode.shared::cta.b1024.b32" %map number 1
    ```
    """

    WORDS = None

    address = operand_def(RegType)
    place = opt_prop_def(NUMBER)
    value = opt_operand_def(RegType)
    number = opt_prop_def(NUMBER)

    assembly_format = (
        "$form $address (`place` $place^)? (`by` $value^)? (`number` $number^)? attr-dict `:` "
        "type(operands)"
    )

    def verify_(self) -> None:
        super().verify_()
        for form in self.row.operands[1:]:
            [field] = self.fields_of(form)
            given = content(getattr(self, field))
            if given is None or (isinstance(form, Constant) and given not in (form.legal or ())):
                raise self.fail(f"{form.in_words} as {field} of {self.form.data}, got {given}")


@fields_op("ptx.tensormap.cp_fenceproxy", rows.CP_FENCEPROXY)
class CpFenceproxyOp(RowOp):
    """`tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned
    [dst], [src], 128`: the tensor map in shared memory, copied and shown to others."""

    scope = prop_def(StringAttr)
    dest = operand_def(B64)
    source = operand_def(B32)

    assembly_format = "$scope $dest `,` $source"

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic.replace("release.cta", f"release.{self.scope.data}")

    def verify_(self) -> None:
        self.expect_word(self.scope.data, SCOPES, "a scope of ")
