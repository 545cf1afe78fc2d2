"""Arguments of a run as another process gets them: their arrays overlap there as they do here, lie
as they do, and are as read-only. Pickled by themselves, views become arrays of their own."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from ctypes import string_at
from io import BytesIO
from typing import Any

import numpy as np

from tilewright.arguments.host_memory import arrays_of
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_spans import Bounds, bounds_of, overlapping
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, is_array


@frozen
class ShippedArguments:
    """The arguments of a kernel, on their way."""

    args: Sequence[Any]

    def __reduce__(self) -> Any:
        file = BytesIO()
        _Pickler(file, self.args).dump(self.args)
        return _received, (file.getvalue(),)


def _received(content: bytes) -> ShippedArguments:
    return ShippedArguments(pickle.loads(content))


class _Pickler(pickle.Pickler):
    """Pickles arrays as views of the memory that they have together."""

    def __init__(self, file: BytesIO, args: Sequence[Any]):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        arrays = [array for arg in args for _, array in arrays_of("", arg) if array.size]
        bounds = [bounds_of(array) for array in arrays]
        leaders = overlapping(bounds)
        self._spans: dict[Bounds, Bounds] = {}
        for own, leader, array in zip(bounds, leaders, arrays, strict=True):
            whole = array.flags.c_contiguous and array.flags.writeable
            if not whole or leaders.count(leader) > 1:
                mine = [
                    pair for pair, other in zip(bounds, leaders, strict=True) if other == leader
                ]
                self._spans[own] = min(mine)[0], max(high for _, high in mine)
        # One object for each span, so that it is pickled once.
        self._octets: dict[int, bytearray] = {}

    def reducer_override(self, obj: Any) -> Any:
        """How an array is pickled that has its memory together with others, or not as it lies."""
        span = self._spans.get(bounds_of(obj)) if is_array(obj) and obj.size else None
        if span is None:
            return NotImplemented
        low, high = span
        start = low // CHUNK * CHUNK
        if start not in self._octets:
            self._octets[start] = bytearray(low - start) + string_at(low, high - low)
        first, writable = obj.ctypes.data - start, obj.flags.writeable
        return _view, (self._octets[start], first, obj.dtype, obj.shape, obj.strides, writable)


def _view(
    octets: bytearray,
    first: int,
    dtype: AnyDType,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    writable: bool,
) -> AnyArray:
    array: AnyArray = np.ndarray(shape, dtype, octets, first, strides)
    array.flags.writeable = writable
    return array
