"""DLPack: where a tensor is on the GPU, from the capsule that its library gives."""

import ctypes
from typing import Any

CUDA = 2
"""DLPack's number of memory of a CUDA device."""

_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}


class _Tensor(ctypes.Structure):
    """DLTensor, the first member of DLManagedTensor (dlpack.h)."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, of DLPack 1.0 and later (dlpack.h)."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_READ_ONLY = 1
"""DLPACK_FLAG_BITMASK_READ_ONLY."""


def on_cuda(tensor: Any) -> bool:
    """True of a tensor that DLPack says is on a CUDA device."""
    where: Any = getattr(tensor, "__dlpack_device__", None)
    return where is not None and bool(where()[0] == CUDA)


def described(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...] | None, str, int, int, bool]:
    """Shape, strides in elements (None: row-major), NumPy's name of the element type, its bytes,
    the address, and whether it may only be read, which a library before DLPack 1.0 does not say.
    Raises ValueError for elements that are no numbers of whole bytes."""
    try:
        capsule = tensor.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = tensor.__dlpack__()
    own, flags = _tensor_of(capsule)
    name = _CODES.get(own.code)
    if name is None or own.lanes != 1 or own.bits % 8:
        raise ValueError(f"elements of whole bytes, got DLPack's type {own.code} of {own.bits}")
    shape, strides = (
        tuple(part[axis] for axis in range(own.ndim)) if part else None
        for part in (own.shape, own.strides)
    )
    dtype = name if name == "bool" else f"{name}{own.bits}"
    address = (own.data or 0) + own.byte_offset
    return shape or (), strides, dtype, own.bits // 8, address, bool(flags & _READ_ONLY)


def _tensor_of(capsule: Any) -> tuple[_Tensor, int]:
    """The tensor in a capsule, and its flags."""
    name_of: Any = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of: Any = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if name_of(capsule) != b"dltensor_versioned":
        return _Tensor.from_address(pointer_of(capsule, b"dltensor")), 0
    versioned = _Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    return versioned.tensor, versioned.flags
