"""Every op of both dialects says what it needs of its target; a tile op says what its atom does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import example_files
import numpy as np
import pytest
from run_levels import at_levels
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

import tilewright as tw
from tilewright.dialects.cute.dialect import CUTE
from tilewright.dialects.cute.types.tiled import AtomAttr
from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.cute_nvgpu.lattice.targets import Requiring, lowest
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp, NvgpuOp
from tilewright.passes.check_target import CheckTargetPass, required_targets
from tilewright.pipeline import lower_tiles, run_pipeline, verified
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context, parse_module

EXAMPLES = sorted(example_files.EXAMPLES.glob("*.mlir"))

SHARED = "elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss"
SCALED = f"{SHARED.replace('f16', 'f4E2M1FN')}, kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU"
F8 = "elem_type = (f8E4M3FN, f8E4M3FN, f32)"
MX = "kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU"
ATOMS = {
    "!cute_nvgpu.universal_fma<1x1x1, elem_type = (f32, f32, f32)>": "sm_70",
    "!cute_nvgpu.sm70.mma<8x8x4, elem_type = (f16, f16, f32)>": "sm_70",
    "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>": "sm_80",
    "!cute_nvgpu.sm80.sparse_mma<16x8x16, elem_type = (f16, f16, f32)>": "sm_80",
    f"!cute_nvgpu.sm89.mma<16x8x32, {F8}>": "sm_89",
    f"!cute_nvgpu.sm89.sparse_mma<16x8x64, {F8}>": "sm_89",
    f"!cute_nvgpu.SM120.mma<16x8x32, {F8}, kind = f8f6f4>": "sm_120f",
    f"!cute_nvgpu.SM120.mma_sp<16x8x64, {F8}, kind = f8f6f4, ordered_metadata>": "sm_120f",
    f"!cute_nvgpu.SM120.mma_bs<16x8x32, {F8}, {MX}>": "sm_120f",
    f"!cute_nvgpu.SM120.mma_bs_sp<16x8x64, {F8}, {MX}, ordered_metadata>": "sm_120f",
    "!cute_nvgpu.wmma.mma<16x16x16, elem_type = (f16, f16, f32), layouts = (row, col)>": "sm_70",
    "!cute_nvgpu.wmma.load<16x16x16, operand = a, elem_type = f16, layout = row>": "sm_70",
    "!cute_nvgpu.wmma.store<16x16x16, operand = d, elem_type = f32, layout = row>": "sm_70",
    f"!cute_nvgpu.sm90.mma<64x64x16, {SHARED}>": "sm_90a",
    f"!cute_nvgpu.sm90.sparse_mma<64x64x32, {SHARED}>": "sm_90a",
    f"!cute_nvgpu.sm100.mma<128x64x16, {SHARED}>": "sm_100f or sm_110f",
    f"!cute_nvgpu.sm100.mma_sp<128x64x32, {SHARED}>": "sm_100f or sm_110f",
    f"!cute_nvgpu.sm100.mma_bs<128x64x64, {SCALED}>": "sm_100f or sm_110f",
    f"!cute_nvgpu.sm100.mma_bs_sp<128x64x128, {SCALED}>": "sm_100a, sm_103a or sm_110a",
    f"!cute_nvgpu.sm100.mma_ws<64x64x16, {SHARED}>": "sm_100f or sm_110f",
    f"!cute_nvgpu.sm100.mma_ws_sp<64x64x32, {SHARED}>": "sm_100f or sm_110f",
    "#cute_nvgpu.copy<universal, f16, 128>": "sm_70",
    "#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>": "sm_80",
    "#cute_nvgpu.copy<ldmatrix, f16, x4>": "sm_75",
    "#cute_nvgpu.copy<ldmatrix, si8, x2, trans>": "sm_100f, sm_110f or sm_120f",
    "#cute_nvgpu.copy<stmatrix, f16, x4>": "sm_90",
    "#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>": "sm_100f or sm_110f",
    '#cute_nvgpu.convert<"rn.satfinite.e2m1x2.f32">': "sm_100f, sm_110f or sm_120f",
    "#cute_nvgpu.tma<load>": "sm_90",
    "#cute_nvgpu.tma<load, multicast>": "sm_90a, sm_100f or sm_110f",
    "#cute_nvgpu.tma<store>": "sm_90",
    "#cute_nvgpu.tma<reduce, add>": "sm_90",
}


def attribute(text: str) -> Attribute:
    return Parser(default_context(), text).parse_attribute()


@pytest.mark.parametrize("op", [*CUTE.operations, *CUTE_NVGPU.operations], ids=lambda op: op.name)
def test_every_op_answers(op: type[Operation]):
    """By the row of its class, by its own, or by saying that every target runs it."""
    assert all(hasattr(op, name) for name in ("requirement", "spelled"))
    if issubclass(op, NvgpuOp) and not issubclass(op, BaselineOp):
        own_row = isinstance(op.row, property) and op.row is not NvgpuOp.row
        assert own_row or hasattr(op, "ROW")


@pytest.mark.parametrize("text", ATOMS)
def test_every_atom_answers(text: str):
    atom = attribute(text)
    assert isinstance(atom, Requiring) and atom.requirement().target.name == ATOMS[text]


def test_no_atom_is_left_out():
    named = {type(attribute(text)) for text in ATOMS}
    atoms = {each for each in CUTE_NVGPU.attributes if issubclass(each, AtomAttr)}
    assert atoms <= named


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_say_their_target_at_every_level(path: Path):
    """What `tw.interpret` picks without `arch` runs all that the example is lowered to."""
    module, source = verified(path.read_text(), path.name)
    arch = lowest(required_targets(module))
    lower_tiles(module, arch.name, source)
    assert all(map(arch.supports, required_targets(module)))
    CheckTargetPass(arch.name).apply(default_context(), module)
    run_pipeline(module, arch.name, source)
    assert lowest(required_targets(module)) == arch


@at_levels("tile", "atom", "ptx")
def test_tcgen05_runs_without_a_target(level: Any):
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-8, 9, (rows, 8)).astype(np.float16) for rows in (3, 4))
    text = (EXAMPLES[0].parent / "tile_gemm_sm100.mlir").read_text()
    args = [a, b, np.zeros((3, 4), np.float32)]
    c = tw.interpret(text, grid=(1, 1), block=(192,), args=args, level=level)[2]
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


def test_unsupported_tiles_are_refused():
    module = parse_module((EXAMPLES[0].parent / "tile_gemm_sm100.mlir").read_text())
    with pytest.raises(OpError, match=r"'cute\.\S+' requires sm_100f or sm_110f, .* sm_90a"):
        CheckTargetPass("sm_90a").apply(default_context(), module)
