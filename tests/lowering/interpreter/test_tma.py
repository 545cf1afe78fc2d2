"""Boxes of tensors to shared memory and back, at both levels, against NumPy."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from run_levels import LEVELS, at_levels
from tma_reductions import DTYPES, MEANING, REDUCTIONS, elements_of, reduction_kernel

import tilewright as tw

BARRIER = "memref<1xi64, #cute<space smem>>"
HEAD = f"""
  %c0 = arith.constant 0 : index
  %even = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %bar = memref.alloc() : {BARRIER}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARRIER}
    cute_nvgpu.fence.mbarrier_init
  }}
  "gpu.barrier"() : () -> ()
"""


def box_type(box: tuple[int, ...], element: str, swizzle: int) -> str:
    suffix = f", swizzle = {swizzle}" if swizzle else ""
    return f"!cute_nvgpu.tma_descriptor<{'x'.join(map(str, box))}x{element}{suffix}>"


def tile_type(box: tuple[int, ...], element: str, swizzle: int, width: int) -> str:
    """A dense tile of shared memory that holds the box."""
    strides = [prod(box[place + 1 :]) for place in range(len(box))]
    shape = f"({','.join(map(str, box))}):({','.join(map(str, strides))})"
    bits, base = (swizzle // 16).bit_length() - 1, (16 // width).bit_length() - 1
    layout = (
        f'!cute.composed_layout<"S<{bits},{base},3> o 0 o {shape}">'
        if swizzle
        else f'!cute.layout<"{shape}">'
    )
    return f"memref<{'x'.join(map(str, box))}x{element}, {layout}, #cute<space smem>>"


def copy_kernel(box: tuple[int, ...], element: str, swizzle: int, width: int) -> str:
    """Loads the box at coordinates from the arguments, and stores it elsewhere by TMA; thread i
    reads element i of the box through the layout and writes it to a dense output."""
    map_, tile = box_type(box, element, swizzle), tile_type(box, element, swizzle, width)
    rank = len(box)
    names = [f"%x{i}" for i in range(rank)]
    casts = "".join(f"  {n} = arith.index_cast {n}_32 : i32 to index\n" for n in names)
    arguments = ", ".join(f"{n}_32: i32" for n in names)
    index, divisions = "%t", ""
    for axis in range(rank - 1, -1, -1):
        divisions += f"  %extent{axis} = arith.constant {box[axis]} : index\n"
        divisions += f"  %i{axis} = arith.remui {index}, %extent{axis} : index\n"
        divisions += f"  %r{axis} = arith.divui {index}, %extent{axis} : index\n"
        index = f"%r{axis}"
    zeros, at = ", ".join(["%c0"] * rank), ", ".join(f"%i{axis}" for axis in range(rank))
    corner = ", ".join(names)
    return f"""func.func @k(%from: {map_}, %to: {map_}, %out: memref<?x{element}>, {arguments})
    attributes {{gpu.kernel}} {{{HEAD}{casts}{divisions}
  %s = memref.alloc() : {tile}
  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes {prod(box) * width} : {BARRIER}
    cute_nvgpu.tma.load %from[{corner}] to %s[{zeros}] mbarrier %bar[%c0]
      : {map_} to {tile}, {BARRIER}
  }}
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}
  scf.if %first {{
    cute_nvgpu.tma.store %s[{zeros}] to %to[{corner}] : {tile} to {map_}
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}
  %v = memref.load %s[{at}] : {tile}
  memref.store %v, %out[%t] : memref<?x{element}>
  func.return
}}"""


CASES: dict[str, tuple[tuple[int, ...], str, Any, int, tuple[int, ...], tuple[int, ...]]] = {
    # box, element, dtype, swizzle, tensor, corner
    "1d": ((64,), "f32", np.float32, 0, (256,), (100,)),
    "1d outside": ((64,), "f32", np.float32, 0, (250,), (220,)),
    "2d": ((8, 32), "f16", np.float16, 0, (40, 64), (3, 24)),
    "swizzle 32": ((16, 16), "bf16", ml_dtypes.bfloat16, 32, (40, 64), (3, 8)),
    "swizzle 64": ((16, 32), "bf16", ml_dtypes.bfloat16, 64, (40, 64), (3, 40)),
    "swizzle 128": ((16, 64), "bf16", ml_dtypes.bfloat16, 128, (40, 128), (30, 104)),
    "swizzle 128 of f32": ((24, 32), "f32", np.float32, 128, (40, 64), (20, 40)),
    "swizzle 128 of bytes": ((8, 128), "i8", np.int8, 128, (40, 256), (38, 208)),
    "swizzle 64 of f64": ((8, 8), "f64", np.float64, 64, (9, 16), (4, 2)),
    "rows beyond": ((8, 64), "bf16", ml_dtypes.bfloat16, 128, (40, 64), (40, 0)),
    "3d": ((2, 3, 32), "f16", np.float16, 64, (5, 6, 40), (4, 4, 16)),
    "4d": ((2, 1, 3, 16), "i32", np.int32, 0, (3, 2, 4, 20), (1, 1, 3, 8)),
    "5d": ((2, 1, 3, 2, 16), "i32", np.int32, 0, (3, 2, 4, 2, 20), (1, 1, 2, 1, 8)),
}


def boxed(tensor: np.ndarray, box: tuple[int, ...], corner: tuple[int, ...]) -> tuple[Any, Any]:
    """The box of a tensor with zeros outside, and the tensor with everything else zero."""
    inside = np.zeros(box, tensor.dtype)
    rest = np.zeros_like(tensor)
    first = [max(c, 0) for c in corner]
    last = [min(c + b, n) for c, b, n in zip(corner, box, tensor.shape, strict=True)]
    source = tuple(slice(a, max(a, b)) for a, b in zip(first, last, strict=True))
    dest = tuple(slice(a - c, max(a, b) - c) for a, b, c in zip(first, last, corner, strict=True))
    inside[dest] = tensor[source]
    rest[source] = tensor[source]
    return inside, rest


@at_levels()
@pytest.mark.parametrize("case", CASES)
def test_a_box_there_and_back(case: str, level: Any):
    box, element, dtype, swizzle, shape, corner = CASES[case]
    tensor = np.arange(1, prod(shape) + 1).reshape(shape).astype(dtype)
    maps = [tw.TensorMap(each, box=box, swizzle=swizzle, element=element)
            for each in (tensor, np.zeros_like(tensor))]  # fmt: skip
    out = np.full(prod(box), 7).astype(dtype)
    text = copy_kernel(box, element, swizzle, tensor.dtype.itemsize)
    found = tw.interpret(
        text, grid=(1,), block=(prod(box),), args=[*maps, out, *corner], arch="sm_90a", level=level
    )
    inside, rest = boxed(tensor, box, corner)
    np.testing.assert_array_equal(found[2].view(np.uint8), inside.reshape(-1).view(np.uint8))
    np.testing.assert_array_equal(found[1].view(np.uint8), rest.view(np.uint8))
    np.testing.assert_array_equal(found[0].view(np.uint8), tensor.view(np.uint8))


@at_levels()
@pytest.mark.parametrize("corner", [(-3, 0), (0, -8)])
def test_a_box_in_front_of_a_tensor_is_loaded_and_not_stored(corner: tuple[int, int], level: Any):
    box, element, dtype, swizzle, shape, _ = CASES["2d"]
    maps = [tw.TensorMap(np.zeros(shape, dtype), box=box) for _ in range(2)]
    args = [*maps, np.zeros(prod(box), dtype), *corner]
    text = copy_kernel(box, element, swizzle, 2)
    with pytest.raises(tw.ExecutionError, match=r"store' expected coordinates from 0 on of a box"):
        tw.interpret(text, grid=(1,), block=(256,), args=args, arch="sm_90a", level=level)


@at_levels()
@pytest.mark.parametrize("case", ["2d", "swizzle 64", "swizzle 128", "3d"])
def test_a_box_in_a_line_of_memory(case: str, level: Any):
    """The same kernel, whose tile is 2048 elements on in a line; thread i reads element i there."""
    box, element, dtype, swizzle, shape, corner = CASES[case]
    tensor = np.arange(1, prod(shape) + 1).reshape(shape).astype(dtype)
    width, rank = tensor.dtype.itemsize, len(box)
    old, line = (tile_type(each, element, swizzle, width) for each in (box, (4096,)))
    names = ", ".join(f"%i{axis}" for axis in range(rank))
    text = (
        copy_kernel(box, element, swizzle, width)
        .replace(old, line)
        .replace(f"%s[{', '.join(['%c0'] * rank)}]", "%s[%start]")
        .replace(f"%s[{names}]", "%s[%place]")
        .replace(HEAD, f"{HEAD}  %start = arith.constant 2048 : index\n"
                 "  %place = arith.addi %t, %start : index\n")
    )  # fmt: skip
    maps = [tw.TensorMap(each, box=box, swizzle=swizzle, element=element)
            for each in (tensor, np.zeros_like(tensor))]  # fmt: skip
    found = tw.interpret(
        text, grid=(1,), block=(prod(box),), args=[*maps, np.zeros(prod(box), dtype), *corner],
        arch="sm_90a", level=level,
    )  # fmt: skip
    inside, rest = boxed(tensor, box, corner)
    np.testing.assert_array_equal(found[2].view(np.uint8), inside.reshape(-1).view(np.uint8))
    np.testing.assert_array_equal(found[1].view(np.uint8), rest.view(np.uint8))


@at_levels()
def test_a_tensor_within_padded_rows(level: Any):
    """Extents and strides of the map, not those of the array, say what is outside."""
    box = (8, 16)
    memory = np.arange(40 * 48).reshape(40, 48).astype(np.float32)
    maps = [tw.TensorMap(each, box=box, shape=(20, 30), strides=(48, 1))
            for each in (memory, np.zeros_like(memory))]  # fmt: skip
    found = tw.interpret(
        copy_kernel(box, "f32", 0, 4), grid=(1,), block=(128,),
        args=[*maps, np.zeros(128, np.float32), 16, 24], arch="sm_90a", level=level,
    )  # fmt: skip
    inside, rest = boxed(np.ascontiguousarray(memory[:20, :30]), box, (16, 24))
    np.testing.assert_array_equal(found[2].reshape(box), inside)
    np.testing.assert_array_equal(found[1][:20, :30], rest)
    assert not found[1][20:].any() and not found[1][:, 30:].any()


@at_levels()
def test_boxes_of_tf32_round_f32(level: Any):
    """To nearest even, into the next power of two and to infinity too; NaN is one."""
    given = [0x3F800FFF, 0x3F801000, 0x3F803000, 0x3FFFF000, 0x7F7FFFFF, 0x80001001, 0x00001000,
             0x007FFFFF, 0x7F800001, 0xFF800000, 0x7F800000, 0x7FC00001]  # fmt: skip
    rounded = [0x3F800000, 0x3F800000, 0x3F804000, 0x40000000, 0x7F800000, 0x80002000, 0,
               0x00800000, 0x7FFFE000, *given[9:11], 0x7FFFE000]  # fmt: skip
    memory = np.array(given, np.uint32).view(np.float32).reshape(3, 4)
    box, plain = memory.shape, box_type(memory.shape, "f32", 0)
    text = copy_kernel(box, "f32", 0, 4)
    for place in (f"%from: {plain}", f": {plain} to"):
        text = text.replace(place, place.replace("f32", "tf32"), 1)
    maps = [tw.TensorMap(memory, box=box, element="tf32"), tw.TensorMap(memory.copy(), box=box)]
    args = [*maps, np.zeros(12, np.float32), 0, 0]
    found = tw.interpret(text, grid=(1,), block=(12,), args=args, arch="sm_90a", level=level)
    assert found[2].view(np.uint32).tolist() == rounded


def test_as_on_the_chip_the_swizzle_is_of_addresses():
    """A box may start within the pattern: its layout's offset is not that of the tile."""
    layout = '!cute.composed_layout<"S<3,3,3> o 0 o (24,64):(64,1)">'
    tile = f"memref<24x64xbf16, {layout}, #cute<space smem>>"
    map_ = box_type((5, 64), "bf16", 128)
    text = f"""func.func @k(%m: {map_}, %out: memref<?xbf16>) attributes {{gpu.kernel}} {{{HEAD}
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloc() : {tile}
  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 640 : {BARRIER}
    cute_nvgpu.tma.load %m[%c0, %c0] to %s[%c3, %c0] mbarrier %bar[%c0]
      : {map_} to {tile}, {BARRIER}
  }}
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}
  %r = arith.divui %t, %c64 : index
  %row = arith.addi %r, %c3 : index
  %column = arith.remui %t, %c64 : index
  %v = memref.load %s[%row, %column] : {tile}
  memref.store %v, %out[%t] : memref<?xbf16>
  func.return
}}"""
    tensor = np.arange(5 * 64).reshape(5, 64).astype(ml_dtypes.bfloat16)
    for level in LEVELS:
        out = np.zeros(320, ml_dtypes.bfloat16)
        args = [tw.TensorMap(tensor, box=(5, 64), swizzle=128), out]
        found = tw.interpret(text, grid=(1,), block=(320,), args=args, level=level)[1]
        np.testing.assert_array_equal(found.astype(np.float32), tensor.reshape(-1))


