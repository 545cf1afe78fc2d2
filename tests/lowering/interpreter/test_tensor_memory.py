"""Tensor memory at both levels: what is stored is loaded, wherever the shapes say it lies."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import LEVELS
from tmem_kernels import (
    AFTER,
    ALLOC,
    BARRIER,
    BEFORE,
    CELLS,
    DEALLOC,
    RETRIEVE,
    SMEM,
    SYNC,
    WAIT_LOAD,
    WAIT_STORE,
    bare,
    cells_of_shapes,
    commit,
    held,
    wait,
)

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_SHAPES

WARPS = 4


def run(text: str, *args: Any, arch: str = "sm_103a", threads: int = 128) -> list[np.ndarray]:
    """The arguments after the kernel, which both levels leave alike."""
    found = [
        tw.interpret(text, args=list(args), grid=(1,), block=(threads,), arch=arch, level=level)
        for level in LEVELS
    ]
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
    return found[0]


def filled(count: int) -> str:
    """Every cell of a window gets lane * 512 + column, 8 columns at a time; `count` columns."""
    lines = ["  %tid = arith.index_cast %t : index to i32", "  %k512 = arith.constant 512 : i32",
             "  %base = arith.muli %tid, %k512 : i32"]  # fmt: skip
    for column in range(0, count, 8):
        names: list[str] = []
        for each in range(8):
            n = column + each
            lines += [f"  %k{n} = arith.constant {n} : i32",
                      f"  %v{n} = arith.addi %base, %k{n} : i32"]  # fmt: skip
            names.append(f"%v{n}")
        lines += [
            f"  %f{column} = cute_nvgpu.fragment.from_elements {', '.join(names)} : "
            f"{', '.join(['i32'] * 8)} -> !cute_nvgpu.fragment<8xi32>",
            f"  %i{column} = arith.constant {column} : index",
            f"  cute_nvgpu.tmem.store %f{column}, %m[%row, %i{column}] shape 32x32b : "
            f"!cute_nvgpu.fragment<8xi32>, {CELLS}",
        ]
    return "\n".join([*lines, f"  {WAIT_STORE}"])


def out(values: int, fragment: str) -> str:
    """Store a fragment of i32, register by register, thread by thread."""
    lines: list[str] = []
    for each in range(values):
        lines += [
            f"  %x{each} = cute_nvgpu.fragment.extract {fragment}[{each}] : "
            f"!cute_nvgpu.fragment<{values}xi32> -> i32",
            f"  %at{each} = arith.constant {each} : index",
            f"  memref.store %x{each}, %p[%t, %at{each}] : memref<128x{values}xi32>",
        ]
    return "\n".join(lines)


CELL_OF = cells_of_shapes(16)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", TMEM_SHAPES)
def test_load(shape: str, upper: bool):
    """What a thread has in its registers, from the window's first lane or from its 16th."""
    if upper and shape == "32x32b":
        shape, upper = "16x64b", True
    half = "half 16 " if shape == "16x32bx2" else ""
    begin = 16 if upper else 0
    body = f"""{filled(32)}
  %begin = arith.addi %row, %c{begin} : index
  %f = cute_nvgpu.tmem.load %m[%begin, %c0] shape {shape} {half}: {CELLS}
     -> !cute_nvgpu.fragment<8xi32>
  {WAIT_LOAD}
{out(8, "%f")}"""
    arguments = "%p: memref<128x8xi32>"
    [found] = run(held(body, arguments), np.zeros((128, 8), np.int32))
    for warp in range(WARPS):
        for t in range(32):
            for r in range(8):
                lane, column = CELL_OF[shape](t, r)
                assert found[32 * warp + t, r] == 512 * (32 * warp + begin + lane) + column


