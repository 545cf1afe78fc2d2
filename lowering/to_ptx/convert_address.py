"""`cute_nvgpu.address` to `ptx`: loads and stores by address, by whole words, copies, atomics."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.atomics import INSTRUCTIONS
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.ptx.atomics import AtomOp, RedOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp, LdOp, StOp
from tilewright.dialects.ptx.registers import ListGetOp, ListMakeOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalar_types import ScalarType
from tilewright.dialects.ptx.scalars import AndOp, OrOp, SelpOp, SetpOp, ShlOp, ShrOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import storage_of
from tilewright.lowering.to_ptx.programs import element


def packed_halves(low: SSAValue, high: SSAValue, to: Conversion) -> SSAValue:
    """The register of two halves: where they are the two of one that was taken apart, that one."""
    get = low.owner
    if (
        isinstance(get, ListGetOp)
        and get.registers == (low, high)
        and isinstance(unpack := get.source.owner, UnpackOp)
    ):
        return unpack.source
    return to.pure(PackOp, low, high)


_WORD = 4
"""The bytes of a register that holds several narrow elements."""


@lowers(address.AddressOp)
def _address(op: address.AddressOp, to: Conversion) -> None:
    to[op.result] = to.tile(op.memref).address


def _space(op: address.LoadOp | address.StoreOp | address.AtomicOp | address.ReduceOp) -> str:
    return "shared" if op.is_shared else "global"


@lowers(address.LoadOp)
def _load(op: address.LoadOp, to: Conversion) -> None:
    storage, count = storage_of(op, op.elements[0].type), len(op.elements)
    access, per_word = _access(storage, count)
    guard: dict[str, SSAValue] = {}
    if op.predicate is not None:
        otherwise = to_words([to[x] for x in op.otherwise], storage, per_word, to)
        guard = {"predicate": to[op.predicate], "otherwise": otherwise}
    load = LdOp(
        _space(op), access, to[op.address], op.offset.value.data, count // per_word,
        semantics=op.semantics.data, **guard,
    )  # fmt: skip
    elements = from_words(to.emit(load), count, storage, per_word, to)
    for result, value in zip(op.elements, elements, strict=True):
        to[result] = value


@lowers(address.StoreOp)
def _store(op: address.StoreOp, to: Conversion) -> None:
    storage, count = storage_of(op, op.elements[0].type), len(op.elements)
    access, per_word = _access(storage, count)
    value = to_words([to[x] for x in op.elements], storage, per_word, to)
    store = StOp(
        _space(op), access, to[op.address], value, op.offset.value.data,
        predicate=to.given(op.predicate), semantics=op.semantics.data,
    )  # fmt: skip
    to.add(store)


@lowers(address.AtomicOp)
def _atomic(op: address.AtomicOp, to: Conversion) -> None:
    predicate, otherwise = to.given(op.predicate), to.given(op.otherwise)
    values, offset = [to[value] for value in op.values], op.offset.value.data
    space, form, semantics = _space(op), op.form.data, op.semantics.data
    if op.result.first_use is None and f"red.{semantics}.{space}.{form}" in INSTRUCTIONS:
        (value,) = values
        red = RedOp(
            to[op.address], value, space, form, offset, semantics=semantics, predicate=predicate
        )
        to.add(red)
        return
    atom = AtomOp(
        space, form, to[op.address], values, offset, semantics, predicate=predicate,
        otherwise=otherwise,
    )  # fmt: skip
    to[op.result] = to.emit(atom)


@lowers(address.ReduceOp)
def _reduce(op: address.ReduceOp, to: Conversion) -> None:
    storage, count = storage_of(op, op.elements[0].type), len(op.elements)
    words = to_words([to[x] for x in op.elements], storage, _access(storage, count)[1], to)
    red = RedOp(
        to[op.address], words, _space(op), op.form, op.offset.value.data,
        semantics=op.semantics.data,
        predicate=to.given(op.predicate),
    )  # fmt: skip
    to.add(red)


@lowers(address.CpAsyncOp)
def _cp_async(op: address.CpAsyncOp, to: Conversion) -> None:
    source = to.plus(to[op.source], to.const(op.source_offset.value.data, "b64"), "s64")
    dest = to.plus(to[op.dest], to.const(op.offset.value.data, "b32"), "u32")
    cache, size = op.cache.data.value, op.size.value.data
    to.add(CpAsyncOp(dest, source, cache, size, source_size=to.given(op.fill)))


# Words: elements narrower than a register are packed where there is a whole register of them


def _access(storage: ScalarType, count: int) -> tuple[str, int]:
    """The type of the access, and how many elements each of its words has."""
    size = storage.bytes
    if size >= _WORD or count == 1:
        return storage.access, 1
    per_word = min(count, _WORD // size)
    return f"b{8 * size * per_word}", per_word


def to_words(
    elements: Sequence[SSAValue], storage: ScalarType, per_word: int, to: Conversion
) -> SSAValue:
    """The registers that hold elements side by side, as one value."""
    words = _packed(elements, storage, per_word, to)
    if len(words) == 1:
        return words[0]
    type_ = reg(words[0].type.kind.data, len(words))  # type: ignore[attr-defined]
    return to.pure(ListMakeOp, tuple(words), type_)


def from_words(
    words: SSAValue, count: int, storage: ScalarType, per_word: int, to: Conversion
) -> list[SSAValue]:
    """The elements that registers hold side by side."""
    return [
        part
        for i in range(count // per_word)
        for part in _parts(element(words, i, to), storage, per_word, to)
    ]


def _packed(
    elements: Sequence[SSAValue], storage: ScalarType, per_word: int, to: Conversion
) -> list[SSAValue]:
    """The words that hold elements, low bits first."""
    if storage.kind == "pred":
        one, zero = to.const(1, "b16"), to.const(0, "b16")
        elements = [to.scalar(SelpOp, "b16", one, zero, bit) for bit in elements]
    return [
        _joined(elements[first : first + per_word], storage, to)
        for first in range(0, len(elements), per_word)
    ]


def _joined(parts: Sequence[SSAValue], storage: ScalarType, to: Conversion) -> SSAValue:
    if len(parts) == 1:
        return parts[0]
    if storage.bytes == 1:
        half = len(parts) // 2
        if half == 1:
            low, high = (to.scalar(AndOp, "b16", part, to.const(0xFF, "b16")) for part in parts)
            high = to.scalar(ShlOp, "b16", high, to.const(8, "b32"))
            return to.scalar(OrOp, "b16", low, high)
        low, high = (_joined(parts[i : i + half], storage, to) for i in (0, half))
    else:
        low, high = parts
    return packed_halves(low, high, to)


def _parts(word: SSAValue, storage: ScalarType, per_word: int, to: Conversion) -> list[SSAValue]:
    """The elements that a word holds."""
    if per_word == 1:
        parts = [word]
    elif storage.bytes == 2:
        parts = _halves(word, to)
    else:
        halves = [word] if per_word == 2 else _halves(word, to)
        eight = to.const(8, "b32")
        parts = [x for half in halves for x in (half, to.scalar(ShrOp, "u16", half, eight))]
    if storage.kind != "pred":
        return parts
    mask, zero = to.const(0xFF, "b16"), to.const(0, "b16")
    if per_word > 1:
        parts = [to.scalar(AndOp, "b16", part, mask) for part in parts]
    return [to.scalar(SetpOp, "ne.u16", part, zero) for part in parts]


def _halves(word: SSAValue, to: Conversion) -> list[SSAValue]:
    return [element(to.pure(UnpackOp, word), i, to) for i in (0, 1)]
