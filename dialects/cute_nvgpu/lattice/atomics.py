"""Atomic operations on one word of memory, which order what a thread did before and does after
them: `atom.acq_rel.gpu`. PTX ISA 9.7.13.5."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SPACES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Address, Result, Scalar
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE

OPERATIONS: dict[str, tuple[str, ...]] = {
    "u32": ("add", "min", "max"),
    "u64": ("add", "min", "max"),
    "s32": ("min", "max"),
    "s64": ("min", "max"),
    "f32": ("add",),
    "f64": ("add",),
    "b32": ("and", "or", "xor", "exch"),
    "b64": ("and", "or", "xor", "exch"),
}
"""The operations on each type (unsigned addition is that of signed numbers too)."""


def register_of(form: str) -> str:
    """The register of a form's values: `add.f32` -> f32, `min.s64` -> b64."""
    type_ = form.partition(".")[2]
    return type_ if type_[0] == "f" else f"b{type_[1:]}"


def _row(type_: str) -> InstructionRow:
    return InstructionRow(
        "ptx.atom",
        "combine a word of memory with a value, no thread between, and return what was there",
        tuple(
            f"atom.acq_rel.gpu.{space}.{operation}.{type_}"
            for space in SPACES
            for operation in OPERATIONS[type_]
        ),
        BASELINE.target,
        BASELINE.version,
        "9.7.13.5",
        (Result("d", register_of(f".{type_}")), Address("a"), Scalar("b", type_, plain=True)),
    )


ROWS: dict[str, InstructionRow] = {type_: _row(type_) for type_ in OPERATIONS}
"""Rows by type."""

ATOMICS: dict[str, InstructionRow] = {
    f"{operation}.{type_}": row for type_, row in ROWS.items() for operation in OPERATIONS[type_]
}
"""The row of each form: `add.u32`."""

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
