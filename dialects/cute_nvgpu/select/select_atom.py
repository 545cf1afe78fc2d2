"""From a tile-level contraction to the atoms that can compute it, best first, with the reasons.

    for choice in select_atoms(128, 128, 64, ("f16", "f16", "f32"), "sm_90a"):
        print(choice.atom, choice.instructions, choice.reason)

What "best" means is the tuple `CRITERIA`: the first criterion in which two choices differ decides
between them, and its words are the reason. `wmma` is none of the choices: what its threads hold is
the chip's own business, so that no other copy than its own can feed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.machine_code import MachineCode, machine_code
from tilewright.dialects.cute_nvgpu.lattice.row import Operand, Shape, shape_text
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, Target, target
from tilewright.dialects.cute_nvgpu.select.contraction import Contraction, ScaleBlock, contraction


@dataclass(frozen=True, slots=True)
class AtomChoice:
    """A legal atom for a contraction, and how it covers the tile.

    `tiles` are the atom's shapes along M, N and K, `instructions` how many a warp issues, `padding`
    the part of their multiply-adds that lies outside of the tile, `machine_code` what the chip runs
    one as, `reason` what sets the choice apart from its neighbour in the list.
    """

    atom: MmaAtom
    tiles: Shape
    instructions: int
    padding: float
    machine_code: MachineCode
    as_asked: bool
    reason: str = ""

    @property
    def work(self) -> int:
        """The multiply-adds that the tensor core computes, those of padding included."""
        issued = self.instructions * self.atom.row.matrices * prod(self.atom.shape)
        return issued * self.machine_code.work

    @property
    def registers(self) -> int:
        """32-bit registers a thread that one instruction reads, the accumulators among them."""
        operands: tuple[Operand, ...] = self.atom.inputs
        kinds = map(self.atom.registers, operands)
        return sum(count * register_bits(kind) // 32 for kind, count in kinds)

    @property
    def targets(self) -> int:
        """How many targets run the atom."""
        return sum(arch.supports(self.atom.row.target) for arch in TARGETS.values())


@dataclass(frozen=True, slots=True)
class Criterion:
    """One way to tell two choices apart: the smaller key is the better one.

    `better` and `worse` are what the one is beside the other, `shown` the value behind the key.
    """

    name: str
    key: Callable[[AtomChoice], int]
    better: str
    worse: str
    shown: Callable[[AtomChoice], str]

    def reason(self, choice: AtomChoice, other: AtomChoice) -> str:
        """Why this choice is before or after the other, which differs in this criterion."""
        words = self.better if self.key(choice) < self.key(other) else self.worse
        return f"{words} than {label(other.atom)}: {self.shown(choice)}, not {self.shown(other)}"


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "accumulators",
        lambda choice: not choice.as_asked,
        "closer to the accumulators asked for",
        "farther from the accumulators asked for",
        lambda choice: " to ".join(dict.fromkeys(choice.atom.types[2:])),
    ),
    Criterion(
        "native",
        lambda choice: not choice.machine_code.native,
        "less emulated",
        "more emulated",
        lambda choice: choice.machine_code.words,
    ),
    Criterion(
        "work",
        lambda choice: choice.work,
        "fewer multiply-adds, padding included,",
        "more multiply-adds, padding included,",
        lambda choice: str(choice.work),
    ),
    Criterion(
        "instructions",
        lambda choice: choice.instructions,
        "fewer instructions",
        "more instructions",
        lambda choice: str(choice.instructions),
    ),
    Criterion(
        "machine instructions",
        lambda choice: choice.instructions * choice.machine_code.parts,
        "fewer machine instructions",
        "more machine instructions",
        lambda choice: str(choice.instructions * choice.machine_code.parts),
    ),
    Criterion(
        "metadata",
        lambda choice: choice.atom.row.sparsity == "sp",
        "metadata faster on some targets",
        "metadata slower on some targets",
        lambda choice: "plain" if choice.atom.row.sparsity == "sp" else "ordered",
    ),
    Criterion(
        "registers",
        lambda choice: choice.registers,
        "fewer registers a thread",
        "more registers a thread",
        lambda choice: str(choice.registers),
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
) -> list[AtomChoice]:
    """The atoms that compute an M x N x K tile on `arch`, best first.

    `types` are the element types of (a, b, accumulators) or of (a, b, c, d), as PTX names them;
    `sparse` asks for a structured-sparse A, `scale` for block scaling, `bit_op` for "xor" or "and"
    of single bits (None lists both, which compute different sums), `any_accumulator` lists atoms
    with other accumulators, too, behind those asked for. Raises AtomError, naming the nearest legal
    contraction, where there is no atom, and TargetError for an unknown arch.
    """
    wanted = contraction(
        (m, n, k),
        types,
        sparse=sparse,
        scale=scale,
        bit_op=bit_op,
        any_accumulator=any_accumulator,
    )
    return choices(wanted, arch)


def choices(wanted: Contraction, arch: str) -> list[AtomChoice]:
    """The atoms that compute a contraction on `arch`, best first. Raises as `select_atoms`."""
    chip = target(arch)
    ranked = [
        _choice(MmaAtom(row, types), wanted, chip)
        for row in MMA_ROWS
        if chip.supports(row.target)
        for types in wanted.types_in(row)
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


def label(atom: MmaAtom) -> str:
    """The atom in a few words: its shape, and what tells it from others that compute the same."""
    row = atom.row
    words = (shape_text(row.shape), row.kind, row.sparsity, row.bit_op)
    return " ".join(word for word in words if word)


def _choice(atom: MmaAtom, wanted: Contraction, chip: Target) -> AtomChoice:
    m, n, k = (-(-extent // own) for extent, own in zip(wanted.shape, atom.shape, strict=True))
    # The MMAs of one instruction (the quad pairs of m8n8k4) share no sum: they cover M and N.
    instructions = -(-m * n // atom.row.matrices) * k
    issued = instructions * atom.row.matrices * prod(atom.shape)
    return AtomChoice(
        atom,
        (m, n, k),
        instructions,
        1 - prod(wanted.shape) / issued,
        machine_code(atom.row, atom.types, chip.number),
        atom.types == wanted.types,
    )


def _rank(choice: AtomChoice) -> tuple[int, ...]:
    return tuple(criterion.key(choice) for criterion in CRITERIA)


def _reason(choice: AtomChoice, other: AtomChoice) -> str:
    for criterion in CRITERIA:
        if criterion.key(choice) != criterion.key(other):
            return criterion.reason(choice, other)
    return f"equal to {label(other.atom)} in every criterion"
