"""Kernels of one MMA on fragments from memory, for every row of register MMAs."""

from __future__ import annotations

import numpy as np
from fragment_kernels import WARP, Code, fragment, words_of

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.lattice.targets import target

ATOMS = [atom for row in (*MMA_ROWS, *WMMA_MMA) for atom in atoms_of(row)]


def operand_words(atom: MmaAtom, operand: Operand) -> tuple[int, str]:
    """How many words of which type a thread holds of an operand."""
    return atom.registers(operand)[1], words_of(atom.element(operand))


def fragment_of(atom: MmaAtom, operand: Operand) -> str:
    element = atom.element(operand)
    unpacked = ", unpacked" if element.name == "e2m1" and element.bits == 8 else ""
    return fragment(atom.values(operand), element.mlir + unpacked)


def spelled(
    atom: MmaAtom, values: list[str], selectors: tuple[int, ...], ids: list[str] | None
) -> str:
    """The operands as the op writes them, selectors in brackets, or the ids that are values."""
    operands, left = values[:3], list(selectors)
    for operand, value in zip(atom.inputs[3:], values[3:], strict=True):
        taken, left = (left[:1], left[1:]) if operand == "E" else (left[:2], left[2:])
        operands.append(f"{value}[{', '.join(map(str, taken))}]" if taken else value)
    return ", ".join(operands) + (f" ids({', '.join(ids)})" if ids else "")


def mma_kernel(atom: MmaAtom, selectors: tuple[int, ...], *, ids: bool = False) -> str:
    """Arguments are the words of each operand; with `ids` each thread's four come last."""
    code = Code()
    types = [fragment_of(atom, each) for each in atom.inputs]
    values: list[str] = []
    for operand, type_ in zip(atom.inputs, types, strict=True):
        count, word = operand_words(atom, operand)
        values.append(code.cast(code.load_words(count, word), fragment(count, word), type_))
    chosen: list[str] | None = None
    if ids:
        memref = "memref<?x4xi16>"
        pointer = code.argument(memref)
        loads = (f"memref.load {pointer}[%t, {code.index(i)}] : {memref}" for i in range(4))
        chosen = [code.add(load) for load in loads]
        types += ["i16"] * 4
    result = fragment_of(atom, "D")
    d = code.add(
        f"cute_nvgpu.{atom.op} {spelled(atom, values, selectors, chosen)} <{atom.parameters}> : "
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
