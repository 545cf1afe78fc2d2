"""Reductions by TMA into global memory, at every level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tile_levels import BARRIER, kernel, memref, run

import tilewright as tw

CASES: dict[str, tuple[str, Any, Any]] = {
    "add f32": ("f32", np.float32, np.add),
    "add bf16": ("bf16", ml_dtypes.bfloat16, np.add),
    "max f16": ("f16", np.float16, np.maximum),
    "add i32": ("i32", np.int32, np.add),
    "xor i32": ("i32", np.int32, np.bitwise_xor),
    "min bf16": ("bf16", ml_dtypes.bfloat16, np.minimum),
}


def text_of(reduction: str, element: str) -> str:
    shape = "(8,16):(16,1)"
    gmem = memref(element, "gmem", "(?,16):(16,1)", 16)
    return kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %in, %mx = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[8;16]", smem = "{shape}"> (%x)
  %out, %my = cute.make_tma_copy<#cute_nvgpu.tma<reduce, {reduction}>, tile = "[8;16]", \
smem = "{shape}"> (%y)
  %tiler = cute.static : !cute.shape<"(8,16)">
  %c = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%mx, %tiler, %c)
  %gy = cute.local_tile(%my, %tiler, %c)
  %s = cute.memref.alloc() : {memref(element, "smem", shape, 128)}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, \
bytes = {128 * (4 if "32" in element else 2)}>
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    cute.pipeline.producer_acquire(%pipe, %c0)
    cute.copy(%in, %gx, %s) pipeline %pipe[%c0]
    cute.pipeline.consumer_wait(%pipe, %c0)
    cute.copy(%out, %s, %gy)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}
  {BARRIER}""",
    )


@pytest.mark.parametrize("case", CASES)
def test_reductions(case: str) -> None:
    """Rows beyond the tensor take no part."""
    element, dtype, combine = CASES[case]
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-50, 50, (13, 16)).astype(dtype) for _ in range(2))
    found = run(text_of(case.split()[0], element), x, y, grid=(2,))[1]
    np.testing.assert_array_equal(found.astype(np.float64), combine(y, x).astype(np.float64))


@pytest.mark.parametrize("case", CASES)
def test_the_text_assembles(case: str, ptxas: Any) -> None:
    element, _, _ = CASES[case]
    compiled = tw.compile(text_of(case.split()[0], element), "sm_90a")
    report = ptxas(compiled.ptx, "sm_90a")
    assert report.clean, report.output
    assert f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{case.split()[0]}" in compiled.ptx
