"""MMAs of every row on fragments: both levels, `simulate`, and what metadata may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import covering
from fragment_kernels import WARP, both
from mma_kernels import ATOMS, chip_of, draw, mma_kernel, operand_words
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import at_levels

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.execution import ExecutionError
from tilewright.launch.ptxas import PtxasReport

ARGUMENTS = {"A": "a", "B": "b", "C": "c", "E": "metadata", "SFA": "scale_a_data",
             "SFB": "scale_b_data"}  # fmt: skip
SPARSE = "sm80.sparse_mma", (16, 8, 16), ("f16", "f16", "f32")


def differences(atom: MmaAtom) -> tuple[object, ...]:
    """Its row, and each of its types."""
    op, (a, b, *sums) = atom.row.op, atom.types
    return atom.row, (op, a), (op, b), (op, *sums)


@pytest.mark.parametrize("atom", covering(ATOMS, differences), ids=str)
def test_every_mma(atom: MmaAtom):
    """Two warps of random bits each, and the words that `simulate` gives."""
    rng = default_rng(0)
    words = {each: draw(atom, each, rng) for each in (*atom.inputs, "D")}
    selectors = tuple(each.legal[-1] for each in atom.selectors)
    args = [
        each.reshape(2 * WARP, -1).view(np.uint64 if word == "f64" else np.uint32)
        for each, (_, word) in ((words[each], operand_words(atom, each)) for each in words)
    ]
    arch = chip_of(atom)
    found = both(mma_kernel(atom, selectors), args, block=(2 * WARP,), arch=arch)[-1]
    expected = tw.simulate(
        atom, **{ARGUMENTS[each]: words[each] for each in atom.inputs}, arch=arch,
        **named(atom, selectors),
    )  # fmt: skip
    assert_array_equal(found.view(np.uint32).reshape(words["D"].shape), expected)


def named(atom: MmaAtom, selectors: tuple[int, ...]) -> dict[str, object]:
    """The selectors as `simulate` takes them."""
    settings: dict[str, object] = {}
    if atom.row.sparsity is not None:
        settings["selector"] = selectors[0]
    if atom.row.scale is not None:
        names = ("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b")
        settings |= dict(zip(names, selectors[-4:], strict=True))
    return settings


# Selectors that are registers

SCALED = [
    next(atom for atom in ATOMS if atom.row.op == op and len(atom.selectors[-1].legal) == threads)
    for op, threads in (("SM120.mma_bs", 4), ("SM120.mma_bs_sp", 4))
]


@pytest.mark.parametrize("atom", SCALED, ids=str)
def test_ids_in_registers(atom: MmaAtom, ptxas: Callable[..., PtxasReport]):
    """Two warps, with ids of their own each, give what each has with numbers."""
    rng = default_rng(2)
    words = {each: draw(atom, each, rng) for each in (*atom.inputs, "D")}
    args = [words[each].reshape(2 * WARP, -1) for each in (*atom.inputs, "D")]
    first = tuple(each.legal[-1] for each in atom.selectors)
    second = tuple(each.legal[0] for each in atom.selectors)
    ids = np.repeat(np.array([first[-4:], second[-4:]], np.int16), WARP, axis=0)
    static = len(first) - 4
    text = mma_kernel(atom, first[:static], ids=True)
    launch: dict[str, Any] = {"block": (2 * WARP,), "arch": "sm_120a"}
    found = both(text, [*args[:-1], ids, args[-1]], **launch)[-1]
    for warp, selectors in enumerate((first, (*first[:static], *second[static:]))):
        one = both(mma_kernel(atom, selectors), args, **launch)[-1]
        rows = slice(warp * WARP, (warp + 1) * WARP)
        assert_array_equal(found[rows], one[rows])
    assert ptxas(tw.compile(text, "sm_120a").ptx, "sm_120a").clean
    for lane, value, words_ in ((40, 7, "a byte-id-a of .*, got 7"), (3, 1, "have alike")):
        wrong = ids.copy()
        wrong[lane // WARP * WARP :][: WARP if value == 7 else 1, 0 if value == 7 else 1] += value
        with pytest.raises(ExecutionError, match=words_):
            both(text, [*args[:-1], wrong, args[-1]], **launch)


# Metadata that PTX leaves undefined


@pytest.mark.parametrize(
    ("sparsity", "chunk", "words"),
    [
        ("sp", 0b0101, "two different indices for each chunk, got 0b0101 in bits 8 to 11"),
        ("sp", 0b1111, "two different indices"),
        ("sp::ordered_metadata", 0b0001, "two indices in increasing order for each chunk, got"),
        ("sp::ordered_metadata", 0b1010, "two indices in increasing order"),
    ],
)
@at_levels()
def test_undefined_metadata_stop_a_kernel(sparsity: str, chunk: int, words: str, level: str):
    op, shape, types = SPARSE
    atom = tw.atom(op, shape=shape, elem_type=types, sparsity=sparsity)
    rng = default_rng(0)
    args = [draw(atom, each, rng)[0] for each in (*atom.inputs, "D")]
    args[3][4 * 5 + 2] = 0x44444044 | chunk << 8
    for selector, bad in ((2, True), (1, False)):
        text = mma_kernel(atom, (selector,))
        run = {"grid": (1,), "block": (WARP,), "args": args, "level": level, "arch": "sm_90"}
        if bad:
            with pytest.raises(ExecutionError, match=words) as error:
                tw.interpret(text, **run)
            assert "thread (22,0,0)" in str(error.value)
        else:
            tw.interpret(text, **run)


def test_an_order_that_plain_metadata_allow():
    """0b0001 names elements 1 and 0: the same products as 0b0100 with the two of A swapped."""
    atom = tw.atom("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    rng = default_rng(1)
    a, b, c = (rng.integers(0, 1 << 14, (WARP, n), np.uint32) * 0x10001 for n in (2, 2, 4))
    a = a & 0xFFFF | (a ^ 0x01FF0000) & 0xFFFF0000
    swapped = a >> 16 | a << 16
    ordered, other = (np.full((WARP, 1), word, np.uint32) for word in (0x44444444, 0x11111111))
    straight = tw.simulate(atom, a=a, b=b, c=c, metadata=ordered, arch="sm_90a")
    crossed = tw.simulate(atom, a=swapped, b=b, c=c, metadata=other, arch="sm_90a")
    assert_array_equal(straight, crossed)
