"""A kernel of the tile level for any `tcgen05.mma`, of one CTA or a pair, and what it computes.

One atom along M and N, two along K; of a pair each CTA has its half of the rows of A and B, and of
what lies in tensor memory. A and B come through shared memory in cores of 8 rows of 16
bytes; what the atom has in tensor memory is put there by `tcgen05.st`, cell by cell, with all its
copies; D is read as the cells that it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mma_tiles import Argument, draw, in_memory, memory_element, raw_bits, to_shared
from numpy.typing import NDArray
from tile_levels import BARRIER, kernel

import tilewright as tw
from tilewright.arguments.dtypes import dtype_of_element
from tilewright.dialects.cute import Layout, composition
from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import span
from tilewright.dialects.cute_nvgpu.atoms.traits import umma_traits
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.simulation.structured_sparsity import to_cells

STEPS = 2
LANES, CELL, LANE = 128, 32, 1 << 16


@dataclass(frozen=True, slots=True)
class Cells(Argument):
    """An operand in tensor memory: the cells of one MMA after the other, (lanes, columns)."""

    columns: int = 0


def held(atom: UmmaAtom, which: Operand) -> str:
    return memory_element(umma_traits(atom).operand(which))


def sixteenths(bits: NDArray[Any], element: ElementType) -> NDArray[Any]:
    """16 elements of 6 or 4 bits in the first 12 or 8 of 16 bytes."""
    rows = (bits >> element.shift).reshape(-1, 16, 1)
    flat = np.unpackbits(rows, axis=-1, bitorder="little")[..., : element.width]
    packed = np.packbits(flat.reshape(len(rows), -1), axis=-1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, 16 - packed.shape[1]))).reshape(bits.shape)


def in_shared(atom: UmmaAtom, which: Operand, numbers: Any, whole: Any) -> Argument:
    element, bits = atom.element(which), raw_bits(numbers, atom.element(which))
    array = sixteenths(bits, element) if element.padded else in_memory(bits, element)
    layout = Layout(numbers.shape, (numbers.shape[1], 1))
    return Argument(held(atom, which), layout, array.ravel(), whole)


def in_cells(atom: UmmaAtom, which: Operand, images: Any, whole: Any) -> Cells:
    bits = element_bits(held(atom, which))
    parts = [image.reshape(-1, LANES, image.shape[-1]) for image in images]
    if which.startswith("SF"):
        parts = [np.pad(x, ((0, 0), (0, 0), (0, -x.shape[2] % 4))) for x in parts]
    array = np.concatenate(parts, axis=2)
    columns = array.shape[2]
    width = columns * CELL // bits
    flat = array.ravel() if bits < 8 else array.ravel().view(f"uint{bits}")
    layout = Layout((LANES * len(array), width), (width, 1))
    return Cells(held(atom, which), layout, flat, whole, columns)


def sparse(dense: NDArray[Any], chunk: int) -> None:
    """Half of each chunk becomes zeros."""
    unit = max(chunk // 4, 1)
    units = dense.reshape(*dense.shape[:-1], dense.shape[-1] // chunk, min(chunk, 4), unit)
    order = np.random.default_rng(1).random(units.shape[:-1]).argsort(axis=-1)
    units[order < units.shape[-2] // 2] = 0


def arguments_of(atom: UmmaAtom) -> dict[Operand, Argument]:
    (m, n, k), element, row = atom.shape, atom.element("A"), atom.row
    dense = draw(element, (STEPS, m, k), 0)
    if row.sparse:
        sparse(dense, atom.chunk)
    whole, stored = dense.transpose(1, 0, 2).reshape(m, STEPS * k), dense
    found: dict[Operand, Argument] = {}
    metadata: Any = None
    if row.sparse:
        bits = raw_bits(dense, element) >> element.shift
        stored, metadata = tw.sparsify(bits.view(dtype_of_element(element.mlir)), atom)
    if atom.frag_kind == "ts":
        images = stored if row.sparse else to_cells(atom, "A", raw_bits(stored, element))
        found["A"] = in_cells(atom, "A", images, whole)
    else:
        found["A"] = in_shared(atom, "A", stored.transpose(1, 0, 2).reshape(m, -1), whole)
    b = draw(atom.element("B"), (n, STEPS * k), 2)
    found["B"] = in_shared(atom, "B", b, b)
    if row.sparse:
        found["E"] = in_cells(atom, "E", metadata, whole)
    if row.scale is not None:
        sides: tuple[tuple[Operand, int], ...] = (("SFA", m), ("SFB", n))
        for seed, (which, rows) in enumerate(sides, 3):
            factors = draw(atom.element(which), (STEPS, rows, row.scale.vector), seed)
            bits = raw_bits(factors, atom.element(which))
            # The factors of B are whole in both CTAs.
            both = np.tile(bits, (1, atom.cta_group if which == "SFB" else 1, 1))
            images = to_cells(atom, which, both)  # type: ignore[arg-type]
            found[which] = in_cells(
                atom, which, images, factors.transpose(1, 0, 2).reshape(rows, -1)
            )
    return found


def columns_of(atom: UmmaAtom) -> int:
    """The columns of D, up to a power of two."""
    columns = span(atom.cta_layout("D"), atom.cell_bits("D"))[1]
    return 1 << (columns - 1).bit_length()


def numbers_of(atom: UmmaAtom, cells: NDArray[Any]) -> NDArray[np.float64]:
    """D of the cells [lanes of all CTAs, columns] that were read."""
    lane, column, _ = np.moveaxis(atom.cells("D"), -1, 0)
    lane = lane // LANE * LANES + lane % LANE
    return cells[lane, column].view(dtype_of_element(atom.element("D").mlir)).astype(np.float64)


def text_of(atom: UmmaAtom, given: dict[Operand, Argument]) -> str:
    count, d, half = columns_of(atom), atom.element("D").mlir, atom.element("D").bits == 16
    out = f'!cute.memref<{d}, gmem, align<16>, "{LANES * count * atom.cta_group}:1">'
    arguments = [
        f"%{which.lower()}: !cute.memref<{argument.element}, gmem, align<16>, "
        f'"{argument.array.nbytes * 8 // element_bits(argument.element)}:1">'
        for which, argument in given.items()
    ]
    lines = [
        "%rank = cute_nvgpu.cluster.rank"
        if atom.cta_group > 1
        else "%rank = arith.constant 0 : i32",
        '%half = cute.make_coord(%rank) : (i32) -> !cute.coord<"(?,0)">',
        '%row = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">',
        f"%mma = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.{atom.op}<{atom.parameters}>>",
        *accumulator(atom, d, count, half),
        *(line for item in given.items() for line in operand(atom, *item)),
        *issue(atom, given),
        "cute.pipeline.consumer_wait(%done, %c0)",
        "cute.copy(%t2r, %cells, %regs)",
        "cute.copy(%regs, %pout)",
        "cute.pipeline.consumer_release(%done, %c0)",
        "cute.memref.dealloc(%acc)",
    ]
    text = kernel(", ".join([*arguments, f"%d: {out}"]), "\n  ".join(["", *lines]), LANES)
    cluster = f'"gpu.known_cluster_size" = array<i32: {atom.cta_group}, 1, 1>, gpu.known_block_size'
    return text.replace("gpu.known_block_size", cluster, 1) if atom.cta_group > 1 else text


def by_lanes(kind: str, element: str, columns: int, half: bool = False) -> str:
    """A copy between registers and tensor memory, a lane a thread, of so many columns."""
    word = {"tmem_load": ", pack", "tmem_store": ", unpack"}[kind] if half else ""
    number = columns // 2 if half else columns
    values = columns if half else columns * CELL // element_bits(element)
    return (
        f"!cute.tiled_copy<#cute_nvgpu.copy<{kind}, {element}, 32x32b, x{number}{word}>, "
        f'layout_tv = "((32,4),{values}):((1,32),128)", tiler_mn = "[128;{values}]">'
    )


def accumulator(atom: UmmaAtom, d: str, count: int, half: bool) -> Iterator[str]:
    """D in tensor memory, zeros from the argument in all of its cells."""
    rows, columns = atom.cta_layout("D")
    apart = 2 if half else 1
    layout = f"(({rows.shape},{columns.shape}),1,1):(({rows.stride},{columns.stride}),0,0)"
    yield f'%acc = cute.memref.alloc() {group(atom)}: !cute.memref<{d}, tmem, "{layout}">'
    yield f'%lacc = cute.static : !cute.layout<"({LANES},{count}):({LANE * apart},{apart})">'
    yield "%vacc = cute.make_view(%acc, %lacc)"
    yield f'%lall = cute.static : !cute.layout<"({LANES * atom.cta_group},{count}):({count},1)">'
    yield "%vall = cute.make_view(%d, %lall)"
    yield f'%tout = cute.static : !cute.shape<"({LANES},{count})">'
    yield "%vout = cute.local_tile(%vall, %tout, %half)"
    yield f"%t2r = cute.make_tiled_copy : {by_lanes('tmem_load', d, count, half)}"
    yield f"%r2t = cute.make_tiled_copy : {by_lanes('tmem_store', d, count, half)}"
    yield "%pout = cute.tiled.copy.partition_D(%t2r, %vout, %t)"
    yield "%cells = cute.tiled.copy.partition_S(%t2r, %vacc, %t)"
    yield "%into = cute.tiled.copy.partition_D(%r2t, %vacc, %t)"
    yield "%regs = cute.make_fragment_like(%pout)"
    yield "cute.copy(%pout, %regs)"
    yield "cute.copy(%r2t, %regs, %into)"
    yield "%fd = cute.mma.make_fragment C (%mma, %acc)"


def group(atom: UmmaAtom) -> str:
    """What an allocation says of a pair."""
    return "{cta_group = 2 : i64} " if atom.cta_group > 1 else ""


def operand(atom: UmmaAtom, which: Operand, argument: Argument) -> Iterator[str]:
    name, (rows, columns) = which.lower(), argument.layout.shape
    assert isinstance(rows, int) and isinstance(columns, int)
    yield f'%l{name} = cute.static : !cute.layout<"{argument.layout}">'
    yield f"%w{name} = cute.make_view(%{name}, %l{name})"
    yield f'%half{name} = cute.static : !cute.shape<"({rows // atom.cta_group},{columns})">'
    yield f"%v{name} = cute.local_tile(%w{name}, %half{name}, %half)"
    if isinstance(argument, Cells):
        yield from to_tensor_memory(atom, which, argument)
        return
    part = replace(argument, layout=Layout((rows // atom.cta_group, columns), (columns, 1)))
    yield from to_shared(name, part)
    # (V,M,K) of the CTA's half.
    run, there = 128 // element_bits(argument.element), rows // atom.cta_group
    chunks = columns // STEPS // run
    values = f"((8,{there // 8}),({run},{chunks}))"
    steps = f"(({run},{8 * run}),(1,{there * run}))"
    yield (
        f'%m{name} = cute.static : !cute.layout<"({values},1,{STEPS}):'
        f'({steps},0,{there * run * chunks})">'
    )
    yield f"%p{name} = cute.make_view(%s{name}, %m{name})"
    yield f"%f{name} = cute.mma.make_fragment {which} (%mma, %p{name})"


def to_tensor_memory(atom: UmmaAtom, which: Operand, argument: Cells) -> Iterator[str]:
    """The operand as the atom has it, and its cells, which the threads store lane by lane."""
    name, element, per = which.lower(), argument.element, CELL // element_bits(argument.element)
    rows, columns = atom.cta_layout(which)
    inside = composition(columns, Layout(umma_traits(atom).operand(which).extents[1], 1))
    step = argument.columns // STEPS * per
    shape = f"(({rows.shape},{inside.shape}),1,{STEPS})"
    layout = f"{shape}:(({rows.stride},{inside.stride}),0,{step})"
    cells = f"({LANES},{argument.columns * per}):({LANE * per},1)"
    copy = by_lanes("tmem_store", element, argument.columns & -argument.columns)
    yield f'%t{name} = cute.memref.alloc() {group(atom)}: !cute.memref<{element}, tmem, "{layout}">'
    yield f'%lt{name} = cute.static : !cute.layout<"{cells}">'
    yield f"%vt{name} = cute.make_view(%t{name}, %lt{name})"
    yield f"%r2t{name} = cute.make_tiled_copy : {copy}"
    yield f"%from{name} = cute.tiled.copy.partition_S(%r2t{name}, %v{name}, %t)"
    yield f"%into{name} = cute.tiled.copy.partition_D(%r2t{name}, %vt{name}, %t)"
    yield f"%held{name} = cute.make_fragment_like(%from{name})"
    yield f"cute.copy(%from{name}, %held{name})"
    yield f"cute.copy(%r2t{name}, %held{name}, %into{name})"
    yield f"%f{name} = cute.mma.make_fragment {which} (%mma, %t{name})"


def issue(atom: UmmaAtom, given: dict[Operand, Argument]) -> Iterator[str]:
    """The MMAs, by one thread, behind everything."""
    pair = atom.cta_group > 1
    ctas = ", ctas = 2" if pair else ""
    pipeline = f"!cute.pipeline<umma_async, stages = 1, consumers = 4{ctas}>"
    others = [f"{which} = %f{which.lower()}" for which in given if which not in ("A", "B")]
    yield f"%done = cute.pipeline.create() : {pipeline}"
    yield "cute_nvgpu.fence.proxy.async"
    yield "cute_nvgpu.tcgen05.fence.before_thread_sync"
    yield from ("cute_nvgpu.cluster.arrive", "cute_nvgpu.cluster.wait") if pair else (BARRIER,)
    yield "cute_nvgpu.tcgen05.fence.after_thread_sync"
    yield "%number = arith.ori %t, %rank : i32"
    yield "%first = arith.cmpi eq, %number, %c0 : i32"
    yield "%fresh = arith.constant false"
    yield "scf.if %first {"
    yield "  cute.pipeline.producer_acquire(%done, %c0)"
    yield f"  cute.gemm({', '.join(['%mma, %fd, %fa, %fb, %fd', *others])}) accumulate %fresh"
    yield "  cute.pipeline.producer_commit(%done, %c0)"
    yield "}"
