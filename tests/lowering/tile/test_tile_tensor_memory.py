"""`tcgen05.mma` at the tile level: equal bits at every level, NumPy's product, and what goes wrong
without the waits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as product_of
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import covering, themselves
from tile_levels import LEVELS, kernel, memref, numbers, run

import tilewright as tw

F16, BF16, E4M3 = np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
ROW = 128
"""Bytes of a row of shared memory, which its swizzle spreads over the banks."""


@dataclass(frozen=True)
class Product:
    """C = A B' of matrices (m,k) and (n,k), k contiguous: an atom, what holds C in tensor memory,
    and how often `tcgen05.ld` of a shape fills the registers of a warp."""

    atom: tuple[int, int, int]
    element: str
    dtype: Any
    tmem: str
    t2r: str
    size: tuple[int, int]
    k: int
    spelled: str | None = None
    sum: str = "f32"

    @property
    def mma(self) -> str:
        shape, element = "x".join(map(str, self.atom)), self.spelled or self.element
        return (
            f"!cute.tiled_mma<!cute_nvgpu.sm100.mma<{shape}, elem_type = ({element}, {element}, "
            f"{self.sum}), ab_major = (k, k), frag_kind = ss>>"
        )

    def matrix(self, rows: int) -> tuple[str, str, str]:
        """A matrix in global memory, in shared memory, and the copy from there to here."""
        bits = 8 * np.dtype(self.dtype).itemsize
        vector, row = 128 // bits, 8 * ROW // bits
        assert row == self.k
        base = vector.bit_length() - 1
        copy = (
            f"!cute.tiled_copy<#cute_nvgpu.copy<universal, {self.element}, 128>, layout_tv = "
            f'"((8,16),{vector}):(({16 * vector},1),16)", tiler_mn = "[16;{row}]">'
        )
        smem = f"S<3,{base},3> o 0 o ({rows},{row}):({row},1)"
        return (
            memref(self.element, "gmem", f"({rows},{row}):({row},1)", 16),
            memref(self.element, "smem", smem, 1024),
            copy,
        )

    @property
    def text(self) -> str:
        m, n = self.size
        (a, sa, copy), (b, sb, _) = self.matrix(m), self.matrix(n)
        c = memref(self.sum, "gmem", f"({m},{n}):({n},1)")
        body = f"""
  %sA = cute.memref.alloc() : {sa}
  %sB = cute.memref.alloc() : {sb}
  %acc = cute.memref.alloc() : {memref(self.sum, "tmem", self.tmem)}
  %done = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 1, consumers = 4>
  %copy = cute.make_tiled_copy : {copy}
  %fromA = cute.tiled.copy.partition_S(%copy, %A, %t)
  %intoA = cute.tiled.copy.partition_D(%copy, %sA, %t)
  %fromB = cute.tiled.copy.partition_S(%copy, %B, %t)
  %intoB = cute.tiled.copy.partition_D(%copy, %sB, %t)
  cute.copy(%copy, %fromA, %intoA)
  cute.copy(%copy, %fromB, %intoB)
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  %first = arith.cmpi eq, %t, %c0 : i32
  %fresh = arith.constant false
  scf.if %first {{
    %mma = cute.make_tiled_mma : {self.mma}
    %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tC = cute.tiled.mma.partition C (%mma, %acc, %t)
    %a = cute.mma.make_fragment A (%mma, %tA)
    %b = cute.mma.make_fragment B (%mma, %tB)
    %d = cute.mma.make_fragment C (%mma, %tC)
    cute.pipeline.producer_acquire(%done, %c0)
    cute.gemm(%mma, %d, %a, %b, %d) accumulate %fresh
    cute.gemm(%mma, %d, %a, %b, %d)
    cute.pipeline.producer_commit(%done, %c0)
  }}
  cute.pipeline.consumer_wait(%done, %c0)
  %t2r = cute.make_tiled_copy : !cute.tiled_copy<{self.t2r}>
  %from = cute.tiled.copy.partition_S(%t2r, %acc, %t)
  %into = cute.tiled.copy.partition_D(%t2r, %C, %t)
  %held = cute.make_fragment_like(%into)
  cute.copy(%t2r, %from, %held)
  cute.copy(%held, %into)
  cute.pipeline.consumer_release(%done, %c0)"""
        return kernel(f"%A: {a}, %B: {b}, %C: {c}", body, threads=128)

    def arguments(self) -> list[np.ndarray]:
        m, n = self.size
        if self.sum == "i32":
            rng = np.random.default_rng(0)
            made = [rng.integers(-128, 128, (rows, self.k), dtype=np.int8) for rows in (m, n)]
        else:
            made = [numbers((rows, self.k), self.dtype, rows) for rows in (m, n)]
        return [*made, np.zeros((m, n), np.int32 if self.sum == "i32" else np.float32)]


def lanes(columns: int) -> str:
    """A row for each thread, `columns` at a time."""
    return (
        f"#cute_nvgpu.copy<tmem_load, f32, 32x32b, x{columns}>, layout_tv = "
        f'"((32,4),{columns}):((1,32),128)", tiler_mn = "[128;{columns}]"'
    )


HALF_LANES = (
    "#cute_nvgpu.copy<tmem_load, f32, 16x256b, x8>, layout_tv = "
    '"((4,8,4),(2,2,8)):((128,1,16),(64,8,512))", tiler_mn = "[64;64]"'
)
"""As wgmma has accumulators: 16 rows a warp."""

ONE = "(128,128):(65536,1)"
PRODUCTS = {
    "f16": Product((128, 128, 16), "f16", F16, ONE, lanes(32), (128, 128), 64),
    "bf16, two atoms along N": Product(
        (128, 64, 16), "bf16", BF16, ONE, lanes(128), (128, 128), 64
    ),
    "f16, two atoms along M": Product(
        (128, 64, 16), "f16", F16, "((128,2),64):((65536,64),1)", lanes(16), (256, 64), 64
    ),
    "tf32": Product((128, 128, 8), "f32", np.float32, ONE, lanes(64), (128, 128), 32, "tf32"),
    "f8": Product((128, 128, 32), "f8E4M3FN", E4M3, ONE, lanes(32), (128, 128), 128),
    "i8": Product(
        (128, 128, 32), "i8", np.int8, ONE, lanes(32).replace("f32", "i32"), (128, 128), 128,
        "si8", "i32",
    ),
    "M of 64, every other 16 lanes": Product(
        (64, 64, 16), "f16", F16, "((16,4),64):((65536,2097152),1)", HALF_LANES, (64, 64), 64
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_gemm_in_tensor_memory(name: str):
    product = PRODUCTS[name]
    args = product.arguments()
    found = run(product.text, *args, threads=128, arch="sm_100a")[2]
    one, two = (each.astype(np.float64) for each in args[:2])
    # The two gemms add the same product; tf32 reads 10 bits of each mantissa.
    bound = (2.0**-8 if name == "tf32" else 2.0**-18) * np.abs(one) @ np.abs(two).T
    assert (np.abs(found - 2 * one @ two.T) <= (0 if product.sum == "i32" else bound)).all()


ARCHS = ("sm_100a", "sm_103a", "sm_110a")
# i8 is for two of them alone.
TEXTS = [*covering(product_of(PRODUCTS, ARCHS), themselves), ("i8", "sm_100a"), ("i8", "sm_103a")]


@pytest.mark.parametrize("name, arch", dict.fromkeys(TEXTS))
def test_it_assembles(name: str, arch: str, ptxas: Any):
    if name == "i8" and arch == "sm_103a":
        with pytest.raises(tw.CompileError, match="requires sm_100a or sm_110a"):
            tw.compile(PRODUCTS[name].text, arch)
        return
    report = ptxas(tw.compile(PRODUCTS[name].text, arch).ptx, arch)
    assert report.clean, report.output


F = PRODUCTS["f16"]


def fails(text: str, message: str, levels: tuple[str, ...] = LEVELS) -> None:
    """The same error at the level of tiles and below."""
    for level in levels:
        with pytest.raises(tw.ExecutionError, match=message):
            tw.interpret(
                text, args=F.arguments(), level=level, grid=(1,), block=(128,), arch="sm_100a"
            )


def test_a_load_that_waits_for_nothing():
    text = F.text.replace("  cute.pipeline.consumer_wait(%done, %c0)\n", "")
    fails(text, r"read of tensor memory that 'cute\.gemm' at \S+ writes, and no wait", ("tile",))
    with pytest.raises(tw.CompileError, match="expected tensor memory that is complete, got what"):
        tw.compile(text, "sm_100a")


def test_accumulators_that_nothing_has_written():
    fails(
        F.text.replace(" accumulate %fresh", ""), "read of tensor memory that nothing has written"
    )


@pytest.mark.usefixtures("unchecked")
def test_copies_that_the_mma_does_not_see():
    fails(F.text.replace("cute_nvgpu.fence.proxy.async", ""), r"fence\.proxy\.async")


def test_tensor_memory_is_given_back_where_the_kernel_says():
    again = "  cute.memref.dealloc(%acc)\n  %more = cute.memref.alloc() : "
    again += memref("f32", "tmem", "(128,128):(65536,1)")
    text = F.text.replace("  func.return", again + "\n  func.return")
    args = F.arguments()
    expected = run(F.text, *args, threads=128, arch="sm_100a")[2]
    found = run(text, *args, threads=128, arch="sm_100a")[2]
    assert found.tobytes() == expected.tobytes()
    ptx = tw.compile(text, "sm_100a").ptx
    counts = [
        ptx.count(each) for each in ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish")
    ]
    assert counts == [2, 2, 1]
    assert ptx.rindex("tcgen05.alloc") < ptx.index("tcgen05.relinquish")


def test_more_columns_than_there_are():
    more = memref("f32", "tmem", "(128,512):(65536,1)")
    text = F.text.replace("  %done = ", f"  %more = cute.memref.alloc() : {more}\n  %done = ")
    message = "expected at most 128 columns, those of the allocation before it, got 512"
    fails(text, message, ("tile",))
    with pytest.raises(tw.CompileError, match="expected at most the 128 columns of"):
        tw.compile(text, "sm_100a")


# Two accumulators in turn: warp 4 multiplies one block of K after the other, warps 0 to 3 store

TURNS = 5
LOADS = "!cute.pipeline<tma_umma, stages = 2, producers = 1, bytes = 6144>"


def box(rows: int) -> str:
    """A tile of TMA."""
    return f'tile = "[{rows};16]", smem = "S<1,3,3> o 0 o ({rows},16):(16,1)"'


STEPS = kernel(
    f"%A: {memref('f16', 'gmem', '(128,80):(80,1)', 16)}, "
    f"%B: {memref('f16', 'gmem', '(64,80):(80,1)', 16)}, "
    f"%C: {memref('f32', 'gmem', f'(128,64,{TURNS}):(64,1,8192)', 16)}",
    f"""
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant {TURNS} : i32
  %c32 = arith.constant 32 : i32
  %fresh = arith.constant false
  %warp = arith.divui %t, %c32 : i32
  %acc = cute.memref.alloc() : {memref("f32", "tmem", "(128,64,2):(65536,1,64)")}
  %tiles = cute.pipeline.create() : !cute.pipeline<umma_async, stages = 2, consumers = 4>
  %loads = cute.pipeline.create() : {LOADS}
  %sA = cute.memref.alloc() : {memref("f16", "smem", "S<1,3,3> o 0 o (128,16,2):(16,1,2048)", 1024)}
  %sB = cute.memref.alloc() : {memref("f16", "smem", "S<1,3,3> o 0 o (64,16,2):(16,1,1024)", 1024)}
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, {box(128)}> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, {box(64)}> (%B)
  %tiler = cute.static : !cute.shape<"(128,64,16)">
  %cta = cute.static : !cute.coord<"(0,0,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tiler, %cta)
  %issues = arith.cmpi eq, %warp, %c4 : i32
  scf.if %issues {{
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {{
      %mma = cute.make_tiled_mma : {PRODUCTS["f16, two atoms along M"].mma}
      %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %tC = cute.tiled.mma.partition C (%mma, %acc, %t)
      %rA = cute.mma.make_fragment A (%mma, %tA)
      %rB = cute.mma.make_fragment B (%mma, %tB)
      %rC = cute.mma.make_fragment C (%mma, %tC)
      scf.for %i = %c0 to %c5 step %c1 : i32 {{
        %s = cute.pipeline.stage(%loads, %i)
        %from = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%s) : (i32) -> !cute.coord<"(_,_,?)">
        %fromA = cute.slice(%gA, %from)
        %fromB = cute.slice(%gB, %from)
        %toA = cute.slice(%sA, %to)
        %toB = cute.slice(%sB, %to)
        cute.pipeline.producer_acquire(%loads, %i)
        cute.copy(%tmaA, %fromA, %toA) pipeline %loads[%i]
        cute.copy(%tmaB, %fromB, %toB) pipeline %loads[%i]
        %at = cute.make_coord(%s) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%rA, %at)
        %b = cute.slice(%rB, %at)
        %d = cute.slice(%rC, %at)
        cute.pipeline.consumer_wait(%loads, %i)
        cute.pipeline.producer_acquire(%tiles, %i)
        cute.gemm(%mma, %d, %a, %b, %d) accumulate %fresh
        cute.pipeline.consumer_release(%loads, %i)
        cute.pipeline.producer_commit(%tiles, %i)
      }}
    }}
  }}
  %stores = arith.cmpi ult, %warp, %c4 : i32
  scf.if %stores {{
    %t2r = cute.make_tiled_copy : !cute.tiled_copy<{lanes(64)}>
    %tD = cute.tiled.copy.partition_S(%t2r, %acc, %t)
    %tG = cute.tiled.copy.partition_D(%t2r, %C, %t)
    scf.for %i = %c0 to %c5 step %c1 : i32 {{
      %s = cute.pipeline.stage(%tiles, %i)
      %at = cute.make_coord(%s) : (i32) -> !cute.coord<"(_,_,_,?)">
      %into = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
      %from = cute.slice(%tD, %at)
      %to = cute.slice(%tG, %into)
      %held = cute.make_fragment_like(%to)
      cute.pipeline.consumer_wait(%tiles, %i)
      cute.copy(%t2r, %from, %held)
      cute.pipeline.consumer_release(%tiles, %i)
      cute.copy(%held, %to)
    }}
  }}""",
    threads=160,
)


def steps() -> list[np.ndarray]:
    a, b = numbers((128, 16 * TURNS), F16), numbers((64, 16 * TURNS), F16, 1)
    # C is (m,n,turn), with n contiguous.
    return [a, b, np.zeros((TURNS, 128, 64), np.float32).transpose(1, 2, 0)]


def test_accumulators_in_turn():
    a, b, c = steps()
    found = run(STEPS, a, b, c, threads=160, arch="sm_100a")[2]
    for i in range(TURNS):
        one, two = (each[:, 16 * i : 16 * i + 16].astype(np.float64) for each in (a, b))
        np.testing.assert_allclose(found[:, :, i], one @ two.T, rtol=0, atol=2.0**-18)


def steps_fail(without: str, message: str) -> None:
    """At the level of tiles, without a step of a pipeline."""
    assert STEPS.count(without) == 1
    with pytest.raises(tw.ExecutionError, match=message):
        tw.interpret(
            STEPS.replace(without, ""), args=steps(), level="tile", grid=(1,), block=(160,),
            arch="sm_100a",
        )  # fmt: skip


def test_accumulators_that_nobody_waits_for():
    """The MMAs run ahead by more than a phase, which a wait then misses."""
    steps_fail("cute.pipeline.producer_acquire(%tiles, %i)", "deadlock: 128 threads wait")


def test_accumulators_that_nobody_releases():
    steps_fail("cute.pipeline.consumer_release(%tiles, %i)", "deadlock")


def test_operands_that_nobody_releases():
    steps_fail("cute.pipeline.consumer_release(%loads, %i)", "deadlock")
