"""One tcgen05.mma with its operands in place, as an atom and as a kernel."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from umma_images import BITS, Images, Umma, chunk_bytes
from umma_kernels import UmmaKernel
from wgmma_kernels import Tile

import tilewright as tw
from tilewright.dialects.cute_nvgpu.ops.umma import tensor_type


def atom_of(u: Umma) -> Any:
    scaled = u.scale_type is not None
    if u.ws:
        op = "sm100.mma_ws_sp" if u.sparse else "sm100.mma_ws"
    else:
        op = f"sm100.mma{'_bs' if scaled else ''}{'_sp' if u.sparse else ''}"
    more: dict[str, Any] = {}
    if scaled:
        four = "mxf4" if u.vector in (2, 3) and u.scale_type == "ue8m0" else "mxf4nvf4"
        more = {"kind": four if u.packed else "mxf8f6f4", "scale_vector": u.vector,
                "scale_type": u.scale_type}  # fmt: skip
    return tw.atom(
        op, shape=(u.m, u.n, u.k), elem_type=u.types, cta_group=u.cta_group, ab_major=u.majors,
        frag_kind="ts" if u.a_in_tmem else "ss", **more,
    )  # type: ignore[arg-type]  # fmt: skip


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
