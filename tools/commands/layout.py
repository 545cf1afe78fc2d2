"""Show a layout, '(4,8):(8,1)': the index of every coordinate. Or, of an MMA, which thread holds
which element of an operand: T<thread>V<value> for every element, rows and columns as the figures of
the PTX ISA have them (A: m x k, B: k x n, C and D: m x n). E is m x j for the j-th 2-bit index of a
row, SFA m x s and SFB s x n for the s-th scale factor: of the threads that hold one, the one that
--select names. Of a tcgen05.mma, with --idesc, the lane and the column of tensor memory of every
element: L<lane>C<column>."""

import argparse
import re
from collections.abc import Iterator
from typing import cast, get_args

from tilewright.dialects.cute.drawing import Drawing, drawing_of, svg
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.swizzle import parse_layout
from tilewright.dialects.cute.text import LayoutParseError
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.traits import FragmentAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import umma_of
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.select.select_atom import matrices
from tilewright.tools.commands.input import InputError, UsageError, add_options, read_integer
from tilewright.tools.instructions.catalogue import canonical
from tilewright.tools.instructions.fragment_places import fragment_operands, places, selectors
from tilewright.tools.instructions.mma_explained import AXES
from tilewright.tools.instructions.why_mnemonic import why_illegal_mnemonic
from tilewright.tools.output import write_whole
from tilewright.tools.render_table import matrix, numbers

_CELL_BITS = 32


def tensor_table(atom: UmmaAtom, operand: Operand) -> Iterator[str]:
    """The lines that say where each element of what one CTA has of an operand is: L<lane>C<column>,
    and .<bit> where several share a cell; counted from the operand's address.

    Raises AtomError for an operand that is not in tensor memory.
    """
    layout, bits = atom.cta_layout(operand), atom.cell_bits(operand)
    rows, columns = atom.cta_extents(operand)
    down, across = AXES[operand]
    copies = atom.copies(operand)
    times = f", in {copies.size()} copies {copies}" if copies.size() > 1 else ""
    yield (
        f"{atom.mnemonic}: {operand} of {atom.parameters}, {rows} x {columns} of "
        f"{atom.element(operand).name}, rows {down}, columns {across}{times}"
    )
    yield f"layout {layout}"
    yield ""
    cells = [[f"{down}\\{across}", *map(str, range(columns))]]
    for row in range(rows):
        offsets = (layout[0](row) + layout[1](column) for column in range(columns))
        cells.append([str(row), *(_place(offset * bits, bits) for offset in offsets)])
    yield from numbers(cells)


def _place(bit: int, bits: int) -> str:
    cell, within = divmod(bit, _CELL_BITS)
    inside = "" if bits == _CELL_BITS else f".{within}"
    return f"L{cell >> 16}C{cell & 0xFFFF}{inside}"


def fragments(atom: FragmentAtom, operand: Operand, choice: tuple[int, ...] = ()) -> Drawing:
    """Who holds what of that operand; `choice` are values of the selectors that speak of it."""
    fragment = places(atom, operand, choice)
    outer, inner = atom.extents(operand)
    # The index counts A's m and B's n fastest; the figures draw A's m downwards, B's n across.
    text = {place: (f"T{thread}V{value}", thread) for place, (thread, value) in fragment.items()}
    cells = tuple(tuple(text[i + outer * j] for j in range(inner)) for i in range(outer))
    down, across = AXES[operand]
    if operand in ("B", "SFB"):
        down, across, cells = across, down, tuple(zip(*cells, strict=True))
    title = (
        f"{atom.mnemonic}: {operand}, {len(cells)} x {len(cells[0])} of "
        f"{atom.element(operand).name}, rows {down}, columns {across}"
    )
    if matrices(atom) > 1:
        side = "k" if operand in ("A", "B") else "n"
        title += f", the {matrices(atom)} matrices side by side along {side}"
    for selector, value in zip(selectors(atom, operand), choice, strict=False):
        title += f", {selector.name} {value}"
    about = f"layout (thread, value) -> index: {atom.tv_layout(operand)}"
    return Drawing(title, about, (down, across), cells)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
