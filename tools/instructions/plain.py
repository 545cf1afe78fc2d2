"""Instructions with neither shape nor layout: barriers, mbarriers, clusters, fences, groups of
copies, moves and control flow; and `cp.async`, loads and stores, copies of boxes and scalars."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from tilewright.dialects.cute_nvgpu.lattice import (
    CP_ASYNC,
    InstructionRow,
    atomics,
    cluster,
    data_movement,
    launch_control,
    mbarrier,
    multimem,
    stack,
    sync,
    tma,
    warp,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    CP_ASYNC_PREFETCH,
    LOADS,
    STORES,
    AsyncCopyRow,
    MemoryAccessRow,
)
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, ScalarRow
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.lattice.tma import (
    BULK_COPIES,
    TENSOR_COPIES,
    BulkCopyRow,
    TensorCopyRow,
)
from tilewright.tools.instructions.listing import Listing, Lists
from tilewright.tools.render_table import line


def _rows() -> dict[tuple[str, ...], InstructionRow]:
    """The rows of the modules of the lattice, by itself or in a dict or tuple of rows, by their
    mnemonics: of two with the same ones the later, but one by itself before those of a tuple."""
    rows: dict[tuple[str, ...], InstructionRow] = {}
    for module in (
        cluster,
        sync,
        mbarrier,
        tma,
        data_movement,
        atomics,
        multimem,
        warp,
        launch_control,
        stack,
    ):
        content: list[Any] = list(vars(module).values())
        for value in content:
            several: Any = (value,)
            if isinstance(value, dict | tuple):
                several = cast("Any", value.values() if isinstance(value, dict) else value)
            for row in several:
                if isinstance(row, InstructionRow) and not (
                    isinstance(value, tuple) and row.mnemonics in rows
                ):
                    rows[row.mnemonics] = row
    return rows


ROWS = tuple(_rows().values())
"""Every row whose mnemonics all have the same operands; of two with the same mnemonics one that has
the other's operands as alternatives."""

Operands = tuple[OperandForm, ...]


def listings() -> Iterator[Listing]:
    """One of every row; of scalars one of every requirement."""
    yield from map(_async_copy, (CP_ASYNC, CP_ASYNC_PREFETCH))
    yield from map(_row, ROWS)
    yield from map(_bulk_copy, (*TENSOR_COPIES, *BULK_COPIES))
    yield from map(_memory_access, (*LOADS, *STORES))
    for row in SCALARS.values():
        for requirement in dict.fromkeys(form.requirement for form in row.forms.values()):
            yield _scalar(row, requirement)


def _listing(
    op: str,
    does: str,
    requirement: Requirement,
    section: str,
    forms: dict[str, Operands],
    *,
    types_text: str = "-",
    threads: str = "",
    alternatives: tuple[Operands, ...] = (),
) -> Listing:
    """The listing of mnemonics by their operands."""

    def explain(_: str, lists: Lists) -> Iterator[str]:
        yield line("computes", does)
        yield from operand_lines(lists)
        yield line("op", op if op.startswith("ptx.") else f"cute_nvgpu.{op}")
        if threads:
            yield line("threads", threads)

    return Listing(
        op, (), (), types_text, (), _modifiers(forms), requirement.target, requirement.version,
        section, tuple(forms), lambda mnemonic: [forms[mnemonic], *alternatives], explain,
    )  # fmt: skip


def _modifiers(mnemonics: Iterable[str]) -> tuple[str, ...]:
    """The words that some of the mnemonics have, and others not."""
    split = [mnemonic.split(".") for mnemonic in mnemonics]
    words = dict.fromkeys(word for words in split for word in words)
    return tuple(word for word in words if not all(word in words for words in split))


def operand_lines(lists: Lists) -> Iterator[str]:
    """The lines of `explain` on operands: a line for every list, `[dst], [src], cp-size{,
    src-size}`, and what integers may stand in it."""
    for place, operands in enumerate(lists):
        names = [form.name if form.in_words else form.spelling for form in operands]
        required = ", ".join(
            name for form, name in zip(operands, names, strict=True) if not form.optional
        )
        optional = "".join(
            f"{{, {name}}}" for form, name in zip(operands, names, strict=True) if form.optional
        )
        yield line("operands" if place == 0 else "", required + optional or "none")
    for form in dict.fromkeys(form for operands in lists for form in operands):
        if form.in_words:
            yield line("", f"{form.name}: {form.in_words}")


def _row(row: InstructionRow) -> Listing:
    return _listing(
        row.op, row.does, Requirement.of(row), row.section,
        dict.fromkeys(row.mnemonics, row.operands), threads=row.threads,
        alternatives=row.alternatives,
    )  # fmt: skip


def _async_copy(row: AsyncCopyRow) -> Listing:
    sizes = (f"{cache} {'|'.join(map(str, sizes))} B" for cache, sizes in row.sizes.items())
    return _listing(
        "cp.async",
        "start a copy from global to shared memory, cached at all levels (ca) or in L2 alone (cg); "
        "the rest of cp-size is zeroed, and both addresses are aligned to it",
        Requirement.of(row), row.section,
        {row.mnemonic(cache): row.operands(cache) for cache in row.sizes},
        types_text="; ".join(sizes),
    )  # fmt: skip


def _bulk_copy(row: TensorCopyRow | BulkCopyRow) -> Listing:
    requirement = Requirement.of(row)
    return _listing(row.op, row.does, requirement, row.section, row.forms, threads="one")


def _memory_access(row: MemoryAccessRow) -> Listing:
    return _listing(f"ptx.{row.name}", row.does, Requirement.of(row), row.section, row.forms)


def _scalar(row: ScalarRow, requirement: Requirement) -> Listing:
    forms = {
        f"{row.name}.{suffix}": row.operands(suffix)
        for suffix, form in row.forms.items()
        if form.requirement == requirement
    }
    return _listing(f"ptx.{row.name}", row.does, requirement, row.section, forms)
