"""A kernel of the tile level for any MMA of a warp or a warpgroup, fed from global memory, and what
it computes.

Of warps two atoms along M and N, a few along K. A and B lie in rows along K, packed where elements
are less than a byte; a sparse A and its metadata in the order of `tw.sparsify`; scale factors in
rows along K. Numbers are so small that every sum is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray
from tile_levels import BARRIER, kernel

import tilewright as tw
from tilewright.arguments.dtypes import dtype_of_element
from tilewright.dialects.cute import Layout, make_layout
from tilewright.dialects.cute.atoms import MmaOperand, MmaTraits, Operand
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES, MmaAtomType
from tilewright.dialects.cute_nvgpu.types.shared_atoms import WGMMA_ATOM_TYPES, WgmmaAtomType

FragmentMma = MmaAtom | WgmmaAtom


def type_of(atom: FragmentMma) -> MmaAtomType | WgmmaAtomType:
    return {**MMA_ATOM_TYPES, **WGMMA_ATOM_TYPES}[atom.op](atom)  # type: ignore[arg-type]


def atoms_along(atom: FragmentMma) -> int:
    """Atoms along M and N."""
    return 2 if isinstance(atom, MmaAtom) else 1


NUMBERS = {
    "u8": (0, 1, 2, 3), "u4": (0, 1, 2, 3), "b1": (0, 1), "ue8m0": (0.5, 1, 2), "ue4m3": (0.5, 1, 3)
}  # fmt: skip
SIGNED = (-3, -2, -1, 0, 1, 2, 3)
"""Numbers that every other type has."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An operand in memory: the elements of its line there, (rows, columns) -> element, the array
    and the numbers that it stands for."""

    element: str
    layout: Layout
    array: NDArray[Any]
    numbers: NDArray[np.float64]


def steps_of(atom: FragmentMma) -> int:
    """Atoms along K: two, and four factors of a row at least."""
    return 4 if "SFA" in traits_of(atom).operands else 2


def traits_of(atom: FragmentMma) -> MmaTraits:
    return type_of(atom).mma_traits


def raw_bits(numbers: NDArray[Any], element: ElementType) -> NDArray[Any]:
    """Numbers in containers, as a register holds them."""
    if element.name == "b1":
        return numbers.astype(np.uint8)
    held = numbers.astype(dtype_of_element(element.mlir)).view(element.container)
    if element.padded:
        return held << element.shift
    return held & held.dtype.type((1 << element.bits) - 1)


def in_memory(bits: NDArray[Any], element: ElementType) -> NDArray[Any]:
    """Elements side by side along the last axis."""
    if element.bits >= 8:
        return bits
    per = 8 // element.bits
    parts = bits.reshape(*bits.shape[:-1], -1, per) << np.arange(0, 8, element.bits, dtype=np.uint8)
    return np.bitwise_or.reduce(parts, axis=-1, dtype=np.uint8)


def memory_element(operand: MmaOperand) -> str:
    """What memory is made of: what NumPy has a dtype for."""
    return next((x for x in operand.elements if x in ("f32", "i8")), operand.elements[0])


def draw(element: ElementType, shape: tuple[int, ...], seed: int) -> NDArray[np.float64]:
    choices = NUMBERS.get(element.name, SIGNED)
    return default_rng(seed).choice(np.array(choices, dtype=np.float64), shape)


def in_rows(atom: FragmentMma, which: Operand, seed: int) -> Argument:
    operand, element = traits_of(atom).operand(which), atom.element(which)
    rows, columns = operand.extents
    along = atoms_along(atom)
    columns *= along if which == "C" else steps_of(atom)
    numbers = draw(element, (along * rows, columns), seed)
    array = in_memory(raw_bits(numbers, element), element).ravel()
    layout = Layout(numbers.shape, (columns, 1))
    return Argument(memory_element(operand), layout, array, numbers)


def sparse(atom: FragmentMma, seed: int) -> tuple[Argument, Argument]:
    """A and E in words: thread by thread, atom by atom, along K first."""
    (m, _, k), element, steps = atom.shape, atom.element("A"), steps_of(atom)
    along = atoms_along(atom)
    numbers = draw(element, (along, steps, m, k), seed)
    unit = max(atom.chunk // 4, 1)
    units = numbers.reshape(along, steps, m, k // atom.chunk, min(atom.chunk, 4), unit)
    order = default_rng(seed).random(units.shape[:-1]).argsort(axis=-1)
    units[order < units.shape[-2] // 2] = 0
    dense = raw_bits(numbers, element) >> element.shift
    words = tw.sparsify(dense.view(dtype_of_element(element.mlir)), atom)
    whole = numbers.transpose(0, 2, 1, 3).reshape(along * m, steps * k)

    def argument(which: Operand, data: NDArray[Any]) -> Argument:
        held, bits = traits_of(atom).operand(which), atom.element(which).bits
        rows, columns = atom.stored_layout(which)
        size = data[0, 0].size * 32 // bits
        layout = make_layout(
            make_layout(rows, Layout(along, size * steps)),
            make_layout(columns, Layout(steps, size)),
        )
        container = np.dtype(f"uint{bits}") if bits >= 8 else np.dtype(np.uint32)
        return Argument(memory_element(held), layout, data.ravel().view(container), whole)

    metadata = argument("E", words.metadata[..., None])
    if traits_of(atom).operand("A").space == "rmem":
        return argument("A", words.values), metadata
    stored = words.values.transpose(0, 2, 1, 3).reshape(along * m, steps * k // 2)
    array = in_memory(raw_bits(stored, element), element).ravel()
    held = memory_element(traits_of(atom).operand("A"))
    return Argument(held, Layout(stored.shape, (stored.shape[1], 1)), array, whole), metadata


def arguments_of(atom: FragmentMma) -> dict[Operand, Argument]:
    found: dict[Operand, Argument] = {}
    for seed, which in enumerate(traits_of(atom).operands):
        if which not in ("A", "E") or "E" not in traits_of(atom).operands:
            found[which] = in_rows(atom, which, seed)
        elif which == "A":
            found["A"], metadata = sparse(atom, seed)
        else:
            found["E"] = metadata
    return found


def expected(atom: FragmentMma, given: dict[Operand, Argument]) -> NDArray[np.float64]:
    a, b, c = (given[which].numbers for which in ("A", "B", "C"))
    if atom.row.bit_op is not None:
        combine = np.logical_xor if atom.row.bit_op == "xor" else np.logical_and
        return c + combine(a[:, None].astype(bool), b[None].astype(bool)).sum(axis=-1)
    return c + product(given)


def product(given: Mapping[Operand, Argument]) -> NDArray[np.float64]:
    """(A * SFA) (B * SFB)', each factor repeated along its block."""
    a, b = given["A"].numbers, given["B"].numbers
    if "SFA" in given:
        a, b = (
            x * np.repeat(given[f].numbers, x.shape[1] // given[f].numbers.shape[1], axis=1)
            for x, f in ((a, "SFA"), (b, "SFB"))
        )
    return a @ b.T


def text_of(atom: FragmentMma, given: dict[Operand, Argument]) -> str:
    threads, operands = traits_of(atom).together, traits_of(atom).operands
    quads = threads > traits_of(atom).thread_ids.size()
    tiling = ', atom_layout_MNK = "(2,2,1):(1,2,0)"' if quads else ""
    mma = f"!cute.tiled_mma<!cute_nvgpu.{atom.op}<{atom.parameters}>{tiling}>"

    def lines() -> Iterator[str]:
        yield f"%mma = cute.make_tiled_mma : {mma}"
        for which, argument in given.items():
            name = which.lower()
            yield f'%l{name} = cute.static : !cute.layout<"{argument.layout}">'
            yield f"%v{name} = cute.make_view(%{name}, %l{name})"
            from_ = "v"
            if operands[which].space == "smem":
                from_ = "s"
                yield from to_shared(name, argument)
            yield f"%p{name} = cute.tiled.mma.partition {which} (%mma, %{from_}{name}, %t)"
            yield f"%f{name} = cute.mma.make_fragment {which} (%mma, %p{name})"
            if from_ == "v":
                yield f"cute.copy(%p{name}, %f{name})"
        if isinstance(atom, WgmmaAtom):
            yield from ("cute_nvgpu.fence.proxy.async", BARRIER, "cute_nvgpu.wgmma.fence")
        others = [f"{which} = %f{which.lower()}" for which in given if which not in ("A", "B", "C")]
        yield f"cute.gemm({', '.join(['%mma, %fc, %fa, %fb, %fc', *others])})"
        if isinstance(atom, WgmmaAtom):
            yield from ("cute_nvgpu.wgmma.commit_group", "cute_nvgpu.wgmma.wait_group 0")
        yield "cute.copy(%fc, %pc)"

    def parameter(which: Operand, argument: Argument) -> str:
        size = 8 * argument.array.nbytes // element_bits(argument.element)
        return f'%{which.lower()}: !cute.memref<{argument.element}, gmem, align<16>, "{size}:1">'

    arguments = (parameter(*item) for item in given.items())
    body = "\n  ".join(["", '%row = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">', *lines()])
    return kernel(", ".join(arguments), body, threads)


def to_shared(name: str, argument: Argument) -> Iterator[str]:
    """A matrix in cores of 8 rows of 16 bytes, unswizzled; a thread copies a row."""
    (rows, columns), bits = argument.layout.shape, element_bits(argument.element)
    run = 128 // bits
    layout = f"((8,{rows // 8}),({run},{columns // run})):(({run},{8 * run}),(1,{rows * run}))"
    memory = f'!cute.memref<{argument.element}, smem, align<128>, "{layout}">'
    yield f"%s{name} = cute.memref.alloc() : {memory}"
    yield f"%rows{name} = arith.constant {rows} : i32"
    yield f"%has{name} = arith.cmpi ult, %t, %rows{name} : i32"
    yield f"scf.if %has{name} {{"
    yield f"  %from{name} = cute.slice(%v{name}, %row)"
    yield f"  %to{name} = cute.slice(%s{name}, %row)"
    yield f"  cute.copy(%from{name}, %to{name})"
    yield "}"
