"""The places in memory that ops access.

What is a memref of an op is a register of an instruction: an address of the one shared memory, or
of the one tensor memory, that a CTA has, or a descriptor. A place has the function then that says
what is accessed, in bytes or cells, by the numbers in those registers.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Block, BlockArgument, SSAValue

from tilewright.dialects.cute.types.argument import source_of
from tilewright.dialects.cute.types.memref import Space, is_memref
from tilewright.dialects.cute_nvgpu.atoms.tmem_places import tensor_places
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    DescriptorFormat,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.tensor_map import TENSOR_MAP, TmaDescriptorType
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.types import B64
from tilewright.dialects.row_ops import memory_operand
from tilewright.passes.analysis.hazards.effects import MemoryPlace, Reach
from tilewright.passes.analysis.hazards.placement import HALF, Cells, tensor_set


class UnknownReach(Exception):
    """The numbers stand for nothing that can be accessed."""


# Shared memory


def place_of(op: Any, size: int, name: str = "", **facts: Any) -> MemoryPlace:
    """So many bytes from what an op names on, or from its operand of a name."""
    memory, indices, offset = memory_operand(op, name)
    if indices is None:
        return MemoryPlace(Space.SMEM, (memory,), offset=offset, reach=_bytes(size),
                           run=size & -size, **facts)  # fmt: skip
    elements = max(size * 8 // element_bits(memory), 1)
    return MemoryPlace(memory, indices, ((len(indices) - 1, elements),), **facts)


def element_bits(memory: SSAValue) -> int:
    """The bits of a memref's element."""
    assert is_memref(memory.type)
    return bits_of(memory.type.element_type) or 8


@cache
def _bytes(size: int) -> Reach:
    run = np.arange(size, dtype=np.int64)

    def reach(address: Any) -> Cells:
        return np.asarray(address, dtype=np.int64).reshape(-1, 1) + run

    return reach


def box_of(map_: SSAValue) -> TensorBox | None:
    """The box that a tensor map moves, as its type says, or the kernel's parameter; None where
    neither does."""
    type_: Any = map_.type
    entry = map_.owner.parent_op() if isinstance(map_.owner, Block) else None
    if isinstance(entry, EntryOp) and entry.arg_attrs is not None:
        assert isinstance(map_, BlockArgument)
        attributes = entry.arg_attrs.data[map_.index]
        assert isinstance(attributes, DictionaryAttr)
        source = source_of(attributes)
        type_ = attributes.data.get(TENSOR_MAP) if source is None else source.type
    return type_.box if isinstance(type_, TmaDescriptorType) else None


def place_of_box(op: Any, box: TensorBox, name: str, *, writes: bool) -> MemoryPlace:
    """A box in shared memory, from an op's operand of a name on."""
    memory, indices, _ = memory_operand(op, name)
    if indices is None:
        return place_of(op, box.bytes, name, writes=writes)
    return MemoryPlace(memory, indices, tuple(box.extents(len(indices)).items()), writes=writes)


# Matrices in shared memory


def matrix_of(
    word: SSAValue, format: DescriptorFormat, major: MajorMode, extents: tuple[int, int], bits: int
) -> MemoryPlace | None:
    """The matrix of a descriptor: of an op's where the op that makes it is at hand."""
    if isinstance(desc := word.owner, MakeSmemDescOp):
        line = desc if desc.in_a_line else None
        return MemoryPlace(desc.source, tuple(desc.indices), tuple(desc.extents.items()), line)
    if word.type != B64:
        return None

    def reach(number: Any) -> Cells:
        first = int(np.asarray(number).reshape(-1)[0]) & ((1 << 64) - 1)
        return chunks(first, format, major, extents, bits)

    return MemoryPlace(Space.SMEM, (word,), reach=reach)


def matrix_operand(atom: WgmmaAtom | UmmaAtom, name: str, value: SSAValue) -> MemoryPlace | None:
    """The matrix that A or B of an atom is, where it is none of registers."""
    major, bits = atom.majors["AB".index(name)], atom.element(name).bits
    return matrix_of(value, atom.FORMAT, major, atom.shared_extents(name), bits)


@lru_cache(256)
def chunks(
    word: int, format: DescriptorFormat, major: MajorMode, extents: tuple[int, int], bits: int
) -> Cells:
    """The bytes of the matrix of a descriptor, [1, bytes]. Raises UnknownReach for none."""
    try:
        places = SmemDescriptor.decode(word, format).addresses(major, extents, bits)
    except DescriptorError as error:
        raise UnknownReach from error
    first = np.unique(places // (8 * CHUNK)) * CHUNK
    return (first[:, None] + np.arange(CHUNK)).reshape(1, -1)


# Tensor memory


def tensor_place(
    op: Any, columns: int, lanes: Iterable[int] = range(LANES), *, writes: bool = True
) -> MemoryPlace:
    """Columns of some lanes from the place on that an op names."""
    halves = tuple(sorted({lane // HALF for lane in lanes}))
    memory, indices, offset = memory_operand(op)
    if indices is not None:
        return MemoryPlace(memory, indices, columns=columns, halves=halves, writes=writes)
    return MemoryPlace(Space.TMEM, (memory,), halves=halves, writes=writes, offset=offset,
                       reach=_cells(halves, columns))  # fmt: skip


def tensor_operand(atom: UmmaAtom, name: str, value: SSAValue) -> MemoryPlace:
    """An operand of an MMA in tensor memory."""
    at = (value, ()) if is_memref(value.type) else (Space.TMEM, (value,))
    return MemoryPlace(*at, writes=name == "D", reach=_operand_cells(atom, name))


@cache
def _operand_cells(atom: UmmaAtom, name: str) -> Reach:
    """The cells of one CTA's part of an operand, from its address on, whatever the selector or the
    ids are."""
    legal = {"E": atom.row.selectors, "SFA": atom.row.scale_ids, "SFB": atom.row.scale_ids}
    cells = [tensor_places(atom, name, first).cells for first in legal.get(name) or (0,)]
    lanes, columns = np.divmod(cells, LANE_STRIDE)
    halves = tuple(np.unique(lanes // HALF).tolist())
    return _cells(halves, sum(1 << column for column in np.unique(columns).tolist()))


def _cells(halves: tuple[int, ...], columns: int) -> Reach:
    def reach(address: Any) -> int:
        return tensor_set(int(address), halves, columns)

    return reach
