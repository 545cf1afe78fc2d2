"""Loads and stores, and asynchronous copies. PTX ISA 9.7.9."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    BaseAttr,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from tilewright.dialects.cute_nvgpu.lattice import data_movement as rows
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Choice, OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, later
from tilewright.dialects.cute_nvgpu.ops import copy
from tilewright.dialects.fields import NUMBER, Field, fields_op
from tilewright.dialects.ptx.instruction import (
    AlternativeOp,
    FormOp,
    HintedOp,
    OffsetOp,
    PureOp,
    RowOp,
    content,
    twin,
)
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import B32, B64, PRED, RegType, reg


class _AccessOp(HintedOp, OffsetOp):
    """A load or store: `ld{.SEMANTICS}.SPACE{.vN}.TYPE`, at an address plus a constant offset in
    bytes."""

    ROW: ClassVar[rows.MemoryAccessRow]
    ROWS: ClassVar[tuple[rows.MemoryAccessRow, ...]]

    space = prop_def(StringAttr)
    access = prop_def(StringAttr)
    semantics = opt_prop_def(StringAttr, StringAttr(rows.WEAK))
    cache = opt_prop_def(StringAttr)

    @property
    def row(self) -> rows.MemoryAccessRow:
        """The row of its space and order: the first where none has them."""
        return next((row for row in self.ROWS if self._is_of(row)), self.ROW)

    def _is_of(self, row: rows.MemoryAccessRow) -> bool:
        ordered = self.space.data in row.spaces and self.semantics.data in row.semantics
        return ordered and self.data.type.count.data in row.lengths(self.access.data)

    @property
    def access_bytes(self) -> int:
        """The bytes of one element in memory."""
        return int(self.access.data[1:]) // 8

    @property
    def thread_bytes(self) -> int:
        """The bytes of a thread's access."""
        return self.access_bytes * self.data.type.count.data

    @property
    def mnemonic(self) -> str:
        """`ld.global.v2.f32`, `ld.global.nc.f32`."""
        count, semantics = self.data.type.count.data, self.semantics.data
        *stem, type_ = self.ROW.mnemonic(self.space.data, self.access.data, count, semantics).split(
            "."
        )
        vector = [stem.pop()] if count > 1 else []
        return ".".join([*stem, *([self.cache.data] if self.cache else []), *vector, type_])

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        forms = self.ROW.operands(self.data.type.kind.data, self.data.type.count.data)
        return forms if self.cache_hint is None else (*forms, Choice("cache-policy"))

    def requirement(self) -> Requirement:
        return later(super().requirement(), rows.cached(self.semantics.data, content(self.cache)))

    def verify_(self) -> None:
        space, access, data = self.space.data, self.access.data, self.data.type
        spaces = {space: width for row in self.ROWS for space, width in row.spaces.items()}
        if space not in spaces or access not in rows.ACCESS_TYPES:
            raise self.fail(
                f"a space of {', '.join(spaces)} and a type of {', '.join(rows.ACCESS_TYPES)}, got "
                f"{space}.{access}"
            )
        if self.operands[0].type != reg(spaces[space]):
            raise self.fail(
                f"a {space} address in {reg(spaces[space])}, got {self.operands[0].type}"
            )
        there = [row for row in self.ROWS if space in row.spaces]
        legal = dict.fromkeys(order for row in there for order in row.semantics)
        if self.semantics.data not in legal:
            raise self.fail(
                f"semantics {' or '.join(legal)} of {space} memory, got {self.semantics.data}"
            )
        words = content(self.cache)
        if words and any(word not in rows.CACHING for word in words.split(".")):
            raise self.fail(f"words of {', '.join(rows.CACHING)}, got {self.cache}")
        there = [row for row in there if self.semantics.data in row.semantics]
        counts = list(dict.fromkeys(count for row in there for count in row.lengths(access)))
        if data.kind.data != rows.ACCESS_TYPES[access] or data.count.data not in counts:
            raise self.fail(
                f"{' or '.join(map(str, counts))} registers {rows.ACCESS_TYPES[access]} for "
                f"{access}, got {data}"
            )


