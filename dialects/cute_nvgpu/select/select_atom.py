"""From a tile-level contraction to the atoms that can compute it, best first, with the reasons.

    for choice in select_atoms(128, 128, 64, ("f16", "f16", "f32"), "sm_90a"):
        print(choice.atom, choice.instructions, choice.reason)

What "best" means is the tuple `CRITERIA`: the first criterion in which two choices differ decides
between them, and its words are the reason. Of instructions that have many shapes, `wgmma` and
`tcgen05.mma`, a row is one choice, or one for every M: the N that wastes least of the tile.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, UmmaRow, WgmmaRow, WmmaRow
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.machine_code import NATIVE, MachineCode, machine_code
from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, Target, target
from tilewright.dialects.cute_nvgpu.select.contraction import (
    FAMILIES,
    AnyMmaRow,
    Contraction,
    ScaleBlock,
    contraction,
)
from tilewright.dialects.frozen import frozen


@frozen
class AtomChoice:
    """A legal atom for a contraction, and how it covers the tile.

    `tiles` are the atom's shapes along M, N and K, `instructions` how many are issued, by a warp, a
    warpgroup or, of `tcgen05.mma`, a thread, `padding` the part of their multiply-adds that lies
    outside of the tile, `machine_code` what the chip runs one as, `reason` what sets the choice
    apart from its neighbour in the list.
    """

    atom: AnyMmaAtom
    tiles: Shape
    instructions: int
    padding: float
    machine_code: MachineCode
    as_asked: bool
    reason: str = ""

    @property
    def work(self) -> int:
        """The multiply-adds that the tensor core computes, those of padding included."""
        issued = self.instructions * matrices(self.atom) * prod(self.atom.shape)
        return issued * self.machine_code.work

    @property
    def registers(self) -> int:
        """32-bit registers a thread that one instruction reads, the accumulators among them."""
        if isinstance(self.atom, UmmaAtom):
            return 0
        operands = self.atom.inputs if isinstance(self.atom, MmaAtom) else ("C",)
        kinds = [self.atom.registers(operand) for operand in operands]
        return sum(count * register_bits(kind) // 32 for kind, count in kinds)

    @property
    def targets(self) -> int:
        """How many targets run the atom."""
        return sum(arch.supports(self.atom.row.target) for arch in TARGETS.values())


@frozen
class Criterion:
    """One way to tell two choices apart: the smaller key is the better one.

    `better` and `worse` are what the one is beside the other, `shown` the value behind the key
    where it is not the key itself.
    """

    name: str
    key: Callable[[AtomChoice], int]
    better: str
    worse: str
    shown: Callable[[AtomChoice], str] | None = None

    def reason(self, choice: AtomChoice, other: AtomChoice) -> str:
        """Why this choice is before or after the other, which differs in this criterion."""
        words = self.better if self.key(choice) < self.key(other) else self.worse
        shown = self.shown or self.key
        return f"{words} than {label(other.atom)}: {shown(choice)}, not {shown(other)}"


def matrices(atom: AnyMmaAtom) -> int:
    """The MMAs of one instruction."""
    return atom.row.matrices if isinstance(atom, MmaAtom) else 1


def accumulators(atom: AnyMmaAtom) -> tuple[str, ...]:
    """The element types of c and d."""
    return atom.types[2:]


def has_plain_metadata(atom: AnyMmaAtom) -> bool:
    """The atom is sparse, and its metadata need no order."""
    return isinstance(atom, MmaAtom) and atom.row.sparsity == "sp"


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "accumulators",
        lambda choice: not choice.as_asked,
        "closer to the accumulators asked for",
        "farther from the accumulators asked for",
        lambda choice: " to ".join(dict.fromkeys(accumulators(choice.atom))),
    ),
    Criterion(
        "native",
        lambda choice: not choice.machine_code.native,
        "less emulated",
        "more emulated",
        lambda choice: choice.machine_code.words,
    ),
    Criterion(
        "fragments",
        lambda choice: isinstance(choice.atom.row, WmmaRow),
        "easier to feed",
        "harder to feed",
        lambda choice: (
            "fragments that the chip chooses"
            if isinstance(choice.atom.row, WmmaRow)
            else "known operands"
        ),
    ),
    Criterion(
        "work",
        lambda choice: choice.work,
        "fewer multiply-adds, padding included,",
        "more multiply-adds, padding included,",
    ),
    Criterion(
        "instructions",
        lambda choice: choice.instructions,
        "fewer instructions",
        "more instructions",
    ),
    Criterion(
        "machine instructions",
        lambda choice: choice.instructions * choice.machine_code.parts,
        "fewer machine instructions",
        "more machine instructions",
    ),
    Criterion(
        "metadata",
        lambda choice: has_plain_metadata(choice.atom),
        "metadata faster on some targets",
        "metadata slower on some targets",
        lambda choice: "plain" if has_plain_metadata(choice.atom) else "ordered",
    ),
    Criterion(
        "registers",
        lambda choice: choice.registers,
        "fewer registers a thread",
        "more registers a thread",
    ),
    Criterion(
        "targets",
        lambda choice: -choice.targets,
        "runs on more targets",
        "runs on fewer targets",
        lambda choice: str(choice.targets),
    ),
    Criterion(
        "version",
        lambda choice: 100 * choice.atom.row.ptx_version[0] + choice.atom.row.ptx_version[1],
        "an older PTX ISA",
        "a newer PTX ISA",
        lambda choice: "{}.{}".format(*choice.atom.row.ptx_version),
    ),
)
"""The grounds of a choice between two, the weightiest first; after them, the lattice's order.

