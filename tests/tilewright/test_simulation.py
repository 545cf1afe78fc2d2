"""`tilewright.simulate`: one instruction on raw register words, against NumPy."""

from __future__ import annotations

import math
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.targets import target

BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
OPERANDS = ("A", "B", "C")
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
          "f64": np.float64, "s8": np.int8, "u8": np.uint8, "s32": np.int32}  # fmt: skip


def plain_atoms() -> list[MmaAtom]:
    """One atom a row and element types, where NumPy has the types."""
    return [
        MmaAtom(row, types)
        for row in MMA_ROWS
        for types in row.element_types()
        if set(types) <= set(DTYPES) and row.sparsity is None and row.matrices == 1
    ]


def words(atom: MmaAtom, operand: str, matrix: np.ndarray) -> np.ndarray:
    """The register words of every thread of a matrix: A [M, K], B [N, K], C [M, N]."""
    rows, columns = np.moveaxis(atom.coords(operand), -1, 0)  # type: ignore[arg-type]
    return np.ascontiguousarray(matrix[..., rows, columns]).view(np.uint32)


def matrix_of(atom: MmaAtom, d: np.ndarray) -> np.ndarray:
    """The matrix D of register words."""
    rows, columns = np.moveaxis(atom.coords("D"), -1, 0)
    m, n, _ = atom.shape
    values = d.view(DTYPES[atom.types[3]])
    result = np.zeros((*d.shape[:-2], m, n), values.dtype)
    result[..., rows, columns] = values
    return result


