"""`tilewright.atom` and `tilewright.simulate`: one instruction by itself."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.dialects.cute_nvgpu.atom import WARP, AtomError, MmaAtom, find, parse
from tilewright.dialects.cute_nvgpu.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, Operand, Shape
from tilewright.lowering.interpreter.elements import elements_of
from tilewright.lowering.interpreter.mma import NUMERICS, multiply_fragments, numerics_model


def atom(
    name: str,
    *,
    shape: Shape | None = None,
    elem_type: tuple[str, ...] | None = None,
    satfinite: bool = False,
    rounding: str | None = None,
) -> MmaAtom:
    """An MMA atom, by PTX mnemonic or by op.

        atom("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
        atom("sm80.mma", shape=(16, 8, 16), elem_type=("bf16", "bf16", "f32"))

    `shape` is (M, N, K); `elem_type` the PTX names of a, b and the accumulators, or of a, b, c
    and d. Raises AtomError, naming the nearest legal atom, where the lattice has no such row.
    """
    if name.startswith("mma."):
        if shape is not None or elem_type is not None or satfinite or rounding is not None:
            raise AtomError(f"a mnemonic says everything by itself, got more beside '{name}'")
        return parse(name)
    if shape is None or elem_type is None or len(elem_type) not in (3, 4):
        raise AtomError(
            f"'{name}' expected shape=(M, N, K) and elem_type=(a, b, acc) or (a, b, c, d)"
        )
    types = (*elem_type, elem_type[-1]) if len(elem_type) == 3 else elem_type
    return find(
        name.removeprefix("cute_nvgpu."),
        shape,
        cast("ElementTypes", types),
        satfinite=satfinite,
        rounding=rounding,
    )


def simulate(
    atom: MmaAtom,
    *,
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike,
    arch: str,
    numerics: Literal["hardware", "exact"] = "hardware",
) -> NDArray[np.uint32]:
    """D = A * B + C of one atom, on raw register words.

    `a`, `b`, `c`: uint32 [..., 32 threads, words], with equal leading batch axes; elements count
    from the low bits of a word, and an f64 register is two words, low first. Returns D alike.
    `numerics="hardware"` is what the tensor cores of `arch` compute, bit for bit where
    docs/numerics.md says so; "exact" is the mathematical result, rounded once.

    Raises AtomError where the arch cannot run the atom or an operand has the wrong shape or
    dtype, TargetError for an unknown arch, NumericsError where that chip's arithmetic is unknown.
    """
    atom.check(arch)
    if numerics not in NUMERICS:
        raise AtomError(f"expected numerics of {', '.join(NUMERICS)}, got '{numerics}'")
    words = {"A": a, "B": b, "C": c}
    batch: tuple[int, ...] | None = None
    elements: list[NDArray[Any]] = []
    for operand in ("A", "B", "C"):
        array = np.asarray(words[operand])
        _check_words(atom, operand, array)
        if batch is not None and array.shape[:-2] != batch:
            raise AtomError(
                f"operand {operand} expected leading batch axes {batch}, got {array.shape[:-2]}"
            )
        batch = array.shape[:-2]
        flat = array.reshape(prod(batch), WARP, array.shape[-1])
        elements.append(elements_of(flat, atom.element(operand)))
    model = numerics_model(atom, arch, numerics)
    assert batch is not None
    if 0 in batch:
        return np.zeros((*batch, WARP, _words(atom, "D")), dtype=np.uint32)
    fragments_a, fragments_b, fragments_c = elements
    d: NDArray[Any] = np.ascontiguousarray(
        multiply_fragments(atom, fragments_a, fragments_b, fragments_c, model)
    )
    return d.view(np.uint32).reshape(*batch, WARP, -1)


def _words(atom: MmaAtom, operand: Operand) -> int:
    """How many 32-bit words of the operand a thread holds."""
    register, count = atom.registers(operand)
    return count * register_bits(register) // 32


def _check_words(atom: MmaAtom, operand: Operand, array: NDArray[Any]) -> None:
    legal = _words(atom, operand)
    if array.dtype != np.uint32:
        raise AtomError(f"operand {operand} expected dtype uint32 (raw words), got {array.dtype}")
    if array.ndim < 2 or array.shape[-2:] != (WARP, legal):
        raise AtomError(
            f"operand {operand} of {atom.mnemonic} expected shape [..., {WARP}, {legal}] "
            f"(threads, words), got {list(array.shape)}"
        )