def kept(shape: str, number: int, *, packed: bool = False) -> str:
    """Registers that are stored in a shape and loaded again; 16-bit elements where packed."""
    registers = number * TMEM_SHAPES[shape].per_number
    element, per, step = ("f16", 2, 2) if packed else ("i32", 1, 1)
    memory = (
        'memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>'
        if packed
        else CELLS
    )
    fragment = f"!cute_nvgpu.fragment<{registers * per}x{element}>"
    half = f"half {number * step} " if shape == "16x32bx2" else ""
    pack, unpack = ("pack ", "unpack ") if packed else ("", "")
    body = [f"  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : {CELLS} -> {memory}"]
    for each in range(registers * per):
        body += [
            f"  %q{each} = arith.constant {each} : index",
            f"  %v{each} = memref.load %p[%t, %q{each}] : memref<128x{registers * per}x{element}>",
        ]
    names = ", ".join(f"%v{each}" for each in range(registers * per))
    types = ", ".join([element] * registers * per)
    body += [
        f"  %f = cute_nvgpu.fragment.from_elements {names} : {types} -> {fragment}",
        f"  cute_nvgpu.tmem.store %f, %d[%row, %c0] shape {shape} {unpack}{half}: "
        f"{fragment}, {memory}",
        f"  {WAIT_STORE}",
        f"  %g = cute_nvgpu.tmem.load %d[%row, %c0] shape {shape} {pack}{half}: "
        f"{memory} -> {fragment}",
        f"  {WAIT_LOAD}",
    ]
    for each in range(registers * per):
        body += [
            f"  %x{each} = cute_nvgpu.fragment.extract %g[{each}] : {fragment} -> {element}",
            f"  memref.store %x{each}, %o[%t, %q{each}] : memref<128x{registers * per}x{element}>",
        ]
    array = f"memref<128x{registers * per}x{element}>"
    return held("\n".join(body), f"%p: {array}, %o: {array}")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", TMEM_SHAPES)
def test_store_then_load(shape: str, packed: bool):
    number = 4
    count = number * TMEM_SHAPES[shape].per_number * (2 if packed else 1)
    random = default_rng(7)
    if packed:
        given = random.standard_normal((128, count)).astype(np.float16)
    else:
        given = random.integers(-(1 << 31), 1 << 31, (128, count)).astype(np.int32)
    _, found = run(kept(shape, number, packed=packed), given, np.zeros_like(given))
    assert_array_equal(found, given)


def test_packed_accumulator_is_read_from_low_halves():
    """D of 16-bit elements: a load with pack takes the low halves of neighbouring cells."""
    memory = 'memref<128x16xf16, !cute.layout<"(128,16):(131072,2)">, #cute<space tmem>>'
    body = f"""{filled(16)}
  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : {CELLS} -> {memory}
  %g = cute_nvgpu.tmem.load %d[%row, %c0] shape 32x32b pack
     : {memory} -> !cute_nvgpu.fragment<16xf16>
  {WAIT_LOAD}
  %f = cute_nvgpu.fragment.cast %g : !cute_nvgpu.fragment<16xf16> -> !cute_nvgpu.fragment<8xi32>
{out(8, "%f")}"""
    [found] = run(held(body, "%p: memref<128x8xi32>"), np.zeros((128, 8), np.int32))
    lane, pair = np.arange(128)[:, None], np.arange(8)[None, :]
    cells = 512 * lane + 2 * pair
    expected = (cells & 0xFFFF) | (cells + 1 & 0xFFFF) << 16
    assert_array_equal(found.view(np.uint32), expected)


NUMBERS = np.array([1.5, -3.0, np.nan, -0.0, 0.0, 2.0, -7.25, 7.0], np.float32)


def reference(row: np.ndarray, form: str) -> np.ndarray:
    """What PTX's min and max say of a row, one number after the other."""
    reduction, *modifiers, _ = form.split(".")
    values = np.abs(row) if "abs" in modifiers else row
    if np.isnan(values).any() and ("NaN" in modifiers or np.isnan(values).all()):
        return np.array(0x7FFFFFFF, np.uint32)
    numbers = [each for each in values if not np.isnan(each)]
    order = sorted(numbers, key=lambda each: (each, not np.signbit(each)))
    return (order[0] if reduction == "min" else order[-1]).view(np.uint32)


