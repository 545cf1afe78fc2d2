"""The table of machine code, asked of ptxas: how much code each MMA of the lattice becomes, and
whether it calls one of ptxas's own subroutines."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from covering import THOROUGH
from ptx_kernels import Kernel, directives, text_of, with_target, with_version

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.machine_code import (
    MACHINE_ROWS,
    NATIVE,
    MachineCode,
    machine_code,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, target
from tilewright.dialects.ptx.matrix import MmaOp
from tilewright.dialects.ptx.registers import SregOp
from tilewright.dialects.ptx.scalars import CvtOp, MadOp
from tilewright.launch.ptxas import find_ptxas

EVERY = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a")
ARCHS = EVERY if THOROUGH else ("sm_75", "sm_80", "sm_90a", "sm_120a")
"""Those left out have the code of a neighbour, but for what it lacks."""
FEW, MANY = 2, 10
BYTES = 16
"""The size of a machine instruction since sm_70."""

NOTHING_BUT_MMAS = 9
"""As many machine instructions as an MMA with the moves and pauses around it may take; one whose
inputs are converted in line takes more."""


def chain(atom: MmaAtom, length: int, name: str) -> Kernel:
    """MMAs that each add to the last one's result, their inputs fresh, and other in each thread."""
    kernel = Kernel(name)
    thread = kernel.add(CvtOp("u64.u32", [kernel.add(SregOp("tid.x"))]))
    apart = [thread, kernel.constant(4096, "b64"), kernel.pointer]
    kernel.pointer = kernel.add(MadOp("lo.u64", apart))
    total = kernel.input(*atom.registers("C"))
    selectors = [each.legal[0] for each in atom.selectors]
    for _ in range(length):
        inputs = [
            total if operand == "C" else kernel.input(*atom.registers(operand))
            for operand in atom.inputs
        ]
        total = kernel.add(MmaOp(inputs, atom, selectors))
    kernel.output(total)
    return kernel


def loads(atom: MmaAtom) -> int:
    """How many registers each MMA of a chain loads."""
    return sum(atom.registers(operand)[1] for operand in atom.inputs if operand != "C")


@dataclass(frozen=True)
class Code:
    """What ptxas made of an atom: machine instructions a link of the chain, and its subroutines."""

    instructions: float
    subroutines: frozenset[str]


def text_at(data: bytes, place: int) -> str:
    return data[place : data.index(b"\0", place)].decode()


def sections(cubin: bytes) -> list[tuple[str, int, int]]:
    """(name, offset, size) of every section of a 64-bit ELF file."""
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    return [(text_at(cubin, headers[names][4] + each[0]), each[4], each[5]) for each in headers]


def symbols(cubin: bytes) -> Iterator[tuple[str, str]]:
    """(name, name of the section it is in) of every symbol."""
    found = sections(cubin)
    places = {name: (offset, size) for name, offset, size in found}
    offset, size = places[".symtab"]
    for place in range(offset, offset + size, 24):
        name, section = struct.unpack_from("<I2xH", cubin, place)
        if section < len(found):
            yield text_at(cubin, places[".strtab"][0] + name), found[section][0]


def representatives(arch: str) -> list[MmaAtom]:
    """An atom for every row and result type that the target runs and that can form a chain."""
    found: dict[tuple[object, str], MmaAtom] = {}
    for row in MMA_ROWS:
        if TARGETS[arch].supports(row.target):
            for atom in atoms_of(row):
                if atom.types[2] == atom.types[3]:
                    found.setdefault((row, atom.types[3]), atom)
    return list(found.values())


@cache
def compiled(arch: str, folder: Path) -> dict[str, Code]:
    """The machine code of every representative, by mnemonic."""
    atoms = representatives(arch)
    kernels = [chain(a, n, f"k{i}_{n}") for i, a in enumerate(atoms) for n in (FEW, MANY)]
    text = text_of(*kernels)
    version = max(directives(text)[1], TARGETS[arch].ptx_version)
    text = with_version(with_target(text, arch), version)
    (folder / "chains.ptx").write_text(text)
    command = [find_ptxas(), f"-arch={arch}", "chains.ptx", "-o", "chains.cubin"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    cubin = (folder / "chains.cubin").read_bytes()
    sizes = {name: size for name, _, size in sections(cubin)}
    called: dict[str, set[str]] = {}
    for name, section in symbols(cubin):
        if "__cuda_sm_" in name:
            called.setdefault(section, set()).add(name)
    found: dict[str, Code] = {}
    for i, atom in enumerate(atoms):
        few, many = f".text.k{i}_{FEW}", f".text.k{i}_{MANY}"
        each = (sizes[many] - sizes[few]) / BYTES / (MANY - FEW) - loads(atom)
        found[atom.mnemonic] = Code(each, frozenset(called.get(many, ())))
    return found


@pytest.fixture(scope="module", params=ARCHS)
def code(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Code]]:
    """What ptxas makes of the lattice for one target."""
    arch: str = request.param
    return arch, compiled(arch, tmp_path_factory.mktemp(arch))


def test_the_table_is_what_ptxas_does(code: tuple[str, dict[str, Code]]):
    arch, found = code
    wrong: list[str] = []
    for mnemonic, made in found.items():
        atom = parse(mnemonic)
        said = machine_code(atom.row, atom.types, target(arch).number)
        if not agrees(said, made):
            wrong.append(f"{mnemonic}: {said}, got {made}")
    assert found and not wrong


def agrees(said: MachineCode, made: Code) -> bool:
    """Whether the code that ptxas made is of the kind that the table names."""
    if said.how == "emulated":
        return bool(made.subroutines) or made.instructions > NOTHING_BUT_MMAS
    if "wait" in said.words:
        return not made.subroutines and made.instructions > 30
    if said.how == "split":
        return not made.subroutines and made.instructions >= said.parts
    return not made.subroutines and said.parts <= made.instructions <= NOTHING_BUT_MMAS


def test_every_exception_covers_an_atom():
    covered = {
        machine_code(atom.row, atom.types, each.number)
        for row in MMA_ROWS
        for atom in atoms_of(row)
        for each in TARGETS.values()
        if each.supports(row.target)
    }
    assert covered == {NATIVE, *(row.code for row in MACHINE_ROWS)}
