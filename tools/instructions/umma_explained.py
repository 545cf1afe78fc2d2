"""A `tcgen05.mma` explained: what it computes, what its descriptor can say, and where its operands
are, line by line."""

from collections.abc import Iterator, Sequence

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import UmmaMnemonic
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import FIELDS, Coded
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.dialects.cute_nvgpu.lattice.sm100 import Tiles, UmmaRow
from tilewright.dialects.illegal import listed
from tilewright.tools.instructions.mma_explained import stored
from tilewright.tools.render_table import LABEL, line, table

_INDICES = {
    "D": "(m, n)",
    "A": "(m, k)",
    "E": "(m, index)",
    "SFA": "(m, (byte, word))",
    "SFB": "(n, (byte, word))",
}
"""The coordinates of each operand's layout."""


def explain(said: UmmaMnemonic, lists: Sequence[Sequence[OperandForm]]) -> Iterator[str]:
    """Everything about a mnemonic but where it is available."""
    row = said.rows[0]
    atom = _example(said)
    yield line("computes", _computes(row))
    yield line("threads", _threads(said))
    yield line("completes", "later: tcgen05.commit arrives at an mbarrier")
    for label, forms in zip(("operands", *["or"] * len(lists)), lists, strict=False):
        yield line(label, ", ".join(_short(form) for form in forms))
    yield from _tiles(said)
    yield from _descriptor(said)
    yield line("atom", f"cute_nvgpu.{atom.op}<{atom.parameters}>")
    yield from _tensors(atom)
    if row.sparse:
        yield line("A", f"stored as M x {row.stored_k}: {stored(row.chunk)}")
        yield line("E", "4 bits for each of them, two 2-bit indices, the first element's low")
    if row.scale is not None:
        yield from _scaling(said)


def _example(said: UmmaMnemonic) -> UmmaAtom:
    """The largest atom of the mnemonic's first row, A where the mnemonic has it."""
    row = said.rows[0]
    tile = _tiles_of(row, said.cta_group)[-1]
    types = row.element_types()[-1]
    frag_kind = "ts" if said.ashift else "ss"
    n = (tile.tmem_ns if said.ashift else tile.ns)[-1]
    return UmmaAtom(row, tile.m, n, types, said.cta_group, frag_kind=frag_kind)


def _tiles_of(row: UmmaRow, cta_group: int) -> list[Tiles]:
    return [tile for tile in row.tiles if tile.cta_group == cta_group]


def _computes(row: UmmaRow) -> str:
    product = "(A * SFA) * (B * SFB)" if row.scale is not None else "A * B"
    sizes = "A is M x K, B N x K, D M x N"
    return f"D = {product} + D, or D = {product} where enable-input-d is false: {sizes}"


def _threads(said: UmmaMnemonic) -> str:
    if said.cta_group == 1:
        return "one, for its CTA"
    return "one of either CTA of the pair, for both: each has half of A's rows and of B's columns"


def _short(form: OperandForm) -> str:
    """Its name, in brackets where it is an address; `{...}` of lanes."""
    if form.spelling.startswith("["):
        return f"[{form.name}]"
    return f"{{{form.name}}}" if form.spelling.startswith("{") else form.name


def _tiles(said: UmmaMnemonic) -> Iterator[str]:
    for row in said.rows:
        if (tiles := _tiles_of(row, said.cta_group)) and row.k in _first_ks(said, row):
            shapes = [f"M {tile.m}: N {_ns(tile.ns)}" for tile in tiles]
            yield line("shape", f"K {row.k}; {'; '.join(shapes)}")


def _first_ks(said: UmmaMnemonic, row: UmmaRow) -> set[int]:
    """The K of a row, where no row before it has the same."""
    before = said.rows[: said.rows.index(row)]
    return {row.k} - {earlier.k for earlier in before}


def _ns(ns: tuple[int, ...]) -> str:
    if len(ns) <= 3:
        return ", ".join(map(str, ns))
    step = ns[-1] - ns[-2]
    first = next(n for n in ns if (ns[-1] - n) % step == 0 and n + step in ns)
    head = "".join(f"{n}, " for n in ns if n < first)
    return f"{head}{first} to {ns[-1]} in steps of {step}"


def _descriptor(said: UmmaMnemonic) -> Iterator[str]:
    yield line("idesc", "32 bits ('tilewright desc' builds and reads them):")
    rows = [
        (f"bits {field.bits.bits}", field.bits.words, _values(field))
        for field in sorted(FIELDS[said.kind], key=lambda field: field.bits.low)
    ]
    yield from table(rows, indent=" " * (LABEL + 2))


def _values(field: Coded) -> str:
    if field.codes is None:
        return "the number" + (f" >> {field.bits.shift}" if field.bits.shift else "")
    spelled = {code: in_words(value) for code, value in field.codes.items()}
    return ", ".join(f"{code} {value}" for code, value in spelled.items())


def in_words(value: object) -> object:
    """A field's value in words."""
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _tensors(atom: UmmaAtom) -> Iterator[str]:
    """Where operands are in tensor memory, of the example."""
    shape = f"{shape_text(atom.shape)} of {', '.join(atom.types)}"
    yield line("", f"operands of {shape} in tensor memory, offsets in elements (data path "
                   f"{atom.path.letter}; a lane is 65536 cells of 32 bits):")  # fmt: skip
    rows = [
        (name, f"{_INDICES[name]} -> {atom.cta_layout(name)}", _copies(atom, name))
        for name in atom.tmem_operands
    ]
    yield from table(rows, indent=" " * (LABEL + 2))


def _copies(atom: UmmaAtom, operand: str) -> str:
    copies = atom.copies(operand)
    return "" if copies.size() == 1 else f"in {copies.size()} copies, {copies}"


def _scaling(said: UmmaMnemonic) -> Iterator[str]:
    for row in said.rows:
        if row.scale is None:
            continue
        ids = listed(row.scale_ids)
        yield line(
            "scaling",
            f"K {row.k}: {row.scale.vector} factors of {row.scale.type} a row, each for "
            f"{row.scale_block} stored elements; ids {ids}",
        )
