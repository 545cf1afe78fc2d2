"""`tilewright check-ptx`."""

import io
import json

import pytest
from covering import THOROUGH
from run_command import refused

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.instructions.catalogue import lattice
from tilewright.tools.tilewright import main

LEGAL = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ILLEGAL = "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
GENERIC = [copy for copy in matrix_copies().values() if not copy.space]
TYPES = ["f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32", "e4m3"]


def verdicts(capsys, *words):
    main(["check-ptx", "--exit-zero", *words])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def feed(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_every_line_in_order(tmp_path, capsys):
    batch = tmp_path / "batch.txt"
    batch.write_bytes(f"{ILLEGAL}\n\n  {LEGAL}\t\r\n \n{ILLEGAL}\n{LEGAL}".encode())
    found = verdicts(capsys, "--arch", "sm_90a", "--batch", str(batch))
    assert [(each["ptx"], each["ok"]) for each in found] == [
        (ILLEGAL, False),
        (LEGAL, True),
        (ILLEGAL, False),
        (LEGAL, True),
    ]
    assert found[1]["why"] is None and "expected a shape" in found[0]["why"]
    assert found[0] == found[2]


@pytest.mark.parametrize("words", [[], ["--batch", "-"]])
def test_stdin(words, monkeypatch, capsys):
    feed(monkeypatch, b"\xef\xbb\xbf" + LEGAL.encode() + b"\nnonsense\n")
    found = verdicts(capsys, "--arch", "sm_80", "--brief", *words)
    assert found == [{"ptx": LEGAL, "ok": True}, {"ptx": "nonsense", "ok": None}]


@pytest.mark.parametrize("line, status", [(LEGAL, None), ("nonsense", None), (ILLEGAL, 1)])
@pytest.mark.parametrize("words", [[], ["--brief"]])
def test_illegal_is_status_1_unless_zero_is_asked_for(line, status, words, capsys):
    words = ["check-ptx", "--arch", "sm_90a", *words, line]
    if status is None:
        main(words)
    else:
        with pytest.raises(SystemExit) as leaving:
            main(words)
        assert leaving.value.code == status
    said = capsys.readouterr().out
    main([*words, "--exit-zero"])
    assert capsys.readouterr().out == said


def test_a_dash_among_the_words_is_stdin(monkeypatch, capsys):
    feed(monkeypatch, ILLEGAL.encode())
    found = verdicts(capsys, "--arch", "sm_80", "--brief", LEGAL, "-", "nonsense")
    assert [each["ptx"] for each in found] == [LEGAL, ILLEGAL, "nonsense"]


def test_mnemonics_on_the_command_line_come_first(monkeypatch, capsys):
    feed(monkeypatch, ILLEGAL.encode())
    words = ["--arch", "sm_80", LEGAL, "--brief", "ldmatrix"]
    assert [each["ptx"] for each in verdicts(capsys, *words)] == [LEGAL, "ldmatrix"]
    words += ["--batch", "-"]
    assert [each["ptx"] for each in verdicts(capsys, *words)] == [LEGAL, "ldmatrix", ILLEGAL]


@pytest.mark.parametrize("number, arch", list(enumerate(TARGETS)))
def test_the_lattice_is_legal_where_the_target_runs_it(number, arch, capsys):
    """Every row, by some of its mnemonics: others for each target."""
    rows = [
        (row, mnemonic)
        for row in lattice()
        for place, mnemonic in enumerate(row.mnemonics)
        if THOROUGH or (place - number) % min(len(TARGETS), len(row.mnemonics)) == 0
    ]
    found = verdicts(capsys, "--arch", arch, *(mnemonic for _, mnemonic in rows))
    for (row, mnemonic), verdict in zip(rows, found, strict=True):
        assert verdict["ptx"] == mnemonic
        assert verdict["ok"] == TARGETS[arch].supports(row.target)
        assert verdict["ok"] or f"requires {row.target.at_least}, got {arch}" in verdict["why"]


def test_verdicts_agree_with_the_atoms(capsys):
    every = [
        f"mma.sync.aligned.m{m}n8k{k}.row.col{modifier}.{d}.{a}.{a}.{d}"
        for m in (8, 16)
        for k in (4, 8, 16, 32)
        for modifier in ("", ".satfinite", ".rn", ".satfinite.rn", ".rn.satfinite")
        for a in TYPES
        for d in TYPES
    ]
    for verdict in verdicts(capsys, "--arch", "sm_80", *every):
        try:
            parse(verdict["ptx"]).check("sm_80")
        except AtomError as error:
            assert not verdict["ok"] and str(error).split(" (PTX ISA")[0] in verdict["why"]
        else:
            assert verdict["ok"] and verdict["why"] is None


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_the_nearest_is_legal_on_that_target(arch, capsys):
    wrong = [
        f"mma.sync.aligned.m{m}n8k{k}.row.col.{d}.{a}.{b}.{d}"
        for m in (8, 16, 32)
        for k in (4, 16, 128)
        for a in TYPES
        for b in TYPES
        for d in ("f32", "s32")
    ] + ["ldmatrix.sync.aligned.m8n8.x3.shared.b16", "ldmatrix.m8n8.x2.shared.b16", "mma", "mmma.x"]
    named = set()
    for verdict in verdicts(capsys, "--arch", arch, *wrong):
        if not verdict["ok"]:
            named.add(verdict["why"].rpartition(f"nearest legal mnemonic on {arch}: ")[2])
    assert all(each["ok"] for each in verdicts(capsys, "--arch", arch, *sorted(named)))


def test_the_long_name_of_shared_is_legal(capsys):
    long = ["cp.async.ca.shared::cta.global", "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16"]
    assert all(each["ok"] for each in verdicts(capsys, "--arch", "sm_80", *long))
    every = [mnemonic for row in lattice() for mnemonic in row.mnemonics if ".shared." in mnemonic]
    long = [mnemonic.replace(".shared.", ".shared::cta.") for mnemonic in every]
    assert all(each["ok"] for each in verdicts(capsys, "--arch", "sm_120a", *long))
    cluster = "ldmatrix.sync.aligned.m8n8.x4.shared::cluster.b16"
    assert not verdicts(capsys, "--arch", "sm_90", cluster)[0]["ok"]


def test_generic_addresses_are_legal(capsys):
    found = verdicts(capsys, "--arch", "sm_100f", *(copy.mnemonic for copy in GENERIC))
    assert len(found) == len(matrix_copies()) / 2 and all(each["ok"] for each in found)


@pytest.mark.covered
@pytest.mark.parametrize("copy", GENERIC, ids=str)
@pytest.mark.parametrize("space", ["", ".shared", ".shared::cta"])
@pytest.mark.parametrize("number", [8, 128])
def test_eight_matrices_and_more_are_undocumented(copy, space, number, capsys):
    """ptxas takes them wherever it takes one (test_matrix_copies_assemble.py): the ISA has none."""
    words = copy.mnemonic.replace(f".x{copy.number}", f".x{number}").split(".")
    last = words.index(copy.row.type.split(".")[0])
    mnemonic = ".".join([*words[:last], *filter(None, [space[1:]]), *words[last:]])
    [found] = verdicts(capsys, "--arch", "sm_120f", mnemonic)
    assert not found["ok"] and "undocumented" in found["why"]
    [found] = verdicts(capsys, "--arch", "sm_72", mnemonic)
    assert not found["ok"] and "undocumented" not in found["why"]


@pytest.mark.parametrize(
    ("wrong", "why", "nearest"),
    [
        ("ldmatrix.sync.aligned.m16n16.x1.shared.b8", "expected .trans after",
         "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"),
        ("ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8", "expected .x1 or .x2 after",
         "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8"),
        ("ldmatrix.sync.aligned.m8n16.x2.shared.b4x16_p64", "expected .b8x16 after",
         "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64"),
        ("ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32", "got .trans",
         "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32"),
        ("stmatrix.sync.aligned.m16n8.x4.b8", "expected .trans after",
         "stmatrix.sync.aligned.m16n8.x4.trans.b8"),
        ("movmatrix.sync.aligned.m8n8.b16", "expected .trans after",
         "movmatrix.sync.aligned.m8n8.trans.b16"),
    ],
)  # fmt: skip
def test_wrong_matrix_copies(wrong, why, nearest, capsys):
    [found] = verdicts(capsys, "--arch", "sm_120a", wrong)
    assert not found["ok"] and "undocumented" not in found["why"]
    assert why in found["why"] and found["why"].endswith(f"on sm_120a: {nearest}")


def test_a_target_without_any(capsys):
    [found] = verdicts(capsys, "--arch", "sm_70", LEGAL)
    assert not found["ok"] and "requires sm_80 or later, got sm_70" in found["why"]


@pytest.mark.parametrize("line", ["\x00", '"quoted"', "µ.sync", "mma.sync\u2028aligned", "." * 99])
def test_odd_lines_stay_one_line_of_json(line, capsys):
    [found] = verdicts(capsys, "--arch", "sm_80", line)
    assert found["ptx"] == line and not found["ok"] and found["why"]


def wrong_input(capsys, *words):
    return refused(capsys, main, ["check-ptx", *words])


def test_wrong_input(tmp_path, monkeypatch, capsys):
    assert "nearest legal: sm_90" in wrong_input(capsys, "--arch", "sm_91", LEGAL)
    missing = tmp_path / "missing"
    said = wrong_input(capsys, "--arch", "sm_80", "--batch", str(missing))
    assert said == f"error: cannot read '{missing}': No such file or directory\n"
    said = wrong_input(capsys, "--arch", "sm_80", "--batch", str(tmp_path))
    assert said == f"error: cannot read '{tmp_path}': Is a directory\n"
    feed(monkeypatch, LEGAL.encode() + b"\n\xff\n")
    said = wrong_input(capsys, "--arch", "sm_80")
    assert "'<stdin>' is not UTF-8 text" in said


@pytest.mark.parametrize(
    ("line", "ok"),
    [
        ("call (r), f, (a, b)", True),
        ("call.uni f, (a), prototype", True),
        ("brx.idx %r1, table", True),
        ("set.eq.u32.bf16 %r1, %h1, %h2", False),
        ("set.eq.u32.f32 %r1, %f1", False),
        ("mapa.u64 %rd1, %rd2, %r1", False),
        ("setp.eq.f16x2 %p|%q, %r1, %r2", True),
        ("lop3.and.b32 %r1, %r2, %r3, %r4, 0x1b, %p", False),
        ("ld.shared.nc.u32 %r1, [%r2]", False),
        ("ld.global.nc.L2::256B.v2.u32 {%r1, %r2}, [%rd1]", True),
        ("ld.global.L2::cache_hint.f32 %f1, [%rd1]", False),
        ("st.global.u8 bytes[%r1+4], %h1", True),
    ],
)
def test_what_is_read_as_others_is_judged(line, ok, capsys):
    [verdict] = verdicts(capsys, "--arch", "sm_80", line)
    assert verdict["ok"] is ok


def test_what_is_several_instructions_needs_what_they_need(capsys):
    main(["explain", "set.eq.and.u32.bf16"])
    assert "setp.eq.and.bf16 s, a, b, c; selp.b32 d, -1, 0, s" in capsys.readouterr().out
    for mnemonic, needed in (("mapa.u64", "7.8"), ("set.eq.u32.f16", "6.5"), ("exit", "6.0")):
        main(["explain", mnemonic])
        assert f"{needed} or later" in capsys.readouterr().out
