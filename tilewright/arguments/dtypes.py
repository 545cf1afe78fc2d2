"""Dtypes of NumPy for the elements of MLIR types."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType

_SIGNLESS = {
    **{f"i{bits}": (f"int{bits}", f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"si{bits}": (f"int{bits}",) for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": (f"uint{bits}",) for bits in (8, 16, 32, 64)},
}
ML_FLOATS = {
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
DTYPES: dict[str, tuple[str, ...]] = {
    "f16": ("float16",),
    "f32": ("float32",),
    "tf32": ("float32",),
    "f64": ("float64",),
    "i1": ("bool",),
    "index": ("int64",),
    **_SIGNLESS,
    **{mlir: (np.dtype(dtype).name,) for mlir, dtype in ML_FLOATS.items()},
    "fnv8E5M3FNU": ("uint8",),
    # Kernels from Tile IR hold floats that no instruction converts as their words.
    "i8": ("int8", "uint8", "float8_e8m0fnu", "float4_e2m1fn"),
}
"""NumPy's names of the dtypes that an element type takes, the usual one first."""


def _names() -> dict[str, str]:
    names = {mlir: dtypes[0] for mlir, dtypes in DTYPES.items()}
    names |= {f"{sign}{bits}": names[f"{sign}i{bits}"] for sign in "su" for bits in (8, 16, 32, 64)}
    return names | {dtype: dtype for dtypes in DTYPES.values() for dtype in dtypes}


DTYPE_NAMES = _names()
"""NumPy's names of dtypes by what users call them: MLIR's names, u8 for ui8, NumPy's own."""

_HALF_BYTES = {"si4": ml_dtypes.int4, "ui4": ml_dtypes.uint4}


def dtype_of_element(mlir: str) -> AnyDType:
    """The usual dtype of an element type, one element a byte where it has fewer bits."""
    return np.dtype(_HALF_BYTES[mlir] if mlir in _HALF_BYTES else DTYPES[mlir][0])


def random_array(shape: Sequence[int], dtype: AnyDType, generator: np.random.Generator) -> AnyArray:
    """An array of random elements: floats are normally distributed, integers take any value."""
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    normal = generator.standard_normal(shape)
    return (np.abs(normal) if dtype.name == "float8_e8m0fnu" else normal).astype(dtype)
