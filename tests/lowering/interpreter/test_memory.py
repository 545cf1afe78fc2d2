"""Loads and stores through every kind of layout: both levels put each element where it belongs."""

from __future__ import annotations

import numpy as np
import pytest
from both_levels import both
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.dialects.cute import parse_layout

SMEM = "#cute<space smem>"
IDS = '  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
          "index": "int64", "f16": "float16", "bf16": "uint16", "f32": "float32",
          "f64": "float64"}  # fmt: skip


def numbered(type_: str, *shape: int) -> np.ndarray:
    """An array whose elements all differ, as far as the type lets them."""
    count = int(np.prod(shape))
    if type_ == "i1":
        return default_rng(count).integers(0, 2, shape).astype(bool)
    return np.arange(1, count + 1).astype(DTYPES[type_]).reshape(shape)


def round_trip(type_: str, shape: tuple[int, int], source: str, tile: str) -> str:
    """Global memory -> a shared tile -> global memory; the second half by other threads."""
    rows, columns = shape
    plain = f"memref<{rows}x{columns}x{type_}>"
    return f"""func.func @k(%in: {source}, %out: {plain}) attributes {{gpu.kernel}} {{
{IDS}  %s = memref.alloc() : {tile}
  %step = arith.constant 64 : index
  %columns = arith.constant {columns} : index
  %last = arith.constant {rows * columns - 1} : index
  %end = arith.constant {rows * columns} : index
  scf.for %e = %t to %end step %step {{
    %r = arith.divui %e, %columns : index
    %c = arith.remui %e, %columns : index
    %v = memref.load %in[%r, %c] : {source}
    memref.store %v, %s[%r, %c] : {tile}
  }}
  "gpu.barrier"() : () -> ()
  scf.for %f = %t to %end step %step {{
    %e = arith.subi %last, %f : index
    %r = arith.divui %e, %columns : index
    %c = arith.remui %e, %columns : index
    %v = memref.load %s[%r, %c] : {tile}
    memref.store %v, %out[%r, %c] : {plain}
  }}
  func.return
}}"""


LAYOUTS = [
    "",
    "strided<[1, 16]>",
    "strided<[13, 1]>",
    "strided<[2, 33]>",
    '!cute.layout<"(16,12):(1,16)">',
    '!cute.layout<"(16,12):(12,1)">',
    '!cute.layout<"((4,4),(2,6)):((1,8),(4,32))">',
    '!cute.layout<"((2,2,4),(3,4)):((4,1,48),(16,200))">',
    '!cute.composed_layout<"S<2,0,3> o 0 o (16,12):(12,1)">',
    '!cute.composed_layout<"S<3,0,-3> o 0 o (16,12):(12,1)">',
    '!cute.composed_layout<"S<1,2,2> o 5 o ((4,4),12):((1,48),4)">',
    '!cute.composed_layout<"S<2,1,2> o 0 o (16,(3,4)):(64,(4,16))">',
]


@pytest.mark.covered
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("type_", ["i8", "f16", "f32", "f64"])
def test_a_shared_tile_of_any_layout(layout: str, type_: str):
    shape = (16, 12)
    tile = f"memref<16x12x{type_}{', ' + layout if layout else ''}, {SMEM}>"
    matrix = numbered(type_, *shape)
    text = round_trip(type_, shape, f"memref<16x12x{type_}>", tile)
    found = both(text, [matrix, np.zeros_like(matrix)])
    assert_array_equal(found[1], matrix)


@pytest.mark.parametrize("type_", DTYPES)
def test_a_shared_tile_of_any_element(type_: str):
    matrix = numbered(type_, 8, 8)
    text = round_trip(type_, (8, 8), f"memref<8x8x{type_}>", f"memref<8x8x{type_}, {SMEM}>")
    found = both(text, [matrix, np.zeros_like(matrix)])
    assert_array_equal(found[1], matrix)


PLACES = [
    "(16,16):(1,16)",
    "((4,4),(2,8)):((1,8),(4,32))",
    "S<2,0,3> o 0 o (16,16):(16,1)",
    "S<2,3,3> o 0 o (16,16):(1,16)",
    "S<3,1,-3> o 0 o (16,(4,4)):(4,(1,64))",
]


