"""Accesses to multicast objects: one address, behind which several GPUs hold a copy each.
PTX ISA 9.7.9.14."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice.data_movement import ASYNC
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
from tilewright.dialects.cute_nvgpu.lattice.scalar import registers_of as registers_of
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, needs

OPERATIONS: dict[str, tuple[str, ...]] = {
    "u32": ("add", "min", "max"),
    "u64": ("add", "min", "max"),
    "s32": ("add", "min", "max"),
    "s64": ("min", "max"),
    "b32": ("and", "or", "xor"),
    "b64": ("and", "or", "xor"),
    **dict.fromkeys(("f16", "bf16", "f16x2", "bf16x2", "e4m3x4", "e5m2x4"), ("add", "min", "max")),
    "f32": ("add",),
    "f64": ("add",),
}
"""How `ld_reduce` combines copies of each type; `red` adds floats, and combines
vectors of halves in each way."""
_ACCUMULATED = {
    **dict.fromkeys(("f16", "bf16", "f16x2", "bf16x2"), "add.acc::f32"),
    **dict.fromkeys(("e4m3x4", "e5m2x4"), "add.acc::f16"),
}
"""Sums whose terms are kept wider than their types."""

_COUNTS = {
    **dict.fromkeys(("f16", "bf16"), (2, 4, 8)),
    **dict.fromkeys(("f16x2", "bf16x2", "e4m3x4", "e5m2x4", "f32"), (1, 2, 4)),
}
"""How many of a type one instruction moves, where that is not one alone."""

_STORED = ("b32", "b64", "f64", *_COUNTS)
"""The types that `st` writes to all copies."""

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


def _row(
    name: str, type_: str, count: int, operations: tuple[str, ...],
    semantics: tuple[str, ...] = (), needed: Requirement | None = None,
) -> InstructionRow:  # fmt: skip
    data, version = _data(name, type_, count), "8.2" if "acc" in operations[0] else "8.1"
    by_type = _OF_BYTES if type_[0] == "e" else needs(f"sm_90 {version}")
    return InstructionRow(
        f"ptx.multimem.{name}",
        _DOES[name],
        tuple(
            f"multimem.{name}.{form_of(order, operation, type_, count)}"
            for operation in operations
            for order in semantics or SEMANTICS[name]
        ),
        needed or by_type,
        "9.7.9.14",
        (data, Address("a")) if name == "ld_reduce" else (Address("a"), data),
    )


_OF_BYTES = needs("sm_100a|sm_100f|sm_110a|sm_110f|sm_120a|sm_121a 8.6")
_STARTED = needs("sm_100 9.3")


def _data(name: str, type_: str, count: int) -> OperandForm:
    """The data of an access; one value is written as ptxas takes it: of floats in braces too,
    but by `red`, and as a constant where the type has any."""
    register, _ = registers_of(type_)
    in_braces = ("f" in type_ and name != "red") or count > 1
    if name == "ld_reduce" and not in_braces:
        return Result("d", register)
    if count == 1 and not in_braces:
        return Scalar("b", register if type_ == "b8" else type_)
    if count == 1 and type_ in NO_LITERAL and name == "st":
        return Register("b", register, braces=True)
    loads = name == "ld_reduce"
    return Vector(
        "d" if loads else "b", register, count, written=loads, loose=True,
        in_pairs=loads and register == "b16",
    )  # fmt: skip


def _operations(name: str, type_: str, count: int) -> Iterator[tuple[str, ...]]:
    """Those of one row."""
    if name == "st":
        yield ("",)
        return
    reduced = name == "ld_reduce" or (count > 1 and type_ != "f32") or "f" not in type_
    yield OPERATIONS[type_] if reduced else ("add",)
    if name == "ld_reduce" and type_ in _ACCUMULATED:
        yield (_ACCUMULATED[type_],)


ROWS: tuple[InstructionRow, ...] = (
    *(
        _row(name, type_, count, operations)
        for name in SEMANTICS
        for type_ in (_STORED if name == "st" else OPERATIONS)
        for count in _COUNTS.get(type_, (1,))
        if name != "red" or type_[0] != "e"
        for operations in _operations(name, type_, count)
    ),
    *(
        _row("st", type_, 1, ("",), ASYNC[:2], _STARTED)
        for type_ in ("b8", "b16", "b32", "b64", "f32", "f64")
    ),
    *(_row("red", type_, 1, ("add",), ASYNC[:2], _STARTED) for type_ in ("u32", "s32", "u64")),
)
MULTIMEM: dict[str, InstructionRow] = {
    mnemonic.removeprefix("multimem."): row for row in ROWS for mnemonic in row.mnemonics
}
"""The row of each form."""
