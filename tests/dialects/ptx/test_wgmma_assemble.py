"""Every wgmma, and what orders it assemble at their rows' targets and versions, and
not below. What the rows leave out is asked of ptxas in tests/conformance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from ptx_kernels import (
    NEWEST,
    Kernel,
    Ptxas,
    complaints,
    directives,
    instructions,
    older_version,
    refuse_older,
    text_of,
    together,
    with_target,
    with_version,
)

from tilewright.dialects.cute_nvgpu.atoms.wgmma import FragmentKind, WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import wgmmas_of
from tilewright.dialects.cute_nvgpu.lattice import WGMMA_ROWS, InstructionRow, WgmmaRow
from tilewright.dialects.cute_nvgpu.lattice.sync import ORDERING
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.wgmma import (
    FenceProxyAsyncOp,
    WgmmaCommitGroupOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaWaitGroupOp,
)

TARGET = "sm_90a"
KINDS: tuple[FragmentKind, ...] = ("ss", "rs")
ORDERING_OPS: dict[str, Callable[[], PtxOp]] = {
    "wgmma.fence": WgmmaFenceOp,
    "wgmma.commit_group": WgmmaCommitGroupOp,
    "wgmma.wait_group": lambda: WgmmaWaitGroupOp(3),
    "fence.proxy.async": FenceProxyAsyncOp,
}


def kernel_of(name: str, atom: WgmmaAtom, *, turn: int) -> Kernel:
    """A wgmma between its fence and its wait; `turn` goes round negations, majors and selectors."""
    kernel = Kernel(name)
    a = kernel.input("b64" if atom.frag_kind == "ss" else "b32", 1)
    if atom.frag_kind == "rs":
        a = kernel.input(*atom.registers("A"))
    b, c = kernel.input("b64"), kernel.input(*atom.registers("D"))
    if atom.row.transposes:
        majors = ("mn" if turn & 1 and atom.frag_kind == "ss" else "k", "mn" if turn & 2 else "k")
        atom = replace(atom, majors=majors)
    sparse = atom.row.sparse
    metadata = kernel.input("b32") if sparse else None
    negated = (bool(turn & 4), bool(turn & 8)) if atom.row.negates else (False, False)
    kernel.add(WgmmaFenceOp())
    d = kernel.add(
        WgmmaOp(
            a, b, c, atom,
            negated=negated,
            scale_d=kernel.input("pred") if turn % 3 == 0 else None,
            zero=turn % 3 == 1,
            metadata=metadata,
            selector=turn % len(atom.selectors[0].legal) if sparse else None,
        )
    )  # fmt: skip
    kernel.add(WgmmaCommitGroupOp())
    kernel.add(WgmmaWaitGroupOp(0))
    kernel.output(d)
    return kernel


def text_of_row(
    row: WgmmaRow, kind: FragmentKind, atoms: list[WgmmaAtom], label: str = "kernel"
) -> str:
    """A kernel for each of a row's atoms, with A where `kind` says."""
    return text_of(
        *(
            kernel_of(f"{label}{i}", replace(atom, frag_kind=kind), turn=i)
            for i, atom in enumerate(atoms)
        )
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", WGMMA_ROWS, ids=lambda row: f"{row.op} {row.multiplicands[0]}")
def test_every_wgmma_assembles_at_its_version(row: WgmmaRow, kind: FragmentKind, ptxas: Ptxas):
    """Each row of every eighth N, the next from another one; of its element types one each time."""
    atoms = list(wgmmas_of(row))
    first = 2 * WGMMA_ROWS.index(row) + KINDS.index(kind)
    chosen = [
        [atom for atom in atoms if atom.n == n][i % (len(atoms) // len(row.ns))]
        for i, n in list(enumerate(row.ns))[first % 8 :: 8]
    ]
    text = text_of_row(row, kind, chosen)
    found = {line.split()[0] for line in instructions(text, "wgmma.mma_async")}
    assert found == {atom.mnemonic for atom in chosen}
    assert directives(text) == (TARGET, row.ptx_version)
    report = ptxas(text, TARGET, options=["-O0"])
    assert report.ok and complaints(text, report) == {}


def test_not_below(ptxas: Ptxas):
    """Every mnemonic of a row at its smallest N: neither an older version nor a later chip."""
    since: dict[tuple[int, int], list[str]] = {}
    for place, row in enumerate(WGMMA_ROWS):
        atoms = [atom for atom in wgmmas_of(row) if atom.n == row.ns[0]]
        text = text_of_row(row, "ss", atoms, f"kernel{place}_")
        mnemonics = {line.split()[0] for line in instructions(text, "wgmma.mma_async")}
        assert mnemonics == {atom.mnemonic for atom in atoms}
        since.setdefault(row.ptx_version, []).append(text)
    every = together([text for texts in since.values() for text in texts])
    for target in ("sm_90", "sm_100a", "sm_120a"):
        lowered = with_target(with_version(every, NEWEST), target)
        lines = instructions(every, "wgmma.mma_async")
        assert lines <= set(complaints(lowered, ptxas(lowered, target)))
    for text in map(together, since.values()):
        refuse_older(text, instructions(text, "wgmma.mma_async"), ptxas)


@pytest.mark.parametrize("row", ORDERING, ids=lambda row: row.op)
def test_what_orders_needs_what_its_row_says(row: InstructionRow, ptxas: Ptxas):
    kernel = Kernel()
    kernel.add(ORDERING_OPS[row.op]())
    text, name = text_of(kernel), row.target.name
    [line] = instructions(text, row.op)
    assert line.rstrip(";").split()[0] == row.mnemonics[0]
    assert directives(text) == (name, row.ptx_version)
    assert ptxas(text, name).ok
    older = "sm_90" if name == "sm_90a" else "sm_89"
    lowered = with_target(text, older)
    assert line in complaints(lowered, ptxas(lowered, older))
    lowered = with_version(text, older_version(row.ptx_version))
    assert not ptxas(lowered, name).ok


@pytest.mark.parametrize("row", ORDERING, ids=lambda row: row.op)
def test_every_form_assembles(row: InstructionRow, ptxas: Ptxas):
    kernel = Kernel()
    kernel.add(ORDERING_OPS[row.op]())
    plain = text_of(kernel)
    for mnemonic in row.mnemonics:
        text = plain.replace(f"{row.mnemonics[0]};", f"{mnemonic};")
        assert ptxas(text, row.target.name).ok
    assert set(ORDERING_OPS) == {each.op for each in ORDERING}
