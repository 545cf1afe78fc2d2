"""Every wmma assembles at its row's target and version, and not below; among what the rows leave
out, ptxas takes nothing that is documented."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest
from ptx_kernels import (
    NEWEST,
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

from tilewright.dialects.cute_nvgpu.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_SPACES, WmmaSpace
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.dialects.cute_nvgpu.targets import TARGETS, Minimum, lowest
from tilewright.dialects.cute_nvgpu.wmma_access import WmmaAccess, accesses, parse_access
from tilewright.dialects.ptx.wmma import LoadOp, MmaOp, StoreOp
from tilewright.ptxas import PtxasReport

Ptxas = Callable[..., PtxasReport]

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
    kernel = Kernel()
    for atom in atoms:
        add_mma(kernel, atom)
    for access, space in product(moved, WMMA_SPACES):
        add_access(kernel, access, space)
    return text_of(kernel)


@pytest.mark.parametrize(("minimum", "version"), REQUIREMENTS, ids=str)
def test_wmma_needs_exactly_what_its_rows_say(
    minimum: Minimum, version: tuple[int, int], ptxas: Ptxas
) -> None:
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
    lowered = with_version(text, older_version(version))
    refused = ptxas(lowered, gpu_of(target))
    if version > TARGETS[target].ptx_version:
        assert lines <= set(complaints(lowered, refused))
    else:
        assert not refused.ok  # The target is as young as its instructions.


@pytest.mark.parametrize("arch", ["sm_80", "sm_100a", "sm_120a"])
def test_wmma_assembles_on_later_chips(arch: str, ptxas: Ptxas) -> None:
    text = kernel_of(ATOMS, ACCESSES)
    assert complaints(text, ptxas(text, arch)) == {}


def test_mnemonics_parse_back() -> None:
    for atom in ATOMS:
        assert parse(atom.mnemonic) == atom
    for name, (access, space) in accesses().items():
        assert parse_access(name) == (access, space)


# What the rows leave out

TYPES = ("f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "f32", "s32")
SHAPES = sorted({row.shape for row in WMMA_MMA})
_PAIRS = ("row.col", "col.row")
UNDOCUMENTED = {
    *(f"wmma.load.c.sync.aligned.{major}.{shape}.f32"
      for major in ("row", "col") for shape in ("m8n8k32", "m8n8k128")),
    *(f"wmma.mma.sync.aligned.{majors}.{shape}.f64.f64.f64.f64"
      for majors in _PAIRS for shape in ("m16n16k8", "m16n16k16")),
}  # fmt: skip
"""What ptxas takes and the PTX ISA has not; nothing loads an f64 of these shapes."""


def registers(element: str, count: int) -> str:
    """Operands of `count` elements a warp, `{%r1, %r2}`."""
    row = ELEMENT_TYPES[element]
    number = max(count // 32 // row.per_register, 1)
    prefix = {"b32": "%r", "f32": "%f", "f64": "%d"}[row.register]
    return "{" + ", ".join(f"{prefix}{i}" for i in range(number)) + "}"


def loads() -> list[str]:
    """Loads of every operand, layout, shape and type, with the registers that it may need."""
    lines: list[str] = []
    for operand, major, (m, n, k), element in product("abc", ("row", "col"), SHAPES, TYPES):
        name = f"wmma.load.{operand}.sync.aligned.{major}.m{m}n{n}k{k}.{element}"
        extents = {"a": m * k, "b": k * n, "c": m * n}[operand]
        counts = {extents, 512 if element == "f16" else extents}
        lines += [f"{name} {registers(element, count)}, [%p];" for count in sorted(counts)]
    return lines


OF_THE_LINE = re.compile("Unexpected|Incorrect|Illegal|vector size")
"""Complaints that are of the line they point at; others are of what ptxas makes of some line."""


def accepted(lines: list[str], ptxas: Ptxas) -> set[str]:
    """The mnemonics of those lines that ptxas takes."""
    left: list[str] = []
    for batch in (set(lines[first : first + 64]) for first in range(0, len(lines), 64)):
        text = kernel_text(batch)
        found = complaints(text, ptxas(text, "sm_90"))
        refused = {line for line, why in found.items() if OF_THE_LINE.search(" ".join(why))}
        left += batch - refused
    return {line.split()[0] for line in left if ptxas(kernel_text({line}), "sm_90").ok}


def kernel_text(lines: set[str]) -> str:
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .f64 %d<32>;\n.reg .b64 %p;\n"
        "ld.param.u64 %p, [p];\n" + "\n".join(sorted(lines)) + "\nret;\n}\n"
    )


def mmas() -> list[str]:
    """MMAs of every shape, layouts and types; a and b of one type, c and d of any."""
    lines: list[str] = []
    sums = ("f16", "f32", "f64", "s32")
    for majors, (m, n, k), ab, c, d in product(_PAIRS, SHAPES, TYPES[:9], sums, sums):
        types = f"{d}.{c}" if ab == "f16" else f"{d}.{ab}.{ab}.{c}"
        halves = 512 if ab == "f16" else 0
        operands = [registers(d, m * n), registers(ab, halves or m * k),
                    registers(ab, halves or k * n), registers(c, m * n)]  # fmt: skip
        for bit_op in ("", ".xor.popc", ".and.popc") if ab == "b1" else ("",):
            name = f"wmma.mma{bit_op}.sync.aligned.{majors}.m{m}n{n}k{k}.{types}"
            lines.append(f"{name} {', '.join(operands)};")
    return lines


def test_ptxas_takes_no_wmma_that_the_rows_leave_out(ptxas: Ptxas) -> None:
    legal = {*accesses(), *(atom.mnemonic for atom in ATOMS)}
    lines = [line for line in (*loads(), *mmas()) if line.split()[0] not in legal]
    assert accepted(lines, ptxas) == UNDOCUMENTED