@pytest.mark.covered
@at_levels()
@pytest.mark.parametrize("kind, element", REDUCTIONS)
def test_reductions(kind: str, element: str, level: Any):
    """Two CTAs combine a box that reaches over an edge with theirs, one after the other."""
    dtype = DTYPES[element]
    source, before = elements_of(dtype, (8, 16), 1), elements_of(dtype, (3, 16), 2)
    args = [tw.TensorMap(source, box=(4, 16), element=element),
            tw.TensorMap(before.copy(), box=(4, 16), element=element)]  # fmt: skip
    text = reduction_kernel(kind, element)
    found = tw.interpret(text, grid=(2,), block=(32,), args=args, level=level)[1]
    with np.errstate(over="ignore"):
        expected = MEANING[kind](MEANING[kind](before, source[:3]), source[4:7])
    assert found.tobytes() == expected.astype(dtype).tobytes()


@at_levels()
@pytest.mark.parametrize("kind", ["", "add"])
@pytest.mark.parametrize("columns, changed", [(9, 12), (12, 12), (13, 16)])
def test_as_on_the_chip_the_last_16_bytes_of_a_row_change(
    kind: str, columns: int, changed: int, level: Any
):
    """Rows of a tensor end within them; docs/decisions.md."""
    text = reduction_kernel(kind or "add", "f32")
    text = text if kind else text.replace("tma.reduce add", "tma.store")
    source, before = elements_of(np.float32, (4, 16), 1), elements_of(np.float32, (4, 16), 2)
    whole = tw.TensorMap(source, box=(4, 16))
    narrow = tw.TensorMap(before.copy(), box=(4, 16), shape=(4, columns), strides=(16, 1))
    found = tw.interpret(text, grid=(1,), block=(32,), args=[whole, narrow], level=level)[1]
    expected = before.copy()
    written = MEANING[kind](before, source) if kind else source
    expected[:, :changed] = written[:, :changed]
    assert found.tobytes() == expected.tobytes()


