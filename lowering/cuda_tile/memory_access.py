"""Accesses to global memory: the runs of a tile that a thread moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics, MemoryScope
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts import TileLayout


@dataclass(frozen=True, slots=True)
class Access:
    """Registers whose elements lie side by side from an address plus some bytes on, and the
    condition under which they are accessed."""

    registers: Sequence[int]
    address: SSAValue
    offset: int
    condition: SSAValue | None


def is_weak(op: MemoryOp) -> bool:
    """True of an access that nobody else makes at the same time."""
    return op.ordering is MemoryOrderingSemantics.WEAK


def _form(op: MemoryOp, operation: str, type_: Attribute) -> str:
    bits = 8 * address.bytes_of(type_)
    if bits < 32:
        raise OpError(
            op,
            f"'{op.name}' {op.ordering.value} of {type_} has no lowering to cute; nearest legal: "
            "weak, or elements of 32 or 64 bits",
        )
    return f"{operation}.b{bits}"


def load_strongly(
    op: MemoryOp,
    accesses: Sequence[Access],
    layout: TileLayout,
    element: Attribute,
    padding: Sequence[SSAValue],
    kernel: Kernel,
) -> Sequence[SSAValue]:
    """The elements of a load that others may write at the same time: an atomic operation that
    changes nothing, of threads that hold the same by the first."""
    zeros = [kernel.constant(0, element)] * layout.count
    form = _form(op, "or", element)
    results = atomically(op, form, accesses, layout, [zeros], kernel, padding)
    return kernel.scratch.told(layout, results) if layout.idle else results


def store_strongly(
    op: MemoryOp,
    accesses: Sequence[Access],
    layout: TileLayout,
    elements: Sequence[SSAValue],
    kernel: Kernel,
) -> None:
    """Store what others may read at the same time, by exchanges."""
    atomically(op, _form(op, "exch", elements[0].type), accesses, layout, [elements], kernel)


def load(
    accesses: Sequence[Access],
    layout: TileLayout,
    element: Attribute,
    padding: Sequence[SSAValue],
    kernel: Kernel,
) -> list[SSAValue]:
    """The elements that a thread loads; `padding` is what a register is that is not accessed."""
    loaded: dict[int, SSAValue] = {}
    for access in accesses:
        otherwise = [padding[register] for register in access.registers]
        op = address.LoadOp(
            access.address,
            otherwise if access.condition is not None else (),
            [element] * len(access.registers),
            access.offset,
            predicate=access.condition,
        )
        results = kernel.emitter.add(op).results
        loaded.update(zip(access.registers, results, strict=True))
    return [loaded[register] for register in range(layout.count)]


def store(
    accesses: Sequence[Access], layout: TileLayout, elements: Sequence[SSAValue], kernel: Kernel
) -> None:
    """Store the elements of a thread, of threads that hold the same by the first."""
    first = kernel.threads.first_of(layout)
    for access in accesses:
        run = [elements[register] for register in access.registers]
        condition = kernel.both(first, access.condition)
        kernel.emitter.add(address.StoreOp(access.address, run, access.offset, predicate=condition))


def atomically(
    op: MemoryOp, form: str, accesses: Sequence[Access], layout: TileLayout,
    columns: Sequence[Sequence[SSAValue]], kernel: Kernel,
    otherwise: Sequence[SSAValue] | None = None,
) -> list[SSAValue]:  # fmt: skip
    """The words that an atomic operation finds; of registers that are not accessed the first value,
    or others."""
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' as {form} has no lowering to cute; nearest legal: "
                      "operations on i32, i64, f32 and f64")  # fmt: skip
    own, scope = kernel.threads.first_of(layout), "sys" if op.scope is MemoryScope.SYS else "gpu"
    results: dict[int, SSAValue] = {}
    for access in accesses:
        condition = kernel.both(own, access.condition)
        for i, register in enumerate(access.registers):
            values = [column[register] for column in columns]
            type_ = values[0].type
            size = address.bytes_of(type_)
            words = [_word(value, form, kernel) for value in values]
            other = words[0] if otherwise is None else _word(otherwise[register], form, kernel)
            atomic = address.AtomicOp(
                access.address,
                words,
                words[0].type,
                form,
                scope,
                access.offset + i * size,
                predicate=condition,
                otherwise=None if condition is None else other,
            )
            result = kernel.emitter.emit(atomic)
            if result.type != type_:
                result = kernel.emit(arith.BitcastOp, [result], type_)
            results[register] = result
    return [results[register] for register in range(layout.count)]


def _word(value: SSAValue, form: str, kernel: Kernel) -> SSAValue:
    """The value, of floats whose bits alone count the bits."""
    if ".b" not in form or isinstance(value.type, IntegerType):
        return value
    bits = IntegerType(8 * address.bytes_of(value.type))
    return kernel.emit(arith.BitcastOp, [value], bits)
