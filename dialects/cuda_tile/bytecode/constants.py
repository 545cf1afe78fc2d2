"""Elements of constants in bytecode: a table of byte strings, each a size and the raw elements.

Raw elements are MLIR's: little-endian, row-major, one for all where they are equal. Bits are
packed, low ones first, and ff stands for a tile of ones; i4 and f4E2M1FN take a byte each, tf32
the 19 bits it has in three bytes.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.dialects.builtin import BytesAttr, FloatTF32Type, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder, Table
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.types import PointerType, TileType

TF32 = FloatTF32Type()
TF32_DROPPED_BITS = 13
ALL_ONES = b"\xff"


class ConstantReader:
    """The constants of one file: equal ones of one type are one attribute."""

    def __init__(self, entries: Sequence[Cursor]):
        self._entries = entries
        self._made: dict[tuple[int, Attribute], ElementsAttr] = {}
        self.raw = [entry.data[entry.position : entry.end] for entry in entries]

    def index(self, cursor: Cursor, type_: Attribute) -> ElementsAttr:
        """The elements whose index stands at the cursor, as a tile of this type."""
        index = cursor.index(len(self._entries), "constants")
        key = index, type_
        if (made := self._made.get(key)) is None:
            made = self._made[key] = _read(self._entries[index], type_)
        return made


def _read(entry: Cursor, type_: Attribute) -> ElementsAttr:
    entry = Cursor(entry.data, entry.position, entry.end)
    start = entry.position
    if not isinstance(type_, TileType) or isinstance(type_.element_type, PointerType):
        entry.fail(f"expected elements of a tile of numbers, got {type_}")
    raw = entry.bytes(entry.varint(), "elements")
    if entry.remaining:
        entry.fail(f"expected the end of the constant, got {entry.remaining} more bytes")
    try:
        elements = ElementsAttr(type_, BytesAttr(_unpacked(raw, type_)))
    except VerifyException as error:
        entry.fail(str(error).strip(), start)
    # Equal ones are one, as in text.
    return elements if elements.is_splat else ElementsAttr.of_array(type_, elements.array())


def _unpacked(raw: bytes, type_: TileType) -> bytes:
    """Elements as `ElementsAttr` holds them; left as they are where their number is wrong."""
    if type_.element_type == i1:
        if raw in (b"\x00", ALL_ONES):
            return bytes([raw[0] & 1])
        if len(raw) == (type_.elements + 7) // 8:
            bits = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")
            return bits[: type_.elements].tobytes()
        return b""
    if type_.element_type == TF32:
        if len(raw) % 3:
            return b""
        words = np.zeros((len(raw) // 3, 4), np.uint8)
        words[:, :3] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return (words.view("<u4") << TF32_DROPPED_BITS).astype("<u4").tobytes()
    return raw


def packed(elements: ElementsAttr) -> bytes:
    """The raw elements of a constant."""
    raw = elements.data.data
    element = elements.type.element_type
    if element == i1:
        if len(raw) == 1:
            return ALL_ONES if raw[0] else b"\x00"
        return np.packbits(np.frombuffer(raw, np.uint8), bitorder="little").tobytes()
    if element == TF32:
        words = np.frombuffer(raw, "<u4") >> TF32_DROPPED_BITS
        return words.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    assert len(raw) % dtype_of(element).itemsize == 0
    return raw


class ConstantWriter:
    """The constants of a file that is being written; `seed` is what they begin with, encoded."""

    def __init__(self, seed: Iterable[bytes]):
        self.table = Table(seed)

    def index(self, elements: ElementsAttr) -> int:
        """The index of a constant."""
        out = Encoder()
        raw = packed(elements)
        out.varint(len(raw))
        return self.table.index(bytes(out + raw))
