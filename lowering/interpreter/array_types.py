"""The types of NumPy arrays, by the type of their elements."""

from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

AnyDType: TypeAlias = np.dtype[Any]
AnyArray: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
UInt8Array: TypeAlias = NDArray[np.uint8]
UInt32Array: TypeAlias = NDArray[np.uint32]
UInt64Array: TypeAlias = NDArray[np.uint64]
Float64Array: TypeAlias = NDArray[np.float64]


def is_array(value: Any) -> TypeGuard[AnyArray]:
    """True of an array of NumPy."""
    return isinstance(value, np.ndarray)
