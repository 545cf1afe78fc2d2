"""Copies of boxes of tensors. PTX ISA, cp.async.bulk.tensor."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.lattice.tma import (
    BULK_COMMIT_GROUP,
    BULK_WAIT_GROUP,
    MAX_RANK,
    PREFETCH_TENSORMAP,
    TENSOR_LOAD,
    TENSOR_LOAD_MULTICAST,
    TENSOR_LOAD_PAIR,
    TENSOR_REDUCE,
    TENSOR_STORE,
    TensorCopyRow,
)
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import Given, PtxOp, RowOp
from tilewright.dialects.ptx.types import reg

_COORDINATE = reg("b32")


class TensorCopyOp(PtxOp):
    """A copy of a box; its coordinates stand innermost first. Operands are the classes' own."""

    @property
    def row(self) -> TensorCopyRow:
        """The row of the instruction: its name and what it needs."""
        raise NotImplementedError

    @property
    def box_coordinates(self) -> Sequence[SSAValue]:
        """The coordinates of the box's first element, innermost first."""
        raise NotImplementedError

    @property
    def hinted(self) -> bool:
        """True where an L2 cache policy is given."""
        raise NotImplementedError

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic(len(self.box_coordinates), hint=self.hinted)

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands(len(self.box_coordinates), hint=self.hinted)

    def requirement(self) -> Requirement:
        return Requirement.of(self.row)

    def verify_(self) -> None:
        if not 1 <= (rank := len(self.box_coordinates)) <= MAX_RANK:
            nearest = min(max(rank, 1), MAX_RANK)
            raise self.fail(f"1 to {MAX_RANK} coordinates, got {rank}; nearest legal: {nearest}")


@fields_op("ptx.cp.async.bulk.tensor.load")
class TensorLoadOp(TensorCopyOp):
    """`cp.async.bulk.tensor.Nd.shared::cluster.global... [dst], [map, {c}], [mbar]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar multicast %mask
    ptx.cp.async.bulk.tensor.load %dst, %map, [%c0, %c1], %mbar pair
    ```

    Of a `pair` the mbarrier may be in either CTA: its address is one of the cluster's.
    """

    dest = operand_def(reg("b32"))
    map = operand_def(reg("b64"))
    coordinates = var_operand_def(_COORDINATE)
    barrier = operand_def(reg("b32"))
    mask = opt_operand_def(reg("b16"))
    pair = opt_prop_def(UnitAttr)
    cache_hint = opt_operand_def(reg("b64"))

    assembly_format = (
        "$dest `,` $map `,` `[` $coordinates `]` `,` $barrier (`multicast` $mask^)?"
        " (`pair` $pair^)? (`cache_hint` $cache_hint^)? attr-dict"
    )

    @property
    def row(self) -> TensorCopyRow:
        if self.pair is not None:
            return TENSOR_LOAD_PAIR
        return TENSOR_LOAD if self.mask is None else TENSOR_LOAD_MULTICAST

    def operand_values(self) -> Mapping[str, Given]:
        return {
            "dstMem": self.dest,
            "tensorMap": (self.map, *self.coordinates),
            "mbar": self.barrier,
            "ctaMask": self.mask,
            "cache-policy": self.cache_hint,
        }

    @property
    def box_coordinates(self) -> Sequence[SSAValue]:
        return self.coordinates

    @property
    def hinted(self) -> bool:
        return self.cache_hint is not None

    def verify_(self) -> None:
        super().verify_()
        if self.mask is not None and self.pair is not None:
            raise self.fail("multicast or pair, got both; nearest legal: multicast alone")


class TensorFromSharedOp(TensorCopyOp):
    """A box of shared memory to global memory, completed by a bulk group."""

    map = operand_def(reg("b64"))
    coordinates = var_operand_def(_COORDINATE)
    source = operand_def(reg("b32"))
    cache_hint = opt_operand_def(reg("b64"))

    def operand_values(self) -> Mapping[str, Given]:
        return {
            "tensorMap": (self.map, *self.coordinates),
            "srcMem": self.source,
            "cache-policy": self.cache_hint,
        }

    @property
    def box_coordinates(self) -> Sequence[SSAValue]:
        return self.coordinates

    @property
    def hinted(self) -> bool:
        return self.cache_hint is not None


@fields_op("ptx.cp.async.bulk.tensor.store")
class TensorStoreOp(TensorFromSharedOp):
    """`cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group [map, {c}], [src]{, policy}`.

    ```mlir
    ptx.cp.async.bulk.tensor.store %map, [%c0, %c1], %src
    ```
    """

    assembly_format = (
        "$map `,` `[` $coordinates `]` `,` $source (`cache_hint` $cache_hint^)? attr-dict"
    )

    @property
    def row(self) -> TensorCopyRow:
        return TENSOR_STORE


@fields_op("ptx.cp.reduce.async.bulk.tensor")
class TensorReduceOp(TensorFromSharedOp):
    """`cp.reduce.async.bulk.tensor.Nd.global.shared::cta.KIND.tile.bulk_group [map, {c}], [src]`.

    ```mlir
    ptx.cp.reduce.async.bulk.tensor "add" %map, [%c0, %c1], %src
    ```
    """

    kind = prop_def(StringAttr)

    assembly_format = (
        "$kind $map `,` `[` $coordinates `]` `,` $source (`cache_hint` $cache_hint^)? attr-dict"
    )

    @property
    def row(self) -> TensorCopyRow:
        return TENSOR_REDUCE[self.kind.data]

    def verify_(self) -> None:
        if self.kind.data not in TENSOR_REDUCE:
            raise self.fail(f"{', '.join(TENSOR_REDUCE)}, got {self.kind.data}")
        super().verify_()


@fields_op("ptx.cp.async.bulk.commit_group", BULK_COMMIT_GROUP)
class BulkCommitGroupOp(RowOp):
    """`cp.async.bulk.commit_group`."""


@fields_op("ptx.cp.async.bulk.wait_group", BULK_WAIT_GROUP)
class BulkWaitGroupOp(RowOp):
    """`cp.async.bulk.wait_group{.read} N`."""

    pending = prop_def(NUMBER)
    read = opt_prop_def(UnitAttr)

    assembly_format = "$pending (`read` $read^)? attr-dict"

    @property
    def mnemonic(self) -> str:
        return BULK_WAIT_GROUP.mnemonics[self.read is not None]

    def operand_values(self) -> Mapping[str, Given]:
        return {"N": self.pending.value.data}

    def verify_(self) -> None:
        if self.pending.value.data < 0:
            raise self.fail(f"a count of groups, got {self.pending.value.data}; nearest legal: 0")


@fields_op("ptx.prefetch.tensormap", PREFETCH_TENSORMAP)
class PrefetchTensormapOp(RowOp):
    """`prefetch.tensormap [map]`."""

    map = operand_def(reg("b64"))

    assembly_format = "$map attr-dict"

    def operand_values(self) -> Mapping[str, Given]:
        return {"a": self.map}
