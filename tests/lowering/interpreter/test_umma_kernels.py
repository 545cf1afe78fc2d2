"""Kernels with tcgen05.mma at both levels, against `tilewright.simulate` of the instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from test_umma import CASES, atom_of, run
from umma_images import BITS, Images, Umma, build, chunk_bytes
from umma_kernels import UmmaKernel
from wgmma_kernels import Tile

import tilewright as tw
from tilewright.dialects.cute_nvgpu.ops.umma import tensor_type
from tilewright.ptxas import PtxasReport

COLUMNS = 376
HELD = {"f16": "f16", "bf16": "bf16", "tf32": "f32"}
DTYPES: dict[str, Any] = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "i8": np.uint8}
NAMES = {"D": "d", "A": "a", "E": "e", "SFA": "sfa", "SFB": "sfb"}
ADDRESSES = {"D": "d_tmem", "A": "a_tmem", "E": "sp_meta_tmem", "SFA": "scale_a_tmem",
             "SFB": "scale_b_tmem"}  # fmt: skip


def bits_in_memory(u: Umma, type_: str) -> int:
    return BITS[type_] if u.packed else max(BITS[type_], 8)


def tile_and_view(u: Umma, operand: Literal["A", "B"]) -> tuple[Tile, str]:
    """A K-major matrix under the 128-byte swizzle: as a tile of what a memref can hold, and as the
    descriptor sees it."""
    place = "AB".index(operand)
    type_ = u.types[place]
    rows, columns = atom_of(u).shared_extents(operand)
    held = HELD.get(type_, "i8")
    held_bits, bits = 8 * np.dtype(DTYPES[held]).itemsize, bits_in_memory(u, type_)
    layout = "S<3,{},3> o 0 o ({},{}):({},1)"
    width = 1024 // held_bits
    stored = layout.format(7 - (held_bits.bit_length() - 1), rows, width, width)
    seen = layout.format(7 - (bits.bit_length() - 1), rows, columns, 1024 // bits)
    element = atom_of(u).element(operand)
    unpacked = ", unpacked" if element.padded and element.width == 4 else ""
    view = (
        f'!cute_nvgpu.smem_desc_view<{rows}x{columns}x{element.mlir}{unpacked}, tcgen05, "{seen}">'
    )
    return Tile(operand.lower(), (rows, width), stored, held), view


def as_bytes(u: Umma, operand: Literal["A", "B"], words: NDArray[Any]) -> NDArray[Any]:
    """A matrix as its tile holds it: whole rows of 128 bytes, flat."""
    type_ = u.types["AB".index(operand)]
    rows = np.zeros((len(words), 128), dtype=np.uint8)
    per_chunk = 128 // bits_in_memory(u, type_)
    for row, line in enumerate(words):
        for chunk in range(len(line) // per_chunk):
            part = line[chunk * per_chunk : (chunk + 1) * per_chunk]
            rows[row, 16 * chunk : 16 * chunk + 16] = chunk_bytes(part, type_, u.packed)
    dtype = DTYPES[HELD.get(type_, "i8")]
    held = rows.view(dtype).reshape(-1)
    return held.view(np.int8) if dtype is np.uint8 else held


def kernel(u: Umma, images: Images, more: str = "enable_input_d %more") -> UmmaKernel:
    atom = atom_of(u)
    a, a_view = tile_and_view(u, "A")
    b, b_view = tile_and_view(u, "B")
    types = {name: tensor_type(atom, name) for name in atom.tmem_operands}
    inputs, held = ["%d", "%a" if u.a_in_tmem else "%ad", "%bd"], [types["D"]]
    held += [types["A"] if u.a_in_tmem else a_view, b_view]
    if u.sparse:
        inputs.append(f"%e[{u.selector}]")
        held.append(types["E"])
    if u.scale_type is not None:
        inputs += [f"%sfa[{u.ids[0]}]", f"%sfb[{u.ids[1]}]"]
        held += [types["SFA"], types["SFB"]]
    body = (
        f"    cute_nvgpu.{atom.op} {', '.join(inputs)} {more} <{atom.parameters}> : "
        f"{', '.join(held)}"
    )
    tensors = tuple(
        (NAMES[name], types[name], 0, images.addresses[ADDRESSES[name]]) for name in types
    )
    return UmmaKernel(
        None if u.a_in_tmem else a, b, a_view, b_view, tensors, body, COLUMNS, u.cta_group
    )


def execute(
    u: Umma, images: Images, text: str, level: Literal["atom", "ptx"], arch: str = "sm_100a"
) -> NDArray[np.uint32]:
    """Tensor memory after: uint32 [lanes of all CTAs, columns]."""
    given = [] if u.a_in_tmem else [as_bytes(u, "A", images.a)]
    cells = np.ascontiguousarray(images.tmem[:, :, :COLUMNS]).view(np.int32).reshape(-1)
    lanes = 128 * u.cta_group
    out = tw.interpret(
        text, grid=(u.cta_group,), block=(128,), arch=arch, level=level,
        args=[*given, as_bytes(u, "B", images.b), cells, np.zeros(lanes * COLUMNS, np.int32)],
    )[-1]  # fmt: skip
    return out.view(np.uint32).reshape(lanes, COLUMNS)


PLACED = (
    "f16", "f16-into-f16", "tf32", "e4m3-e5m2", "e2m3-e3m2", "s8-u8", "f16-tmem", "e2m1-tmem",
    "sp-f16", "sp-bf16-selector", "sp-e4m3", "ws-32", "ws-sp-64-e4m3", "mxf8f6f4-id", "mxf4",
    "mxf4nvf4", "mxf4-sp", "pair-256", "pair-128", "pair-128-tmem", "pair-256-i8", "mxf8f6f4-pair",
    "mxf4nvf4-pair-128", "mxf4nvf4-k96",
)  # fmt: skip


@pytest.mark.parametrize("level", ["atom", "ptx"])
@pytest.mark.parametrize("name", PLACED)
def test_a_kernel_does_what_the_instruction_does(name: str, level: Any) -> None:
    u = CASES[name]
    images = build(u)
    arch = "sm_103a" if u.k == 96 else "sm_100a"
    found = execute(u, images, kernel(u, images).text(), level, arch)
    wanted = run(u, images, "hardware").reshape(-1, 512)
    np.testing.assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_modifiers(level: Any) -> None:
    u = CASES["f16"]
    images = build(u)
    words = "\n".join(
        f"    %m{i} = arith.constant {value} : i32" for i, value in enumerate((5, -1, 0, 1 << 30))
    )
    more = (
        "enable_input_d %more scale_input_d 2 disable_output_lane (%m0, %m1, %m2, %m3) negate_b "
        'collector "a::fill"'
    )
    made = kernel(u, images, more)
    found = execute(u, images, replace(made, body=f"{words}\n{made.body}").text(), level)
    idesc = atom_of(u).descriptor(negated=(False, True)).encode()
    wanted = run(u, images, "hardware", idesc=idesc, scale_input_d=2,
                 disable_output_lane=[5, 0xFFFFFFFF, 0, 1 << 30])  # fmt: skip
    np.testing.assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_the_first_step_ignores_d(level: Any) -> None:
    u = CASES["f16"]
    images = build(u)
    found = execute(u, images, kernel(u, images, "enable_input_d %never").text(), level)
    wanted = run(u, images, "hardware", enable_input_d=False)
    np.testing.assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_columns_that_count_as_zeros(level: Any) -> None:
    u = replace(CASES["ws-32"])
    images = build(u)
    word = 1 << 8 | 1 << 33 | 1 << 39 | 1 << 40 | 2 << 48
    made = kernel(u, images, 'zero_column_mask %mask collector "b2::discard"')
    body = f"    %mask = arith.constant {word} : i64\n{made.body}"
    found = execute(u, images, replace(made, body=body).text(), level)
    wanted = run(u, images, "hardware", zero_column_mask_desc=word)
    np.testing.assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_memory_that_no_fence_ordered(level: Any) -> None:
    u = CASES["f16"]
    images = build(u)
    text = kernel(u, images).text().replace("  cute_nvgpu.fence.proxy.async\n", "")
    with pytest.raises(tw.ExecutionError, match=r"sm100.mma|tcgen05.mma"):
        execute(u, images, text, level)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_a_result_that_nobody_waited_for(level: Any) -> None:
    u = CASES["f16"]
    images = build(u)
    lines = kernel(u, images).text().splitlines(keepends=True)
    text = "".join(line for line in lines if "mbarrier.wait" not in line)
    message = "read of tensor memory that .*mma.* writes, and no wait for the mbarrier"
    with pytest.raises(tw.ExecutionError, match=message):
        execute(u, images, text, level)


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_two_threads_that_issue_one_mma(level: Any) -> None:
    """The second one's D is not ordered after the first one's."""
    u = CASES["f16"]
    images = build(u)
    text = kernel(u, images).text()
    before, after = text.split("  scf.if %issues {", 1)
    text = f"{before}  scf.if %leads {{{after}"
    with pytest.raises(tw.ExecutionError, match=r"tensor memory that .*mma.* writes"):
        execute(u, images, text, level)


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_a_shifted_a_is_not_modelled(level: Any) -> None:
    u = CASES["f16-tmem"]
    images = build(u)
    with pytest.raises(tw.ExecutionError, match="a shifted A is not modelled"):
        execute(u, images, kernel(u, images, "ashift").text(), level)


@pytest.mark.parametrize("level", ["atom", "ptx"])
def test_an_operand_outside_of_tensor_memory(level: Any) -> None:
    u = CASES["f16"]
    images = build(u)
    made = kernel(u, images)
    tensors = ((*made.tensors[0][:3], 8),)
    text = replace(made, tensors=tensors).text().replace(
        "    %dc = arith.constant 8 : index", "    %dc = arith.addi %columns, %c128 : index"
    )  # fmt: skip
    with pytest.raises(tw.ExecutionError, match=r"out of bounds|nothing has written"):
        execute(u, images, text, level)


@pytest.mark.parametrize("name", ["f16", "e2m1-tmem", "sp-f16", "mxf4nvf4", "pair-256"])
def test_the_kernels_assemble(name: str, ptxas: Callable[..., PtxasReport]) -> None:
    u = CASES[name]
    text = tw.compile(kernel(u, build(u)).text(), arch="sm_100a").ptx
    assert "tcgen05.mma" in text
    report = ptxas(text, "sm_100a")
    assert report.ok and not report.warnings
