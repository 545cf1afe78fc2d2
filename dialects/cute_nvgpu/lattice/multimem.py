"""Accesses to multicast objects: one address, behind which several GPUs hold a copy each.
PTX ISA 9.7.9.14."""

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SEMANTICS as ORDERS
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    NO_LITERAL,
    OperandForm,
    Register,
    Result,
    Scalar,
    Vector,
)
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.cute_nvgpu.lattice.scalar import registers_of as registers_of
from tilewright.dialects.cute_nvgpu.lattice.targets import needs

OPERATIONS: dict[str, tuple[str, ...]] = {
    "u32": ("add", "min", "max"),
    "u64": ("add", "min", "max"),
    "s32": ("min", "max"),
    "s64": ("min", "max"),
    "b32": ("and", "or", "xor"),
    "b64": ("and", "or", "xor"),
    "f16x2": ("add", "min", "max"),
    "bf16x2": ("add", "min", "max"),
    "f32": ("add",),
    "f64": ("add",),
}
"""How `ld_reduce` combines copies of each type (unsigned addition is that of signed numbers too);
`red` only adds floats."""

STORED = ("b32", "b64", "f16x2", "bf16x2", "f32", "f64")
"""The types that `st` writes to all copies."""

_VECTORS = ("f16x2", "bf16x2", "f32")
"""The types that one instruction moves 2 or 4 of."""

SEMANTICS = {"ld_reduce": ORDERS["ld"], "st": ORDERS["st"], "red": ORDERS["red"]}
"""How each may be ordered, and for whom."""
_DOES = {
    "ld_reduce": "load a word of every GPU's copy, combined",
    "st": "store a word to every GPU's copy",
    "red": "combine a word of every GPU's copy with a value",
}


def form_of(semantics: str, operation: str, type_: str, count: int = 1) -> str:
    """`relaxed.sys.global.add.v4.f32` of `relaxed.sys`; no operation is ""."""
    vector = f"v{count}" if count > 1 else ""
    return ".".join(word for word in (semantics, "global", operation, vector, type_) if word)


def _row(name: str, type_: str, count: int, operations: tuple[str, ...]) -> InstructionRow:
    loads = name == "ld_reduce"
    data = _data(name, type_, count)
    return InstructionRow(
        f"ptx.multimem.{name}",
        _DOES[name],
        tuple(
            f"multimem.{name}.{form_of(semantics, operation, type_, count)}"
            for operation in operations
            for semantics in SEMANTICS[name]
        ),
        needs("sm_90 8.1"),
        "9.7.9.14",
        (data, Address("a")) if loads else (Address("a"), data),
    )


def _data(name: str, type_: str, count: int) -> OperandForm:
    """The data of an access; one value is written as ptxas takes it: of floats in braces too,
    but by `red`, and as a constant where the type has any."""
    register, in_braces = REGISTER_OF[type_], "f" in type_ and name != "red"
    if name == "ld_reduce" and not in_braces:
        return Result("d", register)
    if count == 1 and not in_braces:
        return Scalar("b", type_)
    if count == 1 and type_ in NO_LITERAL and name == "st":
        return Register("b", register, braces=True)
    loads = name == "ld_reduce"
    return Vector("d" if loads else "b", register, count, written=loads, loose=True)


def _operations(name: str, type_: str) -> tuple[str, ...]:
    if name == "st":
        return ("",)
    return tuple(
        operation
        for operation in OPERATIONS[type_]
        if name == "ld_reduce" or operation == "add" or "f" not in type_
    )


ROWS: tuple[InstructionRow, ...] = tuple(
    _row(name, type_, count, _operations(name, type_))
    for name in SEMANTICS
    for type_ in (STORED if name == "st" else OPERATIONS)
    for count in ((1, 2, 4) if type_ in _VECTORS else (1,))
)
MULTIMEM: dict[str, InstructionRow] = {
    mnemonic.removeprefix("multimem."): row for row in ROWS for mnemonic in row.mnemonics
}
"""The row of each form."""