@fields_op("ptx.ld", *rows.LOADS)
class LdOp(AlternativeOp, _AccessOp):
    """Load from memory; with a predicate where that holds, the result being other registers where
    it does not: `@p ld`, `@!p mov`. A `late` one is made where its result is needed. PTX ISA
    9.7.9.8.

    ```mlir
    %v = ptx.ld "global" "f32" %address, 16 : !ptx.reg<b64> -> !ptx.reg<f32>
    %w = ptx.ld "global" "f32" %address, 16 if %p else %v : !ptx.reg<b64> -> !ptx.reg<f32>
    ```
    """

    T = VarConstraint("T", BaseAttr(RegType))
    address = operand_def(RegType)
    predicate = opt_operand_def(PRED)
    otherwise = opt_operand_def(T)
    late = opt_prop_def(UnitAttr)
    result = result_def(T)

    @property
    def is_read_only(self) -> bool:
        """Nobody writes what it reads for as long as the kernel runs: `ld.global.nc`."""
        return self.cache is not None and "nc" in self.cache.data.split(".")

    assembly_format = (
        "(`late` $late^)? (`semantics` $semantics^)? $space $access $address `,` $offset "
        "(`if` $predicate^)? (`else` $otherwise^)?"
    )

    def __init__(
        self, space: str, access: str, address: SSAValue, offset: int = 0, count: int = 1,
        **named: Field,
    ):  # fmt: skip
        result = reg(rows.ACCESS_TYPES[access], count)
        super().__init__(address, result, space, access, offset, **named)


@fields_op("ptx.st", *rows.STORES)
class StOp(_AccessOp):
    """Store to memory, with a predicate where that holds: `@p st`. PTX ISA 9.7.9.11.

    ```mlir
    ptx.st "global" "f32" %address, 16, %v : !ptx.reg<b64>, !ptx.reg<f32>
    ptx.st "global" "f32" %address, 16, %v if %p : !ptx.reg<b64>, !ptx.reg<f32>
    ```
    """

    address = operand_def(RegType)
    value = operand_def(RegType)
    predicate = opt_operand_def(PRED)

    assembly_format = (
        "(`semantics` $semantics^)? $space $access $address `,` $offset `,` $value (`if` "
        "$predicate^)?"
    )

    def __init__(
        self, space: str, access: str, address: SSAValue, value: SSAValue, offset: int = 0,
        **named: Field,
    ):  # fmt: skip
        super().__init__(address, value, space, access, offset, **named)


@fields_op("ptx.cp.async", rows.CP_ASYNC, rows.CP_ASYNC_PREFETCH)
class CpAsyncOp(HintedOp):
    """`cp.async.CACHE.shared.global [dst], [src], size{, src-size}`; of a cache `ca.L2::128B`
    `cp.async.ca.shared.global.L2::128B`. PTX ISA 9.7.9.25.3.1."""

    ASKS_OPERANDS = True

    dest = operand_def(B32)
    source = operand_def(B64)
    source_size = opt_operand_def(B32)
    cache = prop_def(StringAttr)
    size = prop_def(NUMBER)

    assembly_format = "$cache $dest `,` $source `,` $size (`,` $source_size^)?"

    @property
    def row(self) -> rows.AsyncCopyRow:
        return rows.CP_ASYNC_PREFETCH if "." in self.cache.data else rows.CP_ASYNC

    @property
    def mnemonic(self) -> str:
        return self.row.mnemonic(self.cache.data)

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands(self.cache.data)

    def verify_(self) -> None:
        legal = self.row.sizes.get(self.cache.data, ())
        if self.size.value.data not in legal:
            raise self.fail(
                f"cache ca with size 4, 8 or 16, or cg with 16, got {self.cache.data} with "
                f"{self.size.value.data}"
            )
        given = None if self.source_size is None else self.source_size.owner
        if isinstance(given, ConstOp) and given.unsigned > self.size.value.data:
            raise self.fail(
                f"a source size of at most {self.size.value.data}, got {given.bits.value.data}"
            )


