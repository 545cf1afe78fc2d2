"""Every tcgen05.mma mnemonic that our ops become assembles at its row's targets and version, and
not below. What the rows leave out is asked of ptxas in tests/conformance."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from ptx_kernels import (
    NEWEST,
    Kernel,
    Ptxas,
    complaints,
    directives,
    instructions,
    refuse_older,
    text_of,
    together,
    with_target,
    with_version,
)

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import UmmaMnemonic, mnemonics_of
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS, UmmaRow
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, alternatives, lowest, target
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp

WITH_TENSOR_MEMORY = ("sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f")


def kernel_of(
    label: str, row: UmmaRow, said: UmmaMnemonic, kind: UmmaFragmentKind, turn: int
) -> Kernel:
    """One MMA; `turn` goes round what else it may have."""
    kernel = Kernel(label)
    tile = [each for each in row.tiles if each.cta_group == said.cta_group][-1]
    atom = UmmaAtom(row, tile.m, tile.tmem_ns[0], row.element_types()[0], said.cta_group)
    selector = row.selectors[turn % len(row.selectors)] if row.sparse else 0
    ids = row.scale_ids or (0,)
    idesc = atom.descriptor(selector=selector, sfa_id=ids[turn % len(ids)], sfb_id=ids[0]).encode()
    plain = row.scale is None and not row.ws
    scales = row.scales_input and turn % 3 == 1
    kernel.add(
        Tcgen05MmaOp(
            said.text,
            kernel.input("b32"),
            kernel.input("b64" if kind == "ss" else "b32"),
            kernel.input("b64"),
            kernel.constant(idesc, "b32") if turn % 2 else kernel.input("b32"),
            metadata=kernel.input("b32") if row.sparse else None,
            lanes=kernel.input("b32", 4 * said.cta_group) if plain and turn % 4 == 3 else None,
            scales=None if row.scale is None else (kernel.input("b32"), kernel.input("b32")),
            enable_input_d=kernel.input("pred") if turn % 3 else None,
            zero=turn % 6 == 0,
            scale_input_d=15 if scales else 0,
            zero_column_mask=kernel.input("b64") if row.ws and turn % 2 else None,
        )
    )
    return kernel


def texts(row: UmmaRow, group: int) -> list[UmmaMnemonic]:
    """The mnemonics that our ops become, with each of their modifiers."""
    found = mnemonics_of(row.op, row.kind)
    return [
        each
        for each in found
        if each.cta_group == group and each.spelling == row.spellings[0]
    ]  # fmt: skip


def text_of_forms(label: str, row: UmmaRow, group: int) -> str:
    """A kernel for every form of a row."""
    pairs = [
        (said, kind)
        for said, kind in product(texts(row, group), ("ss", "ts"))
        if kind == "ts" or not said.ashift
    ]
    kernels = [
        kernel_of(f"{label}_{turn}", row, said, kind, turn)  # type: ignore[arg-type]
        for turn, (said, kind) in enumerate(pairs)
    ]
    text = text_of(*kernels)
    mnemonics = {line.split()[0] for line in instructions(text, "tcgen05.mma")}
    assert mnemonics == {said.text for said, _ in pairs}
    chip, version = directives(text)
    assert version == max(row.ptx_version, target(chip).ptx_version)
    return text


# K = 96 is for pairs: a descriptor of one CTA is no atom.
GROUPS = [
    (row, group)
    for row in UMMA_ROWS
    for group in ((1,) if row.ws else (1, 2))
    if group in {tile.cta_group for tile in row.tiles} or row.k != 96
]


@pytest.mark.parametrize("op", sorted({row.op for row in UMMA_ROWS}))
def test_every_form_assembles(op: str, ptxas: Ptxas):
    of_chips: dict[str, list[str]] = {}
    for place, (row, group) in enumerate(GROUPS):
        if row.op == op:
            text = text_of_forms(f"kernel{place}", row, group)
            of_chips.setdefault(directives(text)[0], []).append(text)
    for chip, every in of_chips.items():
        text = together(every)
        report = ptxas(text, chip)
        assert report.ok and complaints(text, report) == {}


FIRST = {row: next(iter(texts(row, row.tiles[0].cta_group))) for row in UMMA_ROWS}


def text_of_rows(rows: Iterable[UmmaRow]) -> tuple[str, list[str]]:
    """A kernel for each row, and the line of the MMA in each."""
    kernels = [kernel_of(f"k{i}", row, FIRST[row], "ss", 0) for i, row in enumerate(rows)]
    text = with_version(text_of(*kernels), NEWEST)
    lines = [line.strip() for line in text.splitlines()]
    return text, [line for line in lines if line.startswith("tcgen05.mma")]


@pytest.mark.parametrize(
    "chip", (*WITH_TENSOR_MEMORY, "sm_90a", "sm_100", "sm_103", "sm_120a", "sm_121a")
)
def test_where(chip: str, ptxas: Ptxas):
    """Every target that a row names takes it, and no other."""
    legal, illegal = (
        [row for row in UMMA_ROWS if target(chip).supports(FIRST[row].spelling.target) is ok]
        for ok in (True, False)
    )
    if legal:
        text = with_target(text_of_rows(legal)[0], chip)
        report = ptxas(text, chip)
        assert report.ok, report.output
    if illegal:
        text, lines = text_of_rows(illegal)
        text = with_target(text, chip)
        said = complaints(text, ptxas(text, chip))
        assert len(lines) == len(illegal) and [line for line in lines if line not in said] == []


SINCE = {
    row: (lowest([said.spelling.target]).name, said.spelling.ptx_version)
    for row, said in FIRST.items()
}


@pytest.mark.parametrize("chip, version", sorted(set(SINCE.values())))
def test_since_when(chip: str, version: tuple[int, int], ptxas: Ptxas):
    """No older version takes any."""
    text, lines = text_of_rows(row for row in UMMA_ROWS if SINCE[row] == (chip, version))
    refuse_older(with_target(with_version(text, version), chip), set(lines), ptxas)


def test_alternatives_are_targets():
    for row in UMMA_ROWS:
        assert all(TARGETS[each.name] is each for each in alternatives(row.target))


def test_scaling_d_is_of_fewer_chips(ptxas: Ptxas):
    row = UMMA_ROWS[0]
    kernel = kernel_of("kernel", row, texts(row, 1)[0], "ss", 1)
    text = text_of(kernel)
    assert "15;" in text
    for chip in WITH_TENSOR_MEMORY:
        asked = with_target(with_version(text, NEWEST), chip)
        assert ptxas(asked, chip).ok == target(chip).supports(target("sm_100f"))


def test_k_of_96_is_of_one_chip():
    row = next(each for each in UMMA_ROWS if each.k == 96)
    text = text_of(kernel_of("kernel", row, texts(row, 2)[0], "ss", 1))
    assert directives(text) == ("sm_103a", (8, 8))
