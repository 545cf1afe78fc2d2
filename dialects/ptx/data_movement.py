"""Loads and stores, and asynchronous copies. PTX ISA 9.7.9."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.ptx.instruction import PtxOp, Requirement
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import RegType, reg

# The types of a memory access and the register that each goes through; narrow ones sit in b16.
ACCESS_TYPES: dict[str, str] = {
    "b8": "b16",
    "b16": "b16",
    "b32": "b32",
    "b64": "b64",
    "f32": "f32",
    "f64": "f64",
}
# The most that one access moves (256 bits need sm_100 and PTX 8.8, which no row here says).
VECTOR_BITS = 128
# Spaces and the width of their addresses.
SPACES: dict[str, str] = {"global": "b64", "shared": "b32"}


class _AccessOp(PtxOp):
    """A load or store: `ld.SPACE{.vN}.TYPE`, at an address plus a constant offset in bytes."""

    MNEMONIC: ClassVar[str]

    space = prop_def(StringAttr)
    access = prop_def(StringAttr)
    offset = prop_def(IntegerAttr.constr(type=i64))

    def data_type(self) -> RegType:
        """The register list that is loaded or stored."""
        raise NotImplementedError

    @property
    def access_bytes(self) -> int:
        """The bytes of one element in memory."""
        return int(self.access.data[1:]) // 8

    @property
    def mnemonic(self) -> str:
        """`ld.global.v2.f32`."""
        count = self.data_type().count.data
        vector = f".v{count}" if count > 1 else ""
        return f"{self.MNEMONIC}.{self.space.data}{vector}.{self.access.data}"

    def verify_(self) -> None:
        space, access, data = self.space.data, self.access.data, self.data_type()
        if space not in SPACES or access not in ACCESS_TYPES:
            raise VerifyException(
                f"'{self.name}' expected a space of {', '.join(SPACES)} and a type of "
                f"{', '.join(ACCESS_TYPES)}, got {space}.{access}"
            )
        if self.operands[0].type != reg(SPACES[space]):
            raise VerifyException(
                f"'{self.name}' expected a {space} address in {reg(SPACES[space])}, "
                f"got {self.operands[0].type}"
            )
        counts = [n for n in (1, 2, 4) if n * int(access[1:]) <= VECTOR_BITS]
        if data.kind.data != ACCESS_TYPES[access] or data.count.data not in counts:
            raise VerifyException(
                f"'{self.name}' expected {' or '.join(map(str, counts))} registers "
                f"{ACCESS_TYPES[access]} for {access}, got {data}"
            )


@irdl_op_definition
class LdOp(_AccessOp):
    """Load from memory. PTX ISA 9.7.9.8.

    ```mlir
    %v = ptx.ld "global" "f32" %address, 16 : !ptx.reg<b64> -> !ptx.reg<f32>
    ```
    """

    name = "ptx.ld"
    MNEMONIC: ClassVar = "ld"

    address = operand_def(RegType)
    result = result_def(RegType)

    assembly_format = (
        "$space $access $address `,` $offset attr-dict `:` type($address) `->` type($result)"
    )

    def __init__(self, space: str, access: str, address: SSAValue, offset: int = 0, count: int = 1):
        super().__init__(
            operands=[address],
            properties=_access(space, access, offset),
            result_types=[reg(ACCESS_TYPES[access], count)],
        )

    def data_type(self) -> RegType:
        return self.result.type


@irdl_op_definition
class StOp(_AccessOp):
    """Store to memory, with a predicate where that holds: `@p st`. PTX ISA 9.7.9.11.

    ```mlir
    ptx.st "global" "f32" %address, 16, %v : !ptx.reg<b64>, !ptx.reg<f32>
    ptx.st "global" "f32" %address, 16, %v if %p : !ptx.reg<b64>, !ptx.reg<f32>
    ```
    """

    name = "ptx.st"
    MNEMONIC: ClassVar = "st"

    address = operand_def(RegType)
    value = operand_def(RegType)
    predicate = opt_operand_def(reg("pred"))

    assembly_format = (
        "$space $access $address `,` $offset `,` $value (`if` $predicate^)? attr-dict"
        " `:` type($address) `,` type($value)"
    )

    def __init__(
        self,
        space: str,
        access: str,
        address: SSAValue,
        value: SSAValue,
        offset: int = 0,
        predicate: SSAValue | None = None,
    ):
        super().__init__(
            operands=[address, value, predicate], properties=_access(space, access, offset)
        )

    def data_type(self) -> RegType:
        assert isinstance(self.value.type, RegType)
        return self.value.type


def _access(space: str, access: str, offset: int) -> dict[str, StringAttr | IntegerAttr]:
    return {
        "space": StringAttr(space),
        "access": StringAttr(access),
        "offset": IntegerAttr(offset, i64),
    }


@irdl_op_definition
class CpAsyncOp(PtxOp):
    """`cp.async.CACHE.shared.global [dst], [src], size{, src-size}`. PTX ISA 9.7.9.25.3.1."""

    name = "ptx.cp.async"

    dest = operand_def(reg("b32"))
    source = operand_def(reg("b64"))
    source_size = opt_operand_def(reg("b32"))
    cache = prop_def(StringAttr)
    size = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "$cache $dest `,` $source `,` $size (`,` $source_size^)? attr-dict"

    def __init__(
        self,
        cache: str,
        dest: SSAValue,
        source: SSAValue,
        size: int,
        source_size: SSAValue | None = None,
    ):
        super().__init__(
            operands=[dest, source, source_size],
            properties={"cache": StringAttr(cache), "size": IntegerAttr(size, i64)},
        )

    def requirement(self) -> Requirement:
        return Requirement(CP_ASYNC.target, CP_ASYNC.ptx_version)

    def verify_(self) -> None:
        legal = CP_ASYNC.sizes.get(self.cache.data, ())
        if self.size.value.data not in legal:
            raise VerifyException(
                f"'{self.name}' expected cache ca with size 4, 8 or 16, or cg with 16, "
                f"got {self.cache.data} with {self.size.value.data}"
            )
        given = None if self.source_size is None else self.source_size.owner
        if isinstance(given, ConstOp) and given.unsigned > self.size.value.data:
            raise VerifyException(
                f"'{self.name}' expected a source size of at most {self.size.value.data}, "
                f"got {given.bits.value.data}"
            )


class _AsyncGroupOp(PtxOp):
    """What the two group instructions need."""

    def requirement(self) -> Requirement:
        return Requirement(CP_ASYNC.target, CP_ASYNC.ptx_version)


@irdl_op_definition
class CpAsyncCommitGroupOp(_AsyncGroupOp):
    """`cp.async.commit_group`. PTX ISA 9.7.9.25.3.2."""

    name = "ptx.cp.async.commit_group"
    assembly_format = "attr-dict"


@irdl_op_definition
class CpAsyncWaitGroupOp(_AsyncGroupOp):
    """`cp.async.wait_group N`. PTX ISA 9.7.9.25.3.3."""

    name = "ptx.cp.async.wait_group"

    pending = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "$pending attr-dict"

    def __init__(self, pending: int):
        super().__init__(properties={"pending": IntegerAttr(pending, i64)})

    def verify_(self) -> None:
        if self.pending.value.data < 0:
            raise VerifyException(
                f"'{self.name}' expected a count of groups, got {self.pending.value.data}; "
                "nearest legal: 0"
            )


OPS = [LdOp, StOp, CpAsyncOp, CpAsyncCommitGroupOp, CpAsyncWaitGroupOp]
