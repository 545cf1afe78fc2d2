"""Items by which launches of Triton kernels are alike, as they are read of arguments: what Triton
specializes for; the words that they are given, addresses with their arrays, and numbers; and
whether what is written is apart from other arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tilewright.launch import launcher
from tilewright.launch.known_launches import Items, Reader, items_reader, plain_items
from tilewright.lowering.interpreter.array_types import is_array


def reached_address(array: Any) -> int | None:
    """The address of an array that does not say `is_cuda`, a tensor of torch or what has such a
    one's `data_ptr` as wrappers do; None where the GPU does not reach it."""
    if not (address := array.data_ptr()):
        return 0
    device = getattr(getattr(array, "device", None), "type", None)
    return address if device == "cuda" or launcher.reaches(address) else None


def _of_array(array: Any, arrays: list[Any]) -> Items | None:
    address = array.data_ptr() if getattr(array, "is_cuda", False) else reached_address(array)
    if address is None:
        return None
    arrays += address, array
    return "tensor", array.dtype, address % 16


def _of_others(value: Any, arrays: list[Any]) -> Items | None:
    return _of_array(value, arrays) if hasattr(value, "data_ptr") else None


def _of_descriptor(tensor: Any, arrays: list[Any]) -> Items | None:
    base = items_of((tensor.base,), arrays)
    for number in (*tensor.shape, *tensor.strides, tensor.padding):
        arrays += number, None
    return base and ("descriptor", base, tuple(tensor.block_shape))


def _of_int(number: int, words: list[Any]) -> Items:
    words += number, None
    if 1 < number < _SMALL or not number:
        return int, number % 16 == 0
    return int, number == 1, number % 16 == 0, *size_of(number)


def _of_float(number: float, words: list[Any]) -> Items:
    words += _WORD.unpack(_FLOATS["fp64"].pack(number))[0], None
    return (float,)


DTYPES: Mapping[tuple[str, str], Reader] = {
    ("torch", "dtype"): plain_items,
    ("triton.language.core", "dtype"): plain_items,
}
items_of = items_reader(
    {int: _of_int, float: _of_float},
    {
        ("torch", "Tensor"): _of_array,
        ("torch.nn.parameter", "Parameter"): _of_array,
        **DTYPES,
        ("triton.tools.tensor_descriptor", "TensorDescriptor"): _of_descriptor,
    },
    _of_others,
)

_WORD = struct.Struct("Q")
_FLOATS: Mapping[str, struct.Struct] = {"fp32": struct.Struct("f4x"), "fp64": struct.Struct("d")}
_BITS: Mapping[str, int] = {"i32": 32, "i64": 64}
_SMALL, _KNOWN = 1 << 31, (int,)
"""The integers that every type has room for, and what is known of them."""
FREE = {*_FLOATS, *_BITS}
"""Triton's types of numbers, any one of which may be a word of a launch."""


def size_of(number: int) -> Items:
    """The size of an integer, as far as it decides on types that have room for it."""
    return -(1 << 31) <= number < 1 << 31, number < 1 << 63


def word_of(type_: str, number: Any) -> tuple[Items, int] | None:
    """The items of a number of one of Triton's types, and its word; without such a type those that
    say its value; None where it has none."""
    kind, bits = number.__class__, _BITS.get(type_)
    if kind is int and bits and 0 <= number < _SMALL:
        return _KNOWN, number
    if (form := _FLOATS.get(type_)) is not None:
        try:
            return (kind,), _WORD.unpack(form.pack(number))[0]
        except (struct.error, OverflowError):
            return None
    if bits is None:
        read: list[Any] = []
        return (item := items_of((number,), read)) and ((item, *read[::2]), 0)
    if not isinstance(number, int) or not -(1 << 63) <= number < 1 << 64:
        return None
    return (kind, number < 0, *size_of(number)), number % (1 << bits)


def is_word(type_: str, number: int) -> bool:
    """True where a number is the word of one of Triton's types as it is."""
    return type_ in _BITS and 0 <= number < _SMALL


def are_apart(written: Sequence[int], memories: Iterable[range]) -> bool:
    """True where memories of some numbers share nothing with another one."""
    if not written:
        return True
    end = own_end = 0  # of all memories so far, and of those of these numbers
    rows = [(one.start, one.stop, i in written) for i, one in enumerate(memories)]
    for start, stop, own in sorted(rows):
        if start < (end if own else own_end):
            return False
        if stop > end:
            end = stop
        if own and stop > own_end:
            own_end = stop
    return True


def reached(argument: Any) -> range:
    """The memory that a pointer may reach: the storage of a tensor, what an array is a part of; of
    an address, any; None of what is none."""
    if not hasattr(argument, "untyped_storage"):
        if argument is None:
            return range(0)
        if is_array(owner := argument):
            while is_array(owner.base):
                owner = owner.base
            return range(owner.ctypes.data, owner.ctypes.data + owner.nbytes)
        argument = getattr(argument, "base", None)  # `triton.reinterpret` wraps a tensor
    storage: Any = argument.untyped_storage() if hasattr(argument, "untyped_storage") else None
    if not hasattr(storage, "nbytes"):
        return range(1 << 64)
    first = storage.data_ptr()
    return range(first, first + storage.nbytes())
