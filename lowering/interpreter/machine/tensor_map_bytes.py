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
    SLICES,
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
    made, box = np.zeros(1, _BYTES), image.box
    rank, extents = box.rank, box.shape[: len(box.shape) - box.interleaved]
    drivers = [element.driver for element in MADE_ELEMENTS]
    numbers = {
        "global_address": address, "argument": argument, "rank": rank - 1,
        "elemtype": drivers.index(box.element.driver),
        "swizzle_mode": SWIZZLES.index(box.swizzle), "fill_mode": box.nan,
        "swizzle_atomicity": _ATOMS.index(box.swizzle_atom),
        "interleave_layout": box.interleaved and SLICES.index(image.strides[-2]) + 1,
    }  # fmt: skip
    for name, number in numbers.items():
        made[name] = number
    made["global_stride"][0, : rank - 1] = image.strides[: rank - 1][::-1]
    made["global_dim"][0, :rank] = [extent % MAX_EXTENT for extent in image.shape[:rank][::-1]]
    made["box_dim"][0, : len(extents)] = extents[::-1]
    made["element_stride"][0, :rank] = 1
    return np.frombuffer(made.tobytes().ljust(TENSOR_MAP_BYTES, b"\0"), np.uint8)


def decoded(
    content: bytes, argument: Argument, find: Callable[[int], tuple[Buffer, int]]
) -> TensorImage:
    """The tensor map of these bytes, of a tensor that `find` says the buffer and the first byte of.
    Raises Fault where the hardware has none."""
    [map_] = np.frombuffer(content[: _BYTES.itemsize], _BYTES)
    rank, code, layout, mode, atom = codes = [int(map_[name]) for name in _CODES]
    counts = MAX_RANK, len(MADE_ELEMENTS), len(SLICES) + 1, len(SWIZZLES), len(_ATOMS)
    if any(number >= count for number, count in zip(codes, counts, strict=True)):
        raise Fault(
            f"expected a tensor map whose {', '.join(_CODES)} are known here, got "
            f"{', '.join(map(str, codes))}"
        )
    like = argument(int(map_["argument"])) if map_["argument"] else None
    element = MADE_ELEMENTS[code]
    if like is not None and like.box.element.driver == element.driver:
        element = like.box.element
    rank, swizzle, unit = rank + 1, SWIZZLES[mode], (CHUNK, *SLICES)[layout]
    # The last dimension, of elements, and how far apart those of the one before are.
    elements, apart = ((unit // element.bytes,), (unit,)) if layout else ((), ())
    fields: dict[str, Any] = {
        "element": element, "swizzle": swizzle, "nan": bool(map_["fill_mode"]),
        "swizzle_atom": _ATOMS[atom] if swizzle else CHUNK, "interleaved": bool(layout),
    }  # fmt: skip
    try:
        if like is not None and like.box.im2col is not None:
            pixels, *channels = like.box.shape
            box = replace(like.box, shape=(pixels, *(elements or channels)), **fields)
        else:
            steps = _outer(map_["element_stride"], rank)
            steps = *(steps if layout else steps[:-1]), 1
            extents = [*_outer(map_["box_dim"], rank), *elements]
            extents[1:2] = [1] if layout else extents[1:2]
            box = MadeBox(tuple(extents), **fields, strides=steps)
    except TensorMapError as error:
        raise Fault(f"{error} (the tensor map in memory)") from None
    strides, address = _outer(map_["global_stride"], rank - 1), int(map_["global_address"])
    if any(number % unit for number in (*strides, address)):
        raise Fault(
            f"expected a tensor map whose address and strides are whole {unit} bytes, got "
            f"{address:#x} and {strides} (an H200 traps, or drops the rest)"
        )
    buffer, first = find(address)
    shape = _outer(map_["global_dim"], rank)
    if not 1 <= min(shape) <= max(shape) < 1 << 31:
        raise Fault(f"expected extents of 1 to 2^31 - 1, got {shape} (an H200 traps)")
    shape, strides = (*shape, *elements), (*strides, *apart, element.bytes)
    return TensorImage(buffer.name, buffer, first, shape, strides, box)


def _outer(numbers: Sequence[int], rank: int) -> tuple[int, ...]:
    """The first of some numbers, outermost first."""
    return tuple(int(number) for number in numbers[:rank][::-1])
