"""The values that a launch of Triton passes for the parameters of a kernel's `tt.func`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_uint8
from importlib import import_module
from typing import Any, cast

import numpy as np

from tilewright.dialects.cuda_tile.ops.module import NEGATIVE
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.illegal import told
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array, is_array
from tilewright.lowering.interpreter.cuda_tile.allocations import AddressTable, PointedArray
from tilewright.passes.cuda_tile.scheduling.unordered_loads import DISJOINT
from tilewright.source.checked import Rule, items
from tilewright.source.diagnostic import ArgumentError
from tilewright.tile_kernel import negative_places
from tilewright.triton.items import reached


class HostArray(np.ndarray[Any, Any]):
    """An array of NumPy as Triton takes a pointer."""

    def data_ptr(self) -> int:
        """The address of its first element."""
        return self.ctypes.data


def _grid(given: Any) -> Any:
    if callable(given):

        def grid(meta: Any) -> Any:
            return GRID.value("grid", given(meta), (ArgumentError,))

        return grid
    return items(given)


GRID = Rule("a tuple of integers, or a function that gives one", _grid)


def check_arguments(kernel: Any, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise ArgumentError where a `@triton.jit` function misses an argument, or gets one of a type
    that Triton has not, whose own errors name none."""
    given: dict[str, Any] = {**dict(zip(kernel.arg_names, args, strict=False)), **named}
    missing = [one.name for one in kernel.params if not one.has_default and one.name not in given]
    if missing:
        raise ArgumentError(
            f"'{kernel.__name__}' expected arguments {', '.join(kernel.arg_names)}; missing: "
            f"{', '.join(missing)}"
        )
    dtypes = import_module("triton._utils").type_canonicalisation_dict
    for one in kernel.params:
        value = given.get(one.name)
        if is_array(value) and str(value.dtype) not in dtypes:
            raise ArgumentError(
                f"'{one.name}' expected an array of a type that Triton has, got {value.dtype}"
            )
        if isinstance(value, list) and not one.is_constexpr:
            raise ArgumentError(
                f"'{one.name}' expected a torch tensor or an array of NumPy, got {told(value)}"
            )


def as_pointer(argument: Any) -> Any:
    """An argument that Triton takes: of an array of NumPy a view."""
    return argument.view(HostArray) if is_array(argument) else argument


def flat(
    name: str, type_: Any, argument: Any, pointer: Callable[[str, Any], Any]
) -> Iterator[tuple[str, Any]]:
    """The parameters that an argument of a type of Triton's signature is, with names for
    diagnostics: what `pointer` makes of one; for a descriptor its pointer, whether it pads with
    NaN, its shape, its strides."""
    if is_tuple(type_):
        for i, (inner, item) in enumerate(zip(type_, argument, strict=True)):
            yield from flat(f"{name}[{i}]", inner, item, pointer)
    elif type_.startswith("tensordesc"):
        yield name, pointer(name, argument.base)
        yield f"{name}.padding", argument.padding == "nan"
        for field in ("shape", "strides"):
            for i, number in enumerate(getattr(argument, field)):
                yield f"{name}.{field}[{i}]", int(number)
    elif type_.startswith("*"):
        yield name, pointer(name, argument)
    elif type_ in ("i1", "u1"):
        yield name, argument & 1  # whatever the byte is that Triton passes
    elif type_ != "constexpr":
        yield name, scalar(name, type_, argument)


def scalar(name: str, type_: str, argument: Any) -> Any:
    """An argument that is no pointer. Raises ArgumentError where an integer of so many bits has no
    room for it: a kernel that is launched by itself is asked for nothing."""
    bits = _BITS.get(type_, 0)
    if bits and isinstance(argument, int) and not -1 <= argument >> bits - 1 <= 0:
        raise ArgumentError(f"'{name}' expected an {type_}, got {argument}")
    return argument


_BITS = {f"i{bits}": bits for bits in (8, 16, 32, 64)}


