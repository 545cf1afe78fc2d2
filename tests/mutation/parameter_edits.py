"""Mutants of parameters: swizzles of shared memory, stages and counts of pipelines, the number of
stages after which a ring wraps, bounds of guards, and the warp or warpgroup that plays a role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from edits import Edit, carried, constant_of, is_guard, put_number, synchronises
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Use
from xdsl.rewriter import Rewriter

from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.pipeline import verified

FIELDS = {"stages": 1, "producers": 1, "consumers": 1, "bytes": 16}
"""The numbers of a pipeline, and by how much they change."""


def parameter_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    """The kinds and edits of an op's parameters."""
    if op.name in ("memref.alloc", "cute.memref.alloc"):
        for bits in (-1, 1):
            if _swizzled(op.results[0].type, bits) is not None:
                yield f"swizzle{bits:+}", lambda op, bits=bits: _swizzle(op, bits)
    elif op.name == "cute.pipeline.create":
        for field, step in FIELDS.items():
            for by in (-step, step):
                yield f"pipeline: {field}{by:+}", lambda op, f=field, by=by: _pipeline(op, f, by)
    elif isinstance(op, arith.DivUIOp | arith.RemUIOp):
        if (constant_of(op.rhs) or 0) > 1 and carried(op.lhs) and _is_of_a_ring(op):
            for by in (-1, 1):
                yield (
                    f"stages{by:+}",
                    lambda op, by=by: put_number(op, 1, (constant_of(op.operands[1]) or 0) + by),
                )
    elif isinstance(op, arith.CmpiOp) and not _is_equal(op):
        if constant_of(op.rhs) is not None and any(map(_guards, op.result.uses)):
            for by in (-1, 1):
                yield f"guard: bound{by:+}", lambda op, by=by: _compare(op, by)
    elif isinstance(op, arith.CmpiOp):
        wraps = any(isinstance(use.operation, arith.SelectOp) for use in op.result.uses)
        guards = [use.operation for use in op.result.uses if isinstance(use.operation, scf.IfOp)]
        if wraps or any(_is_role(guard) for guard in guards):
            for by in (-1, 1):
                kind = "stages" if wraps else "role: warp"
                yield f"{kind}{by:+}", lambda op, by=by: _compare(op, by)


def _is_of_a_ring(op: Operation) -> bool:
    """Whether a number says which mbarrier, or which phase, some op is about."""
    for use in op.results[0].uses:
        user = use.operation
        if user.name.startswith("cute_nvgpu") and synchronises(user):
            return True
        if user.name.startswith("arith.") and _is_of_a_ring(user):
            return True
    return False


def _guards(use: Use) -> bool:
    """Whether a condition decides who orders others."""
    branch = use.operation
    return isinstance(branch, scf.IfOp) and is_guard(branch)


def _is_equal(op: arith.CmpiOp) -> bool:
    return op.predicate.value.data == 0 and isinstance(op.rhs.owner, arith.ConstantOp)


def _is_role(op: Operation) -> bool:
    """Whether an `scf.if` of the kernel's body waits for others inside: the part of some warps."""
    waits = re.compile(r"\w+\.(mbarrier\.wait|pipeline\.)")
    return isinstance(op.parent_op(), FuncOp) and any(
        waits.match(inner.name) for inner in op.walk()
    )


def _compare(op: Operation, by: int) -> bool:
    assert isinstance(op, arith.CmpiOp)
    constant, block = op.rhs.owner, op.parent_block()
    assert isinstance(constant, arith.ConstantOp) and block is not None
    value, type_ = constant.value, op.rhs.type
    assert isinstance(value, IntegerAttr) and isinstance(type_, IndexType | IntegerType)
    if value.value.data + by < 0:
        return False
    other = arith.ConstantOp(IntegerAttr(value.value.data + by, type_))
    block.insert_op_before(other, op)
    op.operands[1] = other.result
    return True


def _pipeline(op: Operation, field: str, by: int) -> bool:
    type_ = op.results[0].type
    assert isinstance(type_, PipelineType)
    names = ("stages", "producers", "consumers", "bytes", "ctas")
    numbers = {name: getattr(type_, name).data for name in names}
    if numbers[field] == 0 or numbers[field] + by < 1:
        return False
    numbers[field] += by
    Rewriter.replace_value_with_new_type(
        op.results[0], PipelineType.get(type_.kind.data, **numbers)
    )
    return True


def _swizzle(op: Operation, bits: int) -> bool:
    type_ = _swizzled(op.results[0].type, bits)
    assert type_ is not None
    Rewriter.replace_value_with_new_type(op.results[0], type_)
    return True


def _swizzled(type_: Attribute, bits: int) -> Attribute | None:
    """The type with a swizzle of so many bits more; None where it has none, or not of so many."""
    text = str(type_)
    found = re.search(r"S<(\d),", text)
    if found is None or not 1 <= (number := int(found[1]) + bits) <= 3:
        return None
    return _parsed(text.replace(found[0], f"S<{number},", 1))


@cache
def _parsed(text: str) -> Attribute:
    module, _ = verified(f"func.func @f(%x: {text}) {{\n  func.return\n}}")
    function = module.body.block.first_op
    assert function is not None
    return function.regions[0].block.args[0].type
