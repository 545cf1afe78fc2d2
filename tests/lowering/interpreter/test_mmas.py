"""MMAs of every row on fragments: both levels, `simulate`, and what metadata may be."""

from __future__ import annotations

import numpy as np
import pytest
from fragment_kernels import WARP, Code, both, fragment, words_of

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.execution import ExecutionError

ATOMS = [atom for row in (*MMA_ROWS, *WMMA_MMA) for atom in atoms_of(row)]
ARGUMENTS = {"A": "a", "B": "b", "C": "c", "E": "metadata", "SFA": "scale_a_data",
             "SFB": "scale_b_data"}  # fmt: skip
SPARSE = "sm80.sparse_mma", (16, 8, 16), ("f16", "f16", "f32")


def operand_words(atom: MmaAtom, operand: Operand) -> tuple[int, str]:
    """How many words of which type a thread holds of an operand."""
    return atom.registers(operand)[1], words_of(atom.element(operand))


def fragment_of(atom: MmaAtom, operand: Operand) -> str:
    element = atom.element(operand)
    unpacked = ", unpacked" if element.name == "e2m1" and element.bits == 8 else ""
    return fragment(atom.values(operand), element.mlir + unpacked)


def spelled(atom: MmaAtom, values: list[str], selectors: tuple[int, ...]) -> str:
    """The operands as the op writes them, selectors in brackets."""
    operands, left = values[:3], list(selectors)
    for operand, value in zip(atom.inputs[3:], values[3:], strict=True):
        taken, left = (left[:1], left[1:]) if operand == "E" else (left[:2], left[2:])
        operands.append(f"{value}[{', '.join(map(str, taken))}]")
    return ", ".join(operands)


def mma_kernel(atom: MmaAtom, selectors: tuple[int, ...]) -> str:
    code = Code()
    types = [fragment_of(atom, each) for each in atom.inputs]
    values: list[str] = []
    for operand, type_ in zip(atom.inputs, types, strict=True):
        count, word = operand_words(atom, operand)
        values.append(code.cast(code.load_words(count, word), fragment(count, word), type_))
    result = fragment_of(atom, "D")
    d = code.add(
        f"cute_nvgpu.{atom.op} {spelled(atom, values, selectors)} <{atom.parameters}> : "
        f"({', '.join(types)}) -> {result}"
    )
    count, word = operand_words(atom, "D")
    code.store_words(code.cast(d, result, fragment(count, word)), count, word)
    return code.text()


def chip_of(atom: MmaAtom) -> str:
    """A chip that runs it, and whose arithmetic is known."""
    return next(arch for arch in ("sm_90", "sm_120a") if target(arch).supports(atom.row.target))


def draw(atom: MmaAtom, operand: Operand, rng: np.random.Generator) -> np.ndarray:
    """Random words for two warps; metadata that every form allows."""
    count, word = operand_words(atom, operand)
    if operand == "E":
        legal = [0b0100, 0b1110]
        chunks = rng.choice(np.array(legal, dtype=np.uint32), (2, WARP, 8))
        words = chunks << np.arange(0, 32, 4, dtype=np.uint32)
        return np.bitwise_or.reduce(words, axis=-1, keepdims=True)
    return rng.integers(0, 1 << 32, (2, WARP, count * (1 + (word == "f64"))), np.uint32)


@pytest.mark.parametrize("atom", ATOMS, ids=str)
def test_every_mma(atom: MmaAtom) -> None:
    """Two warps of random bits each, and the words that `simulate` gives."""
    rng = np.random.default_rng(0)
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
    np.testing.assert_array_equal(found.view(np.uint32).reshape(words["D"].shape), expected)


def named(atom: MmaAtom, selectors: tuple[int, ...]) -> dict[str, object]:
    """The selectors as `simulate` takes them."""
    settings: dict[str, object] = {}
    if atom.row.sparsity is not None:
        settings["selector"] = selectors[0]
    if atom.row.scale is not None:
        names = ("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b")
        settings |= dict(zip(names, selectors[-4:], strict=True))
    return settings


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
@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_undefined_metadata_stop_a_kernel(
    sparsity: str, chunk: int, words: str, level: str
) -> None:
    op, shape, types = SPARSE
    atom = tw.atom(op, shape=shape, elem_type=types, sparsity=sparsity)
    rng = np.random.default_rng(0)
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


def test_an_order_that_plain_metadata_allow() -> None:
    """0b0001 names elements 1 and 0: the same products as 0b0100 with the two of A swapped."""
    atom = tw.atom("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(0, 1 << 14, (WARP, n), np.uint32) * 0x10001 for n in (2, 2, 4))
    a = a & 0xFFFF | (a ^ 0x01FF0000) & 0xFFFF0000
    swapped = a >> 16 | a << 16
    ordered, other = (np.full((WARP, 1), word, np.uint32) for word in (0x44444444, 0x11111111))
    straight = tw.simulate(atom, a=a, b=b, c=c, metadata=ordered, arch="sm_90a")
    crossed = tw.simulate(atom, a=swapped, b=b, c=c, metadata=other, arch="sm_90a")
    np.testing.assert_array_equal(straight, crossed)
