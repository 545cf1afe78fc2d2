"""Kernels of one `wmma.load` or `wmma.store` each, for one warp, and their inputs."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from kernels import Code
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_SPACES, WmmaSpace
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.dialects.ptx.scalars import AddOp
from tilewright.dialects.ptx.synchronization import WarpSyncOp
from tilewright.dialects.ptx.wmma import LoadOp, StoreOp

WARP = 32


def accesses_of(arch: str) -> list[tuple[str, WmmaAccess, WmmaSpace]]:
    """Every load and store that the target runs, in every space that we emit; and its name."""
    return [
        (access.mnemonic(space), access, space)
        for row in WMMA_ACCESS
        if target(arch).supports(row.target)
        for access in (WmmaAccess(row, major) for major in row.majors)
        for space in WMMA_SPACES
    ]


def stride_of(access: WmmaAccess, space: WmmaSpace) -> int:
    """A legal stride, in elements, that leaves a gap between rows (columns): of a fragment, or a
    row."""
    _, length = access.lines
    kind, count = access.row.registers
    gap = min(count * register_bits(kind), length * access.element.bits)
    return length + max(gap, access.alignment(space) * 8) // access.element.bits


def access_arguments(access: WmmaAccess, space: WmmaSpace) -> list[NDArray[np.uint32]]:
    """Random words of the memory, [32, words], and of the fragment, [32, words]."""
    rng = np.random.default_rng(zlib.crc32(access.mnemonic().encode()))
    lines, _ = access.lines
    memory = lines * stride_of(access, space) * access.element.bits // 32
    kind, count = access.row.registers
    sizes = (-(-memory // WARP), count * register_bits(kind) // 32)
    return [rng.integers(0, 1 << 32, (WARP, size), dtype=np.uint32) for size in sizes]


def access_result(access: WmmaAccess, outputs: list[Any]) -> NDArray[Any]:
    """What it wrote: the fragment of a load, the memory of a store."""
    return outputs[1] if access.op == "wmma.load" else outputs[0]


def access_kernel(access: WmmaAccess, space: WmmaSpace) -> ModuleOp:
    """One access to memory in that space, where each thread keeps its share of the words."""
    code = Code(2)
    memory, words = code.block.args[0], access_arguments(access, space)[0].shape[1]
    if space == "global":
        _access(code, access, space, code.start(memory))
        return code.module("access")
    shared = code.add(SharedAddressOp(0))
    offset = code.offset(4 * words, "u32")
    own = code.add(AddOp("u32", [shared, offset]))
    outside = code.element(memory, 4 * words)
    _copy(code, words, ("global", outside), ("shared", own))
    code.block.add_op(WarpSyncOp())
    _access(code, access, space, shared)
    code.block.add_op(WarpSyncOp())
    _copy(code, words, ("shared", own), ("global", outside))
    return code.module("access", shared_bytes=WARP * 4 * words)


def _access(code: Code, access: WmmaAccess, space: WmmaSpace, address: SSAValue) -> None:
    pointer, registers = code.block.args[1], access.row.registers
    stride = code.const(stride_of(access, space), "b32")
    if access.op == "wmma.load":
        code.store_list(pointer, code.add(LoadOp(access, space, address, stride)))
    else:
        value = code.load_list(pointer, *registers)
        code.block.add_op(StoreOp(access, space, address, value, stride))


Place = tuple[str, SSAValue]


def _copy(code: Code, words: int, source: Place, dest: Place) -> None:
    for at in range(0, 4 * words, 4):
        word = code.add(LdOp(source[0], "b32", source[1], at))
        code.block.add_op(StOp(dest[0], "b32", dest[1], word, at))
