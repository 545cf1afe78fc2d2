"""Every wmma assembles at its row's target and version, and not below. What the rows leave out is
asked of ptxas in tests/conformance."""

from __future__ import annotations

from itertools import product

import pytest
from ptx_kernels import (
    NEWEST,
    Kernel,
    Ptxas,
    complaints,
    directives,
    gpu_of,
    instructions,
    older_target,
    refuse_older,
    text_of,
    with_target,
    with_version,
)

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, accesses, parse_access
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum, lowest
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_SPACES, WmmaSpace
from tilewright.dialects.ptx.wmma import LoadOp, MmaOp, StoreOp

FEW = 8
ATOMS = [atom for row in WMMA_MMA for atom in atoms_of(row)]
ACCESSES = [WmmaAccess(row, major) for row in WMMA_ACCESS for major in row.majors]
REQUIREMENTS = sorted(
    {(each.row.target, each.row.ptx_version) for each in (*ATOMS, *ACCESSES)}, key=str
)


def add_mma(kernel: Kernel, atom: MmaAtom) -> None:
    inputs = [kernel.input(*atom.registers(operand)) for operand in atom.inputs]
    kernel.output(kernel.add(MmaOp(inputs, atom)))


def add_access(kernel: Kernel, access: WmmaAccess, space: WmmaSpace) -> None:
    """The access with a stride from a register, and then with the least that there is."""
    kind = "b32" if space == "shared" else "b64"
    for stride in (kernel.input("b32"), kernel.constant(access.lines[1], "b32")):
        address = kernel.shared_address() if space == "shared" else kernel.input(kind)
        if access.op == "wmma.load":
            kernel.output(kernel.add(LoadOp(access, space, address, stride, 32)))
        else:
            value = kernel.input(*access.row.registers)
            kernel.add(StoreOp(access, space, address, value, stride, 32))


def kernel_of(atoms: list[MmaAtom], moved: list[WmmaAccess]) -> str:
    """A kernel for every few of them: of one with all, ptxas takes a minute."""
    kernels = [Kernel(f"kernel{i}") for i in range(-(-max(len(atoms), len(moved)) // FEW))]
    for i, atom in enumerate(atoms):
        add_mma(kernels[i // FEW], atom)
    for i, access in enumerate(moved):
        for space in WMMA_SPACES:
            add_access(kernels[i // FEW], access, space)
    return text_of(*kernels)


@pytest.mark.parametrize(("minimum", "version"), REQUIREMENTS, ids=str)
def test_wmma_needs_exactly_what_its_rows_say(
    minimum: Minimum, version: tuple[int, int], ptxas: Ptxas
):
    wanted = minimum, version
    atoms = [each for each in ATOMS if (each.row.target, each.row.ptx_version) == wanted]
    moved = [each for each in ACCESSES if (each.row.target, each.row.ptx_version) == wanted]
    text, target = kernel_of(atoms, moved), lowest([minimum]).name
    lines = instructions(text, "wmma.")
    assert {line.split()[0] for line in lines} == {
        *(atom.mnemonic for atom in atoms),
        *(access.mnemonic(space) for access, space in product(moved, WMMA_SPACES)),
    }
    assert directives(text) == (target, version)
    assert complaints(text, ptxas(text, gpu_of(target))) == {}
    if target != "sm_70":
        lowered = with_target(with_version(text, NEWEST), older_target(target))
        assert lines <= set(complaints(lowered, ptxas(lowered, gpu_of(older_target(target)))))
    refuse_older(text, lines, ptxas)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
def test_wmma_assembles_on_later_chips(arch: str, ptxas: Ptxas):
    text = kernel_of(ATOMS, ACCESSES)
    assert complaints(text, ptxas(text, arch)) == {}


def test_mnemonics_parse_back():
    for atom in ATOMS:
        assert parse(atom.mnemonic) == atom
    for name, (access, space) in accesses().items():
        assert parse_access(name) == (access, space)
