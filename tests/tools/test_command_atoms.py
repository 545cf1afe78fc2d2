"""`tilewright atoms`."""

import json
import re

import pytest
from run_command import refused

from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.lattice import (
    MATRIX_COPY_ROWS,
    MMA_ROWS,
    WGMMA_ROWS,
    WMMA_ACCESS,
    WMMA_MMA,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.instructions import plain, tmem, umma
from tilewright.tools.tilewright import main

# movmatrix is one row, those of tcgen05 one for each shape or spelling.
ROWS = len((*MMA_ROWS, *WMMA_MMA, *WMMA_ACCESS, *WGMMA_ROWS, *MATRIX_COPY_ROWS)) + 1
ROWS += len((*tmem.listings(), *umma.listings(), *plain.listings()))


def listed(capsys, *words):
    main(["atoms", *words])
    return capsys.readouterr().out


def test_one_line_a_row(capsys):
    lines = listed(capsys).splitlines()
    assert len(lines) == 1 + ROWS
    assert re.split("  +", lines[0]) == [
        "op", "shape", "a,b -> c,d", "qualifiers", "modifiers", "target", "PTX", "section",
    ]  # fmt: skip
    f16 = next(line for line in lines if "16x8x16" in line)
    assert [cell.strip() for cell in f16.split("  ") if cell][:3] == [
        "sm80.mma",
        "16x8x16",
        "f16,f16 -> f16,f16 | f32,f32",
    ]
    assert f16.split()[-5:] == ["-", "-", "sm_80", "7.0", "9.7.14.5.8"]
    scaled = next(line for line in lines if "4X" in line and "ordered" in line)
    assert re.split("  +", scaled)[2:6] == [
        "e2m1,e2m1 -> f32,f32",
        "sp::ordered_metadata,kind::mxf4nvf4,scale_vec::4X,ue4m3",
        "-",
        "sm_120a or sm_121a",
    ]
    assert {"ldmatrix", "stmatrix", "movmatrix", "cp.async"} < {line.split()[0] for line in lines}


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_is_not_exceeded(width, capsys, monkeypatch):
    wide = listed(capsys)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    lines = listed(capsys).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) > ROWS
    letters = sorted(re.sub(r"\s", "", wide))
    assert sorted(re.sub(r"\s", "", "".join(lines))) == letters


@pytest.mark.parametrize(
    "types, least", [("bf16,bf16,f32", 5), ("s8,u8", 2), ("f16,f16,f16,f32", 2)]
)
def test_rows_of_types(types, least, capsys):
    rows = json.loads(listed(capsys, "--types", types, "--json"))
    assert len(rows) >= least
    wanted = dict(zip("ABCD", [*types.split(","), *types.split(",")[2:]], strict=False))
    for row in rows:
        assert any(
            all(own.get(name, word) == word for name, word in wanted.items())
            for own in row["types"]
        )


def test_types_of_no_row_are_named(capsys):
    with pytest.raises(SystemExit):
        main(["atoms", "--types", "f17,f16"])
    said = capsys.readouterr().err
    assert "expected --types that an MMA has, got 'f17,f16'" in said and "bf16" in said


def test_a_row_of_wgmma_is_one_line(capsys):
    lines = listed(capsys, "--op", "sm90").splitlines()[1:]
    assert len(lines) == len(WGMMA_ROWS)
    cells = [re.split("  +", line)[:4] for line in lines]
    assert cells[0] == ["sm90.mma", "64xNx16, N 8..256 step 8", "f16,f16 -> f16 | f32", "-"]
    integers = ["64xNx32, N 8..32 step 8, 48..256 step 16", "s8,s8 | u8,u8 -> s32", "-"]
    assert ["sm90.mma", *integers] in cells
    assert {line[0] for line in cells} == {"sm90.mma", "sm90.sparse_mma"}


