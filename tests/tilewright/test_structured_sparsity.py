"""`tilewright.sparsify` and `densify`: the sparse product equals the dense one for every row of the
lattice that is sparse; round trips; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from umma_images import NONE, Umma, put_matrix, result

import tilewright as tw
from tilewright.arguments.dtypes import dtype_of_element
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import find_umma
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, UMMA_ROWS, WGMMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum, target

MMAS = [
    MmaAtom(row, types)
    for row in MMA_ROWS
    if row.sparsity is not None
    for types in row.element_types()
]
WGMMAS = [
    WgmmaAtom(row, 16, types, frag_kind=place)
    for row in WGMMA_ROWS
    if row.sparse
    for types in row.element_types()
    for place in ("ss", "rs")
]


def _ummas() -> list[UmmaAtom]:
    """Of every row: every type of A once, every M and CTA group, A in either memory."""
    atoms: list[UmmaAtom] = []
    for row in UMMA_ROWS:
        if not row.sparse:
            continue
        first = {types[0]: types for types in reversed(row.element_types())}
        for tiles in row.tiles:
            for types in first.values() if tiles is row.tiles[0] else list(first.values())[:1]:
                ns = {"ss": tiles.ns[:1], "ts": tiles.tmem_ns[:1]}
                atoms += [
                    find_umma(
                        row.op, row.shape(tiles.m, n), types, cta_group=tiles.cta_group,
                        frag_kind=place, kind=row.kind,
                        **({} if row.scale is None else
                           {"scale_vector": row.scale.vector, "scale_type": row.scale.type}),
                    )
                    for place in ns for n in ns[place]
                ]  # fmt: skip
    return atoms


UMMAS = _ummas()
ATOMS = [*MMAS, *WGMMAS, *UMMAS]


def arch_of(minimum: Minimum) -> str:
    return next(arch for arch in ("sm_90a", "sm_100a", "sm_120a") if target(arch).supports(minimum))


def numbers(element: ElementType, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
    """Small numbers that every type has: products and sums of them are exact."""
    low = 0 if element.name.startswith("u") else -2
    return rng.integers(low, 3, shape).astype(dtype_of_element(element.mlir))


def with_zeros(atom: Any, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> NDArray[Any]:
    """A of numbers, half of each chunk or more of them zeros."""
    rows, stored = atom.extents("A")
    chunk = atom.chunk
    units, size = min(chunk, 4), max(chunk // 4, 1)
    a = numbers(atom.element("A"), (*batch, rows, 2 * stored // chunk, units, size), rng)
    ranks = np.argsort(rng.random(a.shape[:-1]), axis=-1)
    a[ranks >= units // 2] = 0
    return a.reshape(*batch, rows, 2 * stored)


def wide(matrix: NDArray[Any]) -> NDArray[np.float64]:
    return matrix.astype(np.float32).astype(np.float64)


def bits_of(matrix: NDArray[Any], element: ElementType) -> NDArray[Any]:
    return matrix.view(element.container) & np.array((1 << (element.width or element.bits)) - 1,
                                                     element.container)  # fmt: skip


def fragment(atom: MmaAtom, operand: Any, matrix: NDArray[Any]) -> NDArray[np.uint32]:
    """Register words, one element after another from the low bits on."""
    element = atom.element(operand)
    bits = bits_of(matrix, element).astype(np.uint64)
    words = np.zeros((32, atom.registers(operand)[1]), np.uint64)
    for (thread, value), (row, column) in zip(
        np.ndindex(32, atom.values(operand)), atom.coords(operand).reshape(-1, 2), strict=True
    ):
        word, place = divmod(value, element.per_register)
        words[thread, word] |= (bits[row, column] << element.shift) << (element.bits * place)
    return words.astype(np.uint32)


def sums(atom: MmaAtom | WgmmaAtom, d: NDArray[np.uint32]) -> NDArray[np.float64]:
    """D of register words."""
    element = atom.element("D")
    row, column = np.moveaxis(atom.coords("D"), -1, 0)
    dtype = {"s32": "int32", "f32": "float32", "f16": "float16"}[element.name]
    matrix = np.zeros(atom.extents("D"))
    matrix[row, column] = np.ascontiguousarray(d).view(dtype)
    return matrix


@pytest.mark.parametrize("atom", MMAS, ids=str)
def test_sparse_mma_equals_the_dense_product(atom: MmaAtom):
    rng = default_rng(0)
    a, b = with_zeros(atom, rng), numbers(atom.element("B"), atom.extents("B"), rng)
    values, metadata = tw.sparsify(a, atom)
    one = np.full(32, 0x7F7F7F7F if atom.row.scale_type == "ue8m0" else 0x38383838, np.uint32)
    scales: dict[str, Any] = {"scale_a_data": one, "scale_b_data": one} if atom.row.scale else {}
    c = np.zeros((32, atom.registers("C")[1]), np.uint32)
    for selector in atom.selectors[0].legal:
        d = tw.simulate(
            atom, a=values, b=fragment(atom, "B", b), c=c, metadata=metadata, selector=selector,
            arch=arch_of(atom.row.target), numerics="exact", **scales,
        )  # fmt: skip
        assert_array_equal(sums(atom, d), wide(a) @ wide(b).T)


@pytest.mark.parametrize("atom", WGMMAS, ids=lambda atom: f"{atom.mnemonic}-{atom.frag_kind}")
def test_sparse_wgmma_equals_the_dense_product(atom: WgmmaAtom):
    rng = default_rng(1)
    a, b = with_zeros(atom, rng), numbers(atom.element("B"), atom.extents("B"), rng)
    values, metadata = tw.sparsify(a, atom)
    smem = np.zeros(1 << 16, np.uint8)

    def shared(operand: Any, matrix: NDArray[Any], start: int) -> int:
        element = atom.element(operand)
        words = bits_of(matrix, element)
        return put_matrix(smem, words, element.name, "k", NONE, start, True) & ~(1 << 46)

    where = {"a": values} if atom.frag_kind == "rs" else {"a_desc": shared("A", values, 1024)}
    for selector in atom.selectors[0].legal:
        d = tw.simulate(
            atom, b_desc=shared("B", b, 1 << 15), smem=smem, metadata=metadata, selector=selector,
            c=np.zeros((128, atom.registers("C")[1]), np.uint32), arch="sm_90a", numerics="exact",
            **where,  # type: ignore[arg-type]
        )  # fmt: skip
        assert_array_equal(sums(atom, d), wide(a) @ wide(b).T)


@pytest.mark.parametrize("atom", UMMAS, ids=lambda atom: f"{atom.mnemonic}-{atom.parameters}")
def test_sparse_tcgen05_mma_equals_the_dense_product(atom: UmmaAtom):
    rng = default_rng(2)
    a, b = with_zeros(atom, rng), numbers(atom.element("B"), atom.extents("B"), rng)
    values, metadata = tw.sparsify(a, atom)
    ctas, packed = atom.cta_group, atom.row.kind in ("mxf4", "mxf4nvf4")
    smem, tmem = np.zeros((ctas, 1 << 17), np.uint8), np.zeros((ctas, 128, 512), np.uint32)
    operands: dict[str, Any] = {"d_tmem": 8, "sp_meta_tmem": 330}

    def shared(operand: Any, matrix: NDArray[Any], start: int) -> int:
        element = atom.element(operand)
        parts = np.split(bits_of(matrix, element), ctas)
        words = [put_matrix(image, part, element.name, "k", NONE, start, packed)
                 for image, part in zip(smem, parts, strict=True)]  # fmt: skip
        return words[0]

    def cells(column: int, image: NDArray[Any]) -> None:
        tmem[..., column : column + image.shape[-1]] = image.reshape(ctas, 128, -1)

    cells(330, metadata)
    if atom.frag_kind == "ts":
        operands["a_tmem"] = 300
        cells(300, values)
    else:
        operands["a_desc"] = shared("A", values, 1024)
    if atom.row.scale is not None:
        operands |= {"scale_a_tmem": 340, "scale_b_tmem": 400}
        tmem[..., 340:] = 0x7F7F7F7F if atom.row.scale.type == "ue8m0" else 0x38383838
    after = tw.simulate(
        atom, b_desc=shared("B", b, 1 << 16), smem=smem if ctas > 1 else smem[0],
        tmem=tmem if ctas > 1 else tmem[0], enable_input_d=False, **operands,
        arch=arch_of(atom.row.target), numerics="exact",
    )  # fmt: skip
    m, n, k = atom.shape
    said = Umma(m, n, k, atom.types, ctas, sparse=True, ws=atom.row.ws, packed=packed)
    assert_array_equal(result(said, after), wide(a) @ wide(b).T)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ATOMS), st.sampled_from([(), (2,), (2, 3), (0,)]), st.integers(0, 1 << 32))
def test_densify_is_the_inverse(atom: Any, batch: tuple[int, ...], seed: int):
    a = with_zeros(atom, default_rng(seed), batch)
    values, metadata = tw.sparsify(a, atom)
    for selector in atom.selectors[0].legal if not isinstance(atom, UmmaAtom) else (0,):
        back = tw.densify(values, metadata, atom, selector=selector)
        assert back.dtype == a.dtype and back.shape == a.shape
        assert_array_equal(back, a)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(ATOMS), st.integers(0, 1 << 32))
def test_any_bits_of_stored_elements_come_back(atom: Any, seed: int):
    """NaNs and their payloads too; a zero may lose its sign where it is not stored."""
    rng = default_rng(seed)
    a = with_zeros(atom, rng)
    element = atom.element("A")
    width = element.width or element.bits
    random = rng.integers(1, 1 << width, a.shape).astype(element.container)
    if element.name in ("s4", "s8"):
        random = ((random ^ (1 << width - 1)).astype(np.int64) - (1 << width - 1)).astype(a.dtype)
    a = np.where(a == 0, a.dtype.type(0), random.view(a.dtype))
    values, metadata = tw.sparsify(a, atom)
    back = tw.densify(values, metadata, atom)
    kept = a != 0
    assert_array_equal(bits_of(back, element)[kept], bits_of(a, element)[kept])
    assert not (back != 0)[~kept].any()


def test_metadata_of_one_row():
    """PTX ISA 9.7.14.6.1: two indices a chunk, the lower first."""
    atom = tw.atom("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    a = np.zeros((16, 16), np.float16)
    a[0, [1, 3, 4, 5, 10, 11, 15]] = range(1, 8)
    values, metadata = tw.sparsify(a, atom)
    # Chunks 1 and 3, 0 and 1, 2 and 3, 3 alone (with the first zero).
    assert metadata[0] & 0xFFFF == 0b1100_1110_0100_1101
    assert values.view(np.float16)[:4, :2].ravel().tolist() == [1, 2, 3, 4, 5, 6, 0, 7]


F16 = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
TF32 = "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32"
S4 = "mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32"


@pytest.mark.parametrize(
    "name, places, words",
    [
        (F16, [(3, 8), (3, 10), (3, 11), (9, 0), (9, 1), (9, 2)],
         "'sm80.sparse_mma' expected at most 2 of 4 neighbours in a row of A that are not zeros, "
         "got 3 in row 3, columns 8 to 11: 1.0, 0.0, 1.0, 1.0 (9.7.14.6.2.1)"),
        (TF32, [(0, 14), (0, 15)], "at most 1 of 2 neighbours in a row of A that are not zeros, "
         "got 2 in row 0, columns 14 to 15: 1.0, 1.0"),
        (S4, [(1, 8), (1, 11), (1, 14)], "at most 2 pairs of 4 neighbours in a row of A that are "
         "not zeros, got 3 in row 1, columns 8 to 15: 1, 0, 0, 1, 0, 0, 1, 0"),
    ],
)  # fmt: skip
def test_what_is_not_sparse_is_refused(name: str, places: list[tuple[int, int]], words: str):
    atom = tw.atom(name)
    m, _, k = atom.shape
    a = np.zeros((2, m, k), dtype_of_element(atom.element("A").mlir))
    for row, column in places:
        a[0, row, column] = 1
    with pytest.raises(tw.AtomError) as caught:
        tw.sparsify(a[0], atom)  # type: ignore[arg-type]
    assert words in str(caught.value)
    with pytest.raises(tw.AtomError, match=r"of matrix \(1,\): "):
        tw.sparsify(a[::-1], atom)  # type: ignore[arg-type]


WRONG: list[tuple[str, Any, str]] = [
    (F16, np.zeros((16, 8), np.float16), "expected A of float16 [..., 16, 16] (M, K), got "
     "float16 [16, 8]"),
    (F16, np.zeros((16, 16), np.float32), "expected A of float16 [..., 16, 16] (M, K), got "
     "float32 [16, 16]"),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", np.zeros(1), "expected a sparse MMA, "
     "got mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32, which is dense"),
]  # fmt: skip


@pytest.mark.parametrize("name, a, words", WRONG)
def test_wrong_matrices(name: str, a: Any, words: str):
    with pytest.raises(tw.AtomError) as caught:
        tw.sparsify(a, tw.atom(name))  # type: ignore[arg-type]
    assert words in str(caught.value)
    with pytest.raises(tw.AtomError, match="expected atom as an MMA atom"):
        tw.sparsify(a, name)  # type: ignore[arg-type]


def test_wrong_sparse_matrices():
    atom: Any = tw.atom(F16)
    values, metadata = tw.sparsify(np.zeros((2, 16, 16), np.float16), atom)
    for given_values, given_metadata, words in (
        (values.view(np.int32), metadata, "expected A of uint32 [..., 32, 2], got int32"),
        (values, metadata[:, :16], "expected E of uint32 [..., 32, 1], got uint32 [2, 16, 1]"),
        (values[:1], metadata, "expected values and metadata with equal leading axes, got"),
        (values, metadata * 0, "expected metadata of two different indices for each chunk, got "
         "0b0000 for chunk 0 of row 0 (9.7.14.6.2.1)"),
    ):  # fmt: skip
        with pytest.raises(tw.AtomError) as caught:
            tw.densify(given_values, given_metadata, atom)
        assert words in str(caught.value)
    with pytest.raises(tw.AtomError, match="expected a sparsity selector of 0, 1, 2, 3, got 4"):
        tw.densify(values, metadata, atom, selector=4)
