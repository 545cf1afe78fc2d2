"""`cute_nvgpu.address` and `multimem` to `ptx`: accesses by whole words, copies, atomics."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.atomics import INSTRUCTIONS, registers_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import ACCESS_TYPES
from tilewright.dialects.cute_nvgpu.ops import address, copy, multimem
from tilewright.dialects.ptx import multimem as ptx_multimem
from tilewright.dialects.ptx.atomics import AtomOp, RedOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp, LdOp, StOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.scalar_types import ScalarType
from tilewright.dialects.ptx.scalars import AndOp, SelpOp, SetpOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import storage_of
from tilewright.lowering.to_ptx.convert_fragment import joined, taken_apart
from tilewright.lowering.to_ptx.convert_instruction import instruction_of
from tilewright.lowering.to_ptx.convert_memref import locate
from tilewright.lowering.to_ptx.programs import element, listed

_WORD = 4
"""The bytes of a register that holds several narrow elements."""


@lowers
def _address(op: address.AddressOp, to: Conversion) -> SSAValue:
    return to.tile(op.memref).address


# Elements side by side, in words


_INSTRUCTIONS: dict[type[Operation], type[PtxOp]] = {
    address.LoadOp: LdOp,
    address.StoreOp: StOp,
    address.ReduceOp: RedOp,
    multimem.MultimemLoadReduceOp: ptx_multimem.MultimemLoadReduceOp,
    multimem.MultimemStoreOp: ptx_multimem.MultimemStoreOp,
    multimem.MultimemReduceOp: ptx_multimem.MultimemReduceOp,
}


@lowers(*_INSTRUCTIONS)
def _elements(op: Any, to: Conversion) -> list[SSAValue] | None:
    storage, count = storage_of(op, op.elements[0].type), len(op.elements)
    access, per_word = _access(storage, count)
    fields: dict[str, Any] = {"address": to[op.address], "predicate": to.given(op.predicate)}
    fields["access"] = access
    if not op.results:
        fields["value"] = _to_words(op.elements, storage, per_word, to)
        return to.add(instruction_of(op, _INSTRUCTIONS[type(op)], fields))
    fields["result"] = reg(ACCESS_TYPES[access], count // per_word)
    if op.predicate is not None:
        fields["otherwise"] = _to_words(op.otherwise, storage, per_word, to)
    words = to.emit(instruction_of(op, _INSTRUCTIONS[type(op)], fields))
    parts = (_parts(element(words, i, to), storage, per_word, to) for i in range(count // per_word))
    return list(chain.from_iterable(parts))


# Atomic operations and copies


@lowers
def _atomic(op: address.AtomicOp, to: Conversion) -> SSAValue | None:
    fields: dict[str, Any] = {"address": to[op.address], "predicate": to.given(op.predicate)}
    values, form = [to[value] for value in op.values], op.form.data
    if op.result.first_use is None and f"red.{op.semantics.data}.{op.space}.{form}" in INSTRUCTIONS:
        (fields["value"],) = values
        return to.add(instruction_of(op, RedOp, fields))
    fields |= {"values": values, "otherwise": to.given(op.otherwise)}
    fields["result"] = reg(*registers_of(form))
    return to.emit(instruction_of(op, AtomOp, fields))


@lowers
def _cp_async(op: address.CpAsyncOp, to: Conversion) -> None:
    source = to[op.source], op.source_offset.value.data
    _copy_async(op, source, (to[op.dest], op.offset.value.data), to)


@lowers
def _cp_async_of_memrefs(op: copy.CpAsyncOp, to: Conversion) -> None:
    source = locate(op, to.tile(op.source), op.source_indices, to)
    _copy_async(op, source, locate(op, to.tile(op.dest), op.dest_indices, to), to)


def _copy_async(
    op: address.CpAsyncOp | copy.CpAsyncOp,
    source: tuple[SSAValue, int],
    dest: tuple[SSAValue, int],
    to: Conversion,
) -> None:
    """The copy between two addresses, each a register plus a constant."""
    fields = {
        "source": to.plus(source[0], to.const(source[1], "b64"), "s64"),
        "dest": to.plus(dest[0], to.const(dest[1], "b32"), "u32"),
        "source_size": to.given(op.fill),
    }
    to.add(instruction_of(op, CpAsyncOp, fields))


# Words: elements narrower than a register are packed where there is a whole register of them


def _access(storage: ScalarType, count: int) -> tuple[str, int]:
    """The type of the access, and how many elements each of its words has."""
    size = storage.bytes
    if size >= _WORD or count == 1:
        return storage.access, 1
    per_word = min(count, _WORD // size)
    return f"b{8 * size * per_word}", per_word


def _to_words(
    given: Sequence[SSAValue], storage: ScalarType, per_word: int, to: Conversion
) -> SSAValue:
    """The registers that hold elements side by side, low bits first, as one value."""
    elements = [to[value] for value in given]
    if storage.kind == "pred":
        one, zero = to.const(1, "b16"), to.const(0, "b16")
        elements = [to.scalar(SelpOp, "b16", one, zero, bit) for bit in elements]
    words = [
        joined(elements[first : first + per_word], storage.bytes, to)
        for first in range(0, len(elements), per_word)
    ]
    return listed(words, to)


def _parts(word: SSAValue, storage: ScalarType, per_word: int, to: Conversion) -> list[SSAValue]:
    """The elements that a word holds."""
    parts = taken_apart(word, storage.bytes, per_word, to)
    if storage.kind != "pred":
        return parts
    mask, zero = to.const(0xFF, "b16"), to.const(0, "b16")
    if per_word > 1:
        parts = [to.scalar(AndOp, "b16", part, mask) for part in parts]
    return [to.scalar(SetpOp, "ne.u16", part, zero) for part in parts]