def draw(atom: MmaAtom, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> list[np.ndarray]:
    """A, B and C of small integers, whose products and sums are exact in every type."""
    m, n, k = atom.shape
    matrices: list[np.ndarray] = []
    for operand, shape in zip(OPERANDS, ((m, k), (n, k), (m, n)), strict=True):
        name = atom.element(operand).name  # type: ignore[arg-type]
        low = 0 if name == "u8" else -3
        matrices.append(rng.integers(low, 4, (*batch, *shape)).astype(DTYPES[name]))
    return matrices


@pytest.mark.parametrize("numerics", ["exact", "hardware"])
@pytest.mark.parametrize("atom", plain_atoms(), ids=str)
def test_simulation_multiplies_matrices(atom: MmaAtom, numerics: Any):
    a, b, c = draw(atom, default_rng(0))
    d = tw.simulate(
        atom, a=words(atom, "A", a), b=words(atom, "B", b), c=words(atom, "C", c),
        arch="sm_90", numerics=numerics,
    )  # fmt: skip
    assert d.dtype == np.uint32
    expected = a.astype(np.float64) @ b.astype(np.float64).T + c.astype(np.float64)
    assert_array_equal(matrix_of(atom, d).astype(np.float64), expected)


def test_exact_is_rounded_once_and_hardware_is_not():
    atom, rng = tw.atom(BF16), default_rng(1)
    a = (rng.standard_normal((16, 16)) * np.exp2(rng.integers(-9, 9, (16, 16)))).astype(
        ml_dtypes.bfloat16
    )
    b = rng.standard_normal((8, 16)).astype(ml_dtypes.bfloat16)
    c = rng.standard_normal((16, 8)).astype(np.float32)
    exact, hardware = (
        matrix_of(atom, tw.simulate(
            atom, a=words(atom, "A", a), b=words(atom, "B", b), c=words(atom, "C", c),
            arch="sm_90", numerics=numerics))
        for numerics in ("exact", "hardware")
    )  # type: ignore[arg-type]  # fmt: skip
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    for i, j in np.ndindex(16, 8):
        assert exact[i, j] == np.float32(math.fsum([*(wide_a[i] * wide_b[j]), float(c[i, j])]))
    assert (exact != hardware).any()
    size = np.abs(wide_a) @ np.abs(wide_b).T + np.abs(c)
    assert (np.abs(exact - hardware.astype(np.float64)) <= size * 2.0**-20).all()


def test_batches_are_as_many_single_ones():
    atom, rng = tw.atom(BF16), default_rng(2)
    a, b, c = (rng.integers(0, 1 << 32, (2, 3, 32, n), np.uint32) for n in (4, 2, 4))
    d = tw.simulate(atom, a=a, b=b, c=c, arch="sm_80")
    assert d.shape == (2, 3, 32, 4)
    for place in np.ndindex(2, 3):
        one = tw.simulate(atom, a=a[place], b=b[place], c=c[place], arch="sm_80")
        assert_array_equal(d[place], one)
    none = tw.simulate(atom, a=a[:0], b=b[:0], c=c[:0], arch="sm_80")
    assert none.shape == (0, 3, 32, 4) and none.dtype == np.uint32


def test_operands_need_not_be_contiguous_and_stay_as_they_are():
    atom, rng = tw.atom(BF16), default_rng(3)
    a, b, c = (rng.integers(0, 1 << 32, (n, 32), np.uint32).T for n in (4, 2, 4))
    before = [each.copy() for each in (a, b, c)]
    d = tw.simulate(atom, a=a, b=b, c=c, arch="sm_80")
    contiguous = [np.ascontiguousarray(each) for each in (a, b, c)]
    again = tw.simulate(atom, **dict(zip("abc", contiguous, strict=True)), arch="sm_80")  # type: ignore[arg-type]
    assert_array_equal(d, again)
    for each, kept in zip((a, b, c), before, strict=True):
        assert_array_equal(each, kept)


def test_an_f64_register_is_two_words_low_first():
    atom = tw.atom("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64")
    a, b = np.zeros((32, 2), np.uint32), np.zeros((32, 2), np.uint32)
    c = np.zeros((32, 4), np.uint32)
    value = int(np.array(1 + 2.0**-40).view(np.uint64))
    c[5, 2:] = value & 0xFFFFFFFF, value >> 32
    d = tw.simulate(atom, a=a, b=b, c=c, arch="sm_80")
    assert_array_equal(d, c)
    assert d.view(np.float64)[5, 1] == 1 + 2.0**-40


@pytest.mark.parametrize("satfinite", [False, True])
def test_integers_wrap_or_saturate(satfinite: bool):
    atom = tw.atom(
        "sm80.mma", shape=(16, 8, 32), elem_type=("s8", "s8", "s32"), satfinite=satfinite
    )
    rng = default_rng(4)
    a = rng.integers(-128, 128, (16, 32)).astype(np.int8)
    b = rng.integers(-128, 128, (8, 32)).astype(np.int8)
    c = np.where(rng.integers(0, 2, (16, 8)) == 1, 2**31 - 1, -(2**31)).astype(np.int32)
    d = tw.simulate(
        atom, a=words(atom, "A", a), b=words(atom, "B", b), c=words(atom, "C", c), arch="sm_80"
    )
    total = a.astype(np.int64) @ b.astype(np.int64).T + c
    clamped = np.clip(total, -(2**31), 2**31 - 1)
    assert (total != clamped).any()
    assert_array_equal(matrix_of(atom, d), clamped if satfinite else total.astype(np.int32))


@pytest.mark.parametrize("changes, words_", [
    ({"a": np.zeros((32, 4), np.int32)}, "operand A expected dtype uint32 (raw words), got int32"),
    ({"b": np.zeros((32, 2), np.float32)}, "operand B expected dtype uint32"),
    ({"a": np.zeros((32, 5), np.uint32)}, f"operand A of {BF16} expected shape [..., 32, 4] "
                                          "(threads, words), got [32, 5]"),
    ({"c": np.zeros((4,), np.uint32)}, "expected shape [..., 32, 4] (threads, words), got [4]"),
    ({"c": np.zeros((2, 32, 4), np.uint32)}, "operand C expected leading batch axes (), got (2,)"),
    ({"arch": "sm_75"}, "requires sm_80 or later, got sm_75"),
    ({"numerics": "fast"}, 'expected numerics as one of "hardware", "exact", got'),
])  # fmt: skip
def test_wrong_operands_of_a_simulation(changes: dict[str, Any], words_: str):
    legal = {"a": np.zeros((32, 4), np.uint32), "b": np.zeros((32, 2), np.uint32),
             "c": np.zeros((32, 4), np.uint32), "arch": "sm_80"}  # fmt: skip
    with pytest.raises(tw.AtomError, match=re.escape(words_)):
        tw.simulate(tw.atom(BF16), **{**legal, **changes})


# Every kind of MMA on whole numbers, which all types and all sums hold exactly

FLOATS = {**DTYPES, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
          "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
          "e2m1": ml_dtypes.float4_e2m1fn, "ue8m0": ml_dtypes.float8_e8m0fnu,
          "ue4m3": ml_dtypes.float8_e4m3fn}  # fmt: skip
METADATA = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)


def bits_of(values: np.ndarray, element: ElementType) -> np.ndarray:
    """Elements as a fragment holds them, one a container."""
    if element.name in ("s4", "u4", "b1", "u2"):
        return values.astype(np.int8).view(np.uint8) & ((1 << element.bits) - 1)
    dtype = np.dtype(FLOATS[element.name])
    raw = values.astype(dtype).view(f"uint{8 * dtype.itemsize}")
    return raw.astype(element.container) << element.shift


