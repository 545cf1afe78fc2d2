"""Completions: ops, the parameters of atoms and PTX mnemonics, from the tables, piece by piece."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from inspect import getdoc
from itertools import product

from xdsl.universe import Universe

from tilewright.dialects.cute_nvgpu.atoms.atom import atoms_of
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import ummas_of
from tilewright.dialects.cute_nvgpu.atoms.wgmma import FragmentKind, WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import wgmmas_of
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, UMMA_ROWS, WGMMA_ROWS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.frozen import frozen
from tilewright.source.parsing import default_context
from tilewright.tools.instructions.catalogue import legal_mnemonics
from tilewright.tools.language_server.name_index import NameIndex
from tilewright.tools.language_server.ptx_statements import PtxText

MOST = 500
"""Completions that are given at once."""

_PARAMETERS = re.compile(r"cute_nvgpu\.((?:\w+\.)*\w+)\b[^<>]*<([^<>]*)\Z")
_NAME = re.compile(r"[%@^][\w$.-]*\Z")
_OP = re.compile(r"(?:^|[=\s\"])([A-Za-z_]\w*(?:\.\w*)*)\Z")


@frozen
class Proposal:
    """A text that may stand from `start` on; `complete` where nothing has to follow."""

    text: str
    start: int
    about: str = ""
    complete: bool = True


def complete(text: str, name: str, offset: int, arch: str | None = None) -> list[Proposal]:
    """The texts that may stand at a place, in the order of the tables."""
    ahead = text[text.rfind("\n", 0, offset) + 1 : offset]
    if name.endswith(".ptx"):
        typed = re.search(r"(?:^|[\s;{])([a-z][\w.:]*)\Z", ahead)
        mnemonics = sorted(legal_mnemonics(PtxText(text).target or arch))
        return [] if typed is None else _pieces(mnemonics, typed[1], offset, ".")
    if (within := _PARAMETERS.search(ahead)) is not None:
        return _pieces(_parameters(within[1], arch), within[2], offset, ", ")
    if (typed := _NAME.search(ahead)) is not None:
        return _names(text, name, typed[0], offset)
    if (typed := _OP.search(ahead)) is not None:
        return list(_ops(typed[1], offset - len(typed[1])))
    return []


def _pieces(wholes: Iterable[str], typed: str, offset: int, stop: str) -> list[Proposal]:
    """The next piece of every text that begins as typed: all up to the next `stop`, and all of
    the text where no other shares that piece."""
    ways: dict[str, list[str]] = {}
    for whole in wholes:
        if whole.startswith(typed):
            end = _end_of_piece(whole, len(typed), stop)
            ways.setdefault(whole[:end], []).append(whole)
    start = offset - len(typed)
    return [
        Proposal(piece if len(ending) > 1 else ending[0], start, complete=ending == [piece])
        for piece, ending in ways.items()
    ][:MOST]


def _end_of_piece(whole: str, start: int, stop: str) -> int:
    """Behind the next `stop` outside of brackets, or the end."""
    depth = 0
    for place in range(start, len(whole)):
        depth += (whole[place] == "(") - (whole[place] == ")")
        if depth <= 0 and whole.startswith(stop, place):
            return place + len(stop)
    return len(whole)


@cache
def _parameters(op: str, arch: str | None) -> tuple[str, ...]:
    """The parameters of every atom of an op that the target runs."""
    chip = None if arch is None else target(arch)
    return tuple(
        dict.fromkeys(
            atom.parameters for atom in _atoms(op) if chip is None or chip.supports(atom.row.target)
        )
    )


def _atoms(op: str) -> Iterator[AnyMmaAtom]:
    for row in (*MMA_ROWS, *WMMA_MMA):
        yield from atoms_of(row) if row.op == op else ()
    for row in WGMMA_ROWS:
        for atom in wgmmas_of(row) if row.op == op else ():
            yield from _wgmma_variants(atom)
    for row in UMMA_ROWS:
        yield from ummas_of(row) if row.op == op else ()


def _wgmma_variants(atom: WgmmaAtom) -> Iterator[WgmmaAtom]:
    """An atom with A in shared memory or in registers, and either way that A and B may lie."""
    kinds: tuple[FragmentKind, ...] = ("ss", "rs")
    modes: tuple[MajorMode, ...] = ("k", "mn") if atom.row.transposes else ("k",)
    for a, b, kind in product(modes, modes, kinds):
        if (a, kind) != ("mn", "rs"):
            yield replace(atom, majors=(a, b), frag_kind=kind)


def _names(text: str, name: str, typed: str, offset: int) -> list[Proposal]:
    """The values, symbols or blocks whose names begin as typed."""
    start = offset - len(typed)
    if typed[0] == "%":
        definitions = (use.definition for use in NameIndex.of(text, name).uses)
        names = (text[slice(*one.at)] for one in definitions if one and one.at[0] < start)
    else:
        names = (match[0] for match in re.finditer(rf"{re.escape(typed[0])}[\w$.-]+", text)
                 if match.start() != start)  # fmt: skip
    return [Proposal(one, start) for one in dict.fromkeys(names) if one.startswith(typed)][:MOST]


def _ops(typed: str, start: int) -> Iterator[Proposal]:
    """The ops whose names begin as typed; without a dialect in front, the dialects."""
    dialect, dot, _ = typed.partition(".")
    known = Universe.get_multiverse().all_dialects
    if not dot:
        yield from (Proposal(f"{name}.", start, complete=False)
                    for name in sorted(known) if name.startswith(typed))  # fmt: skip
    elif dialect in known:
        for op in default_context().get_optional_dialect(dialect).operations:  # type: ignore[union-attr]
            if op.name.startswith(typed):
                yield Proposal(op.name, start, (getdoc(op) or "").split("\n\n")[0])