# No plain view of a swizzled tile can be taken, so in shared memory only the others are seen.
@pytest.mark.parametrize(
    "space, layout",
    [(space, each) for space in ("global", "shared") for each in PLACES
     if space == "global" or each[0] != "S"],
)  # fmt: skip
def test_elements_lie_where_the_layout_says(space: str, layout: str):
    """Written through the layout, read back byte by byte in order."""
    kind = "composed_layout" if layout[0] == "S" else "layout"
    attribute = f'!cute.{kind}<"{layout}">'
    tile = f"memref<16x16xi16, {attribute}{', ' + SMEM if space == 'shared' else ''}>"
    flat = f"memref<256xi16{', ' + SMEM if space == 'shared' else ''}>"
    make = f"%s = memref.alloc() : {tile}" if space == "shared" else ""
    dump = "" if space == "global" else f"""
  "gpu.barrier"() : () -> ()
  %flat = memref.reinterpret_cast %s to offset: [0], sizes: [256], strides: [1] : {tile} to {flat}
  scf.for %e = %t to %end step %step {{
    %v = memref.load %flat[%e] : {flat}
    memref.store %v, %out[%e] : memref<?xi16>
  }}"""  # fmt: skip
    second = "%out: memref<?xi16>" if space == "shared" else f"%s: {tile}"
    text = f"""func.func @k(%in: memref<16x16xi16>, {second}) attributes {{gpu.kernel}} {{
{IDS}  {make}
  %step = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %end = arith.constant 256 : index
  scf.for %e = %t to %end step %step {{
    %r = arith.divui %e, %c16 : index
    %c = arith.remui %e, %c16 : index
    %v = memref.load %in[%r, %c] : memref<16x16xi16>
    memref.store %v, %s[%r, %c] : {tile}
  }}{dump}
  func.return
}}"""
    matrix = numbered("i16", 16, 16)
    out = np.zeros(256, np.int16) if space == "shared" else np.zeros((16, 16), np.int16)
    found = both(text, [matrix, out])[1].ravel()
    place = parse_layout(layout)
    expected = np.zeros(256, np.int16)
    for r, c in np.ndindex(16, 16):
        expected[place(r, c)] = matrix[r, c]
    assert_array_equal(found, expected)


def test_constant_coordinates_in_a_swizzled_tile():
    tile = f'memref<8x8xi32, !cute.composed_layout<"S<3,0,3> o 0 o (8,8):(8,1)">, {SMEM}>'
    lines = [f"  %c{n} = arith.constant {n} : index" for n in range(8)]
    for r, c in np.ndindex(8, 8):
        lines += [
            f"  %v{r}{c} = memref.load %in[%c{r}, %c{c}] : memref<8x8xi32>",
            f"  memref.store %v{r}{c}, %s[%c{r}, %c{c}] : {tile}",
        ]
    text = f"""func.func @k(%in: memref<8x8xi32>, %out: memref<8x8xi32>)
    attributes {{gpu.kernel, "gpu.known_block_size" = array<i32: 1, 1, 1>}} {{
{IDS}  %s = memref.alloc() : {tile}
{chr(10).join(lines)}
  scf.for %r = %c0 to %c7 step %c1 {{
    scf.for %c = %c0 to %c7 step %c1 {{
      %v = memref.load %s[%r, %c] : {tile}
      memref.store %v, %out[%r, %c] : memref<8x8xi32>
    }}
  }}
  func.return
}}"""
    matrix = numbered("i32", 8, 8)
    found = both(text, [matrix, np.zeros_like(matrix)], block=(1,))
    assert_array_equal(found[1][:7, :7], matrix[:7, :7])


