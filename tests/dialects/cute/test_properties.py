"""What custom syntax reads in words the verifier refuses in the generic one, in the same words."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.printer import Printer

import tilewright as tw
from tilewright.source.parsing import parse_module

GEMM = Path(__file__).parents[3] / "examples/tile_gemm_sm90.mlir"

WRONG = [
    ('operand_id = "A"', 'operand_id = "bf16"',
     "'cute.tiled.mma.partition' expected one of A, B, C, E, SFA, SFB, got bf16"),
    ("atom = #cute_nvgpu.tma<load>", "atom = unit",
     "'cute.make_tma_copy' expected a TMA atom, got unit"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG)
def test_properties_in_generic_syntax(right: str, wrong: str, message: str):
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(parse_module(GEMM.read_text()))
    assert right in out.getvalue()
    with pytest.raises(tw.CompileError) as refused:
        tw.compile(out.getvalue().replace(right, wrong, 1), "sm_90a")
    assert refused.value.message == message
