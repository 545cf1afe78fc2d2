"""`tilewright.simulate` of `mma.sync` and `wmma.mma`, and the fragments that all atoms take."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, AtomError, FragmentAtom, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import elements_of
from tilewright.lowering.interpreter.arithmetic.mma import multiply_fragments, numerics_model
from tilewright.lowering.interpreter.array_types import AnyArray, UInt32Array

Batch = tuple[int, ...]


@frozen
class WarpInputs:
    """The operands of one MMA of a warp, as `tilewright.simulate` takes them."""

    a: ArrayLike | None = None
    b: ArrayLike | None = None
    c: ArrayLike | None = None
    metadata: ArrayLike | None = None
    selector: int = 0
    scale_a_data: ArrayLike | None = None
    scale_b_data: ArrayLike | None = None
    byte_id_a: int = 0
    thread_id_a: int = 0
    byte_id_b: int = 0
    thread_id_b: int = 0


_NAMES: dict[Operand, str] = {
    "A": "a",
    "B": "b",
    "C": "c",
    "E": "metadata",
    "SFA": "scale_a_data",
    "SFB": "scale_b_data",
}


def simulate_warp(atom: MmaAtom, given: WarpInputs, arch: str, numerics: str) -> UInt32Array:
    """D = A * B + C on raw words. Raises AtomError for inputs that the atom does not take."""
    if given.c is None:
        raise AtomError(f"{atom.mnemonic} expected an operand C (c=)")
    selectors = _selectors(atom, given)
    atom.check(arch)
    batch: Batch | None = None
    inputs: list[AnyArray] = []
    for operand, name in _NAMES.items():
        words: ArrayLike | None = getattr(given, name)
        if (words is None) != (operand not in atom.inputs):
            expected = "no" if words is not None else "an"
            raise AtomError(f"{atom.mnemonic} expected {expected} operand {operand} ({name}=)")
        if words is not None:
            elements, batch = fragment_elements(atom, operand, words, batch)
            inputs.append(elements)
    assert batch is not None
    model = numerics_model(atom, arch, numerics)
    if 0 in batch:
        return np.zeros((*batch, WARP, _words(atom, "D")), dtype=np.uint32)
    d: AnyArray = np.ascontiguousarray(multiply_fragments(atom, inputs, model, selectors))
    return d.view(np.uint32).reshape(*batch, WARP, -1)


def _selectors(atom: MmaAtom, given: WarpInputs) -> tuple[int, ...]:
    """The values of the atom's selectors. Raises AtomError for any that it has not."""
    ids = (given.byte_id_a, given.thread_id_a, given.byte_id_b, given.thread_id_b)
    sparse, scaled = atom.row.sparsity is not None, atom.row.scale is not None
    for name, value, there in (
        ("sparsity selector (selector=)", given.selector, sparse),
        ("scale factor selectors (byte_id_a= and the like)", any(ids), scaled),
    ):
        if value and not there:
            raise AtomError(f"{atom.mnemonic} expected no {name}")
    values = (*((given.selector,) if sparse else ()), *(ids if scaled else ()))
    atom.check_selectors(values)
    return values


def fragment_elements(
    atom: FragmentAtom[Any], operand: Operand, words: ArrayLike, batch: Batch | None
) -> tuple[AnyArray, Batch]:
    """The elements of a fragment's words, [instructions, threads, values], and its batch axes.

    Raises AtomError for words of another dtype, shape or batch.
    """
    array = np.asarray(words)
    if operand in ("E", "SFA", "SFB") and array.shape[-1:] == (atom.threads,):
        array = array[..., None]
    legal = _words(atom, operand)
    if array.dtype != np.uint32:
        raise AtomError(f"operand {operand} expected dtype uint32 (raw words), got {array.dtype}")
    if array.ndim < 2 or array.shape[-2:] != (atom.threads, legal):
        raise AtomError(
            f"operand {operand} of {atom.mnemonic} expected shape [..., {atom.threads}, {legal}] "
            f"(threads, words), got {list(array.shape)}"
        )
    if batch is not None and array.shape[:-2] != batch:
        raise AtomError(
            f"operand {operand} expected leading batch axes {batch}, got {array.shape[:-2]}"
        )
    flat = array.reshape(prod(array.shape[:-2]), atom.threads, legal)
    return elements_of(flat, atom.element(operand)), array.shape[:-2]


def _words(atom: FragmentAtom[Any], operand: Operand) -> int:
    """How many 32-bit words of the operand a thread holds."""
    register, count = atom.registers(operand)
    return count * register_bits(register) // 32
