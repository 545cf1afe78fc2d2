"""Programs of MMAs: every row of register MMAs, tiled MMAs of warps and warpgroups, wgmma from
descriptors, tcgen05.mma."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from draw import Draw
from fragment_kernels import WARP
from mma_kernels import ATOMS, chip_of, mma_kernel, operand_words
from mma_kernels import draw as words_of
from program import LEVELS, Expected, Program
from tile_gemm_kernels import (
    DTYPES,
    WARPGROUP_ATOMS,
    lowers,
    matrix,
    register_kernel,
    warpgroup_kernel,
)
from umma_images import Umma, build, d_place
from umma_programs import COLUMNS, as_bytes, kernel
from wgmma_kernels import CASES, as_stored, in_lines, k_major, product_kernel
from wgmma_products import DTYPES as SHARED_DTYPES
from wgmma_products import atom_of, fragments

LOWER = LEVELS[1:]


def register_mmas(draw: Draw) -> Program:
    """Any row of register MMAs, on random bits."""
    atom = draw.pick(ATOMS)
    selectors = tuple(draw.pick(setting.legal) for setting in atom.selectors)
    rng = draw.generator()
    args: list[Any] = []
    for operand in (*atom.inputs, "D"):
        words = words_of(atom, operand, rng).reshape(2 * WARP, -1)
        wide = operand_words(atom, operand)[1] == "f64"
        args.append(words.view(np.uint64 if wide else np.uint32))
    text = mma_kernel(atom, selectors)
    return Program(text, args, 2 * WARP, arch=chip_of(atom), levels=LOWER)


NAMES = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "s8": "si8", "u8": "ui8", "s32": "i32"}


def _tiled(atom: Any) -> tuple[str, tuple[int, int, int], str, str, str] | None:
    """An atom as tiles are made of it: of one kind, on elements that NumPy has."""
    a, b, c, d = (NAMES.get(name, name) for name in (atom.element(x).name for x in "ABCD"))
    plain = atom.row.sparsity is None and atom.row.scale is None and c == d
    if not plain or not {a, b, c} <= set(DTYPES) or atom.op not in ("sm80.mma", "sm89.mma"):
        return None
    return atom.op.split(".")[0], atom.shape, a, b, c


WARP_ATOMS = sorted({row for row in map(_tiled, ATOMS) if row is not None})
WARPS = (
    ("", (1, 1)),
    (', atom_layout_MNK = "(2,1,1):(1,1,1)"', (2, 1)),
    (', atom_layout_MNK = "(1,4,1):(1,1,1)"', (1, 4)),
    (', atom_layout_MNK = "(2,2,1):(2,1,1)"', (2, 2)),
)


def warp_gemms(draw: Draw) -> Program:
    """Tiled MMAs of warps, from global memory, as many atoms along each mode as it happens."""
    row, (tiling, (down, right)) = draw.pick(WARP_ATOMS), draw.pick(WARPS)
    _, (am, an, ak), a_type, b_type, c_type = row
    m, n, k = am * down * draw.number(1, 3), an * right * draw.number(1, 3), ak * draw.number(1, 3)
    seed = draw.number(0, 999)
    a, b = matrix(m, k, a_type, seed), matrix(n, k, b_type, seed + 1)
    c = matrix(m, n, c_type, seed + 2)
    text = register_kernel(row, tiling, m, n, k)
    return _gemm(draw, text, [a, np.asfortranarray(b), c], 32 * down * right, a_type, "sm_90a")


def warpgroup_gemms(draw: Draw) -> Program:
    """Tiled wgmmas from swizzled shared memory or registers."""
    row, groups = draw.pick(WARPGROUP_ATOMS), draw.number(1, 2)
    a_type, b_type, c_type, ak = row
    width = np.dtype(DTYPES[a_type]).itemsize
    kind, majors = draw.pick(("ss", "rs")), ("k", "k")
    if width == 2 and a_type != "tf32":
        majors = ("k" if kind == "rs" else draw.pick(("k", "mn")), draw.pick(("k", "mn")))
    m, n = 64 * groups, 64
    k = max(2 * ak, 128 // width) * (draw.number(1, 2) if majors == ("k", "k") else 1)
    seed = draw.number(0, 999)
    operands = [matrix(m, k, a_type, seed), matrix(n, k, b_type, seed + 1),
                matrix(m, n, c_type, seed + 2)]  # fmt: skip
    text = warpgroup_kernel(row, kind, majors, n, k, groups)
    return _gemm(draw, text, operands, 128 * groups, a_type, "sm_90a")


def _gemm(
    draw: Draw, text: str, args: list[np.ndarray], threads: int, a_type: str, arch: str
) -> Program:
    """C + A B', exact whatever the order of adding is."""
    a, b, c = (operand.astype(np.float64) for operand in args)
    product = (c + a @ b.T).astype(args[2].dtype)
    return Program(
        text,
        args,
        threads,
        {2: Expected(product)},
        arch=arch,
        levels=LEVELS if lowers(a_type) else ("tile",),
        numerics=draw.pick(("hardware", "exact")),
    )


