"""`tcgen05.mma` at the tile level: equal bits at every level, NumPy's product, and what goes wrong
without the waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
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
def test_gemm_in_tensor_memory(name: str) -> None:
    product = PRODUCTS[name]
    args = product.arguments()
    found = run(product.text, *args, threads=128, arch="sm_100a")[2]
    one, two = (each.astype(np.float64) for each in args[:2])
    # The two gemms add the same product; tf32 reads 10 bits of each mantissa.
    bound = (2.0**-8 if name == "tf32" else 2.0**-18) * np.abs(one) @ np.abs(two).T
    assert (np.abs(found - 2 * one @ two.T) <= (0 if product.sum == "i32" else bound)).all()


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_it_assembles(name: str, arch: str, ptxas: Any) -> None:
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


def test_a_load_that_waits_for_nothing() -> None:
    text = F.text.replace("  cute.pipeline.consumer_wait(%done, %c0)\n", "")
    fails(text, r"read of tensor memory that 'cute\.gemm' at \S+ writes, and no wait", ("tile",))
    with pytest.raises(tw.CompileError, match="expected tensor memory that is complete, got what"):
        tw.compile(text, "sm_100a")


def test_accumulators_that_nothing_has_written() -> None:
    fails(
        F.text.replace(" accumulate %fresh", ""), "read of tensor memory that nothing has written"
    )


def test_copies_that_the_mma_does_not_see() -> None:
    fails(F.text.replace("cute_nvgpu.fence.proxy.async", ""), r"fence\.proxy\.async")


def test_tensor_memory_is_given_back_where_the_kernel_says() -> None:
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


def test_more_columns_than_there_are() -> None:
    more = memref("f32", "tmem", "(128,512):(65536,1)")
    text = F.text.replace("  %done = ", f"  %more = cute.memref.alloc() : {more}\n  %done = ")
    message = "expected at most 128 columns, those of the allocation before it, got 512"
    fails(text, message, ("tile",))
    with pytest.raises(tw.CompileError, match="expected at most the 128 columns of"):
        tw.compile(text, "sm_100a")
