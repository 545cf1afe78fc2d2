"""Every atom of the lattice assembles at its row's target and version, and not below; among what
the lattice leaves out, ptxas takes nothing of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from ptx_kernels import (
    Kernel,
    complaints,
    directives,
    gpu_of,
    instructions,
    older_target,
    older_version,
    text_of,
    with_target,
    with_version,
)

from tilewright.dialects.cute_nvgpu.atom import atoms_of, parse
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.ptx.matrix import MmaOp
from tilewright.ptxas import PtxasReport

Ptxas = Callable[..., PtxasReport]

REQUIREMENTS = sorted({(row.target.name, row.ptx_version) for row in MMA_ROWS})


@pytest.mark.parametrize(("target", "version"), REQUIREMENTS)
def test_atoms_need_exactly_what_their_rows_say(
    target: str, version: tuple[int, int], ptxas: Ptxas
) -> None:
    rows = [row for row in MMA_ROWS if (row.target.name, row.ptx_version) == (target, version)]
    kernel, atoms = Kernel(), [atom for row in rows for atom in atoms_of(row)]
    for atom in atoms:
        inputs = [kernel.input(*atom.registers(operand)) for operand in "ABC"]
        kernel.output(kernel.add(MmaOp(*inputs, atom)))
    text = text_of(kernel)
    lines = instructions(text, "mma.sync")
    assert {line.split()[0] for line in lines} == {atom.mnemonic for atom in atoms}
    assert directives(text) == (target, version)
    assert complaints(text, ptxas(text, gpu_of(target))) == {}
    for lowered, arch in (
        (with_target(text, older_target(target)), gpu_of(older_target(target))),
        (with_version(text, older_version(version)), gpu_of(target)),
    ):
        refused = complaints(lowered, ptxas(lowered, arch))
        assert lines <= set(refused)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_120a"])
def test_atoms_assemble_on_later_chips(arch: str, ptxas: Ptxas) -> None:
    kernel = Kernel()
    for atom in (atom for row in MMA_ROWS for atom in atoms_of(row)):
        inputs = [kernel.input(*atom.registers(operand)) for operand in "ABC"]
        kernel.output(kernel.add(MmaOp(*inputs, atom)))
    text = text_of(kernel)
    assert complaints(text, ptxas(text, arch)) == {}


def test_mnemonics_parse_back() -> None:
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
    operands = zip((d, a, b, c), (m * n, m * k, k * n, m * n), strict=True)
    return (
        f"mma.sync.aligned.m{m}n{n}k{k}.row.col{modifier}.{d}.{a}.{b}.{c} "
        + ", ".join(_registers(element, count) for element, count in operands)
        + ";"
    )


def test_ptxas_takes_no_atom_that_the_lattice_leaves_out(ptxas: Ptxas) -> None:
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
