"""Fragments and asynchronous copies: both levels, and NumPy's word for it."""

from __future__ import annotations

import numpy as np
import pytest
from fragment_kernels import LANE, WARP, Code, both, fragment, words_of
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType

SMEM = "#cute<space smem>"


# Building fragments and taking them apart


WHOLE_BYTES = [each for each in ELEMENT_TYPES.values() if each.bits >= 8]


@pytest.mark.parametrize("element", WHOLE_BYTES, ids=lambda each: each.name)
def test_fragment_ops(element: ElementType):
    """On four registers: every op, then back to words."""
    width, type_, word = element.per_register, element.mlir, words_of(element)
    count = 4 * width
    code = Code()
    whole = fragment(count, type_)
    value = code.cast(code.load_words(4, word), fragment(4, word), whole)
    picked = code.extract(value, count - 1, count, type_)
    first = code.extract(value, 0, count, type_)
    inserted = value
    for position in range(0, count, 3):
        inserted = code.add(
            f"cute_nvgpu.fragment.insert {picked}, {inserted}[{position}] : {type_}, {whole} "
            f"-> {whole}"
        )
    part = code.add(
        f"cute_nvgpu.fragment.slice {value}[{width}] : {whole} -> {fragment(2 * width, type_)}"
    )
    rest = code.add(
        f"cute_nvgpu.fragment.slice {value}[0] : {whole} -> {fragment(2 * width, type_)}"
    )
    swapped = code.add(
        f"cute_nvgpu.fragment.concat {part}, {rest} : {fragment(2 * width, type_)}, "
        f"{fragment(2 * width, type_)} -> {whole}"
    )
    splat = code.add(f"cute_nvgpu.fragment.splat {first} : {type_} -> {fragment(width, type_)}")
    scalars = [code.extract(value, n, count, type_) for n in reversed(range(count))]
    backwards = code.add(
        f"cute_nvgpu.fragment.from_elements {', '.join(scalars)} : {', '.join([type_] * count)} "
        f"-> {whole}"
    )
    sixteen = code.index(16)
    low = code.add(f"arith.cmpi ult, %t, {sixteen} : index")
    chosen = code.add(f"arith.select {low}, {value}, {backwards} : {whole}")
    for each, registers in (
        (inserted, 4),
        (part, 2),
        (splat, 1),
        (backwards, 4),
        (chosen, 4),
        (swapped, 4),
    ):
        bits = code.cast(each, fragment(registers * width, type_), fragment(registers, word))
        code.store_words(bits, registers, word)

    rng = default_rng(element.bits)
    held = np.frombuffer(rng.bytes(WARP * count * element.bits // 8), f"u{element.bits // 8}")
    held = held.reshape(WARP, count)
    dtype = np.uint64 if word == "f64" else np.uint32
    sizes = (4, 4, 2, 1, 4, 4, 4)
    args = [held.view(dtype), *(np.zeros((WARP, size), dtype) for size in sizes[1:])]
    found = [each.view(held.dtype) for each in both(code.text(), args)[1:]]

    changed = held.copy()
    changed[:, ::3] = held[:, -1:]
    assert_array_equal(found[0], changed)
    assert_array_equal(found[1], held[:, width : 3 * width])
    assert_array_equal(found[2], np.repeat(held[:, :1], width, axis=1))
    assert_array_equal(found[3], held[:, ::-1])
    thread = np.arange(WARP)[:, None]
    assert_array_equal(found[4], np.where(thread < 16, held, held[:, ::-1]))
    halves = held[:, width : 3 * width], held[:, : 2 * width]
    assert_array_equal(found[5], np.concatenate(halves, axis=1))


def test_fragments_as_carried_values():
    quad, pair = fragment(4, "f32"), fragment(8, "f16")
    code = Code()
    floats = code.cast(code.load_words(4, "i32"), fragment(4, "i32"), quad)
    halves = code.cast(code.load_words(4, "i32"), fragment(4, "i32"), pair)
    one, zero = code.index(1), code.index(0)
    code.do(f"""%f, %h = scf.for %k = {zero} to %t step {one}
      iter_args(%a = {floats}, %b = {halves}) -> ({quad}, {pair}) {{
    %x = cute_nvgpu.fragment.extract %a[0] : {quad} -> f32
    %y = cute_nvgpu.fragment.extract %a[1] : {quad} -> f32
    %s = arith.addf %x, %y : f32
    %c = cute_nvgpu.fragment.insert %s, %a[2] : f32, {quad} -> {quad}
    %d = scf.if %odd -> ({pair}) {{
      %p = cute_nvgpu.fragment.extract %b[7] : {pair} -> f16
      %q = cute_nvgpu.fragment.insert %p, %b[0] : f16, {pair} -> {pair}
      scf.yield %q : {pair}
    }} else {{
      scf.yield %b : {pair}
    }}
    scf.yield %c, %d : {quad}, {pair}
  }}""")
    code.lines.insert(1, "  %two = arith.constant 2 : index")
    code.lines.insert(2, "  %bit = arith.remui %t, %two : index")
    code.lines.insert(3, "  %none = arith.constant 0 : index")
    code.lines.insert(4, "  %odd = arith.cmpi ne, %bit, %none : index")
    for name, type_ in (("%f", quad), ("%h", pair)):
        code.store_words(code.cast(name, type_, fragment(4, "i32")), 4, "i32")
    rng = default_rng(0)
    f = rng.standard_normal((WARP, 4)).astype(np.float32)
    h = rng.standard_normal((WARP, 8)).astype(np.float16)
    args = [f.view(np.uint32), h.view(np.uint32), *np.zeros((2, WARP, 4), np.uint32)]
    found = both(code.text(), args)[2:]
    f[1:, 2] = f[1:, 0] + f[1:, 1]
    h[1::2, 0] = h[1::2, 7]
    assert_array_equal(found[0].view(np.float32), f)
    assert_array_equal(found[1].view(np.float16), h)


# cp.async


@pytest.mark.covered
@pytest.mark.parametrize("size, cache", [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("type_", ["i8", "f16", "f32", "f64"])
def test_cp_async(size: int, cache: str, fill: bool, type_: str):
    """Each thread copies `size` bytes, of which it reads `fill`; the rest becomes zeros."""
    width = {"i8": 1, "f16": 2, "f32": 4, "f64": 8}[type_]
    if size < width:
        with pytest.raises(tw.CompileError, match=f"elements of at most {size} bytes"):
            tw.compile(cp_async_kernel(size, cache, fill, type_, width), "sm_80")
        return
    text = cp_async_kernel(size, cache, fill, type_, width)
    rng = default_rng(size)
    source = np.frombuffer(rng.bytes(WARP * size), f"u{width}")
    counts = rng.integers(0, size + 1, WARP).astype(np.int32)
    if not fill:
        counts[:] = size
    else:
        # The last thread reads nothing, from nowhere.
        counts[-1], source = 0, source[: -(size // width)]
    found = both(text, [source, np.zeros(WARP * size // width, source.dtype), counts])[1]
    expected = np.zeros((WARP, size), np.uint8)
    data = source.view(np.uint8)
    for thread, count in enumerate(counts):
        expected[thread, :count] = data[thread * size :][:count]
    assert_array_equal(found.view(np.uint8).reshape(WARP, size), expected)


def cp_async_kernel(size: int, cache: str, fill: bool, type_: str, width: int) -> str:
    count = max(size // width, 1)
    source, tile = f"memref<?x{type_}>", f"memref<{WARP * count}x{type_}, {SMEM}>"
    return f"""func.func @k(%in: {source}, %out: {source}, %counts: memref<32xi32>)
    attributes {{gpu.kernel}} {{
{LANE}  %s = memref.alloc() : {tile}
  %n = memref.load %counts[%t] : memref<32xi32>
  %count = arith.constant {count} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %at = arith.muli %t, %count : index
  cute_nvgpu.cp.async %in[%at] to %s[%at] size {size} cache {cache} {"fill %n" if fill else ""}
    : {source} to {tile}
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  "gpu.barrier"() : () -> ()
  %other = arith.subi %c31, %t : index
  %from = arith.muli %other, %count : index
  scf.for %k = %c0 to %count step %c1 {{
    %e = arith.addi %from, %k : index
    %v = memref.load %s[%e] : {tile}
    memref.store %v, %out[%e] : {source}
  }}
  func.return
}}"""


def test_groups_of_copies_complete_in_order():
    """Three groups in flight; each wait lets one more of them be read."""
    tile = f"memref<3x32xi32, {SMEM}>"
    code = Code()
    source, out = code.argument("memref<3x32xi32>"), code.argument("memref<3x32xi32>")
    code.do(f"%s = memref.alloc() : {tile}")
    for group in range(3):
        at = code.index(group)
        code.do(f"cute_nvgpu.cp.async {source}[{at}, %t] to %s[{at}, %t] size 4 cache ca "
                f": memref<3x32xi32> to {tile}")  # fmt: skip
        code.do("cute_nvgpu.cp.async.commit_group")
    for group in range(3):
        at = code.index(group)
        code.do(f"cute_nvgpu.cp.async.wait_group {2 - group}")
        value = code.add(f"memref.load %s[{at}, %t] : {tile}")
        code.do(f"memref.store {value}, {out}[{at}, %t] : memref<3x32xi32>")
    given = np.arange(96, dtype=np.int32).reshape(3, 32)
    assert_array_equal(both(code.text(), [given, np.zeros_like(given)])[1], given)
