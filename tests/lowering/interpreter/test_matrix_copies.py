"""ldmatrix, stmatrix and movmatrix: both levels, against matrices cut and turned by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covering import covering
from fragment_kernels import WARP, Code, both, fragment
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_array_equal

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, matrix_copies
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.tools.instructions.matrix_copy import ir_form

ARCH = "sm_100a"
SMEM = "#cute<space smem>"
COPIES = [copy for copy in matrix_copies().values() if copy.space]
LOADS = [copy for copy in COPIES if copy.row.op == "ldmatrix"]
STORES = [copy for copy in COPIES if copy.row.op == "stmatrix"]
# Tiles of 32 rows of 64 bytes, by the bytes of an element.
LAYOUTS = {
    1: ["", "strided<[80, 1]>", '!cute.composed_layout<"S<2,4,3> o 0 o (32,64):(64,1)">'],
    2: [
        "",
        "strided<[40, 1]>",
        '!cute.composed_layout<"S<2,3,3> o 0 o (32,32):(32,1)">',
        '!cute.layout<"((8,4),32):((32,256),1)">',
    ],
}


def seeds(test: Any) -> Any:
    """Run a test for several seeds of its random words."""
    return settings(max_examples=4, deadline=None)(given(seed=st.integers(0, 1 << 32))(test))


def element_types(copy: MatrixCopy) -> list[str]:
    """MLIR types of fragments whose elements the copy moves, or that ride along in its 16 bits."""
    if copy.row.source is not None:
        return ["ui8", "f6E3M2FN", "f6E2M3FN"] if copy.row.source.bits == 6 else ["ui8"]
    if copy.row.bits == 8:
        return ["si8", "f8E4M3FN"]
    return ["f16", "bf16"] if copy.trans else ["f16", "bf16", "si8", "ui8"]


def width_of(type_: str) -> int:
    return next(each.bits for each in ELEMENT_TYPES.values() if each.mlir == type_) // 8


def cases(copies: list[MatrixCopy]) -> list[Any]:
    """Every copy, every type and layout of its form."""
    every = [
        (copy, type_, place)
        for copy in copies
        for type_ in element_types(copy)
        for place in range(len(LAYOUTS[width_of(type_)]))
    ]
    chosen = covering(every, lambda case: (case[0], (case[0].row, *case[1:])))
    return [
        pytest.param(copy, type_, LAYOUTS[width_of(type_)][place], id=f"{copy}-{type_}-{place}")
        for copy, type_, place in chosen
    ]


# What NumPy says


def matrices_of(copy: MatrixCopy, runs: np.ndarray) -> np.ndarray:
    """The matrices [number, M, N] that lie in runs of 16 bytes, uint8 [runs, 16]."""
    source = copy.row.source
    if source is None:
        elements = runs.view(f"uint{copy.row.bits}")
    else:
        numbers = [int.from_bytes(run.tobytes(), "little") for run in runs]
        mask = (1 << source.bits) - 1
        elements = np.array(
            [[number >> source.bits * i & mask for i in range(16)] for number in numbers], np.uint8
        )
    m, n = copy.row.shape
    if copy.trans:
        return elements.reshape(copy.number, n, m).swapaxes(1, 2)
    return elements.reshape(copy.number, m, n)


def runs_of(copy: MatrixCopy, matrices: np.ndarray) -> np.ndarray:
    """The inverse of `matrices_of`, for what is not packed."""
    stored = matrices.swapaxes(1, 2) if copy.trans else matrices
    return np.ascontiguousarray(stored).view(np.uint8).reshape(-1, 16)


def words_of_matrices(matrices: np.ndarray) -> np.ndarray:
    """uint32 [32, registers]: thread 4g + t has N/4 elements of row g of every matrix, from t*N/4
    on, and then those of row g + 8."""
    number, m, n = matrices.shape
    held = matrices.reshape(number, m // 8, 8, 4, n // 4).transpose(2, 3, 0, 1, 4)
    return np.ascontiguousarray(held).view(np.uint8).reshape(WARP, -1).view(np.uint32)


def matrices_of_words(copy: MatrixCopy, words: np.ndarray) -> np.ndarray:
    """The inverse of `words_of_matrices`."""
    (m, n), number = copy.row.shape, copy.number
    held = words.view(f"uint{copy.row.bits}").reshape(8, 4, number, m // 8, n // 4)
    return np.ascontiguousarray(held.transpose(2, 3, 0, 1, 4)).reshape(number, m, n)


def named_runs(copy: MatrixCopy, matrix: np.ndarray) -> np.ndarray:
    """The 16 bytes that each thread names of a tile, uint8 [32, 64], as `lane_place` says."""
    return np.array([matrix[t, 16 * (3 * t % 4) :][:16] for t in range(copy.runs)])


# Kernels


def tile_type(type_: str, layout: str) -> str:
    columns = 64 // width_of(type_)
    return f"memref<32x{columns}x{type_}{', ' + layout if layout else ''}, {SMEM}>"


def filled_tile(code: Code, type_: str, layout: str) -> str:
    """A tile of 32 rows of 64 bytes, copied from an argument; thread t copies row t."""
    tile, width = tile_type(type_, layout), width_of(type_)
    source = f"memref<32x{64 // width}x{type_}>"
    pointer = code.argument(source)
    code.do(f"%s = memref.alloc() : {tile}")
    for column in range(0, 64 // width, 16 // width):
        at = code.index(column)
        code.do(
            f"cute_nvgpu.cp.async {pointer}[%t, {at}] to %s[%t, {at}] size 16 cache cg "
            f": {source} to {tile}"
        )
    code.do("cute_nvgpu.cp.async.commit_group")
    code.do("cute_nvgpu.cp.async.wait_group 0")
    code.do('"gpu.barrier"() : () -> ()')
    return tile


def lane_place(code: Code, copy: MatrixCopy, type_: str) -> str:
    """Row t, a run that differs from row to row; threads whose address does not count name a row
    that is not there."""
    three, four, step = (code.index(each) for each in (3, 4, 16 // width_of(type_)))
    turned = code.add(f"arith.muli %t, {three} : index")
    run = code.add(f"arith.remui {turned}, {four} : index")
    column = code.add(f"arith.muli {run}, {step} : index")
    used = code.add(f"arith.cmpi ult, %t, {code.index(copy.runs)} : index")
    row = code.add(f"arith.select {used}, %t, {code.index(1000)} : index")
    return f"%s[{row}, {column}] {ir_form(copy)}"


def stored_type(copy: MatrixCopy, type_: str) -> str:
    return fragment(copy.registers * 4 // width_of(type_), type_)


def load(code: Code, copy: MatrixCopy, place: str, tile: str, type_: str) -> str:
    """An ldmatrix, as a fragment of words."""
    held = stored_type(copy, type_)
    value = code.add(f"cute_nvgpu.ldmatrix {place} : {tile} -> {held}")
    return code.cast(value, held, fragment(copy.registers, "i32"))


def store(code: Code, copy: MatrixCopy, words: str, place: str, tile: str, type_: str) -> None:
    """An stmatrix of a fragment of words."""
    held = stored_type(copy, type_)
    value = code.cast(words, fragment(copy.registers, "i32"), held)
    code.do(f"cute_nvgpu.stmatrix {value}, {place} : {held}, {tile}")


def copy_named(mnemonic: str) -> MatrixCopy:
    return matrix_copies()[mnemonic]


def random_words(copy: MatrixCopy, seed: int) -> np.ndarray:
    return default_rng(seed).integers(0, 1 << 32, (WARP, copy.registers), np.uint32)


def random_tile(seed: int) -> np.ndarray:
    """32 rows of 64 bytes, uint8 [32, 64]."""
    return default_rng(seed).integers(0, 256, (32, 64), np.uint8)


def argument(matrix: np.ndarray, type_: str) -> np.ndarray:
    return matrix.view(f"uint{8 * width_of(type_)}")


# ldmatrix and stmatrix


@pytest.mark.parametrize("copy, type_, layout", cases(LOADS))
def test_ldmatrix(copy: MatrixCopy, type_: str, layout: str):
    code = Code()
    tile = filled_tile(code, type_ if copy.row.source is None else "ui8", layout)
    words = load(code, copy, lane_place(code, copy, type_), tile, type_)
    code.store_words(words, copy.registers, "i32")
    matrix = random_tile(0)
    out = np.zeros((WARP, copy.registers), np.uint32)
    found = both(code.text(), [argument(matrix, type_), out], arch=ARCH)[1]
    expected = words_of_matrices(matrices_of(copy, named_runs(copy, matrix)))
    assert_array_equal(found, expected)


WHOLE_ROWS = copy_named("ldmatrix.sync.aligned.m8n8.x4.shared.b16")


@pytest.mark.parametrize("copy, type_, layout", cases(STORES))
def test_stmatrix(copy: MatrixCopy, type_: str, layout: str):
    """What it writes, and that it leaves all else as it was: four ldmatrix read the tile back."""
    code = Code()
    words = code.load_words(copy.registers, "i32")
    tile = filled_tile(code, type_, layout)
    store(code, copy, words, lane_place(code, copy, type_), tile, type_)
    code.do("cute_nvgpu.bar.warp.sync")
    for run in range(4):
        place = f"%s[%t, {code.index(run * 16 // width_of(type_))}]"
        code.store_words(load(code, WHOLE_ROWS, place, tile, type_), 4, "i32")
    given, matrix = random_words(copy, 0), random_tile(1)
    outs = [np.zeros((WARP, 4), np.uint32) for _ in range(4)]
    found = both(code.text(), [given, argument(matrix, type_), *outs], arch=ARCH)[2:]
    expected = matrix.copy()
    for t, run in enumerate(runs_of(copy, matrices_of_words(copy, given))):
        expected[t, 16 * (3 * t % 4) :][:16] = run
    read = [runs_of(WHOLE_ROWS, matrices_of_words(WHOLE_ROWS, each)) for each in found]
    assert_array_equal(np.concatenate(read, axis=1), expected)


def reread_kernel(stored: MatrixCopy, loaded: MatrixCopy, type_: str) -> str:
    """Store, then load the same runs in another form."""
    code = Code()
    words = code.load_words(stored.registers, "i32")
    tile = tile_type(type_, "")
    code.do(f"%s = memref.alloc() : {tile}")
    zero = code.index(0)
    store(code, stored, words, f"%s[%t, {zero}] {ir_form(stored)}", tile, type_)
    code.do("cute_nvgpu.bar.warp.sync")
    words = load(code, loaded, f"%s[%t, {zero}] {ir_form(loaded)}", tile, type_)
    code.store_words(words, loaded.registers, "i32")
    return code.text()


@pytest.mark.parametrize("number", [2, 4])
@seeds
def test_m16n8_matrices_read_back_as_m16n16(number: int, seed: int):
    """Two m16n8 side by side are one m16n16, both kept column by column."""
    stored = copy_named(f"stmatrix.sync.aligned.m16n8.x{number}.trans.shared.b8")
    loaded = copy_named(f"ldmatrix.sync.aligned.m16n16.x{number // 2}.trans.shared.b8")
    given = random_words(stored, seed)
    out = np.zeros((WARP, loaded.registers), np.uint32)
    found = both(reread_kernel(stored, loaded, "si8"), [given, out], arch=ARCH)[1]
    halves = matrices_of_words(stored, given).reshape(number // 2, 2, 16, 8)
    whole = np.concatenate([halves[:, 0], halves[:, 1]], axis=2)
    assert_array_equal(matrices_of_words(loaded, found), whole)


@pytest.mark.parametrize("number", [1, 2, 4])
@seeds
def test_m16n8_matrices_read_back_plainly_are_transposed(number: int, seed: int):
    """8 runs of 16 bytes each are the rows of the transposes."""
    stored = copy_named(f"stmatrix.sync.aligned.m16n8.x{number}.trans.shared.b8")
    loaded = copy_named(f"ldmatrix.sync.aligned.m8n8.x{number}.shared.b16")
    given = random_words(stored, seed)
    out = np.zeros((WARP, loaded.registers), np.uint32)
    found = both(reread_kernel(stored, loaded, "ui8"), [given, out], arch=ARCH)[1]
    rows = matrices_of_words(loaded, found).view(np.uint8)
    assert_array_equal(rows, matrices_of_words(stored, given).swapaxes(1, 2))


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("number", [1, 2, 4])
@seeds
def test_m8n8_matrices_read_back(number: int, trans: str, seed: int):
    stored, loaded = (
        copy_named(f"{op}matrix.sync.aligned.m8n8.x{number}{trans}.shared.b16")
        for op in ("st", "ld")
    )
    given = random_words(stored, seed)
    text = reread_kernel(stored, loaded, "bf16")
    found = both(text, [given, np.zeros_like(given)], arch=ARCH)[1]
    assert_array_equal(found, given)


def test_a_transposed_a_of_an_mma():
    """D = A * B of bytes, with A kept column by column: m16n16.x2.trans gives A's fragment."""
    code = Code()
    tile = filled_tile(code, "si8", "")
    eight, sixteen = code.index(8), code.index(16)
    a, b, c = fragment(16, "si8"), fragment(8, "si8"), fragment(4, "i32")
    at_a = code.add(
        f"cute_nvgpu.ldmatrix %s[%t, {code.index(0)}] trans shape 16x16 : {tile} -> {a}"
    )
    row = code.add(f"arith.remui %t, {eight} : index")
    half = code.add(f"arith.divui %t, {eight} : index")
    along = code.add(f"arith.muli {half}, {sixteen} : index")
    k = code.add(f"arith.remui {along}, {code.index(32)} : index")
    column = code.add(f"arith.addi {k}, {sixteen} : index")
    at_b = code.add(f"cute_nvgpu.ldmatrix %s[{row}, {column}] : {tile} -> {b}")
    zero = code.add("arith.constant 0 : i32")
    at_c = code.add(f"cute_nvgpu.fragment.splat {zero} : i32 -> {c}")
    d = code.add(
        f"cute_nvgpu.sm80.mma {at_a}, {at_b}, {at_c} <16x8x32, elem_type = (si8, si8, i32)> : "
        f"({a}, {b}, {c}) -> {c}"
    )
    code.store_words(d, 4, "i32")
    matrix = random_tile(3).view(np.int8)
    found = both(code.text(), [matrix, np.zeros((WARP, 4), np.int32)], arch=ARCH)[1]
    product = matrix[:, :16].T.astype(np.int32) @ matrix[:8, 16:48].T.astype(np.int32)
    held = found.reshape(8, 4, 2, 2).transpose(2, 0, 1, 3).reshape(16, 8)
    assert_array_equal(held, product)


