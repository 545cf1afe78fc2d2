"""Instructions with neither shape nor layout: barriers, mbarriers, clusters, fences, groups of
copies, moves and control flow; and `cp.async`, loads and stores, copies of boxes and scalars."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count
from typing import Any, cast

from tilewright.dialects.cute_nvgpu.lattice import (
    CP_ASYNC,
    InstructionRow,
    atomics,
    carry,
    cluster,
    control_flow,
    data_movement,
    launch_control,
    mbarrier,
    multimem,
    stack,
    sync,
    tma,
    warp,
)
from tilewright.dialects.cute_nvgpu.lattice.accesses import access
from tilewright.dialects.cute_nvgpu.lattice.composed import own_needs, parts, spelling_needs
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    CP_ASYNC_PREFETCH,
    LOADS,
    STORES,
    AsyncCopyRow,
    MemoryAccessRow,
)
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm, Result, Scalar, Vector
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, SOURCES, ScalarRow
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, later
from tilewright.dialects.cute_nvgpu.lattice.tma import (
    BULK_COPIES,
    TENSOR_COPIES,
    BulkCopyRow,
    TensorCopyRow,
)
from tilewright.lowering.ptx.parsing.spellings import normal
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
        carry,
        control_flow,
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


Known = Callable[[str], tuple[Listing, Lists] | None]
"""The listing of a mnemonic, and its operands."""
_SECTIONS = {"set": "9.7.6.1", "mad24": "9.7.1.6"}
_PIECE = re.compile(r",\s*(?![^{}]*\}\})")
_BEHIND = {"{rest}": 1, "{more}": 3}
"""The places that begin with the operands that a line of a composition calls so."""
_PLACE = re.compile(r"\{(\d)\}")
_NAMES = "d" + SOURCES + "q"


def unlisted(mnemonic: str, known: Known) -> Listing | None:
    """That of an access with words on caches, or of an instruction that is several `known` ones."""
    if (row := access(mnemonic)) is not None:
        return _row(row)
    required, spelled = spelling_needs(mnemonic), normal(mnemonic)
    if required is not None and spelled != mnemonic and (of := known(spelled)):
        row, lists = of
        own: Callable[[str], Lists] = lambda _: lists  # noqa: E731
        return replace(row, target=required.target, ptx_version=required.version, lists=own)
    composed = [(known(name), text) for name, text in parts(mnemonic)]
    whole = [
        (*row, _PIECE.split(text.replace("{more}", ", {more}"))) for row, text in composed if row
    ]
    if not whole or len(whole) < len(composed):
        return None
    rows, name = [row for row, *_ in whole], mnemonic.partition(".")[0]
    like = next((row for row in rows if row.op.startswith(("ptx." + name, name))), rows[0])
    section = SCALARS[name].section if name in SCALARS else _SECTIONS.get(name, like.section)
    required = own_needs(mnemonic) or reduce(later, map(Requirement.of, rows))
    operands = _operands(whole)
    dest, *given = (form.name for form in operands)
    words = {"also": "p", "rest": ", ".join(given), "more": "".join(f", {a}" for a in given[2:])}
    together = "; ".join(
        f"{name} {text.format(dest, *given, **words)}" for name, text in parts(mnemonic)
    )
    return _listing(like.op, together, required, section, {mnemonic: operands})


def _operands(whole: Iterable[tuple[Listing, Lists, Sequence[str]]]) -> Operands:
    """The operands of an instruction that is several: each as the one of them has it that takes
    it. Of two results one may be left out, but a predicate beside bits."""
    places, pairs = dict[int, OperandForm](), False
    for _, lists, pieces in whole:
        forms = iter(next(forms for forms in lists if _are_alike(forms, pieces)))
        pairs = pairs or "{also}" in pieces
        for piece in pieces:
            if piece in _BEHIND:
                places |= dict(zip(count(_BEHIND[piece]), forms, strict=False))
            elif (form := next(forms)) and (place := _PLACE.fullmatch(piece)):
                places[int(place[1])] = form
    dest = places[0]
    if not isinstance(dest, Result):
        return (Address("a"),)
    if pairs:
        legal = SCALARS["setp"].results if dest.register == "pred" else ("r|r", "_|r")
        places[0] = replace(dest, legal=legal)
    return tuple(
        replace(form, name=_NAMES[place]) if isinstance(form, Scalar) else form
        for place, form in sorted(places.items())
    )


def _are_alike(forms: Sequence[OperandForm], pieces: Sequence[str]) -> bool:
    """True where vectors stand in the places of vectors."""
    pairs = zip(forms, pieces, strict=False)
    return all(isinstance(form, Vector) is piece.startswith("{{") for form, piece in pairs)
