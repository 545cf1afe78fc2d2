"""Atomic operations on a word of memory, or that add floats side by side: `atom`, and `red`, which
returns nothing. They may order what a thread did before and does after them. PTX ISA 9.7.13.5 and
9.7.13.6."""

from collections.abc import Iterable
from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ASYNC,
    CACHE_HINT,
    CACHE_POLICY,
    CLUSTER_SPACE,
    GENERIC,
    SCOPES,
    SEMANTICS,
    SPACES,
    needs_of,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    OperandForm,
    Result,
    Scalar,
    Vector,
    Wide,
)
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, registers_of
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, later, needs

ADDRESSED: dict[str, str] = {**SPACES, CLUSTER_SPACE: "b32", GENERIC: "b64"}
"""The spaces of atomic operations, and the width of their addresses."""

OPERATIONS: dict[str, tuple[str, ...]] = {
    "u32": ("add", "min", "max", "inc", "dec"),
    "u64": ("add", "min", "max"),
    "s32": ("add", "min", "max"),
    "s64": ("min", "max"),
    "f16": ("add.noftz",),
    "bf16": ("add.noftz",),
    "f32": ("add",),
    "f64": ("add",),
    "b16": ("cas",),
    "b32": ("and", "or", "xor", "exch", "cas"),
    "b64": ("and", "or", "xor", "exch", "cas"),
    "b128": ("exch", "cas"),
}
"""The operations on each type."""

_HALVES = needs("sm_70 6.3")
_TARGETS = {
    "bf16": needs("sm_90 7.8"), "f16": _HALVES, "b16": _HALVES, "b128": needs("sm_90 8.3"),
}  # fmt: skip
"""Needs of some types beyond the baseline."""


_SUMS_SIDE_BY_SIDE: dict[tuple[str, int], str] = {
    (type_.removesuffix("x2"), count * (1 + type_.endswith("x2"))): ".".join(
        ("add", *("noftz",) * type_.endswith("x2"), *(f"v{count}",) * (count > 1), type_)
    )
    for type_, counts in {"f32": (2, 4), "f16x2": (1, 2, 4), "bf16x2": (1, 2, 4)}.items()
    for count in counts
}
_HALVES_SIDE_BY_SIDE = (
    f"{operation}.noftz.v{count}.{type_}"
    for type_, counts in {"f16": (2, 4, 8), "f16x2": (2, 4)}.items()
    for operation in ("add", "min", "max")
    for count in counts
)
SIDE_BY_SIDE = tuple(dict.fromkeys((
    *_SUMS_SIDE_BY_SIDE.values(),
    *(form.replace("f16", of) for form in _HALVES_SIDE_BY_SIDE for of in ("f16", "bf16")),
)))  # fmt: skip
SUMS: dict[tuple[str, int], str] = {
    **{(t, 1): f"{operations[0]}.{t}" for t, operations in OPERATIONS.items() if "f" in t},
    **_SUMS_SIDE_BY_SIDE,
}
"""The form that adds so many floats of a type side by side: `add.noftz.v4.f16x2` of 8 f16."""


def operand_count(form: str) -> int:
    """The values that a form takes beside the address: two where it compares."""
    return 2 if form.startswith("cas") else 1


def mnemonic(name: str, semantics: str, space: str, form: str) -> str:
    """`atom.acq_rel.gpu.global.add.u32`; an address of any space has no word."""
    words = (name, semantics, *(space,) * (space != GENERIC), form)
    return ".".join(words)


def by_policy(mnemonic: str) -> str:
    """The mnemonic of the same with a cache policy."""
    stem, point, types = mnemonic.rpartition(".v" if ".v" in mnemonic else ".")
    return f"{stem}{CACHE_HINT}{point}{types}"


def _row(name: str, type_: str, compares: bool, requirement: Requirement) -> InstructionRow:
    """That of the orders that need no less: those of a cluster, where they need more than types."""
    own = _TARGETS.get(type_, BASELINE)
    names = "bc" if compares else "b"
    values: list[OperandForm] = [Scalar(value, type_, plain=True) for value in names]
    result: OperandForm = Wide("d", "sink")
    if type_ in REGISTER_OF:
        result = Result("d", REGISTER_OF[type_], ("r", "_"))
    else:
        wide: tuple[OperandForm, ...] = Wide("b"), Wide("c", "register")
        values = [*wide[: len(names)]]
    return InstructionRow(
        f"ptx.{name}",
        _DOES[compares] + (", and return what was there" if name == "atom" else ""),
        tuple(
            mnemonic(name, semantics, space, f"{operation}.{type_}")
            for semantics in SEMANTICS[name]
            for space in ADDRESSED
            for operation in OPERATIONS[type_]
            if (operation == "cas") is compares
            and (operation != "exch" or name == "atom")
            and _needed(own, semantics, space) == requirement
        ),
        requirement,
        "9.7.13.5" if name == "atom" else "9.7.13.6",
        (*((result,) if name == "atom" else ()), Address("a"), *values),
    )