def register_words(atom: MmaAtom, operand: Any, matrix: np.ndarray) -> np.ndarray:
    """Words of every thread, packed by shifts: an element takes `bits` bits, low ones first."""
    rows, columns = np.moveaxis(atom.coords(operand), -1, 0)
    element = atom.element(operand)
    held = bits_of(matrix, element)[rows, columns].astype(np.uint64)
    per_word = max(32 // element.bits, 1)
    if element.bits == 64:
        return np.ascontiguousarray(held).view(np.uint32)
    shifts = np.arange(per_word, dtype=np.uint64) * np.uint64(element.bits)
    return (held.reshape(32, -1, per_word) << shifts).sum(-1, dtype=np.uint64).astype(np.uint32)


def whole_numbers(element: ElementType, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if element.name == "b1":
        return rng.integers(0, 2, shape)
    low, high = {"u8": (0, 4), "u4": (0, 4), "e2m1": (-4, 5)}.get(element.name, (-3, 4))
    return rng.integers(low, high, shape)


def sparse_matrix(atom: MmaAtom, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A dense A whose chunks are half zeros, the stored A, and its 2-bit indices by row."""
    m, _, k = atom.shape
    chunk = {"tf32": 2, "s4": 8, "u4": 8}.get(atom.types[0], 4)
    chunk = 8 if atom.row.kind in ("mxf4", "mxf4nvf4") else chunk
    dense = np.zeros((m, k), dtype=np.int64)
    stored: list[list[int]] = []
    indices: list[list[int]] = []
    for row in range(m):
        kept: list[int] = []
        named: list[int] = []
        for start in range(0, k, chunk):
            word = int(rng.choice((0b0100, 0b1110) if chunk == 2 else METADATA))
            named += [word & 3, word >> 2]
            if chunk == 2:
                kept.append(start + (word == 0b1110))
            else:
                width = chunk // 4
                kept += [start + width * i + j for i in named[-2:] for j in range(width)]
        values = whole_numbers(atom.element("A"), (len(kept),), rng)
        dense[row, kept] = values
        stored.append(list(values))
        indices.append(named)
    return dense, np.array(stored), np.array(indices)


def every_kind() -> list[MmaAtom]:
    rows = (*MMA_ROWS, *WMMA_MMA)
    return [next(atoms_of(row)) for row in rows if row.matrices == 1]


@pytest.mark.parametrize("atom", every_kind(), ids=str)
@pytest.mark.parametrize("numerics", ["exact", "hardware"])
def test_every_kind_multiplies_matrices(atom: MmaAtom, numerics: Any):
    rng = default_rng(0)
    m, n, k = atom.shape
    settings: dict[str, Any] = {}
    if atom.row.sparsity is None:
        dense = stored = whole_numbers(atom.element("A"), (m, k), rng)
    else:
        dense, stored, indices = sparse_matrix(atom, rng)
        settings["metadata"] = register_words(atom, "E", indices)
        settings["selector"] = atom.selectors[0].legal[-1]
    b, c = whole_numbers(atom.element("B"), (n, k), rng), rng.integers(-9, 10, (m, n))
    a_scaled, b_scaled = dense.astype(np.float64), b.astype(np.float64)
    if atom.row.scale is not None:
        vector = atom.row.scale.vector
        for name, operand, rows in (("scale_a_data", "SFA", m), ("scale_b_data", "SFB", n)):
            scale = np.exp2(rng.integers(-1, 3, (rows, vector)))
            settings[name] = register_words(atom, operand, scale)
            wide = np.repeat(scale, k // vector, axis=1)
            a_scaled, b_scaled = (
                (a_scaled * wide, b_scaled) if operand == "SFA" else (a_scaled, b_scaled * wide)
            )
        ids = [each.legal[-1] for each in atom.selectors[-4:]]
        names = ("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b")
        settings |= dict(zip(names, ids, strict=True))
    arch = next(arch for arch in ("sm_90a", "sm_120a") if target(arch).supports(atom.row.target))
    d = tw.simulate(
        atom, a=register_words(atom, "A", stored), b=register_words(atom, "B", b),
        c=register_words(atom, "C", c), arch=arch, numerics=numerics, **settings,
    )  # fmt: skip
    if atom.row.bit_op is not None:
        pairs = dense[:, None, :] ^ b if atom.row.bit_op == "xor" else dense[:, None, :] & b
        expected = pairs.sum(-1) + c
    else:
        expected = a_scaled @ b_scaled.T + c
    assert_array_equal(matrix_of(atom, d).astype(np.float64), expected)


@pytest.mark.parametrize("majors", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize("types", ["f16.f16.f16.f16", "f32.f16.f16.f16", "f32.f16.f16.f32"])
@pytest.mark.parametrize("numerics", ["exact", "hardware"])
def test_four_matrices_on_quad_pairs(majors: str, types: str, numerics: Any):
    atom = tw.atom(f"mma.sync.aligned.m8n8k4.{majors}.{types}")
    rng = default_rng(1)
    a, b, c = rng.integers(-3, 4, (4, 8, 4)), rng.integers(-3, 4, (4, 8, 4)), rng.integers(
        -9, 10, (4, 8, 8)
    )  # fmt: skip
    d = tw.simulate(
        atom, **{name: register_words(atom, operand, np.concatenate(list(matrix), axis=1))
                 for name, operand, matrix in (("a", "A", a), ("b", "B", b), ("c", "C", c))},
        arch="sm_90a", numerics=numerics,
    )  # fmt: skip
    rows, columns = np.moveaxis(atom.coords("D"), -1, 0)
    found = np.zeros((8, 32))
    found[rows, columns] = d.view(DTYPES[atom.types[3]])
    expected = np.concatenate(list(a @ b.swapaxes(1, 2) + c), axis=1)
    assert_array_equal(found, expected)


@pytest.mark.parametrize(("changes", "words_"), [
    ({"metadata": None}, "expected an operand E (metadata=)"),
    ({"scale_a_data": np.zeros((32, 1), np.uint32)}, "expected no operand SFA (scale_a_data=)"),
    ({"selector": 2}, "expected a sparsity selector of 0, 1, got 2; nearest legal: 1"),
    ({"thread_id_b": 1}, "expected no scale factor selectors"),
    ({"metadata": np.zeros((32, 2), np.uint32)}, "operand E of mma.sp"),
])  # fmt: skip
def test_wrong_operands_of_a_sparse_simulation(changes: dict[str, Any], words_: str):
    atom = tw.atom("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    settings: dict[str, Any] = {
        "a": np.zeros((32, 4), np.uint32), "b": np.zeros((32, 4), np.uint32),
        "c": np.zeros((32, 4), np.uint32), "metadata": np.zeros((32, 1), np.uint32),
        "selector": 1, "arch": "sm_90a",
    }  # fmt: skip
    tw.simulate(atom, **settings)
    with pytest.raises(tw.AtomError) as error:
        tw.simulate(atom, **settings | changes)
    assert words_ in str(error.value)


def test_a_dense_simulation_has_no_selector():
    words_of = [np.zeros((32, n), np.uint32) for n in (4, 2, 4)]
    with pytest.raises(tw.AtomError, match="expected no sparsity selector"):
        tw.simulate(tw.atom(BF16), a=words_of[0], b=words_of[1], c=words_of[2], arch="sm_80",
                    selector=1)  # fmt: skip


WMMA = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"


def test_wmma_by_mnemonic_and_by_op():
    atom = tw.atom(WMMA)
    majors = ("row", "col")
    types = ("f16", "f16", "f32")
    assert atom == tw.atom("wmma.mma", shape=(16, 16, 16), elem_type=types, majors=majors)
    with pytest.raises(tw.AtomError, match="a mnemonic says everything by itself"):
        tw.atom(WMMA, shape=(16, 16, 16))
    with pytest.raises(tw.AtomError, match="requires sm_80 or later, got sm_75"):
        tw.simulate(
            tw.atom("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32"),
            a=np.zeros((32, 4), np.uint32), b=np.zeros((32, 4), np.uint32),
            c=np.zeros((32, 8), np.uint32), arch="sm_75",
        )  # fmt: skip


def test_the_first_copy_of_a_wmma_element_counts():
    """An f16 fragment holds every element twice; an H200 reads the first (tests/silicon)."""
    atom, rng = tw.atom(WMMA), default_rng(3)
    a, b = (rng.integers(0, 1 << 14, (32, 8), np.uint32) for _ in range(2))
    c = np.zeros((32, 8), np.uint32)
    d = tw.simulate(atom, a=a, b=b, c=c, arch="sm_90")
    a[:, 4:] ^= 0x3FF
    b[:, 4:] ^= 0x3FF
    assert_array_equal(tw.simulate(atom, a=a, b=b, c=c, arch="sm_90"), d)
    a[:, :4] ^= 0x3FF
    assert (tw.simulate(atom, a=a, b=b, c=c, arch="sm_90") != d).any()


def test_operands_of_other_atoms_are_refused():
    """Unless they say what goes without saying; each family has its own operands."""
    words = [np.zeros((32, n), np.uint32) for n in (4, 2, 4)]
    given: dict[str, Any] = {"a": words[0], "b": words[1], "c": words[2], "arch": "sm_80"}
    tw.simulate(tw.atom(BF16), **given, smem=None, imm_scale_a=1, scale_d=True, d_tmem=None)
    foreign = {"imm_scale_a": -1, "scale_d": False, "tmem": words[0], "d_tmem": 0}
    for name, value in foreign.items():
        with pytest.raises(tw.AtomError, match=f"expected no {name}="):
            tw.simulate(tw.atom(BF16), **given, **{name: value})