@pytest.mark.usefixtures("unchecked")
@at_levels()
@pytest.mark.parametrize("left_out, words", [
    ("cute_nvgpu.cp.async.bulk.wait_group 0", "ends the kernel while"),
    ("cute_nvgpu.mbarrier.wait", "are ordered by no wait for the mbarrier"),
])  # fmt: skip
def test_faults_of_reductions(left_out: str, words: str, level: Any):
    lines = reduction_kernel("add", "f32").splitlines(keepends=True)
    text = "".join(line for line in lines if left_out not in line)
    args = [tw.TensorMap(np.zeros((8, 16), np.float32), box=(4, 16)) for _ in range(2)]
    with pytest.raises(tw.ExecutionError, match=words):
        tw.interpret(text, grid=(1,), block=(32,), args=args, level=level)


def by_every_thread(kind: str, element: str) -> str:
    """The kernel of reductions, all threads of the CTA issuing theirs."""
    head, _, tail = reduction_kernel(kind, element).rpartition("scf.if %first")
    return f"{head}%all = arith.constant true\n  scf.if %all{tail}"


@at_levels()
@pytest.mark.parametrize("kind, element", [("add", "f32"), ("xor", "i32"), ("inc", "i32")])
def test_a_reduction_that_every_thread_issues_is_refused(kind: str, element: str, level: Any):
    args = [tw.TensorMap(np.zeros((8, 16), DTYPES[element]), box=(4, 16)) for _ in range(2)]
    with pytest.raises(tw.ExecutionError, match=rf"one thread to reduce \({kind}\) a box, got"):
        tw.interpret(by_every_thread(kind, element), grid=(1,), block=(32,), args=args, level=level)


