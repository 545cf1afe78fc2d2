"""Zeros, few of them ever touched: of each byte of shared memory, say, which warp read it.

NumPy asks for huge pages, and the first touch of each clears all of its two megabytes.
"""

import mmap
from contextlib import suppress
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array

_LARGE = 1 << 22
"""The bytes from which on NumPy asks for huge pages."""


def sparse_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> AnyArray:
    """`numpy.zeros`, in pages of the usual size, which are there once they are touched."""
    size = prod(shape) * np.dtype(dtype).itemsize
    if size < _LARGE:
        return np.zeros(shape, dtype)
    pages = mmap.mmap(-1, size, access=mmap.ACCESS_COPY)
    with suppress(AttributeError, OSError):  # where no page is huge
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype).reshape(shape)


def repeated(zeros: AnyArray, rows: Int64Array, times: int) -> AnyArray:
    """Sparse zeros so many times as long; these rows are not all zeros."""
    result = sparse_zeros((len(zeros), zeros.shape[1] * times), zeros.dtype)
    result[rows] = np.repeat(zeros[rows], times, axis=1)
    return result
