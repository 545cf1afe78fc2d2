"""Every atom of the lattice assembles at its row's target and version, and not below; among what
the lattice leaves out, ptxas takes nothing of the same kind."""

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
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, Minimum, Target, lowest
from tilewright.dialects.ptx.matrix import MmaOp

FEW = 8
REQUIREMENTS = sorted({(row.target, row.ptx_version) for row in MMA_ROWS}, key=str)


@pytest.mark.parametrize(("minimum", "version"), REQUIREMENTS, ids=str)
def test_atoms_need_exactly_what_their_rows_say(
    minimum: Minimum, version: tuple[int, int], ptxas: Ptxas
):
    rows = [row for row in MMA_ROWS if (row.target, row.ptx_version) == (minimum, version)]
    atoms = [atom for row in rows for atom in atoms_of(row)]
    text, target = _text_of_atoms(atoms), lowest([minimum]).name
    lines = instructions(text, "mma.")
    assert {line.split()[0] for line in lines} == {atom.mnemonic for atom in atoms}
    assert directives(text) == (target, max(version, TARGETS[target].ptx_version))
    assert complaints(text, ptxas(text, gpu_of(target))) == {}
    for other in _nearest_without(minimum):
        lowered = with_target(with_version(text, NEWEST), other)
        assert lines <= set(complaints(lowered, ptxas(lowered, gpu_of(other))))
    refuse_older(text, lines, ptxas)


def _nearest_without(minimum: Minimum) -> list[str]:
    """Targets as near as can be to those that run what requires this one, and that do not."""
    target = lowest([minimum])
    if not target.suffix:
        return [] if target == min(TARGETS.values(), key=_number) else [older_target(target.name)]
    family = [each for each in TARGETS.values() if each.family == target.family]
    return [each.name for each in family if not each.supports(minimum)]


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_atoms_assemble_on_later_chips(arch: str, ptxas: Ptxas):
    rows = [row for row in MMA_ROWS if TARGETS[arch].supports(row.target)]
    text = _text_of_atoms([atom for row in rows for atom in atoms_of(row)])
    assert complaints(text, ptxas(text, arch)) == {}


def _number(target: Target) -> int:
    return target.number


def _text_of_atoms(atoms: list[MmaAtom]) -> str:
    """A kernel for every few of them: of one with all, ptxas takes long."""
    kernels = [Kernel(f"kernel{i}") for i in range(-(-len(atoms) // FEW))]
    for i, atom in enumerate(atoms):
        _add(kernels[i // FEW], atom)
    return text_of(*kernels)


def _add(kernel: Kernel, atom: MmaAtom) -> None:
    """The atom with every legal value of its selectors, the first choices first."""
    inputs = [kernel.input(*atom.registers(operand)) for operand in atom.inputs]
    for choice in range(max([1, *(len(each.legal) for each in atom.selectors)])):
        selectors = [each.legal[choice % len(each.legal)] for each in atom.selectors]
        kernel.output(kernel.add(MmaOp(inputs, atom, selectors)))


def test_mnemonics_parse_back():
    for row in MMA_ROWS:
        for atom in atoms_of(row):
            assert parse(atom.mnemonic) == atom


def _registers(element: str, count: int) -> str:
    """Operands of `count` elements a warp, `{%r1, %r2}`."""
    row = ELEMENT_TYPES[element]
    number = max(count // 32 // row.per_register, 1)
    prefix = {"b32": "%r", "f32": "%f", "f64": "%fd"}[row.register]
    return "{" + ", ".join(f"{prefix}{i}" for i in range(number)) + "}"


def _line(shape: tuple[int, int, int], types: tuple[str, ...], modifier: str) -> str:
    (m, n, k), (a, b, c, d) = shape, types
    matrices = 4 if shape == (8, 8, 4) and (a, b) == ("f16", "f16") else 1
    counts = (matrices * each for each in (m * n, m * k, k * n, m * n))
    operands = zip((d, a, b, c), counts, strict=True)
    return (
        f"mma.sync.aligned.m{m}n{n}k{k}.row.col{modifier}.{d}.{a}.{b}.{c} "
        + ", ".join(_registers(element, count) for element, count in operands)
        + ";"
    )


def test_ptxas_takes_no_atom_that_the_lattice_leaves_out(ptxas: Ptxas):
    """These element types in every place, at every shape that any of them has, with modifiers."""
    inputs = ("f16", "bf16", "tf32", "f64", "s8", "u8", "f32")
    shapes = {row.shape for row in MMA_ROWS if row.multiplicands[0][0] in inputs}
    sums = ("f16", "bf16", "f32", "f64", "s32")
    modifiers = ("", ".satfinite", ".rn", ".rz")
    choices = product(sorted(shapes), product(inputs, inputs, sums, sums), modifiers)
    lines = {_line(shape, types, modifier) for shape, types, modifier in choices}
    covered = {line.split()[0] for line in lines}
    legal = {atom.mnemonic for row in MMA_ROWS for atom in atoms_of(row)}
    # What ptxas parses it may still refuse later (m16n8k16 on tf32): ask until it has no complaint.
    refused = {""}
    while refused:
        text = _kernel_of(lines)
        refused = set(complaints(text, ptxas(text, "sm_90")))
        lines -= refused
    assert {line.split()[0] for line in lines} == legal & covered


def _kernel_of(lines: set[str]) -> str:
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b32 %r<16>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n"
        + "\n".join(sorted(lines))
        + "\nret;\n}\n"
    )
