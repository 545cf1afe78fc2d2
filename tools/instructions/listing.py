"""A row of the lattice as the command line shows it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum
from tilewright.dialects.frozen import frozen

HEADING = ("operand", "registers", "elements", "layout (thread, value) -> index")
"""Of the table of operands that `explain` prints."""


@frozen
class Listing:
    """A row of the lattice.

    `types` are the legal element types by operand, `types_text` the same in one line,
    `qualifiers` the words that all its mnemonics have beside shape and types, `modifiers` those
    that some of them have. `mnemonics` are all that it spells, in a fixed order. `operands` gives
    the operands of one of them in PTX's order, `explain` what it does, line by line. Where one may
    have other operands instead, `alternatives` gives those lists. A tuple in `shape` lists the
    legal values of an extent.
    """

    op: str
    shape: tuple[int | tuple[int, ...], ...]
    types: tuple[dict[str, str], ...]
    types_text: str
    qualifiers: tuple[str, ...]
    modifiers: tuple[str, ...]
    target: Minimum
    ptx_version: tuple[int, int]
    section: str
    mnemonics: tuple[str, ...]
    operands: Callable[[str], tuple[OperandForm, ...]]
    explain: Callable[[str], Iterator[str]]
    alternatives: Callable[[str], tuple[tuple[OperandForm, ...], ...]] | None = None

    @classmethod
    def of(
        cls, row: Any, shape: tuple[int | tuple[int, ...], ...], types: tuple[dict[str, str], ...],
        types_text: str, words: tuple[Iterable[str], Iterable[str]], mnemonics: Iterable[str],
        operands: Callable[[str], tuple[OperandForm, ...]], explain: Callable[[str], Iterator[str]],
        alternatives: Callable[[str], tuple[tuple[OperandForm, ...], ...]] | None = None,
    ) -> "Listing":  # fmt: skip
        """That of a row, whose op, target, version and section it has; `words` are the qualifiers
        and the modifiers."""
        qualifiers, modifiers = map(tuple, words)
        return cls(
            row.op, shape, types, types_text, qualifiers, modifiers, row.target, row.ptx_version,
            row.section, tuple(mnemonics), operands, explain, alternatives,
        )  # fmt: skip


def version_text(version: tuple[int, int]) -> str:
    """`7.0`."""
    return ".".join(map(str, version))