@pytest.mark.parametrize("flags", ["", "abs", "nan", "abs nan"])
@pytest.mark.parametrize("reduction", ["min", "max"])
def test_reductions(reduction: str, flags: str):
    random = default_rng(3)
    given = NUMBERS[random.integers(0, 8, (128, 8))]
    given[0], given[1, :7], given[2] = np.nan, np.nan, [-0.0, 0.0] * 4
    memory, fragment = CELLS.replace("i32", "f32"), "!cute_nvgpu.fragment<8xf32>"
    array = "memref<128x8xf32>"
    body = [f"  %d = cute_nvgpu.tmem.slice %m[%c0, %c0] : {CELLS} -> {memory}"]
    for each in range(8):
        body += [f"  %q{each} = arith.constant {each} : index",
                 f"  %v{each} = memref.load %p[%t, %q{each}] : {array}"]  # fmt: skip
    names = ", ".join(f"%v{each}" for each in range(8))
    body += [
        f"  %f = cute_nvgpu.fragment.from_elements {names} : {', '.join(['f32'] * 8)} "
        f"-> {fragment}",
        f"  cute_nvgpu.tmem.store %f, %d[%row, %c0] shape 32x32b : {fragment}, {memory}",
        f"  {WAIT_STORE}",
        f"  %g, %r = cute_nvgpu.tmem.load_reduce %d[%row, %c0] {reduction} shape 32x32b {flags} "
        f": {memory} -> {fragment}, f32",
        f"  {WAIT_LOAD}",
        "  memref.store %r, %o[%t] : memref<128xf32>",
    ]
    text = held("\n".join(body), f"%p: {array}, %o: memref<128xf32>")
    _, found = run(text, given, np.zeros(128, np.float32))
    modifiers = flags.replace("nan", "NaN").split()
    form = ".".join([reduction, *modifiers, "f32"])
    expected = [reference(row, form) for row in given]
    assert_array_equal(found.view(np.uint32), np.array(expected))


@pytest.mark.parametrize("unsigned", ["", "unsigned"])
def test_reductions_of_integers(unsigned: str):
    body = f"""  %x = arith.index_cast %t : index to i32
  %mone = arith.constant -5 : i32
  %f = cute_nvgpu.fragment.from_elements %x, %mone : i32, i32 -> !cute_nvgpu.fragment<2xi32>
  cute_nvgpu.tmem.store %f, %m[%row, %c0] shape 32x32b : !cute_nvgpu.fragment<2xi32>, {CELLS}
  {WAIT_STORE}
  %g, %r = cute_nvgpu.tmem.load_reduce %m[%row, %c0] max shape 32x32b {unsigned}
     : {CELLS} -> !cute_nvgpu.fragment<2xi32>, i32
  {WAIT_LOAD}
  memref.store %r, %p[%t] : memref<128xi32>"""
    [found] = run(held(body, "%p: memref<128xi32>"), np.zeros(128, np.int32))
    assert_array_equal(found, np.full(128, -5) if unsigned else np.arange(128))


# Copies and shifts