@at_levels()
def test_a_maximum_that_every_thread_issues_is_warned_of(level: Any):
    source = np.arange(128, dtype=np.float16).reshape(8, 16)
    args = [tw.TensorMap(source, box=(4, 16)), tw.TensorMap(np.zeros_like(source), box=(4, 16))]
    text = by_every_thread("max", "f16")
    with pytest.warns(UserWarning, match=r"expected one thread to reduce \(max\) a box, got"):
        found = tw.interpret(text, grid=(1,), block=(32,), args=args, level=level)[1]
    np.testing.assert_array_equal(found[:4], source[:4])


@at_levels()
def test_as_on_the_chip_a_box_starts_at_whole_chunks_of_a_row(level: Any):
    box, element, dtype, swizzle, extents, _ = CASES["swizzle 64"]
    tensor = np.zeros(extents, dtype)
    maps = [tw.TensorMap(tensor, box=box, swizzle=swizzle) for _ in range(2)]
    text = copy_kernel(box, element, swizzle, 2)
    args = [*maps, np.zeros(box, dtype).reshape(-1), 3, 5]
    message = r"innermost coordinate that is a multiple of 8 \(16 bytes\), got 5; nearest legal: 8"
    with pytest.raises(tw.ExecutionError, match=message):
        tw.interpret(text, grid=(1,), block=(512,), args=args, level=level)