def test_stages_of_a_swizzled_buffer():
    tile = f'memref<3x8x8xi16, !cute.composed_layout<"S<2,1,3> o 0 o (3,8,8):(64,8,1)">, {SMEM}>'
    text = f"""func.func @k(%in: memref<3x8x8xi16>, %out: memref<3x8x8xi16>)
    attributes {{gpu.kernel}} {{
{IDS}  %s = memref.alloc() : {tile}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %r = arith.divui %t, %c8 : index
  %c = arith.remui %t, %c8 : index
  scf.for %stage = %c0 to %c3 step %c1 {{
    %v = memref.load %in[%stage, %r, %c] : memref<3x8x8xi16>
    memref.store %v, %s[%stage, %r, %c] : {tile}
  }}
  "gpu.barrier"() : () -> ()
  scf.for %stage = %c0 to %c3 step %c1 {{
    %back = arith.subi %c2, %stage : index
    %v = memref.load %s[%back, %c, %r] : {tile}
    memref.store %v, %out[%stage, %r, %c] : memref<3x8x8xi16>
  }}
  func.return
}}"""
    stages = numbered("i16", 3, 8, 8)
    found = both(text, [stages, np.zeros_like(stages)])
    assert_array_equal(found[1], stages[::-1].transpose(0, 2, 1))


def test_views_of_one_pointer_with_sizes_and_offsets_known_at_run_time():
    view = "memref<?x?xf32, strided<[?, 1], offset: ?>>"
    text = f"""func.func @k(%p: memref<?xf32>, %q: memref<?xf32>,
                 %m: i32, %n: i32, %ld: i32, %first: i32)
    attributes {{gpu.kernel}} {{
{IDS}  %rows = arith.index_cast %m : i32 to index
  %columns = arith.index_cast %n : i32 to index
  %lead = arith.index_cast %ld : i32 to index
  %offset = arith.index_cast %first : i32 to index
  %a = memref.reinterpret_cast %p to offset: [%offset], sizes: [%rows, %columns],
      strides: [%lead, 1] : memref<?xf32> to {view}
  %b = memref.reinterpret_cast %q to offset: [0], sizes: [%columns, %rows],
      strides: [%rows, 1] : memref<?xf32> to {view}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mine = arith.cmpi slt, %t, %rows : index
  scf.if %mine {{
    scf.for %c = %c0 to %columns step %c1 {{
      %v = memref.load %a[%t, %c] : {view}
      memref.store %v, %b[%c, %t] : {view}
    }}
  }}
  func.return
}}"""
    rng = default_rng(0)
    for m, n, lead, first in ((5, 7, 7, 0), (40, 3, 11, 4), (64, 1, 2, 1), (1, 9, 9, 6)):
        memory = rng.standard_normal(first + m * lead + 3).astype(np.float32)
        rows = memory[first : first + m * lead].reshape(m, lead)[:, :n]
        found = both(text, [memory, np.zeros(n * m, np.float32), m, n, lead, first])
        assert_array_equal(found[1].reshape(n, m), rows.T)


def test_a_view_at_an_offset_per_thread():
    view = "memref<4xi64, strided<[3], offset: ?>>"
    text = f"""func.func @k(%p: memref<?xi64>, %q: memref<64xi64>) attributes {{gpu.kernel}} {{
{IDS}  %a = memref.reinterpret_cast %p to offset: [%t], sizes: [4], strides: [3]
      : memref<?xi64> to {view}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (i64) {{
    %v = memref.load %a[%k] : {view}
    %n = arith.addi %s, %v : i64
    scf.yield %n : i64
  }}
  memref.store %sum, %q[%t] : memref<64xi64>
  func.return
}}"""
    memory = default_rng(0).integers(-9, 9, 80)
    found = both(text, [memory, np.zeros(64, np.int64)])
    assert_array_equal(found[1], [memory[t : t + 10 : 3].sum() for t in range(64)])


def test_arguments_of_no_and_of_many_dimensions():
    text = f"""func.func @k(%one: memref<f32>, %many: memref<?x2x4x8xf32>)
    attributes {{gpu.kernel}} {{
{IDS}  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %b = arith.remui %t, %c8 : index
  %a = arith.divui %t, %c8 : index
  %x = memref.load %one[] : memref<f32>
  %y = memref.load %many[%c2, %c1, %c3, %b] : memref<?x2x4x8xf32>
  %z = arith.addf %x, %y : f32
  memref.store %z, %many[%a, %c1, %c2, %b] : memref<?x2x4x8xf32>
  func.return
}}"""
    many = numbered("f32", 8, 2, 4, 8)
    found = both(text, [np.array(0.5, np.float32), many])
    expected = many.copy()
    expected[:, 1, 2, :] = many[2, 1, 3] + np.float32(0.5)
    assert_array_equal(found[1], expected)
    assert found[0].shape == () and found[0] == 0.5