metadata: PTX ISA 9.7.14.6.3 advises ordered metadata, since plain ones may be much slower on some
targets; where that holds of this very target, `native` has said so already.
"""


def select_atoms(
    m: int,
    n: int,
    k: int,
    types: Sequence[str],
    arch: str,
    *,
    sparse: bool = False,
    scale: ScaleBlock | None = None,
    bit_op: str | None = None,
    any_accumulator: bool = False,
    families: Sequence[str] = tuple(FAMILIES),
) -> list[AtomChoice]:
    """The atoms that compute an M x N x K tile on `arch`, best first.

    `types` are the element types of (a, b, accumulators) or of (a, b, c, d), as PTX names them;
    `sparse` asks for a structured-sparse A, `scale` for block scaling, `bit_op` for "xor" or "and"
    of single bits (None lists both, which compute different sums), `any_accumulator` lists atoms
    with other accumulators, too, behind those asked for, `families` ("mma", "wmma", "wgmma",
    "tcgen05") those of some instructions alone. Raises AtomError, naming the nearest legal
    contraction, where there is no atom, and TargetError for an unknown arch.
    """
    wanted = contraction(
        (m, n, k),
        types,
        sparse=sparse,
        scale=scale,
        bit_op=bit_op,
        any_accumulator=any_accumulator,
        families=families,
    )
    return choices(wanted, arch)


def choices(wanted: Contraction, arch: str) -> list[AtomChoice]:
    """The atoms that compute a contraction on `arch`, best first. Raises as `select_atoms`."""
    chip = target(arch)
    ranked = [
        _choice(atom, types, wanted, chip)
        for row in wanted.rows
        if chip.supports(row.target)
        for types in wanted.types_in(row)
        for atom in _atoms(row, types, wanted.shape)
    ]
    if not ranked:
        raise AtomError(wanted.why_none(chip))
    ranked.sort(key=_rank)
    if len(ranked) == 1:
        return [replace(ranked[0], reason="the only legal atom")]
    neighbours = [ranked[1], *ranked]
    return [
        replace(choice, reason=_reason(choice, other))
        for choice, other in zip(ranked, neighbours, strict=False)
    ]


def label(atom: AnyMmaAtom) -> str:
    """The atom in a few words: its shape, and what tells it from others that compute the same."""
    row, shape = atom.row, shape_text(atom.shape)
    if isinstance(row, WmmaRow):
        return f"wmma {shape}"
    if isinstance(row, WgmmaRow):
        return f"wgmma {shape}"
    if isinstance(row, UmmaRow):
        assert isinstance(atom, UmmaAtom)
        pair = "pair" if atom.cta_group == 2 else None
        words = ("tcgen05", shape, row.kind, "ws" if row.ws else None, pair)
    else:
        words = (shape, row.kind, row.sparsity, row.bit_op)
    return " ".join(word for word in words if word)


def _atoms(row: AnyMmaRow, types: ElementTypes, shape: Shape) -> Iterator[AnyMmaAtom]:
    """The atoms of a row: of those that differ in N alone the one that wastes least of the tile."""
    a, b, _, d = types
    if isinstance(row, WgmmaRow):
        yield WgmmaAtom(row, _fitting(row.ns, shape[1]), (a, b, d))
    elif isinstance(row, UmmaRow):
        for tiles in row.tiles:
            n = _fitting(tiles.ns, shape[1])
            yield UmmaAtom(row, tiles.m, n, (a, b, d), tiles.cta_group)
    else:
        yield MmaAtom(row, types)


def _fitting(ns: Sequence[int], extent: int) -> int:
    return min(ns, key=lambda n: (-(-extent // n) * n, -n))


def _machine_code(atom: AnyMmaAtom, types: ElementTypes, chip: Target) -> MachineCode:
    """Of `wmma` that of the MMAs of a warp that its fragments are side by side (H200)."""
    if isinstance(atom, WgmmaAtom | UmmaAtom):
        return NATIVE
    if not isinstance(atom.row, WmmaRow):
        return machine_code(atom.row, types, chip.number)
    m, n, k = atom.shape
    parts = [
        (machine_code(row, types, chip.number), row)
        for row in MMA_ROWS
        if row.sparsity is row.kind is None and row.bit_op == atom.row.bit_op
        and types in row.element_types() and chip.supports(row.target)
        and not (max(m, n) % row.shape[0] or min(m, n) % row.shape[1] or k % row.shape[2])
    ]  # fmt: skip
    if not parts:
        return NATIVE
    code, row = max(parts, key=lambda part: (part[0].native, prod(part[1].shape)))
    count = prod(atom.shape) // prod(row.shape)
    if count == 1:
        return code
    words = f"{count} times mma.sync {shape_text(row.shape)}: {code.words}"
    return replace(code, how="split" if code.native else code.how, words=words,
                   parts=count * code.parts)  # fmt: skip


def _choice(atom: AnyMmaAtom, types: ElementTypes, wanted: Contraction, chip: Target) -> AtomChoice:
    m, n, k = (-(-extent // own) for extent, own in zip(wanted.shape, atom.shape, strict=True))
    # The MMAs of one instruction (the quad pairs of m8n8k4) share no sum: they cover M and N.
    instructions = -(-m * n // matrices(atom)) * k
    issued = instructions * matrices(atom) * prod(atom.shape)
    return AtomChoice(
        atom,
        (m, n, k),
        instructions,
        1 - prod(wanted.shape) / issued,
        _machine_code(atom, types, chip),
        types == wanted.types,
    )


def _rank(choice: AtomChoice) -> tuple[int, ...]:
    return tuple(criterion.key(choice) for criterion in CRITERIA)


def _reason(choice: AtomChoice, other: AtomChoice) -> str:
    for criterion in CRITERIA:
        if criterion.key(choice) != criterion.key(other):
            return criterion.reason(choice, other)
    return f"equal to {label(other.atom)} in every criterion"
