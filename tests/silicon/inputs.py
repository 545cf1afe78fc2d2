"""Inputs for the silicon fixtures: random bits, and the values where arithmetic is special."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, Form
from tilewright.dialects.ptx.types import KINDS

THREADS = 128
MMA_CASES = 4
_FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
NARROW_RESULTS = {"f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2",
                  "s8", "u8"}  # fmt: skip
_SPECIAL: dict[int, tuple[int, ...]] = {
    16: (0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x3C00, 0xBC00, 1, 0x7FFF, 0xFFFF, 0x03FF),
    32: (0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 0xBF800000, 1,
         0x7FFFFFFF, 0xFFFFFFFF, 0x007FFFFF, 0x4F000000, 0xCF000000, 31, 32, 33),
    64: (0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0x3FF << 52, 0xBFF << 52, 1,
         (1 << 63) - 1, (1 << 64) - 1, (1 << 52) - 1, 0x43E << 52, 0xC3E << 52),
}  # fmt: skip


def scalar_inputs(width: int, arity: int, seed: int) -> list[NDArray[Any]]:
    """`arity` arrays of THREADS values: pairs of special ones, then random bits of every size."""
    rng = default_rng(seed)
    dtype = np.dtype(f"uint{width}")
    columns: list[NDArray[Any]] = []
    for _ in range(arity):
        special = rng.choice(np.array(_SPECIAL[width], dtype=dtype), THREADS)
        bits = (
            rng.integers(0, 1 << width, THREADS, dtype=dtype, endpoint=False)
            if width < 64
            else rng.integers(0, (1 << 64) - 1, THREADS, dtype=dtype, endpoint=True)
        )
        small = bits >> rng.integers(0, width, THREADS).astype(dtype)
        pick = rng.integers(0, 3, THREADS)
        columns.append(np.choose(pick, [special, bits, small]).astype(dtype))
    return columns


_WIDE = {"f32": np.float32, "f16x2": np.float16, "bf16x2": ml_dtypes.bfloat16}


def form_inputs(form: Form, seed: int) -> list[NDArray[Any]]:
    """An array of THREADS values for each operand of a scalar form. Of a conversion to narrow
    floats half of them are of modest size, so that they round instead of overflowing."""
    columns: list[NDArray[Any]] = []
    for place, type_ in enumerate(form.types):
        kind = REGISTER_OF[type_]
        width = KINDS["b16" if kind == "pred" else kind]
        (column,) = scalar_inputs(width, 1, seed * 8 + place)
        if type_ in _WIDE and form.result in NARROW_RESULTS:
            rng = default_rng([seed, place])
            shape = (THREADS // 2, width // 8 // np.dtype(_WIDE[type_]).itemsize)
            values = rng.standard_normal(shape) * np.exp2(rng.integers(-11, 10, shape))
            column[::2] = values.astype(_WIDE[type_]).view(column.dtype)[:, 0]
        columns.append(column)
    return columns


def _random_words(atom: MmaAtom, operand: Operand, rng: np.random.Generator) -> NDArray[Any]:
    kind, count = atom.registers(operand)
    words = count * register_bits(kind) // 32
    return rng.integers(0, 1 << 32, (WARP, words), dtype=np.uint32)


def _moderate(atom: MmaAtom, operand: Operand, rng: np.random.Generator) -> NDArray[Any]:
    """Normal values of modest size, so that sums round instead of overflowing."""
    element = atom.element(operand)
    shape = (WARP, atom.values(operand))
    values = rng.standard_normal(shape) * np.exp2(rng.integers(-4, 5, shape))
    if element.name in ("f16", "f64"):
        raw = values.astype(element.name.replace("f", "float"))
    elif element.name == "bf16":
        raw = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    elif element.name in ("f32", "tf32"):
        raw = values.astype(np.float32)
    elif element.name in ("e4m3", "e5m2"):
        raw = values.astype(_FP8[element.name])
    else:
        return _random_words(atom, operand, rng)
    return np.ascontiguousarray(raw).view(np.uint32).reshape(WARP, -1)


def _metadata(atom: MmaAtom, case: int, rng: np.random.Generator) -> NDArray[Any]:
    """Legal indices of each chunk, in either order where plain `.sp` allows it; the last case has
    random bits, most of which PTX leaves undefined."""
    if case == MMA_CASES - 1:
        return rng.integers(0, 1 << 32, (WARP, 1), dtype=np.uint32)
    ordered = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)
    if atom.element("A").name == "tf32":
        legal = (0b0100, 0b1110)
    elif atom.row.sparsity == "sp":
        legal = (*ordered, *(each >> 2 | (each & 3) << 2 for each in ordered))
    else:
        legal = ordered
    chunks = rng.choice(np.array(legal, dtype=np.uint32), (WARP, 8))
    words = chunks << np.arange(0, 32, 4, dtype=np.uint32)
    return np.bitwise_or.reduce(words, axis=1, keepdims=True)


def mma_inputs(atom: MmaAtom, selectors: Sequence[int], case: int) -> list[NDArray[Any]]:
    """Words of every input: moderate values for even cases, random bits for odd ones."""
    seed = zlib.crc32(f"{atom.mnemonic} {list(selectors)}".encode())
    rng = default_rng([seed, case])
    make = _random_words if case % 2 else _moderate
    return [
        _metadata(atom, case, rng) if operand == "E" else make(atom, operand, rng)
        for operand in atom.inputs
    ]
