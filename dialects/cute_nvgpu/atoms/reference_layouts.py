"""Reference layouts of the register MMAs of sm_80 and sm_89, by the key that they are published
under.

The published description of the reference-layout synthesizer of NVIDIA's cute_nvgpu has seven arms,
chosen by the key (K, M, sparse, fp8, trans_a); each returns the layouts of A, B and C in slots 0 to
2, and a sparse one the layout of the metadata in slot 3. `ARMS` says which atom of the lattice each
arm is; its layouts are the atom's. docs/reference_layouts.md lists where the description and the
PTX ISA, or the chip, disagree.
"""

from typing import NamedTuple

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.frozen import frozen


class ReferenceKey(NamedTuple):
    """The key of an arm: the MMA's K and M, whether A is structured sparse, whether A and B
    are fp8, and whether A lies transposed."""

    k: int
    m: int
    sparse: bool = False
    fp8: bool = False
    trans_a: bool = False

    def __str__(self) -> str:
        flags = [name for name in self._fields[2:] if getattr(self, name)]
        return ", ".join([f"K={self.k}", f"M={self.m}", *flags])


@frozen
class Arm:
    """An arm of the description: its key, and the mnemonic of the atom whose layouts it returns.

    Arm 1 is `row.row`, which PTX has at m8n8k4 only: a transposed A is `ldmatrix.trans`'s business,
    and leaves the register fragment as it is.
    """

    key: ReferenceKey
    mnemonic: str

    @property
    def atom(self) -> MmaAtom:
        """The atom of the lattice."""
        return parse(self.mnemonic)

    @property
    def slots(self) -> tuple[Operand, ...]:
        """The operand in each slot: A, B, C, then E where it is sparse."""
        return self.atom.inputs


_F16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"

ARMS: tuple[Arm, ...] = (
    Arm(ReferenceKey(16, 16), _F16),
    Arm(ReferenceKey(16, 16, trans_a=True), _F16),
    Arm(ReferenceKey(16, 16, sparse=True), "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"),
    Arm(ReferenceKey(32, 16), "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
    Arm(ReferenceKey(32, 16, fp8=True), "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    Arm(ReferenceKey(32, 16, sparse=True), "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
    Arm(ReferenceKey(8, 16), "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"),
)
"""The arms in their published order."""


def reference_layouts(key: ReferenceKey) -> tuple[Layout, ...]:
    """The canonical layouts of an arm, by slot: `(thread, value) -> index` of A, B, C and E.

    Raises AtomError for a key that is no arm's.
    """
    for arm in ARMS:
        if arm.key == key:
            return tuple(map(arm.atom.tv_layout, arm.slots))
    near = closest(key, [arm.key for arm in ARMS])
    legal = "; ".join(str(arm.key) for arm in ARMS)
    raise AtomError(f"expected a key of {legal}, got {key}; nearest legal: {near}")
