"""Mutants of a kernel: one synchronising operation removed, moved or changed.

A mutant is named after its kernel, level, line, op and kind, as in
`gemm_sm90/atom/97:mbarrier.wait/remove`, with a number before the kind where one line has several
such ops. A name stays as long as its line and op do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from edits import Edit, acts, carried, is_guard, number, put, put_changed, put_number, synchronises
from order_edits import order_edits
from parameter_edits import parameter_edits
from scope_edits import scope_edits
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp, UnitAttr, i1, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.ops.tma import TmaLoadOp

STEPS = {"threads": (-32, 32), "bytes": (-16, 16), "registers": (-8, 8), "columns": (-32, 32)}
"""By how much a number changes, where not by one."""

FIXED = {"operandSegmentSizes", "offset", "cta_group"}
"""Properties that are not mutated as numbers: an offset is of a barrier, see `_barriers`."""


WORDS = (
    "stage", "guard", "lockstep", "role", "swizzle", "pipeline", "parity", "far", "twice", "group",
    "divergence", "cluster", "reinit", "scope", "space", "barrier:", "columns:",
)  # fmt: skip
"""How kinds begin that are counted together."""


@dataclass(frozen=True)
class Mutant:
    """One change: its name, its kind, the op's place in the module's walk, and the edit."""

    name: str
    kind: str
    op: int
    edit: Edit

    def of(self, module: ModuleOp) -> ModuleOp | None:
        """The mutated copy, or None where the edit leaves the module as it is."""
        copy = module.clone()
        target = next(op for place, op in enumerate(copy.walk()) if place == self.op)
        return copy if self.edit(target) else None


def kind_of(kind: str) -> str:
    """The row of the table that a kind is counted in."""
    for word in WORDS:
        if kind.startswith(word):
            return word.rstrip(":")
    return kind if kind in ("remove", "earlier", "later", "read") else "number"


def mutants(name: str, level: str, module: ModuleOp) -> list[Mutant]:
    """Every mutant of a kernel at a level, in the order of its ops."""
    result: list[Mutant] = []
    seen: Counter[str] = Counter()
    for place, op in enumerate(module.walk()):
        edits = list(_edits(op))
        if not edits:
            continue
        where = f"{name}/{level}/{_line(op)}:{op.name.partition('.')[2]}"
        seen[where] += 1
        number = f"#{seen[where]}" if seen[where] > 1 else ""
        result += [Mutant(f"{where}{number}/{kind}", kind, place, edit) for kind, edit in edits]
    return result


def _line(op: Operation) -> int:
    numbers = re.findall(r":(\d+):\d+", str(op.location))
    return int(numbers[-1]) if numbers else 0


def _edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    yield from parameter_edits(op)
    yield from order_edits(op)
    yield from scope_edits(op)
    if synchronises(op):
        yield "remove", _remove
        yield "earlier", lambda op: _move(op, -1)
        yield "later", lambda op: _move(op, 1)
        if isinstance(op.parent_op(), scf.IfOp):
            yield "role: outside its if", _leave
        yield from _numbers(op)
        yield from _operands(op)
    elif op.name in ("cute_nvgpu.tma.load", "cute_nvgpu.make_smem_desc"):
        yield from _operands(op)
    elif isinstance(op, scf.IfOp) and is_guard(op):
        yield "guard: true", lambda op: _guard(op, 1)
        yield "guard: false", lambda op: _guard(op, 0)
        yield "guard: not", _negate
    elif op.name == "cute_nvgpu.elect.sync":
        yield "guard: all elected", lambda op: _replace_result(op, 1)


def _remove(op: Operation) -> bool:
    if op.results:
        return False
    op.detach()
    op.erase()
    return True


def _move(op: Operation, step: int) -> bool:
    """Past the next op on one side that acts."""
    beside = op.prev_op if step < 0 else op.next_op
    passed = [op]
    while beside is not None and not acts(beside):
        if beside.next_op is None:
            return False
        passed.append(beside)
        beside = beside.prev_op if step < 0 else beside.next_op
    if beside is None or (beside.next_op is None and step > 0):
        return False
    if step < 0 and any(value.owner in (*passed, beside) for value in op.operands):
        return False
    block = op.parent_block()
    assert block is not None
    op.detach()
    (block.insert_op_before if step < 0 else block.insert_op_after)(op, beside)
    return True


def _leave(op: Operation) -> bool:
    """Before the scf.if around it, for all threads that come there."""
    outer = op.parent_op()
    assert outer is not None
    block = outer.parent_block()
    if block is None or any(_within(value, outer) for value in op.operands):
        return False
    op.detach()
    block.insert_op_before(op, outer)
    return True


def _within(value: SSAValue, outer: Operation) -> bool:
    owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    while owner is not None and owner is not outer:
        owner = owner.parent_op()
    return owner is outer


def _numbers(op: Operation) -> Iterator[tuple[str, Edit]]:
    for name, value in op.properties.items():
        if name in FIXED or not isinstance(value, IntegerAttr):
            continue
        wide = name == "count" and op.name.endswith("expect_tx")
        for step in STEPS["bytes" if wide else name] if wide or name in STEPS else (-1, 1):
            if value.value.data + step >= 0:
                yield f"{name}{step:+}", lambda op, name=name, step=step: _add(op, name, step)
    if "bulk.wait_group" in op.name and "read" not in op.properties:
        yield "read", _reads
    if op.name == "ptx.mbarrier.init" or op.name.startswith("ptx.mbarrier"):
        yield "stage: the next barrier", lambda op: _add(op, "offset", 8)


def _add(op: Operation, name: str, step: int) -> bool:
    value = op.properties[name]
    assert isinstance(value, IntegerAttr)
    op.properties[name] = IntegerAttr(value.value.data + step, value.type)
    return True


def _reads(op: Operation) -> bool:
    op.properties["read"] = UnitAttr()
    return True


def _operands(op: Operation) -> Iterator[tuple[str, Edit]]:
    """Parities, stages, uses and arrivals: numbers that an op takes as operands."""
    parity = len(op.operands) - 1 if "wait" in op.name and "mbarrier" in op.name else None
    for place, value in enumerate(op.operands):
        if isinstance(op, TmaLoadOp) and value in op.coordinates:
            # Which box it copies is no matter of synchronisation.
            continue
        if op.name.startswith("ptx."):
            if place == parity:
                yield "parity", lambda op, place=place: _flip_ptx(op, place)
            continue
        if not isinstance(value.type, IndexType | IntegerType) or value.type == i1:
            continue
        if place == parity:
            yield "parity", lambda op, place=place: put_changed(op, place, arith.XOrIOp, 1)
            yield "parity: in the last round", _flip_last
        elif carried(value):
            yield f"stage: operand {place} is 0", lambda op, place=place: put_number(op, place, 0)
            if synchronises(op):
                yield (
                    f"stage: operand {place} + 1",
                    lambda op, place=place: put_changed(op, place, arith.AddiOp, 1),
                )


def _flip_last(op: Operation) -> bool:
    """The other parity in the last round of the loop around a wait, which may be a long one."""
    loop = op.parent_op()
    while not isinstance(loop, scf.ForOp):
        if loop is None:
            return False
        loop = loop.parent_op()
    place, index = len(op.operands) - 1, loop.body.block.args[0]
    last = arith.SubiOp(loop.ub, loop.step)
    is_last = arith.CmpiOp(index, last, "eq")
    bit = arith.ExtUIOp(is_last, i32)
    return put(op, place, last, is_last, bit, arith.XOrIOp(op.operands[place], bit))


def _flip_ptx(op: Operation, place: int) -> bool:
    """The parity of a wait at the ptx level: 1 - p where it is a constant, else left alone."""
    owner = op.operands[place].owner
    if isinstance(owner, Operation) and owner.name == "ptx.const":
        bits = owner.properties["bits"]
        assert isinstance(bits, IntegerAttr)
        flipped = owner.clone()
        flipped.properties["bits"] = IntegerAttr(1 - bits.value.data, bits.type)
        block = op.parent_block()
        assert block is not None
        block.insert_op_before(flipped, op)
        op.operands[place] = flipped.results[0]
        return True
    return False


def _guard(op: Operation, value: int) -> bool:
    return put_number(op, 0, value)


def _negate(op: Operation) -> bool:
    return put_changed(op, 0, arith.XOrIOp, 1)


def _replace_result(op: Operation, value: int) -> bool:
    block = op.parent_block()
    assert block is not None
    constant = number(value, op.results[0].type)
    block.insert_op_before(constant, op)
    op.results[0].replace_all_uses_with(constant.result)
    op.detach()
    op.erase()
    return True
