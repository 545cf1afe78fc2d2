"""`tilewright select`."""

import json

import pytest
from run_command import refused

from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.tools.tilewright import main


def selected(capsys, *words):
    main(["select", *words])
    return capsys.readouterr().out


def test_lines(capsys):
    assert selected(
        capsys, "16", "8", "24", "--types", "f16, f16, f32", "--arch", "sm_80", "--only", "mma"
    ).splitlines() == [
        "1. mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
        "   1x1x3 tiles of 16x8x8: 3 instructions, no padding, 7 registers a thread",
        "   native: one machine instruction",
        "   fewer multiply-adds, padding included, than 16x8x16: 3072, not 4096",
        "2. mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "   1x1x2 tiles of 16x8x16: 2 instructions, 25.0% padding, 10 registers a thread",
        "   native: one machine instruction",
        "   more multiply-adds, padding included, than 16x8x8: 4096, not 3072",
        "3. mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
        "   2x1x6 tiles of 8x8x4: 6 instructions, 50.0% padding, 12 registers a thread",
        "   emulated: a subroutine of shuffles and scalar f32 arithmetic",
        "   more emulated than 16x8x16: a subroutine of shuffles and scalar f32 arithmetic, "
        "not one machine instruction",
    ]


def test_one_instruction_is_singular(capsys):
    lines = selected(
        capsys, "8", "8", "4", "--types", "f64,f64,f64", "--arch", "sm_80", "--only", "mma"
    )
    assert lines.splitlines()[1:] == [
        "   1x1x1 tiles of 8x8x4: 1 instruction, no padding, 8 registers a thread",
        "   native: one machine instruction",
        "   the only legal atom",
    ]


def test_json(capsys):
    words = [
        "128",
        "128",
        "256",
        "--types",
        "e4m3,e4m3,f32",
        "--arch",
        "sm_90a",
        "--sparse",
        "--only",
        "mma",
    ]
    first, second = json.loads(selected(capsys, *words, "--json"))
    assert first == {
        "mnemonic": "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
        "op": "sm89.sparse_mma",
        "shape": [16, 8, 64],
        "types": ["e4m3", "e4m3", "f32", "f32"],
        "tiles": [8, 16, 4],
        "instructions": 512,
        "padding": 0.0,
        "registers": 13,
        "machine_code": "emulated",
        "runs_as": "two sparse MMAs on f16 after conversion, the metadata taken apart",
        "reason": "metadata faster on some targets than 16x8x64 sp: ordered, not plain",
    }
    assert parse(second["mnemonic"]).row.sparsity == "sp"


@pytest.mark.parametrize(
    ("words", "shapes"),
    [
        (["e2m1,e2m1,f32", "--arch", "sm_120a", "--scale", "16,ue4m3"], ["m16n8k64"]),
        (["b1,b1,s32", "--arch", "sm_75", "--bit-op", "xor"], ["m8n8k128"]),
        (["f16,f16,f32,f32", "--arch", "sm_75"], ["m16n8k8", "m8n8k4"]),
        (["f16,f16,f16,f32", "--arch", "sm_75"], ["m8n8k4"]),
        (
            ["e4m3,e4m3,f16", "--arch", "sm_89", "--any-accumulator"],
            ["m16n8k32", "m16n8k16", "m16n8k32", "m16n8k16"],
        ),
    ],
)
def test_options(words, shapes, capsys):
    found = json.loads(
        selected(capsys, "128", "128", "256", "--json", "--only", "mma", "--types", *words)
    )
    assert [choice["mnemonic"].split("aligned.")[1].split(".")[0] for choice in found] == [*shapes]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["16", "8", "16", "--types", "bf16,bf16,f32", "--arch", "sm_75"],
            "got (bf16, bf16, f32, f32) (they require sm_80 or later); "
            "nearest legal: (f16, f16, f32, f32)",
        ),
        (
            ["16", "8", "16", "--types", "f16,f16", "--arch", "sm_75"],
            "expected element types (a, b, accumulators) or (a, b, c, d), got (f16, f16)",
        ),
        (
            ["16", "0", "16", "--types", "f16,f16,f32", "--arch", "sm_75"],
            "expected a tile of one element or more, got 16x0x16; nearest legal: 16x1x16",
        ),
        (
            ["16", "8", "16", "--types", "f16,f16,f32", "--arch", "sm_76"],
            "unknown target 'sm_76'; nearest legal: ",
        ),
    ],
)
def test_wrong_input(words, said, capsys):
    error = refused(capsys, main, ["select", *words])
    assert error.startswith("error: ") and said in error


@pytest.mark.parametrize("text", ["ue8m0", "ue8m0,32", "-32,ue8m0", "x"])
def test_scale_is_a_size_and_a_type(text, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["select", "1", "1", "1", "--types", "a,b,c", "--arch", "sm_75", f"--scale={text}"])
    assert leaving.value.code == 2
    assert f"expected SIZE,TYPE such as 32,ue8m0, got '{text}'" in capsys.readouterr().err
