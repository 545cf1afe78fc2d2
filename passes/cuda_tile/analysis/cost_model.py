"""The cost model: what a kernel leaves open where it hints at nothing.

    threads that compute, a warp that copies    `thread_count`, `producer_pays`
    CTAs that share a tile block                `ctas_wanted`, `small_axis`

A warpgroup multiplies 64 rows; two share a tile of 128 or more, as each then reads its half of A
alone and has half of the accumulators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import prod

from xdsl.dialects.builtin import IntegerAttr
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.ops import floating_point
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import REGISTERS
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED, shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL
from tilewright.dialects.once import once_each
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.live_ranges import live_ranges, tile_registers
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    Multiplication,
    atom_of,
    multiplications,
)
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    in_tensor_memory,
    tensor_core_atom,
)
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import (
    is_added,
    multiplies_by_warpgroups,
)

_FEWEST, _USUAL, _MOST = 32, 128, 256
_MOST_THREADS, WORKERS = 1024, "num_worker_warps_per_cta"
"""The threads that may compute, and the hint that says how many warps do."""
THREADS = "threads"
"""Attribute of an entry: the threads that compute, where a step says it."""
_PER_THREAD, _CROWDED = 8, 128
"""The elements of the largest tile for each thread: from which on a thread more is worth it, and
from which on, where MMAs multiply, more than the usual number of threads."""
_LONG_FOLDED, _COMPUTED, _MANY = 32, 4, 8
"""The same of kernels that fold by regions of several ops, which lanes and warps go through once
more for each of their steps, and of those that compute so many functions of each element, whose
code is long."""
_WORDS, _ALIVE = 32, 8
"""The registers of a thread for the largest tile, where no MMAs multiply, and how often it must fit
into those that a thread of so many may have."""
_TALL = 128
"""The rows of a product that two warpgroups share."""

_LEAST = 64
"""The least rows and columns of a product for a CTA that has a part of a tile block: fewer columns
are less than the 128 bytes that TMA copies at once."""

_FUSED = 128
"""The registers of a thread that multiplies without MMAs, at least."""
_PARTS, _BESIDE = 4, 32
"""The parts of a multiprocessor, and the registers of a thread beside accumulators, at least."""
_MOST_REGISTERS = 255
"""The registers of a thread, at most."""
_ADDED = 64
"""The accumulators beside those that they are added to."""
SPARE = 8
"""The registers by which an estimate may be wrong."""
_WITH_PRODUCER = 128
"""The accumulators of a thread from which on a warp more leaves too few registers for the rest, if
it does not give up its own."""
MOST_AT_ONCE = 128
"""The accumulators in tensor memory that a thread has in registers at once; the rest it loads
later."""
_WITH_FRAGMENTS = 104
"""The registers of a thread beside accumulators where MMAs of warps multiply: GEMMs of 64
accumulators take 128 to 168, attention of 128 takes 232."""
_FRAGMENTS = 144
"""The registers of a thread for accumulators and an operand's fragments."""
_FUNCTIONS = (
    floating_point.SinOp, floating_point.CosOp, floating_point.TanOp, floating_point.SinHOp,
    floating_point.CosHOp, floating_point.TanHOp, floating_point.ExpOp, floating_point.Exp2Op,
    floating_point.LogOp, floating_point.Log2Op, floating_point.PowOp, floating_point.Atan2Op,
)  # fmt: skip
_ONE_AND_ITS_END = 2
"""The ops of a region that is one op."""

WARP = 32
_OF_WARP = 128
"""The sums of an MMA of a warp, of 16 x 8."""
_COPYING = 24
"""The registers of a thread that only copies, where it gives up others."""
_ISSUING, _ISSUING_BESIDE, _FEW_FACTORS = 56, 32, 8192
"""Those of one that issues MMAs in tensor memory, alone and where several CTAs share a
multiprocessor, and the elements of B up to which so many do."""
GATHERING_REGISTERS = 88
"""Those of a thread that copies from addresses of its own, or that issues MMAs of larger tiles."""