SHAPES = {
    "128x256b": ("128x256b", lambda row: [row], 8, 128),
    "128x128b": ("128x128b", lambda row: [row], 4, 128),
    "4x256b": ("4x256b", lambda row: [32 * row], 8, 4),
    "02_13": ("64x128b warpx2_02_13", lambda row: [row, row + 64], 4, 64),
    "01_23": ("64x128b warpx2_01_23",
              lambda row: [row % 32 + 64 * (row // 32) + 32 * i for i in (0, 1)], 4, 64),
    "warpx4": ("32x128b warpx4", lambda row: [row + 32 * i for i in range(4)], 4, 32),
}  # fmt: skip


def copying(spelled: str, rows: int, words: int, layout: str, extra: str = "") -> str:
    """A matrix of i32 in shared memory, copied to tensor memory; 8 columns of all lanes come out.
    What is not copied was -1 before."""
    shared = f'memref<{rows}x{words}xi32, !cute.layout<"{layout}">, #cute<space smem>>'
    view = f'!cute_nvgpu.smem_desc_view<{rows}x{words}xi32, tcgen05, "{layout}">'
    body = f"""
  %s = memref.alloc() : {shared}
  %inside = arith.cmpi ult, %t, %rows : index
  scf.if %inside {{
    scf.for %j = %c0 to %words step %c1 {{
      %v = memref.load %p[%t, %j] : memref<{rows}x{words}xi32>
      memref.store %v, %s[%t, %j] : {shared}
    }}
  }}
  %minus = arith.constant -1 : i32
  %blank = cute_nvgpu.fragment.splat %minus : i32 -> !cute_nvgpu.fragment<8xi32>
  cute_nvgpu.tmem.store %blank, %m[%row, %c0] shape 32x32b : !cute_nvgpu.fragment<8xi32>, {CELLS}
  {WAIT_STORE}
  cute_nvgpu.fence.proxy.async
  {SYNC}
  scf.if %first {{
    %desc = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {shared} -> {view}
    cute_nvgpu.tmem.copy %desc to %m[%c0, %c0] shape {spelled} {extra}: {view} to {CELLS}
    {commit()}
  }}
  {wait()}
  {AFTER}
  %f = cute_nvgpu.tmem.load %m[%row, %c0] shape 32x32b : {CELLS} -> !cute_nvgpu.fragment<8xi32>
  {WAIT_LOAD}
{out(8, "%f").replace("%p", "%o")}"""
    body = (
        f"  %rows = arith.constant {rows} : index\n  %words = arith.constant {words} : index{body}"
    )
    return held(body, f"%p: memref<{rows}x{words}xi32>, %o: memref<128x8xi32>")


@pytest.mark.parametrize("name", SHAPES)
def test_copy(name: str):
    spelled, lanes, columns, rows = SHAPES[name]
    # K-major core matrices of 8 rows x 16 bytes; of 32 bytes the second half of all rows follows.
    groups = max(rows // 8, 1)
    inner = min(rows, 8)
    halves = f"(4,{columns // 4}):(1,{32 * groups})" if columns == 8 else "4:1"
    shape, stride = halves.split(":")
    layout = f"(({inner},{groups}),{shape}):((4,32),{stride})"
    given = default_rng(5).integers(0, 1 << 30, (rows, columns)).astype(np.int32)
    _, found = run(copying(spelled, rows, columns, layout), given, np.zeros((128, 8), np.int32))
    expected = np.full((128, 8), -1, np.int32)
    for row in range(rows):
        for lane in lanes(row):
            expected[lane, :columns] = given[row]
    assert_array_equal(found, expected)


@pytest.mark.parametrize("source, bits", [("b4x16_p64", 4), ("b6x16_p32", 6)])
def test_decompression(source: str, bits: int):
    """16 elements and padding become 16 bytes, each element in the low bits."""
    random = default_rng(9)
    elements = random.integers(0, 1 << bits, (32, 16)).astype(np.uint8)
    packed = np.unpackbits(elements[..., None], axis=-1, bitorder="little")[..., :bits]
    raw = np.packbits(packed.reshape(32, -1), axis=-1, bitorder="little")
    padded = np.concatenate([raw, np.full((32, 16 - raw.shape[1]), 0xA5, np.uint8)], axis=1)
    given = padded.view(np.int32)
    text = copying("32x128b warpx4", 32, 4, "((8,4),4):((4,32),1)", f"src_fmt {source} ")
    _, found = run(text, given, np.zeros((128, 8), np.int32))
    for group in range(4):
        got = np.ascontiguousarray(found[32 * group : 32 * group + 32, :4]).view(np.uint8)
        assert_array_equal(got, elements)


def test_shift():
    """Row i + 1 becomes what row i was, in 8 columns from lane 32 on."""
    body = f"""{filled(24)}
  {SYNC}
  scf.if %first {{
    cute_nvgpu.tmem.shift %m[%c32, %c8] : {CELLS}
    {commit()}
  }}
  {wait()}
  {AFTER}
  %f = cute_nvgpu.tmem.load %m[%row, %c8] shape 32x32b : {CELLS} -> !cute_nvgpu.fragment<8xi32>
  {WAIT_LOAD}
{out(8, "%f")}"""
    [found] = run(held(body, "%p: memref<128x8xi32>"), np.zeros((128, 8), np.int32))
    lane = np.arange(128)
    moved = np.where(lane > 32, lane - 1, lane)
    assert_array_equal(found, 512 * moved[:, None] + np.arange(8, 16))


# Handing over, and allocation


def test_warps_hand_tensor_memory_on():
    """Warps 4 to 7 load what warps 0 to 3 stored, which lie in the same windows."""
    body = f"""  %x = arith.index_cast %t : index to i32
  %stores = arith.cmpi ult, %w, %four : index
  scf.if %stores {{
    %f = cute_nvgpu.fragment.splat %x : i32 -> !cute_nvgpu.fragment<8xi32>
    cute_nvgpu.tmem.store %f, %m[%row, %c8] shape 32x32b : !cute_nvgpu.fragment<8xi32>, {CELLS}
    {WAIT_STORE}
    {BEFORE}
  }}
  "gpu.barrier"() : () -> ()
  {AFTER}
  scf.if %stores {{
  }} else {{
    %g = cute_nvgpu.tmem.load %m[%row, %c8] shape 32x32b : {CELLS} -> !cute_nvgpu.fragment<8xi32>
    {WAIT_LOAD}
    %y = cute_nvgpu.fragment.extract %g[7] : !cute_nvgpu.fragment<8xi32> -> i32
    memref.store %y, %p[%t] : memref<256xi32>
  }}"""
    text = held("  %four = arith.constant 4 : index\n" + body, "%p: memref<256xi32>")
    [found] = run(text, np.zeros(256, np.int32), threads=256)
    assert_array_equal(found[128:], np.arange(128))


@pytest.mark.usefixtures("unchecked")
def test_an_allocation_waits_for_columns():
    """Warp 1 asks for columns that warp 0 has, and gets them once they are given back, which
    `cute-nvgpu-check-tmem` does not know."""
    again = f"memref<1xi32, {SMEM}>"
    warp_sync = "cute_nvgpu.bar.warp.sync"
    body = f"""  %other = memref.alloc() : {again}
  %second = arith.cmpi eq, %w, %c1 : index
  scf.if %leads {{
    {ALLOC}
  }}
  {BARRIER}
  scf.if %second {{
    cute_nvgpu.tmem.alloc %other[%c0] columns 256 : {again}
    {warp_sync}
    %n = cute_nvgpu.tmem.retrieve %other[%c0] : {again} -> {CELLS}
    {warp_sync}
    cute_nvgpu.tmem.alloc %other[%c0] columns 256 : {again}
    {warp_sync}
    %o = cute_nvgpu.tmem.retrieve %other[%c0] : {again} -> {CELLS}
    %x = memref.load %other[%c0] : {again}
    memref.store %x, %p[%c0] : memref<1xi32>
    cute_nvgpu.tmem.dealloc %n : {CELLS}
    cute_nvgpu.tmem.dealloc %o : {CELLS}
  }}
  scf.if %leads {{
    {RETRIEVE}
    {DEALLOC}
  }}"""
    [found] = run(bare(body, "%p: memref<1xi32>"), np.array([-1], np.int32), threads=64)
    assert found[0] == 0, "the columns that warp 0 gave back"


def test_bfloat_multiplicand_in_tensor_memory():
    """Two elements of A in a cell, low half first."""
    memory = 'memref<128x16xbf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>'
    array = "memref<128x16xbf16>"
    body = [f"  %a = cute_nvgpu.tmem.slice %m[%c0, %c8] : {CELLS} -> {memory}"]
    for each in range(16):
        body += [f"  %q{each} = arith.constant {each} : index",
                 f"  %v{each} = memref.load %p[%t, %q{each}] : {array}"]  # fmt: skip
    names, types = ", ".join(f"%v{i}" for i in range(16)), ", ".join(["bf16"] * 16)
    fragment = "!cute_nvgpu.fragment<16xbf16>"
    body += [
        f"  %f = cute_nvgpu.fragment.from_elements {names} : {types} -> {fragment}",
        f"  cute_nvgpu.tmem.store %f, %a[%row, %c0] shape 32x32b : {fragment}, {memory}",
        f"  {WAIT_STORE}",
        f"  %g = cute_nvgpu.tmem.load %m[%row, %c8] shape 32x32b : {CELLS} "
        "-> !cute_nvgpu.fragment<8xi32>",
        f"  {WAIT_LOAD}",
        out(8, "%g").replace("%p", "%o"),
    ]
    given = default_rng(2).standard_normal((128, 16)).astype(ml_dtypes.bfloat16)
    text = held("\n".join(body), f"%p: {array}, %o: memref<128x8xi32>")
    _, found = run(text, given, np.zeros((128, 8), np.int32))
    assert_array_equal(found.view(np.uint16), given.view(np.uint16))
