"""`cute-nvgpu-select-atom`: which atoms can compute each contraction of a tile, best first."""

from collections.abc import Callable
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.cute_nvgpu.select.contraction import FAMILIES
from tilewright.dialects.cute_nvgpu.select.select_atom import AtomChoice, select_atoms
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UMMA_ATOM_TYPES, WGMMA_ATOM_TYPES
from tilewright.dialects.frozen import frozen
from tilewright.passes.analysis.linalg_contraction import LinalgContraction, contraction_of
from tilewright.source.diagnostic import OpError

_ATOM_TYPES: dict[str, Callable[[Any], Attribute]] = {
    **MMA_ATOM_TYPES, **WGMMA_ATOM_TYPES, **UMMA_ATOM_TYPES
}  # fmt: skip
ATOMS = "cute_nvgpu.atoms"
REASONS = "cute_nvgpu.reasons"


@frozen
class SelectAtomPass(ModulePass):
    """Give each contraction the attribute `cute_nvgpu.atoms`, its legal atoms on `arch`, best
    first; with `explain`, also `cute_nvgpu.reasons`, one for each. A contraction that no atom can
    compute is an error; ops that are none are left alone. `families` are the instructions to
    choose from: mma, wmma, wgmma, tcgen05."""

    name = "cute-nvgpu-select-atom"

    arch: str
    explain: bool = False
    families: tuple[str, ...] = tuple(FAMILIES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            target(self.arch)
        except TargetError as error:
            raise OpError(op, str(error)) from error
        for inner in op.walk():
            contraction = contraction_of(inner)
            if contraction is None:
                continue
            choices = _choices(contraction, self.arch, self.families)
            atoms = (choice.atom for choice in choices)
            inner.attributes[ATOMS] = ArrayAttr(_ATOM_TYPES[atom.op](atom) for atom in atoms)
            if self.explain:
                inner.attributes[REASONS] = ArrayAttr(
                    StringAttr(choice.reason) for choice in choices
                )


def _choices(
    contraction: LinalgContraction, arch: str, families: tuple[str, ...]
) -> list[AtomChoice]:
    """The legal atoms; a product of single bits is their conjunction. Raises OpError."""
    try:
        return select_atoms(
            *contraction.shape, contraction.types, arch, bit_op="and", families=families
        )
    except AtomError as error:
        op = contraction.op
        raise OpError(op, f"'{op.name}' {error}") from error