def test_scalars_of_every_type_as_arguments():
    types = [each for each in DTYPES if each != "index"]
    arguments = ", ".join(f"%a{n}: {each}, %o{n}: memref<1x{each}>" for n, each in enumerate(types))
    stores = "\n".join(
        f"  memref.store %a{n}, %o{n}[%c0] : memref<1x{each}>" for n, each in enumerate(types)
    )
    text = f"""func.func @k({arguments}) attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
{stores}
  func.return
}}"""
    numbers = {"i1": 1, "i8": -100, "i16": 40000, "i32": -(1 << 31), "i64": (1 << 64) - 3,
               "f16": 1.5, "bf16": -2.5, "f32": np.inf, "f64": 0.1}  # fmt: skip
    args = [each for type_ in types for each in (numbers[type_], np.zeros(1, DTYPES[type_]))]
    found = dict(zip(types, both(text, args, block=(1,)), strict=True))
    assert [found[each][0] for each in ("i1", "i8", "i16", "i32", "i64")] == [
        True, -100, 40000 - 65536, -(1 << 31), -3]  # fmt: skip
    assert [found[each][0] for each in ("f16", "f32", "f64")] == [1.5, np.inf, 0.1]
    assert found["bf16"][0] == 0xC020


def test_two_tiles_do_not_overlap_whatever_they_ask_for():
    first, second = f"memref<5xi8, {SMEM}>", f"memref<64xi32, {SMEM}>"
    text = f"""func.func @k(%out: memref<64xi32>) attributes {{gpu.kernel}} {{
{IDS}  %a = memref.alloc() {{alignment = 8 : i64}} : {first}
  %b = memref.alloc() {{alignment = 256 : i64}} : {second}
  %c5 = arith.constant 5 : index
  %few = arith.cmpi ult, %t, %c5 : index
  %n = arith.index_cast %t : index to i32
  memref.store %n, %b[%t] : {second}
  scf.if %few {{
    %ones = arith.constant -1 : i8
    memref.store %ones, %a[%t] : {first}
  }}
  %v = memref.load %b[%t] : {second}
  memref.store %v, %out[%t] : memref<64xi32>
  func.return
}}"""
    assert_array_equal(both(text, [np.zeros(64, np.int32)])[0], np.arange(64))
    # 128-aligned at least: 5 bytes, then 64 words at 256.
    assert tw.compile(text, "sm_80").shared_bytes == 256 + 256


def test_reinterpret_cast_counts_offsets_from_the_buffer():
    """A view of a view starts where its own offset says, as MLIR has it."""
    text = """func.func @k(%p: memref<?xi32>, %q: memref<?xi32>) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %a = memref.reinterpret_cast %p to offset: [3], sizes: [4], strides: [1]
     : memref<?xi32> to memref<4xi32, strided<[1], offset: 3>>
  %b = memref.reinterpret_cast %a to offset: [5], sizes: [2], strides: [1]
     : memref<4xi32, strided<[1], offset: 3>> to memref<2xi32, strided<[1], offset: 5>>
  %v = memref.load %b[%zero] : memref<2xi32, strided<[1], offset: 5>>
  memref.store %v, %q[%zero] : memref<?xi32>
  func.return
}"""
    args = [np.arange(8, dtype=np.int32), np.zeros(1, np.int32)]
    for level in ("atom", "ptx"):
        found = tw.interpret(text, grid=(1,), block=(1,), args=args, level=level)
        assert found[1].tolist() == [5]


def test_a_kernel_argument_has_no_offset_of_its_own():
    text = """func.func @k(%p: memref<4xi32, strided<[1], offset: 2>>) attributes {gpu.kernel} {
  func.return
}"""
    with pytest.raises(tw.CompileError, match="expected no offset; nearest legal"):
        tw.compile(text, "sm_80")
