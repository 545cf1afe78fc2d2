"""`tilewright.atom` and `tilewright.simulate`: one instruction by itself."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Literal, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.dialects.cute_nvgpu.atom import WARP, AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, Operand, Shape
from tilewright.dialects.cute_nvgpu.lookup import Modifiers, find, parse
from tilewright.lowering.interpreter.elements import elements_of
from tilewright.lowering.interpreter.mma import NUMERICS, multiply_fragments, numerics_model

_ARGUMENTS: dict[Operand, str] = {
    "A": "a",
    "B": "b",
    "C": "c",
    "E": "metadata",
    "SFA": "scale_a",
    "SFB": "scale_b",
}


def atom(
    name: str,
    *,
    shape: Shape | None = None,
    elem_type: tuple[str, ...] | None = None,
    **modifiers: Unpack[Modifiers],
) -> MmaAtom:
    """An MMA atom, by PTX mnemonic or by op.

        atom("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
        atom("sm80.mma", shape=(16, 8, 16), elem_type=("bf16", "bf16", "f32"))
        atom("sm80.sparse_mma", shape=(16, 8, 32), elem_type=("f16", "f16", "f32"), sparsity="sp")

    `shape` is (M, N, K); `elem_type` the PTX names of a, b and the accumulators, or of a, b, c
    and d. `modifiers` (satfinite, rounding, majors, bit_op, kind, sparsity, scale_vector,
    scale_type) take PTX's words. Raises AtomError, naming the nearest legal atom, where the lattice
    has no such row.
    """
    if name.startswith("mma."):
        if shape is not None or elem_type is not None or any(modifiers.values()):
            raise AtomError(f"a mnemonic says everything by itself, got more beside '{name}'")
        return parse(name)
    if shape is None or elem_type is None or len(elem_type) not in (3, 4):
        raise AtomError(
            f"'{name}' expected shape=(M, N, K) and elem_type=(a, b, acc) or (a, b, c, d)"
        )
    types = (*elem_type, elem_type[-1]) if len(elem_type) == 3 else elem_type
    return find(name.removeprefix("cute_nvgpu."), shape, cast("ElementTypes", types), **modifiers)


def simulate(
    atom: MmaAtom,
    *,
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike,
    arch: str,
    metadata: ArrayLike | None = None,
    selector: int = 0,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    scale_a_id: tuple[int, int] = (0, 0),
    scale_b_id: tuple[int, int] = (0, 0),
    numerics: Literal["hardware", "exact"] = "hardware",
) -> NDArray[np.uint32]:
    """D = A * B + C of one atom, on raw register words.

    `a`, `b`, `c`: uint32 [..., 32 threads, words], with equal leading batch axes; elements count
    from the low bits of a word, and an f64 register is two words, low first. Returns D alike.
    A sparse atom also takes `metadata` [..., 32, 1] and its sparsity `selector`; a block-scaled
    one `scale_a` and `scale_b` [..., 32, 1] and {byte-id, thread-id} of each.
    `numerics="hardware"` is what the tensor cores of `arch` compute, bit for bit where
    docs/numerics.md says so; "exact" is the mathematical result, rounded once. Metadata that PTX
    leaves undefined give what an H200 computes.

    Raises AtomError where the arch cannot run the atom, an operand is missing, superfluous or of
    the wrong shape or dtype, or a selector is illegal; TargetError for an unknown arch,
    NumericsError where that chip's arithmetic is unknown.
    """
    atom.check(arch)
    if numerics not in NUMERICS:
        raise AtomError(f"expected numerics of {', '.join(NUMERICS)}, got '{numerics}'")
    given = {"A": a, "B": b, "C": c, "E": metadata, "SFA": scale_a, "SFB": scale_b}
    inputs, batch = _inputs(atom, given)
    selectors = _selectors(atom, selector, (*scale_a_id, *scale_b_id))
    model = numerics_model(atom, arch, numerics)
    if 0 in batch:
        return np.zeros((*batch, WARP, _words(atom, "D")), dtype=np.uint32)
    d: NDArray[Any] = np.ascontiguousarray(multiply_fragments(atom, inputs, model, selectors))
    return d.view(np.uint32).reshape(*batch, WARP, -1)


def _inputs(
    atom: MmaAtom, given: Mapping[str, ArrayLike | None]
) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    """The elements of every operand, [warps, threads, values], and the batch axes."""
    batch: tuple[int, ...] | None = None
    inputs: list[NDArray[Any]] = []
    for operand, name in _ARGUMENTS.items():
        words = given[operand]
        if (words is None) != (operand not in atom.inputs):
            expected = "no" if words is not None else "an"
            raise AtomError(f"{atom.mnemonic} expected {expected} operand {operand} ({name}=)")
        if words is None:
            continue
        array = np.asarray(words)
        _check_words(atom, operand, array)
        if batch is not None and array.shape[:-2] != batch:
            raise AtomError(
                f"operand {operand} expected leading batch axes {batch}, got {array.shape[:-2]}"
            )
        batch = array.shape[:-2]
        flat = array.reshape(prod(batch), WARP, array.shape[-1])
        inputs.append(elements_of(flat, atom.element(operand)))
    assert batch is not None
    return inputs, batch


def _selectors(atom: MmaAtom, selector: int, scale_ids: tuple[int, ...]) -> tuple[int, ...]:
    """The values of the atom's selectors. Raises AtomError for any that it has not."""
    sparse, scaled = atom.row.sparsity is not None, atom.row.scale is not None
    for name, value, there in (
        ("sparsity selector (selector=)", selector, sparse),
        ("scale factor selectors (scale_a_id=, scale_b_id=)", any(scale_ids), scaled),
    ):
        if value and not there:
            raise AtomError(f"{atom.mnemonic} expected no {name}")
    values = (*((selector,) if sparse else ()), *(scale_ids if scaled else ()))
    atom.check_selectors(values)
    return values


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
