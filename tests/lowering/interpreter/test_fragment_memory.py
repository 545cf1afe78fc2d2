"""Vector accesses: both levels, and NumPy's word for it."""

from __future__ import annotations

import numpy as np
import pytest
from faults import fault
from fragment_kernels import LANE, WARP, both, fragment

from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, ElementType

ACCESSES = [
    (each, size)
    for each in ELEMENT_TYPES.values()
    for size in (4, 8, 16)
    if each.bits >= 8 and size * 8 >= each.bits
]


def kernel(type_: str, count: int) -> str:
    """Each thread's elements, through a swizzle of shared memory, to the place of its neighbour."""
    swizzle = f"S<1,{count.bit_length() - 1},2>"
    memory, smem = (
        f"memref<?x{type_}>",
        f'memref<{WARP * count}x{type_}, !cute.composed_layout<"{swizzle} o 0 o {WARP * count}:1">'
        ", #cute<space smem>>",
    )
    held = fragment(count, type_)
    return f"""func.func @k(%in: {memory}, %out: {memory}) attributes {{gpu.kernel}} {{
{LANE}  %s = memref.alloc() : {smem}
  %count = arith.constant {count} : index
  %c1 = arith.constant 1 : index
  %at = arith.muli %t, %count : index
  %other = arith.xori %t, %c1 : index
  %from = arith.muli %other, %count : index
  %f = cute_nvgpu.fragment.load %in[%at] : {memory} -> {held}
  cute_nvgpu.fragment.store %f, %s[%at] : {held}, {smem}
  "gpu.barrier"() : () -> ()
  %g = cute_nvgpu.fragment.load %s[%from] : {smem} -> {held}
  cute_nvgpu.fragment.store %g, %out[%at] : {held}, {memory}
  func.return
}}"""


@pytest.mark.parametrize("element, size", ACCESSES, ids=lambda each: getattr(each, "name", each))
def test_vector_accesses(element: ElementType, size: int):
    count = size * 8 // element.bits
    rng = np.random.default_rng(size)
    given = np.frombuffer(rng.bytes(WARP * size), f"u{element.bits // 8}").reshape(WARP, count)
    found = both(kernel(element.mlir, count), [given.ravel(), np.zeros_like(given).ravel()])[1]
    np.testing.assert_array_equal(found.reshape(WARP, count), given[np.arange(WARP) ^ 1])


VIEW = "memref<?xi32>"


@pytest.mark.parametrize("verb, op", [("read", "load"), ("write", "store")])
def test_misaligned_accesses(verb: str, op: str):
    """An index that is no multiple of the vector."""
    access = {
        "load": f"%f = cute_nvgpu.fragment.load %p[%c1] : {VIEW} -> {fragment(4, 'i32')} // HERE",
        "store": f"""%f = cute_nvgpu.fragment.splat %one : i32 -> {fragment(4, "i32")}
  cute_nvgpu.fragment.store %f, %p[%c1] : {fragment(4, "i32")}, {VIEW} // HERE""",
    }[op]
    use = f"cute_nvgpu.fragment.store %f, %p[%c0] : {fragment(4, 'i32')}, {VIEW}"
    fault(
        f"  {access}\n  {use if op == 'load' else ''}",
        f"cute_nvgpu.fragment.{op}",
        f"misaligned {verb}: byte 4 of 'p' is no multiple of 16",
    )


def test_a_race_of_vector_stores():
    """Neighbours write the same sixteen bytes."""
    smem = "memref<64xi32, #cute<space smem>>"
    fault(
        f"""  %c4 = arith.constant 4 : index
  %i = arith.index_cast %t : index to i32
  %f = cute_nvgpu.fragment.splat %i : i32 -> {fragment(4, "i32")}
  cute_nvgpu.fragment.store %f, %s[%c4] : {fragment(4, "i32")}, {smem} // HERE""",
        "cute_nvgpu.fragment.store",
        "race on shared memory: two threads of the op write one byte",
    )
