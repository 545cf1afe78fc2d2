"""Accesses to global memory: the runs of a tile that a thread moves."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.enums import MemoryScope
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, INSTRUCTIONS, SUMS
from tilewright.dialects.cute_nvgpu.lattice.data_movement import WEAK
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.ops.sync import FenceOp
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import bitcast, on_floats
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.late_accumulators import PartwiseElements
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.lowering.cuda_tile.memory.narrow_atomics import updated
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.view_access import CACHE
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, log2
from tilewright.passes.cuda_tile.scheduling.reload_rows import LATE


def scope_of(op: MemoryOp) -> str:
    """Whose threads may access the memory at the same time, as PTX says it."""
    return "sys" if op.scope is MemoryScope.SYS else "gpu"


def semantics_of(op: MemoryOp) -> str:
    """How an access is ordered, as PTX says it: `weak`, `acquire.sys`."""
    return WEAK if is_weak(op) else f"{op.ordering.value}.{scope_of(op)}"


@contextmanager
def ordered(op: MemoryOp, count: int, kernel: EntryLowering) -> Generator[str]:
    """How each of so many accesses of a thread is ordered; of several fences in front of all and
    behind all order what one after the other would wait for."""
    ordering = op.ordering.value
    if count == 1 or ordering in ("weak", "relaxed"):
        yield semantics_of(op)
        return
    if ordering != "acquire":
        kernel.emitter.add(FenceOp(f"acq_rel.{scope_of(op)}"))
    yield f"relaxed.{scope_of(op)}"
    if ordering != "release":
        kernel.emitter.add(FenceOp(f"acq_rel.{scope_of(op)}"))


def load(
    op: MemoryOp, accesses: Iterable[MaskedAccess], layout: TileLayout, element: Attribute,
    padding: Sequence[SSAValue], kernel: EntryLowering,
) -> list[SSAValue]:  # fmt: skip
    """The elements that a thread loads; `padding` is what a register is that is not accessed. Of
    what others may write at the same time threads that hold the same have it from the first."""
    loaded: dict[int, SSAValue] = {}
    weak = is_weak(op)
    first = None if weak else kernel.threads.first_of(layout)
    listed = [] if weak else list(accesses)
    with ordered(op, len(listed), kernel) as semantics:
        for access in listed or accesses:
            condition = kernel.both(kernel.both(first, access.condition), kernel.guard)
            otherwise = [padding[register] for register in access.registers]
            load = address.LoadOp(
                access.address, otherwise if condition is not None else (),
                [element] * len(access.registers), access.offset, predicate=condition,
                semantics=semantics, late=op.attributes.get(LATE), cache=op.attributes.get(CACHE),
            )  # fmt: skip
            results = kernel.emitter.add(load).results
            loaded.update(zip(access.registers, results, strict=True))
    elements = [loaded[register] for register in range(layout.count)]
    if weak or not layout.idle:
        return elements
    return kernel.scratch.exchanged(layout, elements, layout)


Prepared = Callable[[TileLayout], Callable[[], list[SSAValue]]]
"""Computes what a load of a tile in a layout needs, and then loads it."""


def load_tile(op: LoadPtrTkoOp | LoadViewTkoOp, prepared: Prepared, kernel: EntryLowering) -> None:
    """Load a tile in its layout, or where it is needed, as is `prepared` in front of all."""
    layout = kernel.layout(op.results[0])
    made = None if layout is None else prepared(layout)
    with kernel.access(op, reads=True, writes=not is_weak(op)):
        kernel.give(op, lambda layout: [(made or prepared(layout))()])


def store(
    op: MemoryOp, accesses: Iterable[MaskedAccess], layout: TileLayout,
    elements: Sequence[SSAValue], kernel: EntryLowering,
) -> None:  # fmt: skip
    """Store the elements of a thread, of threads that hold the same by the first."""
    first, parts = kernel.threads.first_of(layout), PartwiseElements(elements, kernel)
    listed = [] if is_weak(op) else list(accesses)
    with ordered(op, len(listed), kernel) as semantics:
        due: Iterable[MaskedAccess] = kernel.due(listed or accesses)
        for access in due:
            run = [elements[register] for register in access.registers]
            parts.load(run)
            condition = kernel.both(first, access.condition)
            store = address.StoreOp(
                access.address, run, access.offset, predicate=condition, semantics=semantics
            )
            kernel.emitter.add(store)


_UPDATES: dict[str, Callable[[EntryLowering, SSAValue, SSAValue], SSAValue]] = {
    "add": lambda kernel, old, new: on_floats(kernel, arith.AddfOp, old, new),
    "max": lambda kernel, old, new: on_floats(kernel, arith.MaxnumfOp, old, new),
    "min": lambda kernel, old, new: on_floats(kernel, arith.MinnumfOp, old, new),
    "exch": lambda kernel, old, new: new,
}
"""The new element that an operation makes of the old one and its operand."""


def atomically(
    op: MemoryOp, form: str, accesses: Iterable[MaskedAccess], layout: TileLayout,
    columns: Sequence[Sequence[SSAValue]], kernel: EntryLowering,
) -> list[SSAValue]:  # fmt: skip
    """The words that an atomic operation finds; of registers that are not accessed the first
    value."""
    if not _runs(form, kernel):
        (values,) = columns
        with ordered(op, 2, kernel) as semantics:
            return updated(
                semantics, accesses, layout, values[0].type, values, kernel,
                lambda i, old: _UPDATES[form.partition(".")[0]](kernel, old, values[i]),
            )  # fmt: skip
    own = kernel.threads.first_of(layout)
    results: dict[int, SSAValue] = {}
    with ordered(op, layout.count, kernel) as semantics:
        for access in accesses:
            condition = kernel.both(own, access.condition)
            for i, register in enumerate(access.registers):
                values = [column[register] for column in columns]
                type_ = values[0].type
                words = [_word(value, form, kernel) for value in values]
                atomic = address.AtomicOp(
                    access.address,
                    words,
                    words[0].type,
                    form,
                    access.offset + i * address.bytes_of(type_),
                    predicate=condition,
                    otherwise=None if condition is None else words[0],
                    semantics=semantics,
                )
                results[register] = bitcast(kernel, kernel.emitter.emit(atomic), type_)
    return [results[register] for register in range(layout.count)]


def sum_run(form: str, element: Attribute, arch: Target | None) -> int | None:
    """The neighbours that one instruction adds to memory at most, as bits of their number; None
    where none adds them."""
    counts = [
        count
        for (type_, count), sums in SUMS.items()
        if form.startswith("add") and type_ == str(element)
        if arch is None or arch.supports(INSTRUCTIONS[f"red.relaxed.gpu.global.{sums}"].target)
    ]
    return log2(max(counts)) if counts else None


def add(
    op: MemoryOp, accesses: Iterable[MaskedAccess], layout: TileLayout,
    elements: Sequence[SSAValue], kernel: EntryLowering,
) -> None:  # fmt: skip
    """Add the elements of a thread to memory, runs of them at once, of threads that hold the same
    by the first."""
    first = kernel.threads.first_of(layout)
    with ordered(op, layout.count + 1, kernel) as semantics:
        for access in accesses:
            run = [elements[register] for register in access.registers]
            condition = kernel.both(first, access.condition)
            reduce = address.ReduceOp(
                access.address, run, semantics, access.offset, predicate=condition
            )
            kernel.emitter.add(reduce)


def _runs(form: str, kernel: EntryLowering) -> bool:
    """True where the target has an atomic operation."""
    row = ATOMICS.get(form)
    return row is not None and (kernel.arch is None or kernel.arch.supports(row.target))


def _word(value: SSAValue, form: str, kernel: EntryLowering) -> SSAValue:
    """The value, of floats whose bits alone count the bits."""
    if ".b" not in form or isinstance(value.type, IntegerType):
        return value
    return bitcast(kernel, value, IntegerType(8 * address.bytes_of(value.type)))