def test_4_bit_elements_for_an_mma_are_shifted():
    """ldmatrix leaves e2m1 in the low bits of a byte, where kind::f8f6f4 wants the central ones."""
    copy = copy_named("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64")
    code = Code()
    tile = filled_tile(code, "ui8", "")
    words = load(code, copy, lane_place(code, copy, "ui8"), tile, "ui8")
    word = code.extract(words, 0, 1, "i32")
    two = code.add("arith.constant 2 : i32")
    central = code.add(f"arith.shli {word}, {two} : i32")
    out = fragment(1, "i32")
    code.store_words(
        code.add(f"cute_nvgpu.fragment.from_elements {central} : i32 -> {out}"), 1, "i32"
    )
    matrix = random_tile(4)
    found = both(code.text(), [matrix, np.zeros((WARP, 1), np.uint32)], arch=ARCH)[1]
    elements = matrices_of_words(copy, found)
    assert_array_equal(elements, matrices_of(copy, named_runs(copy, matrix)) << 2)
    assert elements.max() == 0b111100


# movmatrix


def movmatrix_kernel(times: int) -> str:
    code, held = Code(), fragment(2, "f16")
    value = code.cast(code.load_words(1, "i32"), fragment(1, "i32"), held)
    for _ in range(times):
        value = code.add(f"cute_nvgpu.movmatrix {value} : {held} -> {held}")
    code.store_words(code.cast(value, held, fragment(1, "i32")), 1, "i32")
    return code.text()


@pytest.mark.parametrize("warps", [1, 3])
@seeds
def test_movmatrix_transposes(warps: int, seed: int):
    given = default_rng(seed).integers(0, 1 << 32, (warps * WARP, 1), np.uint32)
    args, launch = [given, np.zeros_like(given)], {"block": (warps * WARP,)}
    found = both(movmatrix_kernel(1), args, **launch)[1]
    source, result = (each.view(np.uint16).reshape(warps, 8, 8) for each in (given, found))
    assert_array_equal(result, source.swapaxes(1, 2))
    assert_array_equal(both(movmatrix_kernel(2), args, **launch)[1], given)


def test_movmatrix_of_a_uniform_register():
    code, held = Code(), fragment(2, "bf16")
    x = code.argument("bf16")
    value = code.add(f"cute_nvgpu.fragment.splat {x} : bf16 -> {held}")
    value = code.add(f"cute_nvgpu.movmatrix {value} : {held} -> {held}")
    code.store_words(code.cast(value, held, fragment(1, "i32")), 1, "i32")
    found = both(code.text(), [1.5, np.zeros((WARP, 1), np.uint32)])[0]
    assert (found == 0x3FC03FC0).all()
