"""A row of the lattice as the command line shows it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum
from tilewright.dialects.frozen import frozen
from tilewright.tools.render_table import line

HEADING = ("operand", "registers", "elements", "layout (thread, value) -> index")
"""Of the table of operands that `explain` prints."""


Lists = Sequence[Sequence[OperandForm]]


@frozen
class Listing:
    """A row of the lattice.

    `types` are the legal element types by operand, `types_text` the same in one line,
    `qualifiers` the words that all its mnemonics have beside shape and types, `modifiers` those
    that some of them have. `mnemonics` are all that it spells, in a fixed order. `lists` gives the
    operands of one of them in PTX's order, those that it may have instead behind them, and
    `explained` what it does with these, line by line. A tuple in `shape` lists the legal values of
    an extent.
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
    lists: Callable[[str], Lists]
    explained: Callable[[str, Lists], Iterator[str]]

    @classmethod
    def of(
        cls, row: Any, shape: tuple[int | tuple[int, ...], ...], types: tuple[dict[str, str], ...],
        types_text: str, words: tuple[Iterable[str], Iterable[str]], mnemonics: Iterable[str],
        lists: Callable[[str], Lists], explained: Callable[[str, Lists], Iterator[str]],
    ) -> "Listing":  # fmt: skip
        """That of a row, whose op, target, version and section it has; `words` are the qualifiers
        and the modifiers."""
        qualifiers, modifiers = map(tuple, words)
        return cls(
            row.op, shape, types, types_text, qualifiers, modifiers, row.target, row.ptx_version,
            row.section, tuple(mnemonics), lists, explained,
        )  # fmt: skip

    def operands(self, mnemonic: str) -> Sequence[OperandForm]:
        """The first list."""
        return self.lists(mnemonic)[0]

    def explain(self, mnemonic: str) -> Iterator[str]:
        """The explanation of a mnemonic with all of them."""
        return self.explained(mnemonic, self.lists(mnemonic))


def version_text(version: tuple[int, int]) -> str:
    """`7.0`."""
    return ".".join(map(str, version))


def operands_line(operands: Iterable[OperandForm]) -> str:
    """The line of `explain` on operands."""
    return line("operands", ", ".join(form.spelling for form in operands) or "none")
