"""Images of shared memory and tensor memory for one tcgen05.mma, and what D must be.

Nothing here comes from tilewright: where an element lies is computed from the formulas of the PTX
ISA, one element at a time, and what bits are worth by ml_dtypes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4,
        "s8": 8, "u8": 8}  # fmt: skip
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
    "ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
NONE, SWIZZLE_128, SWIZZLE_128_32 = 0, 2, 1
"""Codes of the swizzle field."""


@dataclass(frozen=True)
class Umma:
    """One MMA: M and N are those of the pair of CTAs, `k` counts what is not stored too."""

    m: int
    n: int
    k: int
    types: tuple[str, str, str]
    cta_group: int = 1
    majors: tuple[str, str] = ("k", "k")
    swizzle: int = SWIZZLE_128
    a_in_tmem: bool = False
    sparse: bool = False
    ws: bool = False
    packed: bool = False
    vector: int = 0
    scale_type: str | None = None
    selector: int = 0
    ids: tuple[int, int] = (0, 0)

    @property
    def stored(self) -> int:
        return self.k // 2 if self.sparse else self.k


@dataclass
class Images:
    """What `tilewright.simulate` takes, and D as it must be, float64 or int64 [M, N]."""

    smem: NDArray[np.uint8]
    tmem: NDArray[np.uint32]
    a_desc: int | None
    b_desc: int
    addresses: dict[str, int]
    a: NDArray[Any]
    b: NDArray[Any]
    d: NDArray[Any]
    expected: NDArray[Any]
    scales: tuple[NDArray[Any], NDArray[Any]] | None = None
    written: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])


def value(words: NDArray[Any], type_: str) -> NDArray[Any]:
    """What words of a type are worth: float64, or int64."""
    dtype = np.dtype(DTYPES[type_])
    held = words.astype(f"uint{8 * dtype.itemsize}").view(dtype)
    return held.astype(np.int64 if type_ in ("s8", "u8", "s32") else np.float64)


def some(rng: np.random.Generator, type_: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Words of a type: small numbers, so that every sum below is exact in float64."""
    if type_ in ("s8", "u8"):
        return rng.integers(0, 256, shape).astype(np.uint8)
    if BITS[type_] <= 6:
        return rng.integers(0, 1 << BITS[type_], shape).astype(np.uint8)
    numbers = (rng.integers(-24, 25, shape) / 8).astype(DTYPES[type_])
    return numbers.view(f"uint{max(BITS[type_], 8)}")


# Shared memory


def chunk_bytes(words: NDArray[Any], type_: str, packed: bool) -> NDArray[np.uint8]:
    """One chunk: elements that lie side by side as 16 bytes."""
    bits = BITS[type_]
    if bits >= 8:
        return np.ascontiguousarray(words).view(np.uint8)
    whole = sum(int(word) << (bits * i) for i, word in enumerate(words))
    length = 16 if packed else 2 * bits
    return np.frombuffer(whole.to_bytes(length, "little") + bytes(16 - length), dtype=np.uint8)