def test_json_lists_every_n(capsys):
    for row in json.loads(listed(capsys, "--json", "--op", "sm90")):
        m, ns, k = row["shape"]
        times = len(row["types"]) * (1 + len(row["modifiers"]))
        assert len(row["mnemonics"]) == len(set(row["mnemonics"])) == times * len(ns)
        found = [re.search(r"\.m(\d+)n(\d+)k(\d+)\.", each) for each in row["mnemonics"]]
        assert {tuple(map(int, match.groups())) for match in found} == {(m, n, k) for n in ns}


def test_json_spells_every_atom(capsys):
    rows = json.loads(listed(capsys, "--json"))
    assert len(rows) == ROWS
    for row in rows:
        assert row["mnemonics"] and row["targets"] and set(row["targets"]) <= set(TARGETS)
        if row["op"] != "sm80.mma":
            continue
        atoms = [parse(mnemonic) for mnemonic in row["mnemonics"]]
        assert {dict(zip("ABCD", atom.types, strict=True))["A"] for atom in atoms} == {
            types["A"] for types in row["types"]
        }
        assert all(list(atom.shape) == row["shape"] for atom in atoms)
        assert len(set(row["mnemonics"])) == len(row["types"]) * (1 + len(row["modifiers"]))


def test_modifiers_are_spelled_too(capsys):
    rows = json.loads(listed(capsys, "--json"))
    every = {mnemonic for row in rows for mnemonic in row["mnemonics"]}
    assert "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32" in every
    assert "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64" in every
    assert "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" in every


def test_a_row_with_several_minimum_targets(capsys):
    rows = json.loads(listed(capsys, "--json"))
    [row] = [row for row in rows if row["op"] == "stmatrix" and row["shape"] == [16, 8]]
    assert row["requires"] == ["sm_100f", "sm_110f", "sm_120f"]
    assert row["targets"] == [
        f"sm_{number}{suffix}" for number in (100, 103, 110, 120, 121) for suffix in "af"
    ]
    kept = json.loads(listed(capsys, "--json", "--arch", "sm_121a"))
    assert row in kept and row not in json.loads(listed(capsys, "--json", "--arch", "sm_90a"))
    assert "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8" in row["mnemonics"]
    assert "stmatrix.sync.aligned.m16n8.x4.trans.b8" in row["mnemonics"]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_arch_keeps_what_it_runs(arch, capsys):
    every = json.loads(listed(capsys, "--json"))
    kept = json.loads(listed(capsys, "--json", "--arch", arch))
    assert kept == [row for row in every if arch in row["targets"]]
    assert kept and len(kept) < len(every)
    assert len(listed(capsys, "--arch", arch).splitlines()) == 1 + len(kept)


def test_unknown_arch(capsys):
    error = refused(capsys, main, ["atoms", "--arch", "sm_91"])
    assert error.startswith("error: unknown target 'sm_91'; nearest legal: sm_90;")


@pytest.mark.parametrize(
    ("op", "kept"),
    [
        ("sm80.mma", {"sm80.mma"}),
        ("sm80", {"sm80.mma", "sm80.sparse_mma"}),
        ("elect", {"elect.sync"}),
        ("tma.wait_group", {"tma.wait_group"}),
    ],
)
def test_op_keeps_its_rows(op, kept, capsys):
    every = json.loads(listed(capsys, "--json"))
    found = json.loads(listed(capsys, "--json", "--op", op))
    assert found == [row for row in every if row["op"] in kept]
    assert {row["op"] for row in found} == kept


@pytest.mark.parametrize("op", ["sm8", "sm80.mm", "", "mma"])
def test_unknown_op(op, capsys):
    error = refused(capsys, main, ["atoms", "--op", op])
    assert error.startswith(f"error: expected an op of the lattice, got '{op}'; legal: sm70")


def test_qualifiers_are_words_of_every_mnemonic_and_modifiers_of_some(capsys):
    for row in json.loads(listed(capsys, "--json")):
        words = [f".{mnemonic}.".replace("block_scale.", "") for mnemonic in row["mnemonics"]]
        for qualifier in row["qualifiers"]:
            assert all(f".{qualifier}." in each for each in words)
        for modifier in row["modifiers"]:
            found = [f".{modifier}." in each for each in words]
            assert any(found) and not all(found)