def is_asynchronous(op: Multiplication, arch: Target | None) -> bool:
    """True of a multiplication by MMAs that read shared memory by themselves."""
    return multiplies_by_warpgroups(op, arch) or in_tensor_memory(op)


def products_of(entry: EntryOp, arch: Target | None) -> list[Multiplication]:
    """The multiplications by asynchronous MMAs."""
    return [op for op in multiplications(entry) if is_asynchronous(op, arch)]


def tiled_products(entry: EntryOp, arch: Target | None) -> list[Multiplication]:
    """Those, or, of a kernel that has none of them, the multiplications by MMAs of warps; where
    there is tensor memory those alone that are in it."""
    products = products_of(entry, arch)
    if products or (arch is not None and arch.supports(DATACENTER_BLACKWELL)):
        return products
    return [op for op in multiplications(entry) if atom_of(op) is not None]


def thread_count(entry: EntryOp, arch: Target | None) -> int:
    """The threads of a kernel's CTAs that compute: as a step says, or as hinted, where that can be,
    else as many warpgroups as its multiplications keep busy, else from its largest tile."""
    if isinstance(own := entry.attributes.get(THREADS), IntegerAttr):
        return own.value.data
    products = [shape_of(op.result)[-2:] for op in products_of(entry, arch)]
    warps = hint(entry, WORKERS, arch)
    if warps is not None:
        fewest = max(_words_of(entry) // _CROWDED, WARP)
        least, most = (_USUAL, _MOST_THREADS // 2) if products else (fewest, _MOST_THREADS)
        sums = max((_sums(op) for op in products_of(entry, arch)), default=0)
        if arch is not None and not arch.supports(DATACENTER_BLACKWELL):
            least = _MOST if sums // _USUAL > _MOST_REGISTERS - _BESIDE else least
        if least <= warps * WARP <= most and not warps & warps - 1:
            return warps * WARP
        remark(entry, "hint", f"{WORKERS} = {warps} is not honoured: the kernel wants a power of "
               f"two of {least // WARP} to {most // WARP} warps")  # fmt: skip
    if products:
        two = any(m >= _TALL or m * n >= _CROWDED * _USUAL for m, n in products)
        return _MOST if two and not _are_crowded_out(entry, arch) else _USUAL
    largest = max((type_.elements for type_ in _tiles(entry)), default=1)
    share, most = _shares(entry)
    count = max(_FEWEST, min(most, largest // share))
    multiplied = [op for op in multiplications(entry) if atom_of(op)]
    if multiplied:
        # A warp more has a matrix of its own, or it computes what another one does.
        sums = max(prod(shape_of(op.result)) for op in multiplied)
        count = min(count, max(sums // _OF_WARP, 1) * WARP)
        # What loops do not carry is in registers beside the operands of the next product.
        once = all(op.parent_op() is entry for op in multiplied)
        registers = max(map(tile_registers, _tiles(entry)))
        return _MOST if registers >= _CROWDED * _USUAL // (1 + once) else count
    words = _words_of(entry)
    while count < _MOST_THREADS and words > min(_WORDS * count, REGISTERS // _ALIVE):
        count *= 2
    return count


def _are_crowded_out(entry: EntryOp, arch: Target | None) -> bool:
    """True where the hinted CTAs leave two warpgroups each no registers for the warps that copy and
    issue MMAs in tensor memory, and one, whose threads have whole rows, enough."""
    ctas = hint(entry, "occupancy", arch) or 1
    if ctas == 1 or arch is None or not arch.supports(DATACENTER_BLACKWELL):
        return False
    return not _pays(entry, arch, ctas, _MOST) and _pays(entry, arch, ctas, _USUAL)


def _sums(op: Multiplication) -> int:
    """The largest tile that is in registers while a product is summed: one of its matrices, or what
    its loop carries."""
    rows, columns = shape_of(op.result)[-2:]
    block = op.parent
    carried = [x.type for x in block.args if isinstance(x.type, TileType)] if block else []
    return max([rows * columns, *(type_.elements for type_ in carried)])


def _tiles(entry: EntryOp) -> Iterator[TileType]:
    values = (x for op in entry.walk() for x in op.results)
    return (x.type for x in values if isinstance(x.type, TileType))


def _words_of(entry: EntryOp) -> int:
    """The registers of all threads for the largest tile."""
    return max((type_.elements * _bits(type_) // 32 for type_ in _tiles(entry)), default=1)


def _shares(entry: EntryOp) -> tuple[int, int]:
    """The elements of the largest tile for each thread, and the most threads for that."""
    ops = list(entry.walk())
    if any(isinstance(op, ReduceOp) and len(op.body.block.ops) > _ONE_AND_ITS_END for op in ops):
        return _LONG_FOLDED, _USUAL
    if sum(isinstance(op, _FUNCTIONS) for op in ops) >= _MANY:
        return _COMPUTED, _MOST
    return _PER_THREAD, _USUAL


@once_each
def _bits(type_: TileType) -> int:
    element = type_.element_type
    return 64 if isinstance(element, PointerType) else ELEMENT_OF[element].bits


def _accumulators(entry: EntryOp, arch: Target, parts: int = 1, threads: int | None = None) -> int:
    """The accumulators of a thread at most: those of a product, in so many parts where it adds to
    nothing, and what is computed before it, or carried by a loop, and read after it."""
    threads, most = threads or thread_count(entry, arch), 0
    for block, products in groupby(tiled_products(entry, arch), lambda op: op.parent):
        places, times = live_ranges(block) if block else ({}, [])
        for op in products:
            own = _held_by(tile_registers(tile_type(op.result)), threads, arch)
            if isinstance(op.acc.owner, ConstantOp) and op.acc.owner.elements.is_splat:
                own //= parts
            elif is_added(op):
                own += min(own, _ADDED)
            beside = (
                _held_by(registers, threads, arch)
                for first, last, registers in times
                if first < places[op] < last
            )
            most = max(most, own + sum(x for x in beside if x >= _PER_THREAD))
    return most


def _held_by(registers: int, threads: int, arch: Target) -> int:
    """The registers of a thread for a tile."""
    own = registers // threads
    return min(own, MOST_AT_ONCE) if arch.supports(DATACENTER_BLACKWELL) else own


def is_crowded(entry: EntryOp, arch: Target, operands: int = 0) -> bool:
    """True where the accumulators of products side by side, not all of which a loop carries, leave
    a thread too few registers, beside so many of operands."""
    passed = all(map(_is_passed, tiled_products(entry, arch)))
    return not passed and _accumulators(entry, arch) + operands > _MOST_REGISTERS - _BESIDE


def is_full_of_sums(entry: EntryOp, arch: Target) -> bool:
    """True where the sums of products leave a thread too few registers, of warpgroups with the rows
    of those that add to nothing in two parts; for fragments, where warps multiply what is not all
    that a loop carries."""
    products, by_warpgroups = tiled_products(entry, arch), bool(products_of(entry, arch))
    parts = 2 if by_warpgroups and are_tall(products) else 1
    few = by_warpgroups or all(map(_is_passed, products))
    beside = _BESIDE if few else _WITH_FRAGMENTS
    return _accumulators(entry, arch, parts) + beside > _MOST_REGISTERS


def _is_passed(op: Multiplication) -> bool:
    return all(use.operation.has_trait(IsTerminator) for use in op.results[0].uses)


def ctas_wanted(entry: EntryOp, arch: Target) -> int:
    """The CTAs that are to share a tile block whose kernel does not say: as many as it takes to
    have the accumulators in registers."""
    ctas, registers = 1, _accumulators(entry, arch)
    while registers // ctas > _MOST_REGISTERS - _BESIDE:
        ctas *= 2
    return ctas


def multiplies_by_mmas(entry: EntryOp, arch: Target) -> bool:
    """True of a kernel that has MMAs of whatever kind."""
    return any(atom_of(op) or tensor_core_atom(op, arch) for op in multiplications(entry))


def ctas_of_tiles(entry: EntryOp) -> int:
    """The CTAs that are to share a tile block whose threads multiply without MMAs: as many as have
    the largest tile in registers, beside others."""
    return _words_of(entry) * _ALIVE // REGISTERS if multiplications(entry) else 1


def are_two(entry: EntryOp, arch: Target) -> bool:
    """True where threads multiply without MMAs, and have registers enough in two CTAs of a
    multiprocessor, too: one alone has too few warps to wait beside each other."""
    fused = bool(multiplications(entry)) and not multiplies_by_mmas(entry, arch)
    return fused and _of_thread(REGISTERS, 2 * thread_count(entry, arch)) >= _FUSED


def small_axis(rows: int, columns: int, parts: int) -> int | None:
    """Along which dimension CTAs of a small grid split a product: so that a CTA loads least, and
    has whole MMAs; None where a part would be too small."""
    loaded = {0: rows // parts + columns, 1: rows + columns // parts}
    legal = [axis for axis, extent in enumerate((rows, columns)) if extent >= _LEAST * parts]
    return min(legal, key=lambda axis: loaded[axis], default=None)


def are_tall(products: Sequence[Multiplication]) -> bool:
    """True where all warpgroups have work in each half of the rows of some products."""
    return all(shape_of(op.result)[-2] >= 2 * _TALL for op in products)


def registers_of(entry: EntryOp, arch: Target, threads: int | None = None) -> int:
    """The registers that each of so many threads needs, at least."""
    return _accumulators(entry, arch, threads=threads) + _BESIDE


def held_ctas(threads: int, registers: int) -> int:
    """The CTAs that the registers of a multiprocessor hold: warps take them eight at a time for
    each thread."""
    return REGISTERS // (threads * (-(-registers // 8) * 8))


def _of_thread(registers: int, threads: int) -> int:
    """The registers of each of so many threads."""
    return registers // threads // 8 * 8


def producer_pays(entry: EntryOp, arch: Target, ctas: int, *, gathers: bool) -> bool:
    """True where a warp of its own is to copy: where the registers have room for it, or for a
    warpgroup that gives up its own. Warps take registers four at a time where MMAs of warps have
    fragments in them, too; fewer of these where loops carry nothing else, and no thread gathers."""
    threads = thread_count(entry, arch)
    if not products_of(entry, arch):
        ctas = hint(entry, "occupancy", arch) or 1
        products = tiled_products(entry, arch)
        few = not gathers and all(_is_passed(op) and not is_added(op) for op in products)
        needed = _accumulators(entry, arch) + (_BESIDE + SPARE if few else _WITH_FRAGMENTS)
        return held_ctas(-(-(threads + WARP) // _USUAL) * _USUAL, needed) >= ctas
    return _pays(entry, arch, ctas, threads)


def _pays(entry: EntryOp, arch: Target, ctas: int, threads: int) -> bool:
    """The same beside so many threads that multiply by asynchronous MMAs."""
    raised = copier_registers(entry, arch, ctas, threads)
    return raised is not None and (
        raised > 0 or held_ctas(threads + WARP, registers_of(entry, arch, threads)) >= ctas
    )


def has_room_for_warpgroup(entry: EntryOp, arch: Target, ctas: int) -> bool:
    """True where registers have room for a warpgroup more that needs as many as the others."""
    threads = thread_count(entry, arch) + WARPGROUP
    return held_ctas(threads, registers_of(entry, arch)) >= ctas


def registers_beside_gatherers(threads: int, others: int, ctas: int) -> int:
    """The registers that so many threads are raised to beside the warpgroups of so many `others`; 0
    where those have none to give up."""
    own = _of_thread(REGISTERS, ctas * (threads + others))
    left = _of_thread(own * (threads + others) - GATHERING_REGISTERS * others, threads)
    return min(left, _MOST_REGISTERS // 8 * 8) if own > GATHERING_REGISTERS else 0


def copier_registers(
    entry: EntryOp, arch: Target, ctas: int, threads: int | None = None
) -> int | None:
    """The registers that threads which compute are raised to beside one warp that copies; 0 where
    there are few accumulators."""
    crowded = _accumulators(entry, arch, threads=threads) > _WITH_PRODUCER
    if not crowded or not products_of(entry, arch):
        return 0
    return raised_registers(entry, arch, ctas, threads=threads)


def copying_registers(entry: EntryOp, arch: Target | None, ctas: int) -> int:
    """The registers of a thread that copies, or issues MMAs in tensor memory, beside those that are
    raised, in each of so many CTAs."""
    if arch is None or not arch.supports(DATACENTER_BLACKWELL):
        return _COPYING
    if ctas > 1:
        return _ISSUING_BESIDE
    factors = (prod(shape_of(op.rhs)[-2:]) for op in products_of(entry, arch))
    return GATHERING_REGISTERS if max(factors, default=0) > _FEW_FACTORS else _ISSUING


def raised_registers(
    entry: EntryOp, arch: Target, ctas: int, operands: int = 0, threads: int | None = None
) -> int | None:
    """The registers that threads which compute are raised to, where each has so many of operands
    beside its accumulators and a warpgroup that copies gives up its own; 0 where each has enough as
    it is, None where there are too few."""
    threads = threads or thread_count(entry, arch)
    all_threads = threads + WARPGROUP
    needed = registers_of(entry, arch, threads) + operands + SPARE
    room = _of_thread(REGISTERS, ctas * all_threads)
    if needed < room:
        return 0
    left = copying_registers(entry, arch, ctas) * WARPGROUP
    raised = _of_thread(room * all_threads - left, threads)
    # What products in tensor memory add to counts as needed, and stays there.
    most = _MOST_REGISTERS if arch.supports(DATACENTER_BLACKWELL) else raised
    return raised if needed <= most and raised <= _MOST_REGISTERS else None


def late_registers(
    entry: EntryOp, arch: Target, ctas: int, weights: int, memory: int, added: int
) -> int | None:
    """The same of a thread that holds so many weights more, and so many sums in flight that are
    added to others, for which no register is spared; None also where fewer CTAs with so much shared
    memory would share a multiprocessor."""
    weights += max(added - SPARE, 0)
    raised = raised_registers(entry, arch, ctas, weights)
    needed = registers_of(entry, arch) + weights + SPARE
    together = ctas if raised else held_ctas(thread_count(entry, arch) + WARP, needed)
    return raised if together >= ctas_beside(entry, arch, memory) else None


def registers_left(entry: EntryOp, arch: Target, raised: int, taken: int) -> int:
    """The registers that are left to a thread which is raised to so many and has some taken."""
    return raised - registers_of(entry, arch) - taken - SPARE


def ctas_beside(entry: EntryOp, arch: Target, memory: int) -> int:
    """The CTAs that share a multiprocessor, each of which has so much shared memory, and a warp of
    its own that copies."""
    fitting = (shared_memory_limit(arch) + RESERVED) // (memory + RESERVED)
    return min(fitting, held_ctas(thread_count(entry, arch) + WARP, registers_of(entry, arch)))


def bounded_ctas(entry: EntryOp, arch: Target, threads: int, ctas: int, spare: int = SPARE) -> bool:
    """True where so many CTAs of a multiprocessor leave each thread registers enough, and `spare`
    ones: their warps are dealt to four parts of it, each of which has registers of its own."""
    warps = -(-ctas * threads // WARP // _PARTS)
    room = _of_thread(REGISTERS, _PARTS * WARP * warps)
    return ctas > 1 and registers_of(entry, arch) + spare <= room


def has_room_beside_operands(entry: EntryOp, arch: Target, ctas: int, operands: int) -> bool:
    """True where so many CTAs, in which a warp copies, leave a thread registers for operands of a
    product beside what they are made of; half of those for the rest are free then."""
    threads = thread_count(entry, arch) + WARP
    return bounded_ctas(entry, arch, threads, ctas, operands - _BESIDE // 2)


def holds_fragments(sums: int, size: int) -> bool:
    """True where the registers of a thread hold so many bytes of fragments of all of K, beside
    accumulators."""
    return sums + size // 4 <= _FRAGMENTS
