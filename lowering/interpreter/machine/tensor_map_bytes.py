"""Tensor maps as 128 bytes of memory, which kernels copy and replace fields of.

How the hardware has them is its own: here each field is the number that `tensormap.replace` gives
it, dimensions innermost first. What no field says, such as the pixels of im2col, is that of the
argument that the bytes were copied from. PTX ISA, tensormap.replace.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox, TensorMapError
from tilewright.dialects.cute_nvgpu.lattice.tma import (
    CHUNK,
    MADE_ELEMENTS,
    MAX_EXTENT,
    MAX_RANK,
    SWIZZLES,
    TENSOR_MAP_BYTES,
)
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import UInt8Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.tensor_map import Buffer, TensorImage

_CODES = "rank", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity"
_FIELDS = (
    *(("global_address", "<u8", ()), ("global_stride", "<u8", MAX_RANK)),
    *((name, "<u4", MAX_RANK) for name in ("global_dim", "box_dim", "element_stride")),
    ("argument", "<u4", ()),
    *((name, "u1", ()) for name in (*_CODES, "fill_mode")),
)
_BYTES = np.dtype([(name, type_, count) for name, type_, count in _FIELDS])
_ATOMS = (CHUNK, 2 * CHUNK)


@frozen
class MadeBox(TensorBox):
    """The box of a map that a kernel has made: of each dimension but the innermost each `strides`th
    element is copied, and a row may be narrower than one of the swizzle (H200)."""

    strides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        TensorBox.__post_init__(self)
        if not {*self.strides} <= {*range(1, 9)}:
            raise TensorMapError(f"expected each of 1 to 8 elements, got {self.strides}")

    def _fills(self, row: int) -> bool:
        return row <= self.swizzle

    @property
    def steps(self) -> tuple[int, ...]:
        return self.strides

    @property
    def piece(self) -> tuple[int, ...]:
        return tuple(-(-n // step) for n, step in zip(self.shape, self.strides, strict=True))


Argument = Callable[[int], TensorImage]
"""The tensor map of an argument, by its number from 1 on."""


def place_of(field: str, place: int = 0) -> tuple[int, int]:
    """Where a field begins, or its number of a place does, and how many bytes it has."""
    [(base, offset)] = (entry[:2] for name, entry in (_BYTES.fields or {}).items() if name == field)
    width = base.base.itemsize
    return offset + place * width, width


def encoded(image: TensorImage, address: int, argument: int) -> UInt8Array:
    """The bytes of the tensor map of an argument, of a tensor at an address."""
    made, box, rank = np.zeros(1, _BYTES), image.box, len(image.shape)
    drivers = [element.driver for element in MADE_ELEMENTS]
    numbers = {
        "global_address": address, "argument": argument, "rank": rank - 1,
        "elemtype": drivers.index(box.element.driver),
        "swizzle_mode": SWIZZLES.index(box.swizzle), "fill_mode": box.nan,
        "swizzle_atomicity": _ATOMS.index(box.swizzle_atom),
    }  # fmt: skip
    for name, number in numbers.items():
        made[name] = number
    made["global_stride"][0, : rank - 1] = image.strides[:-1][::-1]
    made["global_dim"][0, :rank] = [extent % MAX_EXTENT for extent in image.shape[::-1]]
    made["box_dim"][0, : len(box.shape)] = box.shape[::-1]
    made["element_stride"][0, :rank] = 1
    return np.frombuffer(made.tobytes().ljust(TENSOR_MAP_BYTES, b"\0"), np.uint8)


def decoded(
    content: bytes, argument: Argument, find: Callable[[int], tuple[Buffer, int]]
) -> TensorImage:
    """The tensor map of these bytes, of a tensor that `find` says the buffer and the first byte of.
    Raises Fault where the hardware has none."""
    [map_] = np.frombuffer(content[: _BYTES.itemsize], _BYTES)
    rank, code, interleaved, mode, atom = (int(map_[name]) for name in _CODES)
    known = rank < MAX_RANK and mode < len(SWIZZLES) and atom < len(_ATOMS)
    if interleaved or not (known and code < len(MADE_ELEMENTS)):
        raise Fault(
            f"expected a tensor map whose {', '.join(_CODES)} are known here, got "
            f"{rank}, {code}, {interleaved}, {mode}, {atom}"
        )
    like = argument(int(map_["argument"])) if map_["argument"] else None
    element = MADE_ELEMENTS[code]
    if like is not None and like.box.element.driver == element.driver:
        element = like.box.element
    rank, swizzle = rank + 1, SWIZZLES[mode]
    fields: dict[str, Any] = {
        "element": element, "swizzle": swizzle, "nan": bool(map_["fill_mode"]),
        "swizzle_atom": _ATOMS[atom] if swizzle else CHUNK,
    }  # fmt: skip
    try:
        if like is not None and like.box.im2col is not None:
            box = replace(like.box, **fields)
        else:
            steps = *_outer(map_["element_stride"], rank)[:-1], 1
            box = MadeBox(_outer(map_["box_dim"], rank), **fields, strides=steps)
    except TensorMapError as error:
        raise Fault(f"{error} (the tensor map in memory)") from None
    strides, address = _outer(map_["global_stride"], rank - 1), int(map_["global_address"])
    if any(number % CHUNK for number in (*strides, address)):
        raise Fault(
            f"expected a tensor map whose address and strides are whole {CHUNK} bytes, got "
            f"{address:#x} and {strides}"
        )
    buffer, first = find(address)
    shape = _outer(map_["global_dim"], rank)
    if not 1 <= min(shape) <= max(shape) < 1 << 31:
        raise Fault(f"expected extents of 1 to 2^31 - 1, got {shape} (an H200 traps)")
    return TensorImage(buffer.name, buffer, first, shape, (*strides, element.bytes), box)


def _outer(numbers: Sequence[int], rank: int) -> tuple[int, ...]:
    """The first of some numbers, outermost first."""
    return tuple(int(number) for number in numbers[:rank][::-1])
