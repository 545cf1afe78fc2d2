"""wmma on the command line: explain, check-ptx and layout."""

from __future__ import annotations

import json
import re

import pytest
from run_command import shown

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import atoms_of
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, accesses
from tilewright.dialects.cute_nvgpu.lattice import WMMA_MMA
from tilewright.dialects.cute_nvgpu.ops.wmma import WmmaAccessOp
from tilewright.source.parsing import parse_module
from tilewright.tools.instructions.mma_explained import ir_spelling

F16 = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.f16"
PLAIN = [access for access, space in accesses().values() if space is None]


def verdicts(capsys: pytest.CaptureFixture[str], *lines: str) -> list[dict[str, object]]:
    out = shown(capsys, "check-ptx", "--exit-zero", "--arch", "sm_90", *lines)
    return [json.loads(line) for line in out.splitlines()]


def test_a_load(capsys: pytest.CaptureFixture[str]):
    lines = shown(capsys, "explain", LOAD).splitlines()
    parameters = "16x16x16, operand = a, elem_type = f16, layout = row"
    assert lines[:4] == [
        LOAD,
        "  computes  load A, 16 x 16 of f16, from memory",
        "  operands  {r0,r1,r2,r3,r4,r5,r6,r7}, [p], stride",
        f"  op        cute_nvgpu.wmma.load ... <{parameters}>",
    ]
    assert "  memory    16 rows on 16 bytes each, 16 elements apart, or the stride" in lines
    assert "  modifiers .row, .col, .global, .shared" in lines


@pytest.mark.parametrize("access", PLAIN, ids=str)
def test_layouts_of_loads_and_stores(access: WmmaAccess, capsys: pytest.CaptureFixture[str]):
    """As printed, in the coordinates that are printed with them."""
    out = shown(capsys, "explain", access.mnemonic())
    row = access.row
    match = re.search(rf"  {row.operand}  .*?(\(\(4,8\)\S+) -> (\w) \+ (\d+)\*(\w)", out)
    assert match is not None
    down, rows, across = match[2], int(match[3]), match[4]
    assert (down, across) == {"A": ("m", "k"), "B": ("n", "k")}.get(row.operand, ("m", "n"))
    assert rows == dict(zip("mnk", row.shape, strict=True))[down]
    assert Layout.parse(match[1]) == row.layout


@pytest.mark.parametrize("access", PLAIN, ids=str)
def test_parameters_are_spelled_as_ir_parses_them(access: WmmaAccess):
    spelled = f"!cute_nvgpu.{access.op}<{access.parameters}>"
    [op] = parse_module(f'"test.op"() {{atom = {spelled}}} : () -> ()').body.block.ops
    assert op.attributes["atom"].data == access  # type: ignore[attr-defined]


def test_the_op_of_a_load_is_spelled_as_ir_parses_it():
    memory, held = "memref<64x64xf16>", "!cute_nvgpu.fragment<16xf16>"
    line = "cute_nvgpu.wmma.load %m[%i, %i] <16x16x16, operand = a, elem_type = f16, layout = row>"
    module = parse_module(
        f"func.func @f(%m: {memory}, %i: index) {{\n%f = {line} : {memory} -> {held}\n"
        "func.return }"
    )
    module.verify()
    [op] = [each for each in module.walk() if isinstance(each, WmmaAccessOp)]
    assert op.access.mnemonic() == LOAD


def test_atoms_are_spelled_as_ir_parses_them():
    for atom in (atom for row in WMMA_MMA for atom in atoms_of(row)):
        spelled = f"!{ir_spelling(atom)}"
        [op] = parse_module(f'"test.op"() {{atom = {spelled}}} : () -> ()').body.block.ops
        assert op.attributes["atom"].data == atom  # type: ignore[attr-defined]


def test_check_ptx(capsys: pytest.CaptureFixture[str]):
    eight, four = "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}", "{%r0,%r1,%r2,%r3}"
    legal = [
        F16,
        "wmma.mma.sync.aligned.m16n16k16.row.col.f32.f32",
        LOAD.replace(".f16", ".shared::cta.f16"),
        f"{LOAD} {eight}, [%rd1];",
        f"{LOAD} {eight}, [%rd1+32], %r9;",
        f"wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {four}, 16;",
    ]
    assert all(each["ok"] for each in verdicts(capsys, *legal))
    illegal = {
        f"{LOAD} {four}, [%rd1];": "expected a vector of 8 .b32 registers as r",
        f"{LOAD} {eight}, %rd1;": "expected an address as p",
        f"{LOAD} {eight}, [%rd1], 16, 16;": "expected 2 to 3 operands",
        LOAD.replace("row", "diagonal"): "expected wmma.load.{a,b,c}.sync.aligned.LAYOUT",
        LOAD.replace("m16n16k16", "m16n16k8"): "a shape that a of f16 has, got 16x16x8",
        F16.replace("f32.f32", "f32.f16.f16.f32"): "expected no .ATYPE.BTYPE for f16",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64.f64.f64": "undocumented: ptxas takes it",
        "wmma.load.c.sync.aligned.row.m8n8k32.f32": "undocumented: ptxas takes it",
    }
    for found, said in zip(verdicts(capsys, *illegal), illegal.values(), strict=True):
        assert not found["ok"] and said in str(found["why"])


def test_layout_shows_the_first_copy(capsys: pytest.CaptureFixture[str]):
    """Each element of an f16 A is held twice: V0 to V7 are the first copy."""
    out = shown(capsys, "layout", F16, "A")
    assert len(re.findall(r"T\d+V[0-7]\b", out)) == 256
    assert "T0V0" in out and not re.search(r"V[89]|V1\d", out)