CpAsyncCommitGroupOp = twin(copy.CpAsyncCommitGroupOp)
CpAsyncWaitGroupOp = twin(copy.CpAsyncWaitGroupOp)


@fields_op("ptx.createpolicy", rows.CREATE_POLICY)
class CreatePolicyOp(PureOp, FormOp):
    """`createpolicy.fractional.PRIORITIES.b64 d{, fraction}`. PTX ISA 9.7.9.18."""

    fraction = opt_operand_def(reg("f32"))
    d = result_def(B64)


@fields_op("ptx.createpolicy.range", rows.CREATE_POLICY_RANGE)
class CreatePolicyRangeOp(PureOp, OffsetOp, FormOp):
    """`createpolicy.range{.global}.PRIORITIES.b64 d, [a], primary-size, total-size`."""

    address = operand_def(B64)
    primary = operand_def(B32)
    total = operand_def(B32)
    d = result_def(B64)


@fields_op("ptx.createpolicy.cvt", rows.CREATE_POLICY_CVT)
class CreatePolicyCvtOp(PureOp, RowOp):
    """`createpolicy.cvt.L2.b64 d, a`: the policy of a property that CUDA's API made."""

    a = operand_def(B64)
    d = result_def(B64)


@fields_op("ptx.st.bulk", rows.ST_BULK)
class StBulkOp(OffsetOp, RowOp):
    """`st.bulk.weak.shared::cta [a], size, 0`, as many bytes as a register says. PTX ISA 9.7.9.13.

    ```mlir
    ptx.st.bulk %a, 0, %size
    ```
    """

    address = operand_def(B32)
    size = operand_def(B64)

    assembly_format = "$address `,` $offset `,` $size"


@fields_op("ptx.lop3", rows.LOP3)
class Lop3Op(PureOp, RowOp):
    """`lop3.b32 d, a, b, c, immLut`: of each place, the bit that the table has at `4 a + 2 b + c`.
    PTX ISA 9.7.8.9.

    ```mlir
    %d = ptx.lop3 %a, %b, %c, 202
    ```
    """

    a = operand_def(B32)
    b = operand_def(B32)
    c = operand_def(B32)
    table = prop_def(NUMBER)
    d = result_def(B32)

    def verify_(self) -> None:
        if not 0 <= self.table.value.data < 256:
            raise self.fail(f"a table of 8 bits, got {self.table.value.data}")


class LineOp(OffsetOp, FormOp):
    """`NAME.FORM [address]`: what becomes of a line in the caches."""

    address = operand_def(B64)

    assembly_format = "$form $address `,` $offset attr-dict"


@fields_op("ptx.discard", rows.DISCARD)
class DiscardOp(LineOp):
    """`discard{.global}.L2 [address], 128`. PTX ISA 9.7.9.17."""


@fields_op("ptx.applypriority", rows.APPLY_PRIORITY)
class ApplyPriorityOp(LineOp):
    """`applypriority{.global}.L2::evict_normal [address], 128`. PTX ISA 9.7.9.16."""


@fields_op("ptx.prefetch", rows.PREFETCH)
class PrefetchOp(RowOp):
    """`prefetch.global.L2 [address]`. PTX ISA 9.7.9.15."""

    address = operand_def(B64)


@fields_op("ptx.prefetch.line", rows.PREFETCHES, rows.PREFETCHES_KEPT)
class PrefetchLineOp(LineOp):
    """`prefetch.FORM [address]`, of other memory and caches. PTX ISA 9.7.9.15.

    ```mlir
    ptx.prefetch.line "global.L1" %a, 128
    ```
    """