def wgmmas(draw: Draw) -> Program:
    """wgmma of the atom level, in every case of operands, of any N that has a layout."""
    case = draw.pick(CASES)
    if case.majors == ("k", "k") and draw.chance(60):
        element, bits, held, k = draw.pick(
            (("bf16", 16, None, 16), ("f16", 16, None, 16), ("tf32", 32, "f32", 8),
             ("si8", 8, "i8", 32))
        )  # fmt: skip
        n = 8 * draw.number(1, 16) if bits > 8 else 8 * draw.pick((1, 2, 3, 4, 6, 8))
        case = k_major(element, n, k, bits, held)
        case = in_lines(case) if draw.chance(40) else case
        case = replace(case, a_fragment=element == "bf16" and draw.chance(40))
    case = replace(case, steps=draw.number(1, case.steps))
    rng, dtype = draw.generator(), SHARED_DTYPES[case.a.element]
    # The tiles in shared memory are four steps deep, however many are multiplied.
    a, b = (rng.integers(-4, 5, (rows, 4 * case.k)).astype(dtype) for rows in (64, case.n))
    depth = case.k * case.steps
    left, right = (operand[:, :depth].astype(np.float64) for operand in (a, b))
    product = (left @ right.T).astype(SHARED_DTYPES[case.accumulator])
    row, column = np.moveaxis(atom_of(case).coords("D"), -1, 0)
    given = fragments(case, a) if case.a_fragment else as_stored(case.a, a)
    out = np.zeros(128 * case.values, product.dtype)
    return Program(
        product_kernel(case),
        [given.reshape(-1), as_stored(case.b, b).reshape(-1), out],
        128,
        {2: Expected(product[row, column].reshape(-1))},
        levels=LOWER,
    )


# tcgen05.mma

UMMA_TYPES = {
    **{(a, a, "f32"): 16 for a in ("f16", "bf16")},
    ("f16", "f16", "f16"): 16,
    ("tf32", "tf32", "f32"): 8,
    **{(a, b, "f32"): 32 for a in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
       for b in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")},
    **{(a, b, "s32"): 32 for a in ("s8", "u8") for b in ("s8", "u8")},
}  # fmt: skip


def _umma(draw: Draw) -> Umma:
    """One CTA or a pair, A in shared memory or tensor memory, dense or sparse: of rows of which it
    is known where metadata lie."""
    types = draw.pick(tuple(UMMA_TYPES))
    pair, sparse = draw.chance(25), draw.chance(20)
    integer = types[2] == "s32"
    rows = (128, 256) if pair else (64, 128)
    m = draw.pick(rows[1:] if sparse or (integer and not pair) else rows)
    step = 32 if pair and integer else 16 if pair or m == 128 or integer else 8
    n = 32 * draw.number(1, 2) if pair else step * draw.number(1, 4)
    n = {48: 32}.get(n, n) if integer else n
    return Umma(
        m, n, UMMA_TYPES[types] * (2 if sparse else 1), types, 2 if pair else 1,
        a_in_tmem=draw.chance(30) and not pair, sparse=sparse,
    )  # fmt: skip


def ummas(draw: Draw) -> Program:
    """tcgen05.mma with all of its operands in place."""
    u = _umma(draw)
    images = build(u, draw.number(0, 9999))
    given = [] if u.a_in_tmem else [as_bytes(u, "A", images.a)]
    cells = np.ascontiguousarray(images.tmem[:, :, :COLUMNS]).view(np.int32)
    args = [*given, as_bytes(u, "B", images.b), cells.reshape(-1), np.zeros(cells.size, np.int32)]
    expected = cells.view(np.uint32).copy()
    result = images.expected.astype(
        {"f16": np.float16, "s32": np.int32}.get(u.types[2], np.float32)
    )
    words = result.view(f"u{result.itemsize}")
    for i in range(u.m):
        for j in range(u.n):
            cta, lane, column = d_place(u, i, j)
            expected[cta, lane, 8 + column] = words[i, j]
    return Program(
        kernel(u, images).text(), args, 128,
        {len(args) - 1: Expected(expected.reshape(-1).view(np.int32))},
        grid=(u.cta_group,), arch="sm_100a", levels=LOWER,
    )  # fmt: skip
