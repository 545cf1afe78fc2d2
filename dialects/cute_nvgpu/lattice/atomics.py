"""Atomic operations on one word of memory, which order what a thread did before and does after
them: `atom.acq_rel.gpu`. PTX ISA 9.7.13.5."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SPACES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Address, Result, Scalar
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE

_TYPES: dict[str, tuple[str, ...]] = {
    "add": ("u32", "u64", "f32", "f64"),
    "min": ("u32", "s32", "u64", "s64"),
    "max": ("u32", "s32", "u64", "s64"),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
    "exch": ("b32", "b64"),
}
"""The types of each operation (unsigned addition is that of signed numbers too)."""


def register_of(form: str) -> str:
    """The register of a form's values: `add.f32` -> f32, `min.s64` -> b64."""
    type_ = form.partition(".")[2]
    return type_ if type_[0] == "f" else f"b{type_[1:]}"


def _row(form: str) -> InstructionRow:
    operation, _, type_ = form.partition(".")
    return InstructionRow(
        "ptx.atom",
        f"{operation} a word of memory and return what was there, at once for all threads",
        tuple(f"atom.acq_rel.gpu.{space}.{form}" for space in SPACES),
        BASELINE.target,
        BASELINE.version,
        "9.7.13.5",
        (Result("d", register_of(form)), Address("a"), Scalar("b", type_, plain=True)),
    )


ATOMICS: dict[str, InstructionRow] = {
    form: _row(form)
    for form in (f"{name}.{type_}" for name, types in _TYPES.items() for type_ in types)
}
"""Rows by form: `add.u32`."""

_KINDS: dict[int, tuple[str, str]] = {
    0: ("add", "f"), 1: ("add", "u"), 2: ("exch", "b"), 4: ("max", "s"), 5: ("max", "u"),
    7: ("min", "s"), 8: ("min", "u"), 11: ("or", "b"), 12: ("and", "b"), 15: ("xor", "b"),
}  # fmt: skip
"""Of MLIR's `AtomicRMWKind`s those that PTX has: addf, addi, assign, maxs, maxu, mins, minu, ori,
andi, xori."""


def form_of(kind: int, type_: str) -> str:
    """The form of an `AtomicRMWKind` on a type of MLIR, `add.u32` of 1 and i32; "" where there is
    none."""
    operation, letter = _KINDS.get(kind, ("", ""))
    form = f"{operation}.{letter}{type_[1:]}"
    return form if (type_[0] == "f") == (letter == "f") and form in ATOMICS else ""