def for_launch(code: bytes, values: Sequence[Any], *, apart: bool) -> bytes:
    """A text of TTIR for launches on the flat values of its parameters, some of which may be
    negative; of memories that are `apart`, or not."""
    if not apart:
        code = code.replace(f"{DISJOINT} = true".encode(), f"{DISJOINT} = false".encode())
    if not (places := negative_places(values)):
        return code
    own = f"attributes {{{NEGATIVE} = array<i32: {', '.join(map(str, places))}>, "
    return code.replace(b"attributes {", own.encode(), 1)


def memory(name: str, argument: Any) -> UInt8Array:
    """The bytes from where a pointer points to the end of its memory, all of which it reaches.
    Raises ArgumentError."""
    owner, is_ours = getattr(argument, "base", argument), is_array(argument)
    is_tensor = is_ours or _is_on_cpu(owner)
    all_ = reached(argument) if is_tensor else _around(owner)
    if all_ is None:
        raise ArgumentError(
            f"expected '{name}' to be a torch tensor on the CPU or an array of NumPy, got "
            f"{told(argument)}"
        )
    first, octets = int(argument.data_ptr()), _octets(all_.start, len(all_))
    octets.flags.writeable = not is_ours or argument.flags.writeable
    if first == all_.start:
        return octets
    pointed = octets[first - all_.start :].view(PointedArray)
    pointed.memory = octets
    return pointed


def _is_on_cpu(tensor: Any) -> bool:
    """True of a tensor of torch on the CPU, whatever a stand-in for a GPU says of its device."""
    return hasattr(tensor, "untyped_storage") and tensor.untyped_storage().device.type == "cpu"


def _around(wrapper: Any) -> range | None:
    """The memory of a tensor of torch that what is no tensor, but has an address as one, points
    into."""
    if hasattr(wrapper, "untyped_storage") or not hasattr(wrapper, "data_ptr"):
        return None
    first = wrapper.data_ptr()
    memories = (range(start, start + size) for start, size in _tensor_memories().tolist())
    return next((memory for memory in memories if first in memory), None)


def address_tables(tables: Sequence[UInt8Array]) -> list[UInt8Array | AddressTable]:
    """Memories of 64-bit words, of which some are addresses in tensors of torch: with the memories
    of these; others as they are."""
    memories = _tensor_memories() if tables else np.zeros((1, 2), np.int64)
    return [_address_table(octets, *memories.T) for octets in tables]


def _address_table(
    octets: UInt8Array, starts: Int64Array, sizes: Int64Array
) -> UInt8Array | AddressTable:
    words = octets[: len(octets) // 8 * 8].view(np.int64)
    numbers = np.searchsorted(starts, words, "right") - 1
    offsets = words - starts[numbers]
    (places,) = np.nonzero((offsets >= 0) & (offsets < sizes[numbers]))
    if not len(places):
        return octets
    used, ranks = np.unique(numbers[places], return_inverse=True)
    arrays = [_octets(int(starts[number]), int(sizes[number])) for number in used]
    rows = zip(ranks.tolist(), offsets[places].tolist(), strict=True)
    return AddressTable(words, arrays, dict(zip(places.tolist(), rows, strict=True)))


def _tensor_memories() -> Int64Array:
    """The address and the size of each memory on the CPU that a tensor is in, of those that a
    script may have made, in order; first of all one of no size."""
    memories = {(0, 0)}
    if torch := cast("Any", sys.modules.get("torch")):
        types, strided = (torch.Tensor, torch.nn.Parameter), torch.strided
        for one in gc.get_objects():
            if type(one) in types and one.layout is strided and _is_on_cpu(one):
                storage = one.untyped_storage()
                memories.add((storage.data_ptr(), storage.nbytes()))
    return np.array(sorted(memories), np.int64)


def _octets(start: int, size: int) -> UInt8Array:
    return np.ctypeslib.as_array((c_uint8 * size).from_address(start))
