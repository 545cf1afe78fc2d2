"""Races on global memory: two accesses that nothing orders, with `races="error"`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import LEVELS, fault, kernel, run
from test_examples import gemm_sm90_arguments
from test_mbarriers import args, made
from test_schedules import EXAMPLES
from test_thread_clocks import STORED

import tilewright as tw

BARRIER = '"gpu.barrier"() : () -> ()'
P = "memref<?xi32>"
CTA = '  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'


def racy(body: str, op: str, *words: str, **launch: Any) -> None:
    fault(body, op, "race on global memory", *words, races="error", **launch)
    for level in LEVELS:
        run(kernel(body), level, [np.zeros(64, np.int32)], **launch)


def fine(body: str, **launch: Any) -> None:
    for level in LEVELS:
        run(kernel(body), level, [np.zeros(64, np.int32)], races="error", **launch)


EXCHANGE = f"""  %n = arith.index_cast %t : index to i32
  memref.store %n, %p[%t] : {P} // OTHER
  SYNC
  %v = memref.load %p[%other] : {P} // HERE"""


def test_an_exchange_without_a_barrier() -> None:
    racy(EXCHANGE.replace("SYNC", "").replace("// OTHER", ""), "memref.load",
         "this read and the write by", "in thread 63 ")  # fmt: skip
    fine(EXCHANGE.replace("SYNC", BARRIER))


def test_a_barrier_of_the_warp() -> None:
    body = EXCHANGE.replace("%other", "%next")
    racy(body.replace("SYNC", ""), "memref.load", "this read and the write by")
    fine(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"))


def test_threads_that_write_one_element() -> None:
    body = f"""  %n = arith.index_cast %t : index to i32
  memref.store %n, %p[%c0] : {P} // HERE"""
    racy(body, "memref.store", "two threads of the op write one element")
    fine(f"  memref.store %one, %p[%c0] : {P}")


def test_warps_that_write_one_element() -> None:
    body = f"""  %place = arith.remui %t, %c32 : index
  %n = arith.index_cast %t : index to i32
  scf.if %low {{
    memref.store %n, %p[%place] : {P} // OTHER
  }}
  SYNC
  %high = arith.cmpi uge, %t, %c32 : index
  scf.if %high {{
    memref.store %n, %p[%place] : {P} // HERE
  }}"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the write by")
    fine(body.replace("SYNC", BARRIER))


def test_a_write_over_what_another_thread_reads() -> None:
    body = f"""  %v = memref.load %p[%other] : {P} // OTHER
  SYNC
  memref.store %v, %p[%t] : {P} // HERE"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the read by")
    fine(body.replace("SYNC", BARRIER))


def test_accesses_of_several_widths() -> None:
    """Vectors first, then single elements of them."""
    vector = "!cute_nvgpu.fragment<4xi32>"
    body = f"""  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %few = arith.cmpi ule, %t, %c15 : index
  %n = arith.index_cast %t : index to i32
  scf.if %few {{
    %place = arith.muli %t, %c4 : index
    %v = cute_nvgpu.fragment.splat %n : i32 -> {vector}
    cute_nvgpu.fragment.store %v, %p[%place] : {vector}, {P} // OTHER
  }}
  SYNC
  memref.store %one, %p[%t] : {P} // HERE"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the write by")
    fine(body.replace("SYNC", BARRIER))


def test_a_cta_that_reads_what_another_one_writes() -> None:
    body = f"""{CTA}  %c64 = arith.constant 64 : index
  %second = arith.cmpi eq, %block, %c1 : index
  %n = arith.index_cast %t : index to i32
  scf.if %second {{
    %v = memref.load %p[%c0] : {P}
    memref.store %n, %p[%c63] : {P}
  }} else {{
    memref.store %n, %p[%t] : {P}
  }}"""
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError, match=r"on global memory: .* another CTA|two thr"):
            run(kernel(body), level, [np.zeros(64, np.int32)], grid=(2,), races="error")
        with pytest.warns(UserWarning, match="race on global memory"):
            run(kernel(body), level, [np.zeros(64, np.int32)], grid=(2,), races="warn")


@pytest.mark.parametrize("level", LEVELS)
def test_a_gemm_has_none(level: Any) -> None:
    arguments, expected = gemm_sm90_arguments(128, 512, 64)
    c = tw.interpret(
        (EXAMPLES / "gemm_sm90.mlir").read_text(), grid=(2, 1), block=(384,), args=arguments,
        numerics="exact", level=level, races="error",
    )[2]  # fmt: skip
    np.testing.assert_array_equal(c[:, :512], expected)


@pytest.mark.parametrize("value, races", [("%one", False), ("%n", True)])
def test_ctas_that_store_one_box(value: str, races: bool) -> None:
    """Both store what is there then: no race."""
    body = f"{CTA}  %n = arith.index_cast %block : index to i32\n{STORED}"
    text = made(body.replace("memref.store %one", f"memref.store {value}").replace("AFTER", "")
                .replace("MARK", "").replace("FENCE", "cute_nvgpu.fence.proxy.async"))  # fmt: skip
    for level in LEVELS:
        if not races:
            run(text, level, args(), grid=(2,), races="error")
            continue
        with pytest.raises(tw.ExecutionError, match=r"this write and the write by .* another CTA"):
            run(text, level, args(), grid=(2,), races="error")
