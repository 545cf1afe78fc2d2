"""An MMA explained line by line: what it computes, what each thread gives to it and gets."""

from collections.abc import Iterable, Iterator

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.traits import FragmentAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.select.select_atom import matrices
from tilewright.tools.instructions.fragment_places import contributing_threads, selectors
from tilewright.tools.instructions.listing import HEADING, operands_line
from tilewright.tools.render_table import LABEL, line, table

AXES: dict[Operand, tuple[str, str]] = {
    "A": ("m", "k"),
    "B": ("n", "k"),
    "C": ("m", "n"),
    "D": ("m", "n"),
    "E": ("m", "j"),
    "SFA": ("m", "s"),
    "SFB": ("n", "s"),
}
"""The axes that the index of each operand's layout counts, the fastest first."""

_GROUP = 4

_STORED = {
    2: "one of every 2 neighbours in a row (1:2)",
    4: "2 of every 4 neighbours in a row (2:4)",
    8: "2 of the 4 pairs in every 8 neighbours of a row (4:8)",
}
"""How a sparse A is stored, by the size of a chunk. PTX ISA 9.7.14.6.1."""


def explain(atom: MmaAtom, operands: Iterable[OperandForm]) -> Iterator[str]:
    """Everything about an atom but where it is available."""
    yield line("computes", _computes(atom))
    yield operands_line(operands)
    yield line("atom", ir_spelling(atom))
    yield line("op", op_spelling(atom))
    shown: tuple[Operand, ...] = (*atom.inputs, "D")
    yield from fragments(atom, shown)
    yield from _containers(atom)
    if atom.row.matrices > 1:
        yield line("q", "quad pair 0 to 3: threads 4*q to 4*q + 3 and 16 + 4*q to 19 + 4*q")
    if atom.row.sparsity is not None:
        yield from sparsity(atom, atom.row.chunk(atom.types), ordered=atom.row.sparsity != "sp")
    yield from _scaling(atom)


def _computes(atom: MmaAtom) -> str:
    m, n, k = atom.shape
    sizes = f"A is {m} x {k}, B {k} x {n}, C and D {m} x {n}"
    if atom.row.bit_op is not None:
        return f"D = C + the number of ones in A {atom.row.bit_op} B along K: {sizes}"
    product = "A * B" if atom.row.scale is None else "(A * SFA) * (B * SFB)"
    if atom.row.matrices > 1:
        return f"D = {product} + C, {atom.row.matrices} times, once a quad pair: {sizes}"
    return f"D = {product} + C: {sizes}"


def ir_spelling(atom: MmaAtom) -> str:
    """The atom as IR spells it, `cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>`."""
    return f"cute_nvgpu.{atom.op}<{atom.parameters}>"


def op_spelling(atom: MmaAtom) -> str:
    """The op that issues it as IR spells it, without its types."""
    brackets = {"E": "[0]", "SFA": "[0, 0]", "SFB": "[0, 0]"}
    inputs = ", ".join(f"%{operand.lower()}{brackets.get(operand, '')}" for operand in atom.inputs)
    return f"%d = cute_nvgpu.{atom.op} {inputs} <{atom.parameters}>"


def fragments(atom: FragmentAtom, operands: Iterable[Operand]) -> Iterator[str]:
    """The table of the operands that registers hold."""
    rows = [HEADING, *(_operand(atom, operand) for operand in operands)]
    return table(rows, LABEL - 2, "  ")


def _operand(atom: FragmentAtom, operand: Operand) -> tuple[str, str, str, str]:
    register, count = atom.registers(operand)
    return (
        operand,
        f"{count} x .{register}",
        f"{atom.values(operand)} x {atom.element(operand).name}",
        f"{atom.tv_layout(operand)} -> {index_text(atom, operand)}",
    )


def index_text(atom: FragmentAtom, operand: Operand) -> str:
    """The index of an operand's layout: `m + 16*k`."""
    down, across = AXES[operand]
    rows, columns = atom.extents(operand)
    text = f"{down} + {rows}*{across}"
    if matrices(atom) > 1:
        text += f" + {rows * columns // matrices(atom)}*q"
    return text


def _containers(atom: MmaAtom) -> Iterator[str]:
    """Where in what it takes an element stands that has fewer bits."""
    elements: dict[ElementType, list[str]] = {}
    for operand in ("A", "B"):
        elements.setdefault(atom.element(operand), []).append(operand)
    for element, operands in elements.items():
        if element.padded:
            last = element.shift + element.width - 1
            text = f"{element.name} stands in bits {element.shift} to {last} of a byte"
            yield line(", ".join(operands), f"{text}, the others are padding")


def sparsity(atom: FragmentAtom, chunk: int, *, ordered: bool) -> Iterator[str]:
    """How a sparse A of chunks is stored."""
    rows, columns = atom.extents("A")
    yield line("A", f"stored as {rows} x {columns}: {stored(chunk)}")
    yield line("E", indices(chunk, ordered=ordered))
    [selector] = selectors(atom, "E")
    yield line("E", f"{selector.name} {contributors(atom, 'E', (), selector.legal)}")


def stored(chunk: int) -> str:
    """How a sparse A of that chunk is stored."""
    return _STORED[chunk]


def indices(chunk: int, *, ordered: bool) -> str:
    """The metadata of a chunk. PTX ISA 9.7.14.6.1."""
    if chunk == 2:
        return "4 bits for every 2 neighbours: 0b0100 stores the first, 0b1110 the second"
    what = "elements" if chunk == 4 else "pairs"
    order = "in increasing order" if ordered else "different, in any order"
    return f"two 2-bit indices for every {chunk} neighbours say which {what} are stored, {order}"


def _scaling(atom: MmaAtom) -> Iterator[str]:
    scale = atom.row.scale
    if scale is None:
        return
    factors = "one scale factor" if scale.vector == 1 else f"{scale.vector} scale factors"
    along = f"each for {atom.shape[2] // scale.vector} elements along K"
    yield line("SFA, SFB", f"{factors} for a row of A and for a column of B, {along}")
    for operand in ("SFA", "SFB"):
        byte, thread = selectors(atom, operand)
        taken = "byte byte-id" if scale.vector == 1 else f"{scale.vector} bytes from byte-id on"
        yield line(operand, f"{byte.name} {', '.join(map(str, byte.legal))}: {taken}")
        yield line(operand, f"{thread.name} {contributors(atom, operand, (0,), thread.legal)}")


def contributors(
    atom: FragmentAtom, operand: Operand, before: tuple[int, ...], legal: tuple[int, ...]
) -> str:
    """Which threads give the operand for each value of its last selector."""
    texts: list[str] = []
    for value in legal:
        threads = contributing_threads(atom, operand, (*before, value))
        group = [str(thread) for thread in threads if thread < _GROUP]
        texts.append(f"{value}: thread{'s' if len(group) > 1 else ''} {', '.join(group)}")
    return f"{'; '.join(texts)} of each group of four"