def put_matrix(
    image: NDArray[np.uint8], words: NDArray[Any], type_: str, major: str, code: int, start: int,
    packed: bool,
) -> int:  # fmt: skip
    """Write a matrix [mn, k] to shared memory from `start` on; its descriptor."""
    per_chunk = 128 // (BITS[type_] if packed else max(BITS[type_], 8))
    along = words if major == "k" else words.T
    rows, chunks = along.shape[0], along.shape[1] // per_chunk
    group = 4 if code == SWIZZLE_128_32 else 8
    width = 128 if code else 16
    groups, runs = rows // group, -(-chunks // (width // 16))
    # Between groups of rows, and between runs of chunks; some room in between both.
    across, beside = group * width + (0 if code else 16), 0
    beside = across * groups + (1024 if code else 48)
    for row in range(rows):
        for chunk in range(chunks):
            run, inside = divmod(chunk, width // 16)
            place = start + row // group * across + row % group * width + inside * 16
            place += run * beside
            if code == SWIZZLE_128:
                place ^= (place >> 7 & 7) << 4
            elif code == SWIZZLE_128_32:
                place ^= (place >> 7 & 3) << 5
            part = along[row, chunk * per_chunk : (chunk + 1) * per_chunk]
            image[place : place + 16] = chunk_bytes(part, type_, packed)
    assert runs * beside < 1 << 16
    lead, stride = beside, across
    if not code and major == "mn":
        lead, stride = stride, lead
    return start >> 4 | lead >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | code << 61


# Tensor memory


def d_place(u: Umma, i: int, j: int) -> tuple[int, int, int]:
    """(CTA, lane, column) of D[i][j]."""
    half, n = j >= u.n // 2, u.n
    if u.cta_group == 2:
        if u.m == 256:
            return i // 128, i % 128, j
        if u.sparse:
            row = i % 64
            return i // 64, row % 16 + 32 * (row // 16), j
        return i // 64, i % 64 + 64 * half, j % (n // 2)
    if u.m == 128:
        return 0, i, j
    if u.m == 32:
        return 0, i + 32 * (j // (n // 4)), j % (n // 4)
    return (0, i + 64 * half, j % (n // 2)) if u.ws else (0, i % 16 + 32 * (i // 16), j)


def row_lanes(u: Umma, i: int) -> tuple[int, list[int]]:
    """The CTA and the lanes in which row i of A is."""
    cta, lane, _ = d_place(u, i, 0)
    if u.m == 128 and u.cta_group == 2 and not u.sparse:
        return cta, [lane, lane + 64]
    return cta, [lane]


def put_bits(
    tmem: NDArray[np.uint32], cta: int, lane: int, bit: int, word: int, width: int
) -> None:
    column, shift = divmod(bit, 32)
    mask = (1 << width) - 1 << shift
    old = int(tmem[cta, lane, column])
    tmem[cta, lane, column] = (old & ~mask) | word << shift


def put_a(u: Umma, tmem: NDArray[np.uint32], words: NDArray[Any], column: int) -> None:
    type_ = u.types[0]
    width = BITS[type_] if u.packed else max(BITS[type_], 8)
    shift = 2 if type_ == "e2m1" and not u.packed else 0
    for i in range(u.m):
        cta, lanes = row_lanes(u, i)
        for k in range(u.stored):
            for lane in lanes:
                bit = 32 * column + k * width
                put_bits(tmem, cta, lane, bit, int(words[i, k]) << shift, width)


def put_metadata(u: Umma, tmem: NDArray[np.uint32], nibbles: NDArray[Any], column: int) -> None:
    """nibbles [M, chunks]: 4 bits of metadata for each chunk of a row."""
    chunk = u.k // nibbles.shape[1]
    for i in range(u.m):
        cta, row = d_place(u, i, 0)[0], i % (u.m // u.cta_group)
        for c in range(nibbles.shape[1]):
            k = c * chunk
            if BITS[u.types[0]] == 16:
                lane, bit = row % 8 + 8 * (k // 16) + 16 * (row // 16), k % 16
                bit += 16 * (row // 8 % 2)
            elif BITS[u.types[0]] == 32:
                lane, bit = row % 8 + 8 * (k // 8) + 16 * (row // 16), 2 * (k % 8)
                bit += 16 * (row // 8 % 2)
            else:
                lane, bit = row, (k // 2 if u.packed else k)
            # Every copy of it: weight-stationary, M = 64 and 32 go on in the next lanes.
            for copy in range(128 // u.m if u.ws else 1):
                at = 32 * (column + u.selector) + bit
                put_bits(tmem, cta, lane + copy * u.m, at, int(nibbles[i, c]), 4)


def put_scales(
    u: Umma, tmem: NDArray[np.uint32], words: NDArray[Any], side: str, column: int
) -> None:
    """Scale factors of A [M, S] or of the columns of B [N, S]."""
    rows = words.shape[0]
    first = u.ids[side == "b"]
    per_cta = rows // u.cta_group if side == "a" else rows
    step = -(-per_cta // 32) if side == "a" else (4 if u.n <= 128 else 8)
    for r in range(rows):
        for s in range(words.shape[1]):
            word, byte = divmod(first + s, 4)
            if side == "a":
                ctas, row, lanes = [r // per_cta], r % per_cta, range(4)
            elif u.cta_group == 2 and u.m == 128:
                half = r >= rows // 2
                ctas, row, lanes = [0, 1], r % (rows // 2), range(2 * half, 2 * half + 2)
            else:
                ctas, row, lanes = list(range(u.cta_group)), r, range(4)
            for cta in ctas:
                for group in lanes:
                    at = 32 * (column + row // 32 + word * step) + 8 * byte
                    put_bits(tmem, cta, row % 32 + 32 * group, at, int(words[r, s]), 8)


# The product


def metadata(u: Umma, rng: np.random.Generator) -> NDArray[Any]:
    chunk = {32: 2, 4: 8}.get(BITS[u.types[0]] if u.packed or BITS[u.types[0]] > 8 else 8, 4)
    legal = [0x4, 0xE] if chunk == 2 else [0x4, 0x8, 0xC, 0x9, 0xD, 0x6, 0xE]
    return rng.choice(legal, (u.m, u.k // chunk))


def expanded(u: Umma, a: NDArray[Any], nibbles: NDArray[Any]) -> NDArray[Any]:
    """A [M, stored] as [M, K], zeros where nothing is stored."""
    wide = np.zeros((u.m, u.k), dtype=a.dtype)
    chunk = u.k // nibbles.shape[1]
    for i in range(u.m):
        for c in range(nibbles.shape[1]):
            first = c * chunk
            low, high = int(nibbles[i, c]) & 3, int(nibbles[i, c]) >> 2
            if chunk == 2:
                wide[i, first + (low == 2)] = a[i, c]
            elif chunk == 4:
                wide[i, first + low], wide[i, first + high] = a[i, 2 * c], a[i, 2 * c + 1]
            else:
                for pair, index in enumerate((low, high)):
                    at = first + 2 * index
                    wide[i, at : at + 2] = a[i, 4 * c + 2 * pair : 4 * c + 2 * pair + 2]
    return wide


def build(u: Umma, seed: int = 0, *, add: bool = True) -> Images:
    """Random operands in their places, and D = A * B + D."""
    rng = np.random.default_rng(seed)
    a_type, b_type, d_type = u.types
    a, b = some(rng, a_type, (u.m, u.stored)), some(rng, b_type, (u.n, u.k))
    tmem = rng.integers(0, 1 << 32, (u.cta_group, 128, 512), dtype=np.uint32)
    smem = np.zeros((u.cta_group, 1 << 17), dtype=np.uint8)
    addresses = {"d_tmem": 8}
    d = _accumulator(u, rng, tmem)
    if u.a_in_tmem:
        addresses["a_tmem"] = 300
        put_a(u, tmem, a, 300)
    left, a_desc, b_desc = value(a, a_type), None, 0
    for cta in range(u.cta_group):
        if not u.a_in_tmem:
            mine = a[cta * u.m // u.cta_group : (cta + 1) * u.m // u.cta_group]
            a_desc = put_matrix(smem[cta], mine, a_type, u.majors[0], u.swizzle, 1024, u.packed)
        columns = b[cta * u.n // u.cta_group : (cta + 1) * u.n // u.cta_group]
        b_desc = put_matrix(smem[cta], columns, b_type, u.majors[1], u.swizzle, 1 << 16, u.packed)
    if u.sparse:
        addresses["sp_meta_tmem"] = 330
        nibbles = metadata(u, rng)
        put_metadata(u, tmem, nibbles, 330)
        left = expanded(u, left, nibbles)
    right, scales = value(b, b_type), None
    if u.scale_type is not None:
        scales = _scales(u, rng, tmem)
        addresses |= {"scale_a_tmem": 340, "scale_b_tmem": 360}
        left = left * np.repeat(value(scales[0], u.scale_type), u.k // u.vector, axis=1)
        right = right * np.repeat(value(scales[1], u.scale_type), u.k // u.vector, axis=1)
    expected = left @ right.T + (value(d, d_type) if add else 0)
    return Images(smem, tmem, a_desc, b_desc, addresses, a, b, d, expected, scales)


def _scales(
    u: Umma, rng: np.random.Generator, tmem: NDArray[np.uint32]
) -> tuple[NDArray[Any], NDArray[Any]]:
    low, high = (125, 131) if u.scale_type == "ue8m0" else (0x28, 0x48)
    sfa, sfb = (rng.integers(low, high, (each, u.vector)).astype(np.uint8) for each in (u.m, u.n))
    put_scales(u, tmem, sfa, "a", 340)
    put_scales(u, tmem, sfb, "b", 360)
    return sfa, sfb


def _accumulator(u: Umma, rng: np.random.Generator, tmem: NDArray[np.uint32]) -> NDArray[Any]:
    """D before, in its cells: words [M, N]."""
    d_type = u.types[2]
    if d_type == "s32":
        d = rng.integers(-1000, 1000, (u.m, u.n)).astype(np.int32).view(np.uint32)
    else:
        numbers = rng.integers(-64, 65, (u.m, u.n)) / 8
        d = numbers.astype(DTYPES[d_type]).view("uint32" if d_type == "f32" else "uint16")
    for i in range(u.m):
        for j in range(u.n):
            cta, lane, column = d_place(u, i, j)
            tmem[cta, lane, 8 + column] = d[i, j]
    return d


def result(u: Umma, tmem: NDArray[np.uint32]) -> NDArray[Any]:
    """D as tensor memory holds it: [M, N]."""
    held = tmem.reshape(u.cta_group, 128, 512)
    words = np.array([
        [held[cta, lane, 8 + column] for cta, lane, column in
         (d_place(u, i, j) for j in range(u.n))]
        for i in range(u.m)
    ])  # fmt: skip
    return value(words, u.types[2])