mnemonic MNEMONIC: a layout, or an MMA as PTX spells it
operand OPERAND: A, B, C or D; E (sparsity metadata); SFA or SFB (scale factors)
--select N[,N]: the sparsity selector, or byte-id,thread-id; otherwise the first legal ones
--idesc WORD: tcgen05.mma: its instruction descriptor, 0x08200490
--svg FILE: draw it into that file; - is stdout
""",
        operand={"nargs": "?", "type": str.upper, "choices": get_args(Operand)},
    )


_LAYOUT = re.compile(r"\s*(\(|\d|S<)")


def run(options: argparse.Namespace) -> None:
    if _LAYOUT.match(options.mnemonic):
        _show(options, _drawn(options))
        return
    if options.operand is None:
        raise UsageError(f"{options.mnemonic} expected an operand: A, B, C, D, E, SFA or SFB")
    if options.mnemonic.strip().startswith("tcgen05.mma"):
        _show_tensor(options)
        return
    if options.idesc is not None:
        raise InputError(f"{options.mnemonic} expected no --idesc")
    atom, operand = fragment_atom(options.mnemonic.strip()), cast(Operand, options.operand)
    legal = fragment_operands(atom)
    if operand not in legal:
        why = " (B is always in shared memory: 'tilewright desc')" if operand == "B" else ""
        raise InputError(
            f"{atom.mnemonic} expected an operand of {', '.join(legal)}, got {operand}{why}"
        )
    _show(options, fragments(atom, operand, selected(atom, operand, options.select)))


def _drawn(options: argparse.Namespace) -> Drawing:
    """The indices of a layout."""
    if options.operand is not None or options.select is not None or options.idesc is not None:
        raise InputError(f"{options.mnemonic} expected neither an operand, --select nor --idesc")
    try:
        return drawing_of(parse_layout(options.mnemonic.strip()))
    except (LayoutError, LayoutParseError) as error:
        raise InputError(f"expected a layout such as (4,8):(8,1), {error}") from None


def _show(options: argparse.Namespace, shown: Drawing) -> None:
    if options.svg is None:
        print(matrix(shown))
        return
    write_whole(options.svg, svg(shown))


def _show_tensor(options: argparse.Namespace) -> None:
    """Where an operand of a tcgen05.mma is in tensor memory."""
    mnemonic: str = options.mnemonic.strip()
    if options.idesc is None or options.select is not None or options.svg is not None:
        raise InputError(
            f"{mnemonic} expected --idesc, which says its shape and types, and neither --select "
            "nor --svg"
        )
    kind = "ts" if options.operand == "A" else "ss"
    atom = umma_of(mnemonic, read_integer(options.idesc), kind)
    print("\n".join(tensor_table(atom, options.operand)))


def fragment_atom(mnemonic: str) -> FragmentAtom:
    """The MMA of a mnemonic that has fragments. Raises InputError."""
    reason = why_illegal_mnemonic(mnemonic, None)
    if reason is not None:
        raise InputError(reason)
    wanted = canonical(mnemonic)
    try:
        return parse_wgmma(wanted) if wanted.startswith("wgmma.") else parse(wanted)
    except AtomError:
        raise InputError(
            f"expected an MMA, which has operands A, B, C and D, got '{mnemonic}'; "
            f"'tilewright explain {mnemonic}' shows what its threads hold"
        ) from None


def selected(atom: FragmentAtom, operand: Operand, text: str | None) -> tuple[int, ...]:
    """The values of the operand's selectors: those of the text, or their first ones."""
    wanted = selectors(atom, operand)
    if text is None:
        return tuple(selector.legal[0] for selector in wanted)
    given = text.split(",")
    legal = [[str(value) for value in selector.legal] for selector in wanted]
    if len(given) != len(legal) or any(
        value not in values for value, values in zip(given, legal, strict=True)
    ):
        rule = "; ".join(
            f"a {selector.name} of {', '.join(map(str, selector.legal))}" for selector in wanted
        )
        nearest = ",".join(
            given[place] if place < len(given) and given[place] in values else values[0]
            for place, values in enumerate(legal)
        )
        raise InputError(
            f"{atom.mnemonic} expected {rule or 'no selectors'} for {operand}, got '{text}'; "
            f"nearest legal: {nearest or 'none'}"
        )
    return tuple(map(int, given))