def _sum(name: str, form: str, requirement: Requirement) -> InstructionRow:
    """That of elements side by side, of the orders that need no less."""
    register, count = registers_of(form)
    values: tuple[OperandForm, ...] = (Scalar("b", form.rpartition(".")[2], plain=True),)
    result: tuple[OperandForm, ...] = (Result("d", register, ("r", "_")),)
    if count > 1:
        values = (Vector("b", register, count),)
        result = (Vector("d", register, count, written=True, sink=True),)
    return InstructionRow(
        f"ptx.{name}",
        "add values to words of memory side by side, no thread between",
        tuple(
            mnemonic(name, semantics, space, form)
            for semantics in SEMANTICS[name]
            for space in _spaces(form)
            if _needed(_own(form), semantics, space) == requirement
        ),
        requirement,
        "9.7.13.5" if name == "atom" else "9.7.13.6",
        (*(result if name == "atom" else ()), Address("a"), *values),
    )


_DOES = (
    "combine a word of memory with a value, no thread between",
    "replace a word of memory that equals a value",
)


def _spaces(form: str) -> Iterable[str]:
    return ("global",) if ".v" in form else ADDRESSED


def _own(form: str) -> Requirement:
    """The needs of a form, whatever its order and space."""
    vector, type_ = ".v" in form, form.rpartition(".")[2].removesuffix("x2")
    return needs("sm_90 8.1") if vector else _TARGETS.get(type_, BASELINE)


def _needed(own: Requirement, semantics: str, space: str) -> Requirement:
    """The needs of a form in an order and a space."""
    ordered = later(own, needs_of(semantics))
    if own is _TARGETS["b128"] and semantics.endswith("sys"):
        return needs("sm_90 8.4")
    return later(ordered, SCOPES["cluster"]) if space == CLUSTER_SPACE else ordered


def _needs(name: str, form: str) -> dict[Requirement, None]:
    """The needs of an instruction in its orders and spaces."""
    orders = SEMANTICS[name]
    return dict.fromkeys(
        _needed(_own(form), order, space) for order in orders for space in _spaces(form)
    )


_PLAIN: tuple[InstructionRow, ...] = (
    *(
        _row(name, type_, compares, requirement)
        for name in ("atom", "red")
        for type_, operations in OPERATIONS.items()
        for compares in sorted({operation == "cas" for operation in operations})
        if name == "atom" or not (compares or type_ == "b128")
        for requirement in _needs(name, type_)
    ),
    *(
        _sum(name, form, requirement)
        for name in ("atom", "red")
        for form in SIDE_BY_SIDE
        for requirement in _needs(name, form)
    ),
    *(
        InstructionRow(
            "ptx.red", "start to combine a word of memory with a value",
            tuple(
                mnemonic("red", semantics, space, f"{operation}.{type_}")
                for operation in operations for semantics in ASYNC for space in ("global", GENERIC)
            ),
            needs("sm_100 8.7"), "9.7.13.7", (Address("a"), Scalar("b", type_, plain=True)),
        )
        for type_, operations in (
            ("u32", ("add", "min", "max", "inc", "dec")), ("s32", ("add", "min", "max")),
            ("b32", ("and", "or", "xor")), ("u64", ("add",)),
        )
    ),
)  # fmt: skip
ROWS: tuple[InstructionRow, ...] = (
    *_PLAIN,
    *(
        replace(row, mnemonics=kept, needs=later(row.needs, needs("sm_80 7.4")),
                operands=(*row.operands, CACHE_POLICY))
        for row in _PLAIN
        if (kept := tuple(
            by_policy(name)
            for name in row.mnemonics
            if not {"shared", CLUSTER_SPACE, "cas", "async"} & {*name.split(".")}
        ))
    ),
)  # fmt: skip
"""Rows by instruction, type and needs; those that compare have their own."""

INSTRUCTIONS: dict[str, InstructionRow] = {
    mnemonic: row for row in ROWS for mnemonic in row.mnemonics
}

ATOMICS: dict[str, InstructionRow] = {
    f"{operation}.{type_}": INSTRUCTIONS[f"atom.relaxed.gpu.global.{operation}.{type_}"]
    for type_, operations in OPERATIONS.items()
    for operation in operations
    if type_ in REGISTER_OF
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
